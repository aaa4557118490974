package split

import (
	"context"
	"fmt"
	"slices"
	"sort"
	"time"

	"github.com/ditlens/ditlens/trace"
)

// Autocorrelation finds steps by the periodicity of what is launched. It needs no annotation, no operator and no launch: GPU
// events suffice. The zero value is ready.
//
// It reads the events in launch order as a sequence of signatures, finds the loops in it (see candidateLags and repeats),
// picks the one whose iterations are steps (nest.step), and places the boundaries by the ends of the loop (cut). The time
// it takes grows as n log n.
type Autocorrelation struct{}

// Name returns "autocorrelation".
func (Autocorrelation) Name() string { return "autocorrelation" }

// Split implements [Splitter].
func (a Autocorrelation) Split(ctx context.Context, in *Input) (*Result, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	o := newOrder(in.Trace)
	f, err := findLoop(in.Trace, o, ctx.Err)
	if err != nil {
		return nil, err
	}
	if f == nil || len(f.pieces) < 2 {
		return nil, noSteps(in, o, a.Name(), CodeNoSteadyState, "nothing in the launched work repeats as steps do")
	}
	c := f.cut(in.Trace, o)
	c.Mode = a.Name()
	r := assemble(in, c, o)
	f.judge(in.Trace, r, o)
	r.NonEmptyModes = []string{a.Name()}
	r.Attempts = []Attempt{{Mode: a.Name(), Code: CodeOK, Message: f.describe(), Steps: len(r.Steps)}}
	if r.Confidence < minConfidence {
		return nil, &NoSteadyStateError{
			Attempts: []Attempt{{Mode: a.Name(), Code: CodeLowQuality, Steps: len(r.Steps), Message: f.describe() + ": " + f.doubt}},
			Result:   wholeTrace(in, o, a.Name()),
		}
	}
	return r, nil
}

// minConfidence is what a division into steps needs to be given out as one.
const minConfidence = 0.5

// noSteps makes the error of a mode that found none.
func noSteps(in *Input, o *order, mode, code, message string) *NoSteadyStateError {
	return &NoSteadyStateError{Attempts: []Attempt{{Mode: mode, Code: code, Message: message}}, Result: wholeTrace(in, o, mode)}
}

// wholeTrace is the Result of a trace without steps.
func wholeTrace(in *Input, o *order, mode string) *Result {
	return assemble(in, Cut{Method: "none", Mode: mode}, o)
}

// A finding is the loop of steps that was found in a lane of a trace.
type finding struct {
	events   []trace.GPUEvent
	lane     []trace.GPUID
	period   int           // events of a typical step
	loops    bool          // steps are made of blocks
	time     time.Duration // GPU time of the steps
	pieces   []piece       // in positions of the lane
	forwards int           // most passes a step, as far as seen
	agree    bool          // both ends of the loop agree on the boundaries
	rivalled bool          // a loop elsewhere holds nearly as much
	inside   []SubPeriod   // loops below the step
	total    time.Duration
	doubt    string // what speaks most against it
}

// findLoop looks for the loop of steps in the sequence. If that leaves doubts it looks again with the shapes of operators, which tell
// layers apart that launch the same kernels, and then in the skeleton. It returns nil if there is none.
func findLoop(t *trace.Trace, o *order, stop func() error) (*finding, error) {
	if len(o.lane) < 4 {
		return nil, nil
	}
	every := make([]int32, len(o.lane))
	for i := range every {
		every[i] = int32(i)
	}
	s := search{t: t, lane: o.lane, sig: o.signatures(o.lane), distinct: o.distinct, solid: o.distinct, stop: stop}
	f, err := s.at(every)
	if err != nil || f.sure() {
		return f, err
	}
	if sig, distinct, ok := refine(t, o.lane, s.sig); ok {
		fine := s
		fine.sig, fine.distinct, fine.solid = sig, distinct, distinct
		g, err := fine.at(every)
		if err != nil || g.sure() {
			return g, err
		}
		if g != nil && f != nil && len(g.pieces) < len(f.pieces) && g.weight() >= f.weight() {
			f = g // fewer and longer steps that explain as much: the others were parts of them
		}
	}
	bones := skeleton(s.sig, s.distinct)
	if len(bones) == len(s.sig) {
		return f, nil
	}
	g, err := s.at(bones)
	switch {
	case err != nil || g == nil:
		return f, err
	case f != nil && f.agree && len(f.pieces) == len(g.pieces):
		f.loops = f.loops || g.loops
		return f, nil
	case f == nil || g.weight() > f.weight()*11/10 || g.agree && !f.agree && g.weight() > f.weight()*4/5:
		g.flesh(s.sig, bones)
		return g, nil
	}
	return f, nil
}

// sure reports whether the loop is beyond doubt: made of blocks, with ends that agree, most of the work but not all of it.
func (f *finding) sure() bool {
	if f == nil || !f.loops || !f.agree || 2*f.time <= f.total {
		return false
	}
	inside := 0
	for _, p := range f.pieces {
		inside += p.to - p.from
	}
	return len(f.pieces) > 2 || len(f.lane)-inside >= fewKernels
}

// A search looks for the loop of steps in a lane of a trace.
type search struct {
	t        *trace.Trace
	lane     []trace.GPUID
	sig      []int32 // of the lane's events
	distinct int
	solid    int // signatures from here on stand for a whole pass
	stop     func() error
}

// at looks among the events that stand at the given positions of the lane. It returns nil if no loop of steps is there.
func (s *search) at(positions []int32) (*finding, error) {
	n := newNest(s.t, s.lane, s.sig, positions)
	n.solid = int32(s.solid)
	if err := n.findLevels(s.stop, s.distinct); err != nil {
		return nil, err
	}
	isCopy := s.kinds(n)
	f := &finding{events: s.t.GPU, lane: s.lane, total: n.before[len(n.tok)]}
	fo, c := n.sing(s.distinct)
	if c == nil {
		return nil, nil
	}
	ta := &tailor{folded: fo, c: c, isCopy: isCopy}
	f.pieces = ta.cut()
	f.agree, f.loops = ta.sure, c.runs
	f.rivalled = 5*c.rival > 4*c.weight()
	var lengths []int
	steps := level{}
	for _, p := range f.pieces {
		lengths = append(lengths, p.to-p.from)
		f.time += n.before[p.to] - n.before[p.from]
		steps.regions = append(steps.regions, region{p.to - p.from, p.from, p.to})
		f.forwards = max(f.forwards, p.passes)
	}
	f.period = median(lengths)
	steps.lag, steps.time = slices.Max(lengths), f.time
	f.loops = f.loops || n.inner(&steps)
	f.inside = n.subPeriods(f.pieces)
	return f, nil
}

// kinds tells by signature which events are copies, and notes in n which are convolutions.
func (s *search) kinds(n *nest) (isCopy []bool) {
	isCopy, n.conv = make([]bool, s.distinct), make([]bool, s.distinct)
	seen := make([]bool, s.distinct)
	for i, id := range s.lane {
		if k := s.sig[i]; !seen[k] {
			g := &s.t.GPU[id]
			seen[k], isCopy[k], n.conv[k] = true, g.Kind != trace.Kernel, convolution(g.Name)
		}
	}
	return isCopy
}

// weight ranks what is found in the sequence and in its skeleton.
func (f *finding) weight() time.Duration {
	if f.loops {
		return f.time * 5 / 4
	}
	return f.time
}

// flesh moves the pieces from positions of the skeleton to positions of the lane. Between the last bone of a step and the first of the next
// may be events that the skeleton left out; those that also follow the last step are tail, those that also precede the first are head.
func (f *finding) flesh(sig, bones []int32) {
	for i := range f.pieces {
		p := &f.pieces[i]
		p.from, p.to = int(bones[p.from]), int(bones[p.to-1])+1
	}
	gap := f.usualGap(sig)
	if len(gap) == 0 {
		return
	}
	first, last := &f.pieces[0], &f.pieces[len(f.pieces)-1]
	begin, lead := match(sig, gap, first.from-1, -1)
	end, trail := match(sig, gap, last.to, 1)
	if trail == 0 || lead+trail > len(gap) {
		trail = len(gap) - lead
	}
	for i := 1; i < len(f.pieces); i++ {
		q, p := &f.pieces[i-1], &f.pieces[i]
		if p.image != q.image {
			q.to, _ = match(sig, gap[:trail], q.to, 1)
			p.from, _ = match(sig, gap[trail:], p.from-1, -1)
			continue
		}
		if p.from-q.to > len(gap)+max(8, f.period/8) {
			continue // something else lies between them
		}
		to, n := match(sig[:p.from], gap[:trail], q.to, 1)
		if n < trail {
			to, _ = match(sig, gap[trail:], p.from-1, -1)
			to = max(to, q.to)
		}
		q.to, p.from = to, to
	}
	if lead > 0 {
		first.from = begin
	}
	if trail > 0 {
		last.to = min(end, len(sig))
	}
}

// usualGap returns the commonest sequence of events between the bones of two steps.
func (f *finding) usualGap(sig []int32) []int32 {
	type gap struct{ from, to, count int }
	var gaps []gap
next:
	for i := 1; i < len(f.pieces); i++ {
		from, to := f.pieces[i-1].to, f.pieces[i].from
		if f.pieces[i].image != f.pieces[i-1].image {
			continue
		}
		for k := range gaps {
			if slices.Equal(sig[gaps[k].from:gaps[k].to], sig[from:to]) {
				gaps[k].count++
				continue next
			}
		}
		gaps = append(gaps, gap{from, to, 1})
	}
	best := gap{}
	for _, g := range gaps {
		if g.count > best.count || g.count == best.count && g.to-g.from < best.to-best.from {
			best = g
		}
	}
	return sig[best.from:best.to]
}

// match walks from position at and reports how much of the pattern is met, read from its begin (dir > 0) or its end, and behind which
// position of the sequence. It passes up to two strays before each.
func match(sig, pattern []int32, at, dir int) (edge, n int) {
	const strays = 2
	edge = at
	if dir < 0 {
		edge = at + 1
	}
	for skipped := 0; n < len(pattern) && skipped <= strays && at >= 0 && at < len(sig); at += dir {
		want := pattern[n]
		if dir < 0 {
			want = pattern[len(pattern)-1-n]
		}
		if sig[at] != want {
			skipped++
			continue
		}
		n, skipped = n+1, 0
		edge = at
		if dir > 0 {
			edge = at + 1
		}
	}
	return edge, n
}

// cut gives every event its step: those of the lane by position, others by when they were launched.
func (f *finding) cut(t *trace.Trace, o *order) Cut {
	c := Cut{Method: "autocorrelation", SubPeriods: f.inside, StepOf: make([]int32, len(t.GPU)), Detected: len(f.pieces)}
	for i := range c.StepOf {
		c.StepOf[i] = -1
	}
	inLane := make([]bool, len(t.GPU))
	for _, id := range f.lane {
		inLane[id] = true
	}
	for s, p := range f.pieces {
		for _, id := range f.lane[p.from:p.to] {
			c.StepOf[id] = int32(s)
		}
		c.ImageOf = append(c.ImageOf, p.image)
		c.Partial = append(c.Partial, !p.whole)
		if f.forwards > 1 {
			c.Forwards = append(c.Forwards, p.passes)
		}
	}
	for id := range t.GPU {
		if inLane[id] {
			continue
		}
		s := sort.Search(len(f.pieces), func(k int) bool { return o.key[f.lane[f.pieces[k].from]] > o.key[id] }) - 1
		if s < 0 {
			continue
		}
		p := f.pieces[s]
		inside := o.key[id] <= o.key[f.lane[p.to-1]]
		if s+1 < len(f.pieces) && f.pieces[s+1].image == p.image {
			inside = inside || f.pieces[s+1].from == p.to
		}
		if inside {
			c.StepOf[id] = int32(s)
		}
	}
	return c
}

func (f *finding) describe() string {
	return fmt.Sprintf("%d iterations of %d GPU events", len(f.pieces), f.period)
}

// judge sets the confidence and its reasons.
func (f *finding) judge(t *trace.Trace, r *Result, o *order) {
	share := 0.0
	var steps, all time.Duration
	for _, s := range r.Steps {
		steps += s.GPUTime
	}
	for _, p := range r.Phases {
		all += p.GPUTime
	}
	if all > 0 {
		share = float64(steps) / float64(all)
	}
	conf := 0.5
	worst := 0.0
	say := func(by float64, format string, args ...any) {
		conf += by
		if by < worst {
			worst, f.doubt = by, fmt.Sprintf(format, args...)
		}
		r.Reasons = append(r.Reasons, fmt.Sprintf(format, args...))
	}
	say(0.3*min(share, 0.8)/0.8-0.1-max(0, 0.5-share), "the steps hold %.1f %% of the GPU time", 100*share)
	alike := float64(len(r.Classes[commonest(r).ID].Steps)) / float64(len(r.Steps))
	say(0.1*alike, "%d of %d steps launch the same work", len(r.Classes[commonest(r).ID].Steps), len(r.Steps))
	if f.agree {
		say(0.1, "both ends of the loop agree on where a step begins")
	} else {
		say(0, "the ends of the loop do not agree on where a step begins")
	}
	switch {
	case f.replayed():
		say(-0.6, "several iterations come from one graph launch: they are parts of one pass")
	case f.loops:
		say(0.15, "each step is made of repeated blocks")
	case f.alone(r):
		say(-0.45, "the repeated part holds no repeated blocks and stands alone: it may be the layers of one pass")
	case !decoded(t, r):
		say(-0.45, "no repeated blocks inside a step and no decoder behind: it may be the layers of one pass, or an encoder")
	default:
		say(-0.1, "no repeated blocks inside a step")
	}
	complete := 0
	for _, s := range r.Steps {
		if s.Complete {
			complete++
		}
	}
	if complete < 2 {
		say(-0.4, "fewer than two steps are complete")
	}
	if len(r.Steps) == 2 && share < 0.5 && !decoded(t, r) {
		say(-0.4, "two iterations that hold less than half of the time, and no decoder behind: they may be passes of an encoder")
	}
	if f.rivalled {
		say(-0.45, "another loop elsewhere holds nearly as much GPU time")
	}
	if len(r.Phases) == 1 {
		say(-0.15, "nothing is launched before or after the loop that would tell what it is")
	}
	if why := speaksAgainst(t, r, o); why != "" {
		say(-0.6, "%s", why)
	}
	r.Confidence = max(0, min(1, conf))
}

// decoded reports whether convolutions follow the steps, as far as names tell: a decoder.
func decoded(t *trace.Trace, r *Result) bool {
	var conv, all time.Duration
	for i := range t.GPU {
		if r.PhaseOf[i] == VAEDecode {
			all += t.GPU[i].Dur
			if convolution(t.GPU[i].Name) {
				conv += t.GPU[i].Dur
			}
		}
	}
	return all > 0 && 5*conv > all
}

// replayed reports whether most steps begin inside the graph launch in which the one before ended.
func (f *finding) replayed() bool {
	n := 0
	for i := 1; i < len(f.pieces); i++ {
		a, b := f.events[f.lane[f.pieces[i].from-1]].Launch, f.events[f.lane[f.pieces[i].from]].Launch
		if a >= 0 && a == b {
			n++
		}
	}
	return 2*n > len(f.pieces)
}

// alone reports whether there is next to no work outside the loop.
func (f *finding) alone(r *Result) bool {
	outside := 0
	for i := range r.PhaseOf {
		if p := r.PhaseOf[i]; p == TextEncode || p == VAEDecode || p == OtherPhase {
			outside++
		}
	}
	return outside < max(3*fewKernels, min(f.period, 6*fewKernels))
}
