package split

import (
	"slices"
	"strings"
	"time"
	"unicode"
)

// Between the iterations of a chorus lie seams: the tail of one step and the head of the next, in units that occur elsewhere too and
// therefore sing in no chorus.

// variants is how many units at the begin of a head may differ from step to step, as copies do whose variant depends on alignment.
const variants = 2

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
	c     *chorus
	seams []seam
	model seam // a typical boundary
	lead  int  // units of a boundary that are head
	trail int  // units of a boundary that are tail
	sure  bool // both ends of the loop agree
	less  bool // the trace begins with the end of one more step
	more  bool // the trace ends with the beginning of one more step

	outside []int32 // how often a unit lies before the first iteration or behind the last

	boundaries int           // how many there are
	heldIn     map[int32]int // how many of them hold a unit

	closes func(unit int32) bool // tells what closes a step of several passes, nil if steps have one
}

// newTailor finds the images.
func newTailor(f *folded, c *chorus) *tailor {
	t := &tailor{folded: f, c: c}
	for k := range c.size() - 1 {
		t.seams = append(t.seams, seam{from: c.end[k], to: c.begin[k+1]})
	}
	t.part()
	return t
}

// steps returns the steps, in units.
func (t *tailor) steps() []piece {
	t.join()
	return t.passes()
}

// passes returns the steps, or if they have not been joined the passes.
func (t *tailor) passes() []piece {
	t.fit()
	n := t.c.size()
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
	return t.ends(out)
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
	lengths, times := make([]int, len(t.seams)), make([]time.Duration, len(t.seams))
	for k, s := range t.seams {
		lengths[k], times[k] = t.work(s)
	}
	usual, usually := median(lengths), median(times)
	t.outside = make([]int32, t.folded.n)
	around := 0
	for i, s := range t.tok {
		if i < t.c.begin[0] || i >= t.c.end[t.c.size()-1] {
			t.outside[s]++
			around += t.at[i+1] - t.at[i]
		}
	}
	pass, iteration := t.period()
	for k := range t.seams {
		s := &t.seams[k]
		if lengths[k] < usual+fewKernels || lengths[k] < usual+64 && 7*(times[k]-usually) < pass {
			continue // a scheduler's work
		}
		like := 0
		for i := s.from; i < s.to; i++ {
			if t.outside[t.tok[i]] > 0 && !t.copies(t.tok[i]) {
				like += t.at[i+1] - t.at[i]
			}
		}
		known := 2*like >= lengths[k]-usual && like >= fewKernels/2
		if known || around < fewKernels && lengths[k] > usual+max(64, iteration/4) {
			s.kind = apart
		}
	}
	t.govern()
}

// govern takes back images of one iteration each at one end of the loop: there every iteration holds what looks like the encoders of an image, as
// steps do that a ControlNet governs.
func (t *tailor) govern() {
	images := []int{1} // iterations of each
	for _, s := range t.seams {
		if s.kind == apart {
			images = append(images, 0)
		}
		images[len(images)-1]++
	}
	n := len(images) - 1
	ones := func(images []int) bool { return !slices.ContainsFunc(images, func(n int) bool { return n > 1 }) }
	if n == 0 || ones(images) || !ones(images[:n]) && !ones(images[1:]) {
		return
	}
	for k := range t.seams {
		t.seams[k].kind = boundary
	}
}

func (t *tailor) copies(x int32) bool { return int(x) < len(t.copied) && t.copied[x] }

// start returns where the first step of an image begins, whose first pass is iteration k.
func (t *tailor) start(k int) int {
	if t.model.to == t.model.from {
		return t.c.begin[k]
	}
	s := t.near(k, 1)
	_, head := t.divide(s)
	i, j := t.headBefore(k, s, head)
	if k == 0 && j > head && t.cutBefore(i, j) {
		return 0
	}
	if short := j - head; short <= variants {
		i -= t.vary(i, t.model.to-(s.to-j), short)
	}
	return max(i, 0)
}

// vary returns how many units in front of i belong to the head though they are not the model's: as many as it lacks, if the seams differ
// among themselves there.
func (t *tailor) vary(i, j, short int) int {
	for d := 1; d <= short; d++ {
		at := t.model.to - (j - d) // from the end of a seam
		differ := 0
		for _, s := range t.seams {
			differ += rank(s.kind == boundary && s.to-at >= s.from && t.tok[s.to-at] != t.tok[j-d] && !t.holdsStray(s))
		}
		alone := t.boundaries == 1 && i-d >= 0 && t.variants(t.tok[i-d], t.tok[j-d]) // one boundary cannot differ
		if 4*differ < t.boundaries && !alone || i-d < 0 {
			return d - 1
		}
	}
	return short
}

// variants reports whether two units are kernels of whose names most words are the same, as those of two instances of a template are.
func (t *tailor) variants(a, b int32) bool {
	if int(a) >= len(t.name) || int(b) >= len(t.name) {
		return false
	}
	words := func(x int32) []string {
		w := strings.FieldsFunc(t.names[t.name[x]], func(r rune) bool { return !unicode.IsLetter(r) && r != '_' })
		slices.Sort(w)
		return slices.Compact(w)
	}
	x, y := words(a), words(b)
	same := 0
	for _, w := range x {
		_, found := slices.BinarySearch(y, w)
		same += rank(found)
	}
	return same > 1 && 2*same > max(len(x), len(y))
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
	tail, _ := t.divide(model)
	i, j := t.align(t.c.end[k], model.from, 1, tail)
	if k+1 < t.c.size() {
		return min(i, t.c.begin[k+1])
	}
	if j < tail && t.cutBehind(i, j) {
		return len(t.tok)
	}
	return i
}

// divide returns where the step before a boundary ends and the one behind it begins: behind a whole tail, or else before as much as
// is head. Copies between them that other boundaries do not have are of neither.
func (t *tailor) divide(s seam) (end, begin int) {
	stray := func(i int) bool { return t.copies(t.tok[i]) && !t.usual(t.tok[i]) }
	tail := t.tok[t.model.from : t.model.from+t.trail]
	if at := s.from + len(tail); at <= s.to && (len(tail) > 0 || at < s.to-t.lead) && slices.Equal(t.tok[s.from:at], tail) {
		for begin = at; begin < s.to-t.lead && stray(begin); begin++ {
		}
		return at, begin
	}
	if at := t.model.from + t.trail; t.trail > 0 && at < t.model.to { // where a tail touches a head
		for i := s.from + 1; i < s.to; i++ {
			if t.tok[i-1] == t.tok[at-1] && t.tok[i] == t.tok[at] {
				return i, i
			}
		}
	}
	begin = max(s.from, s.to-t.lead)
	for end = begin; end > s.from && stray(end-1); end-- {
	}
	return end, begin
}

// holdsStray reports whether a boundary holds a copy that others do not.
func (t *tailor) holdsStray(s seam) bool {
	return slices.ContainsFunc(t.tok[s.from:s.to], func(x int32) bool { return t.copies(x) && !t.usual(x) })
}

// tally counts how many boundaries hold each unit.
func (t *tailor) tally() {
	t.boundaries, t.heldIn = 0, map[int32]int{}
	for _, s := range t.seams {
		if s.kind == boundary {
			t.boundaries++
			for _, x := range distinct(t.tok[s.from:s.to]) {
				t.heldIn[x]++
			}
		}
	}
}

// usual reports whether at least half of the boundaries hold a unit.
func (t *tailor) usual(x int32) bool { return 2*t.heldIn[x] >= t.boundaries }

// ends adds the steps of which the trace holds one end only, and marks the first and the last step if it holds a part of them only.
func (t *tailor) ends(ps []piece) []piece {
	if first := &ps[0]; t.less && first.from > 0 {
		if t.joined(first.from-t.trail, t.c.begin[0]) {
			first.from, first.whole = 0, false
		} else {
			ps = slices.Insert(ps, 0, piece{to: first.from, passes: 1})
		}
	}
	if last := &ps[len(ps)-1]; t.more && last.to < len(t.tok) {
		if t.joined(t.c.end[t.c.size()-1], min(last.to+t.lead, len(t.tok))) {
			last.to, last.whole = len(t.tok), false
		} else {
			ps = append(ps, piece{from: last.to, to: len(t.tok), passes: 1, image: last.image})
		}
	}
	if p := &ps[0]; p.from == 0 && p.whole {
		_, lead := t.before(0, t.near(0, 1))
		p.whole = t.model.from == t.model.to || lead >= t.lead
	}
	if p := &ps[len(ps)-1]; p.to == len(t.tok) && p.whole {
		n := t.c.size() - 1
		_, trail := t.behind(n, t.lead, t.near(n, -1))
		p.whole = t.model.from == t.model.to || trail >= t.trail
	}
	return ps
}
