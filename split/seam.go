package split

import (
	"slices"
	"time"
)

// Between the iterations of a chorus lie seams: the tail of one step and the head of the next, in units that occur elsewhere too and
// therefore sing in no chorus. Where in a seam the next step begins is told by the ends of the loop: what precedes the first iteration as it
// precedes the others is head, what follows the last as it follows the others is tail.

// A piece is one step as positions [from, to) of a sequence.
type piece struct {
	from, to int
	image    int
	whole    bool // neither end lies outside the trace
	passes   int  // iterations of the chorus
}

type seam struct {
	from, to int // in units
	kind     seamKind
}

type seamKind uint8

const (
	boundary seamKind = iota // between two steps
	within                   // between two passes of one step
	apart                    // between two images
)

// A tailor cuts a folded sequence into steps at the seams of a chorus.
type tailor struct {
	*folded
	c      *chorus
	isCopy []bool // by token
	seams  []seam
	model  seam // a typical boundary
	lead   int  // units of a boundary that are head
	trail  int  // units of a boundary that are tail
	sure   bool // both ends of the loop agree
}

func (t *tailor) cut() []piece {
	n := t.c.size()
	for k := range n - 1 {
		t.seams = append(t.seams, seam{from: t.c.end[k], to: t.c.begin[k+1]})
	}
	t.part()
	t.join()
	t.fit()
	var out []piece
	image := 0
	p := piece{from: t.start(0), passes: 1, whole: true}
	for k, s := range t.seams {
		switch s.kind {
		case within:
			p.passes++
			continue
		case apart:
			p.to, p.image = t.stop(k), image
			out = append(out, p)
			image++
			p = piece{from: max(t.start(k+1), p.to), passes: 1, whole: true}
		default:
			end, begin := t.divide(s)
			p.to, p.image = end, image
			out = append(out, p)
			p = piece{from: begin, passes: 1, whole: true}
		}
	}
	p.to, p.image = t.stop(n-1), image
	out = append(out, p)
	t.ends(out)
	for i := range out {
		out[i].from, out[i].to = t.at[out[i].from], t.at[out[i].to]
	}
	return out
}

// work returns the kernels of a seam and their GPU time, without copies.
func (t *tailor) work(s seam) (kernels int, time time.Duration) {
	for i := s.from; i < s.to; i++ {
		if !t.copies(t.tok[i]) {
			kernels += t.at[i+1] - t.at[i]
			time += t.folded.time(i, i+1)
		}
	}
	return kernels, time
}

// part finds the seams between images: long ones, filled with work that is also done before or after all steps.
func (t *tailor) part() {
	lengths := make([]int, len(t.seams))
	for k, s := range t.seams {
		lengths[k], _ = t.work(s)
	}
	usual := median(lengths)
	outside := make([]bool, t.folded.n)
	around := 0
	for i, s := range t.tok {
		if i < t.c.begin[0] || i >= t.c.end[t.c.size()-1] {
			outside[s] = true
			around += t.at[i+1] - t.at[i]
		}
	}
	n := t.c.size()
	pass := t.folded.time(t.c.begin[n/2], t.c.end[n/2])
	iteration := t.at[t.c.end[n/2]] - t.at[t.c.begin[n/2]]
	for k := range t.seams {
		s := &t.seams[k]
		_, busy := t.work(*s)
		if lengths[k] < usual+fewKernels || lengths[k] < usual+64 && 7*busy < pass {
			continue // a scheduler's work
		}
		like := 0
		for i := s.from; i < s.to; i++ {
			if outside[t.tok[i]] && !t.copies(t.tok[i]) {
				like += t.at[i+1] - t.at[i]
			}
		}
		known := 2*like >= lengths[k]-usual && like >= fewKernels/2
		if known || around < fewKernels && lengths[k] > usual+max(64, iteration/4) {
			s.kind = apart
		}
	}
}

func (t *tailor) copies(x int32) bool { return int(x) < len(t.isCopy) && t.isCopy[x] }

// join finds the seams within steps. When a step takes several passes, every so many seams hold the scheduler's work and the
// others do not. That the last step of the loop ends with it too tells it from what happens once, as in a first step.
func (t *tailor) join() {
	var lengths []int
	for _, s := range t.seams {
		if s.kind != apart {
			lengths = append(lengths, s.to-s.from)
		}
	}
	if len(lengths) == 0 {
		return
	}
	least, most := slices.Min(lengths), slices.Max(lengths)
	if most < 2*least+2 {
		return
	}
	short := make(map[int32]bool) // what occurs in the shortest seams
	long := make(map[int32]int)   // in how many of the others each other unit occurs
	nLong := 0
	each := func(f func(k int, s seam, minimal bool)) {
		for k, s := range t.seams {
			if s.kind != apart {
				f(k, s, s.to-s.from <= least+least/8)
			}
		}
	}
	each(func(_ int, s seam, minimal bool) {
		if !minimal {
			nLong++
			return
		}
		for _, x := range t.tok[s.from:s.to] {
			short[x] = true
		}
	})
	each(func(_ int, s seam, minimal bool) {
		for _, x := range slices.Compact(slices.Sorted(slices.Values(t.tok[s.from:s.to]))) {
			if !minimal && !short[x] && !t.copies(x) {
				long[x]++
			}
		}
	})
	closes := func(x int32) bool { return 4*long[x] >= nLong && long[x] > 0 }
	begin, end := t.c.begin[0], t.c.end[t.c.size()-1]
	if !slices.ContainsFunc(t.tok[end:min(len(t.tok), end+most)], closes) &&
		!slices.ContainsFunc(t.tok[max(0, begin-most):begin], closes) && (end+1 < len(t.tok) || nLong < 2) {
		return
	}
	const passes = 4 // most passes of a step
	run := 1
	inner := make([]bool, len(t.seams))
	for k, s := range t.seams {
		if s.kind == apart || slices.ContainsFunc(t.tok[s.from:s.to], closes) {
			run = 1
			continue
		}
		if run++; run > passes {
			return
		}
		inner[k] = true
	}
	for k, in := range inner {
		if in {
			t.seams[k].kind = within
		}
	}
}

// fit finds how much of a boundary is head and how much is tail.
func (t *tailor) fit() {
	t.model = t.typical()
	usual := t.model.to - t.model.from
	if usual == 0 {
		t.sure = true
		return
	}
	first, last := 0, t.c.size()-1
	i, lead := t.before(first)
	j, trail := t.behind(last, 0)
	if lead+trail < usual { // the head ends the tail, which makes it easier to find
		j, trail = t.behind(last, lead)
	}
	for k, s := range t.seams {
		if s.kind == apart {
			_, l := t.before(k + 1)
			_, r := t.behind(k, 0)
			lead, trail = max(lead, l), max(trail, r)
		}
	}
	rest := usual - lead - trail
	switch {
	case rest == 0:
		t.sure = true
	case rest < 0 && lead < usual && trail < usual, rest < 0 && lead == usual:
		lead = usual - trail
	case rest < 0:
		trail = usual - lead
	case i == 0: // the trace begins within the first step
		lead = usual - trail
	case j == len(t.tok):
		trail = usual - lead
	case rest <= 2: // differs from seam to seam, as copies do whose variant depends on alignment: to the head
		lead += rest
		t.sure = true
	case trail > 0:
		lead = usual - trail
	}
	t.lead, t.trail = lead, trail
}

// typical returns the boundary that most boundaries are equal to, a later one rather than an earlier one, and rather one without copies
// that others do not have.
func (t *tailor) typical() (best seam) {
	equal := map[uint64]int{}
	hash := func(s seam) uint64 {
		h := uint64(14695981039346656037) // FNV-1a
		for _, x := range t.tok[s.from:s.to] {
			h = (h ^ uint64(x)) * 1099511628211
		}
		return h
	}
	for _, s := range t.seams {
		if s.kind == boundary {
			equal[hash(s)]++
		}
	}
	top := -1
	for _, s := range t.seams {
		if s.kind != boundary {
			continue
		}
		n := equal[hash(s)]
		if t.holdsStray(s) {
			n = 0
		}
		if n >= top {
			best, top = s, n
		}
	}
	return best
}

// align compares units before i (dir < 0) or from i on (dir > 0) with those of the model.
func (t *tailor) align(i, j, dir, bound int) (int, int) {
	a := &aligner{tok: t.tok}
	return a.extend(i, j, dir, bound)
}

// before returns where a head like the model's begins in front of iteration k, and how much of the model it is.
func (t *tailor) before(k int) (at, lead int) {
	i, j := t.align(t.c.begin[k]-1, t.model.to-1, -1, t.model.from)
	return i, t.model.to - j
}

// behind returns where a tail like the model's ends behind iteration k, and how much of the model it is, if so much of it is head.
func (t *tailor) behind(k, lead int) (at, trail int) {
	bound := t.model.to
	if lead < t.model.to-t.model.from {
		bound -= lead
	}
	i, j := t.align(t.c.end[k], t.model.from, 1, bound)
	return i, j - t.model.from
}

// start returns where the first step of an image begins, whose first pass is iteration k.
func (t *tailor) start(k int) int {
	if t.model.to == t.model.from {
		return t.c.begin[k]
	}
	i, j := t.align(t.c.begin[k]-1, t.model.to-1, -1, t.model.to-t.lead)
	if short := j - (t.model.to - t.lead); short <= 2 { // see fit
		i -= t.vary(i, j, short)
	}
	return max(i, 0)
}

// vary returns how many units in front of i belong to the head though they are not the model's: as many as it lacks, if the seams differ
// among themselves there.
func (t *tailor) vary(i, j, short int) int {
	for d := 1; d <= short; d++ {
		at := t.model.to - (j - d) // from the end of a seam
		differ := false
		for _, s := range t.seams {
			if s.kind == boundary && s.to-at >= s.from && t.tok[s.to-at] != t.tok[j-d] {
				differ = true
			}
		}
		if !differ || i-d < 0 {
			return d - 1
		}
	}
	return short
}

// stop returns where the last step of an image ends, whose last pass is iteration k.
func (t *tailor) stop(k int) int {
	model := t.model
	for i := k - 1; i >= 0 && t.seams[i].kind != apart; i-- {
		if t.seams[i].kind == boundary && !t.holdsStray(t.seams[i]) {
			model = t.seams[i]
			break
		}
	}
	if model.to == model.from {
		return t.c.end[k]
	}
	i, _ := t.align(t.c.end[k], model.from, 1, model.to-t.lead)
	return i
}

// divide returns where the step before a boundary ends and the one behind it begins. Copies between them that other boundaries do not
// have are of neither.
func (t *tailor) divide(s seam) (end, begin int) {
	begin = max(s.from, s.to-t.lead)
	end = begin
	for end > s.from && t.copies(t.tok[end-1]) && !t.usual(t.tok[end-1]) {
		end--
	}
	return end, begin
}

// holdsStray reports whether a boundary holds a copy that others do not.
func (t *tailor) holdsStray(s seam) bool {
	return slices.ContainsFunc(t.tok[s.from:s.to], func(x int32) bool { return t.copies(x) && !t.usual(x) })
}

// usual reports whether at least half of the boundaries hold a unit.
func (t *tailor) usual(x int32) bool {
	n, all := 0, 0
	for _, s := range t.seams {
		if s.kind == boundary {
			all++
			if slices.Contains(t.tok[s.from:s.to], x) {
				n++
			}
		}
	}
	return 2*n >= all
}

// ends marks the first and last step if the trace holds a part of them only.
func (t *tailor) ends(ps []piece) {
	if ps[0].from == 0 {
		_, j := t.before(0)
		ps[0].whole = t.model.from == t.model.to || j >= t.lead
	}
	if ps[len(ps)-1].to == len(t.tok) {
		_, j := t.behind(t.c.size()-1, t.lead)
		ps[len(ps)-1].whole = t.model.from == t.model.to || j >= t.trail
	}
}
