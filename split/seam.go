package split

import (
	"slices"
	"strings"
	"time"
	"unicode"
)

// Between the iterations of a chorus lie seams: the tail of one step and the head of the next, in units that occur elsewhere too and
// therefore sing in no chorus.

// strays is how many events of other streams may fall in between what belongs together.
const strays = 2

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

	images  int32   // how many there are
	outside []int32 // how often a unit lies before the first iteration, behind the last or between images

	boundaries int           // how many there are
	heldIn     map[int32]int // how many of them hold a unit

	blind     bool // neither end of the loop tells how much of a boundary is head
	alternate bool // every few seams hold work that others do not

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
	t.unite()
	t.join()
	return t.passes()
}

// passes returns the steps, or if they have not been joined the passes.
func (t *tailor) passes() []piece {
	t.surround()
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
	t.images = 1
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
		known := like >= fewKernels/2 && (2*like >= lengths[k]-usual || 4*like >= 3*around)
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

// surround counts what lies between images as lying outside.
func (t *tailor) surround() {
	for _, s := range t.seams {
		if s.kind == apart {
			t.images++
			for _, x := range t.tok[s.from:s.to] {
				t.outside[x]++
			}
		}
	}
}

// unite takes back images between which no encoder or decoder runs: the kernels between them are too few. They are steps of short passes.
func (t *tailor) unite() {
	const encoder = 3 * fewKernels
	var lengths []int
	for _, s := range t.seams {
		n, _ := t.work(s)
		lengths = append(lengths, n)
	}
	usual := median(lengths)
	for k := range t.seams {
		if s := &t.seams[k]; s.kind == apart && lengths[k] < usual+encoder {
			s.kind = boundary
		}
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
	if own := t.next(k); own.to-own.from > s.to-s.from+strays { // steps at one end of an image may begin with more than most do
		_, whole := t.divide(own)
		if h, l := t.headBefore(k, own, whole); h < i && l == whole {
			return h
		}
	}
	if k == 0 && j > head && t.cutBefore(i, j) {
		return 0
	}
	if short := j - head; short <= variants {
		i -= t.vary(i, t.model.to-(s.to-j), short)
	}
	return max(i, 0)
}

// next returns the first boundary of an image behind iteration k, or the model if it has none.
func (t *tailor) next(k int) seam {
	for ; k < len(t.seams) && t.seams[k].kind != apart; k++ {
		if t.seams[k].kind == boundary {
			return t.seams[k]
		}
	}
	return t.model
}

// vary returns how many units in front of i belong to the head though they are not the model's: as many as it lacks, if the seams differ
// among themselves there.
func (t *tailor) vary(i, j, short int) int {
	model := t.tok[t.model.from:t.model.to]
	for d := 1; d <= short; d++ {
		at := t.model.to - (j - d) // from the end of a seam
		differ := 0
		for _, s := range t.seams {
			differ += rank(s.kind == boundary && s.to-at >= s.from && !slices.Contains(model, t.tok[s.to-at]) &&
				!slices.Contains(t.tok[s.from:s.to], t.tok[j-d]) && !t.holdsStray(s))
		}
		alone := t.boundaries == 1 && i-d >= 0 && t.variants(t.tok[i-d], t.tok[j-d]) // one boundary cannot differ
		if 4*differ < t.boundaries && !alone || i-d < 0 {
			return d - 1
		}
	}
	return short
}

// variants reports whether two units are kernels that are variants of one.
func (t *tailor) variants(a, b int32) bool {
	return int(a) < len(t.name) && int(b) < len(t.name) && variantsOf(t.names[t.name[a]], t.names[t.name[b]])
}

// variantsOf reports whether most words of two kernels' names are the same, as those of two instances of a template are.
func variantsOf(a, b string) bool {
	words := func(name string) []string {
		w := strings.FieldsFunc(name, func(r rune) bool { return !unicode.IsLetter(r) && r != '_' })
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
		if s := t.seams[i]; s.kind == boundary && !t.holdsStray(s) && !t.exceeds(s) {
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
	stray := func(i int) bool { return t.copies(t.tok[i]) && !t.mostly(t.tok[i]) }
	tail := t.tok[t.model.from : t.model.from+t.trail]
	if at := s.from + len(tail); at <= s.to && (len(tail) > 0 || at < s.to-t.lead) && slices.Equal(t.tok[s.from:at], tail) {
		for begin = at; begin < s.to && stray(begin); begin++ {
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
	return slices.ContainsFunc(t.tok[s.from:s.to], func(x int32) bool { return t.copies(x) && !t.mostly(x) })
}

// exceeds reports whether a boundary holds all that the model does, and a kernel that hardly another does.
func (t *tailor) exceeds(s seam) bool {
	odd := func(x int32) bool { n := t.heldIn[x]; return 8*n < t.boundaries || n == 1 && t.boundaries > 1 }
	own := t.tok[s.from:s.to]
	if !slices.ContainsFunc(own, odd) {
		return false
	}
	own = distinct(own)
	return !slices.ContainsFunc(t.tok[t.model.from:t.model.to], func(x int32) bool {
		_, found := slices.BinarySearch(own, x)
		return !found
	})
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

// mostly reports whether more than half of the boundaries hold a unit.
func (t *tailor) mostly(x int32) bool { return 2*t.heldIn[x] > t.boundaries }

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
	// a stray or two of other streams may lie between a cut step and the end of the trace
	if p := &ps[0]; t.at[p.from] <= strays && p.whole && t.model.from < t.model.to {
		if _, lead := t.before(0, t.near(0, 1)); lead < t.lead {
			p.from, p.whole = 0, false
		}
	}
	if p := &ps[len(ps)-1]; len(t.nest.tok)-t.at[p.to] <= strays && p.whole && t.model.from < t.model.to {
		n := t.c.size() - 1
		if _, trail := t.behind(n, t.lead, t.near(n, -1)); trail < t.trail {
			p.to, p.whole = len(t.tok), false
		}
	}
	return ps
}
