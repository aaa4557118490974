package split

import (
	"context"
	"fmt"
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
	f := findLoop(in.Trace, o)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if f == nil || len(f.pieces) < 2 {
		return nil, noSteps(in, o, a.Name(), CodeNoSteadyState, "nothing in the launched work repeats as steps do")
	}
	c := f.cut(in.Trace, o)
	c.Mode = a.Name()
	r := assemble(in, c, o)
	f.judge(r)
	r.NonEmptyModes = []string{a.Name()}
	r.Attempts = []Attempt{{Mode: a.Name(), Code: CodeOK, Message: f.describe(), Steps: len(r.Steps)}}
	if r.Confidence < minConfidence {
		return nil, &NoSteadyStateError{
			Attempts: []Attempt{{Mode: a.Name(), Code: CodeLowQuality, Steps: len(r.Steps), Message: f.describe() + ": " + lastReason(r)}},
			Result:   wholeTrace(in, o, a.Name()),
		}
	}
	return r, nil
}

// minConfidence is what a division into steps needs to be given out as one.
const minConfidence = 0.5

func lastReason(r *Result) string {
	if len(r.Reasons) == 0 {
		return "too little evidence"
	}
	return r.Reasons[len(r.Reasons)-1]
}

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
	level    *level
	nest     *nest
	pieces   []piece // in positions of the lane
	forwards int
	agree    bool // both ends of the loop agree on the boundaries
	sparse   bool // found in the skeleton
	total    time.Duration
}

func findLoop(t *trace.Trace, o *order) *finding {
	if len(o.lane) < 4 {
		return nil
	}
	sig, distinct := signatures(t, o.lane)
	every := make([]int32, len(sig))
	for i := range every {
		every[i] = int32(i)
	}
	f := findIn(t, o.lane, sig, every, distinct)
	if f == nil || !f.level.loops || 3*f.level.time < f.total {
		bones := skeleton(sig, distinct)
		g := findIn(t, o.lane, sig, bones, distinct)
		if g != nil && len(bones) < len(sig) && (f == nil || g.level.weight() > f.level.weight()*5/4) {
			g.sparse = true
			g.flesh(sig, bones)
			return g
		}
	}
	return f
}

// findIn looks for the loop of steps among the events of a lane that stand at the given positions.
func findIn(t *trace.Trace, lane []trace.GPUID, sig, at []int32, distinct int) *finding {
	n := newNest(t, lane, sig, at)
	n.findLevels(distinct)
	l, forwards := n.step()
	if l == nil {
		return nil
	}
	isCopy := make([]bool, distinct)
	for i, id := range lane {
		isCopy[sig[i]] = t.GPU[id].Kind != trace.Kernel
	}
	f := &finding{events: t.GPU, lane: lane, level: l, nest: n, forwards: forwards, total: n.before[len(n.tok)]}
	f.pieces, f.agree = cut(n, isCopy, l)
	return f
}

// flesh moves the pieces from positions of the skeleton to positions of the lane. Events between the last bone of a step and the
// first of the next go to the side on which the ends of the loop have their like.
func (f *finding) flesh(sig, bones []int32) {
	for i := range f.pieces {
		p := &f.pieces[i]
		p.from, p.to = int(bones[p.from]), int(bones[p.to-1])+1
	}
	lead, trail := f.margins(sig)
	for i := range f.pieces {
		p := &f.pieces[i]
		if i > 0 && f.pieces[i-1].image == p.image {
			q := &f.pieces[i-1]
			if gap := p.from - q.to; gap > 0 && gap <= max(4, f.level.lag/8) {
				q.to += min(trail, gap)
				p.from = q.to
			}
			continue
		}
		p.from = max(p.from-lead, 0)
	}
}

// margins returns how many events before the first bone of an image's first step are as before the first bones of the others, and the
// same behind the last step.
func (f *finding) margins(sig []int32) (lead, trail int) {
	first, last := f.pieces[0], f.pieces[len(f.pieces)-1]
	like := func(at int, ref func(p piece) int) bool {
		same, n := 0, 0
		for i, p := range f.pieces {
			k := ref(p)
			if i == 0 && k == at || k < 0 || k >= len(sig) || at < 0 || at >= len(sig) || k == at {
				continue
			}
			n++
			if sig[k] == sig[at] {
				same++
			}
		}
		return n > 0 && 2*same > n
	}
	for lead < 32 && like(first.from-1-lead, func(p piece) int { return p.from - 1 - lead }) {
		lead++
	}
	for trail < 32 && like(last.to+trail, func(p piece) int { return p.to + trail }) {
		trail++
	}
	return lead, trail
}

// cut gives every event its step: those of the lane by position, others by when they were launched.
func (f *finding) cut(t *trace.Trace, o *order) Cut {
	c := Cut{Method: "autocorrelation", StepOf: make([]int32, len(t.GPU)), Detected: len(f.pieces)}
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
		if f.forwards > 0 {
			c.Forwards = append(c.Forwards, f.forwards)
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
	return fmt.Sprintf("%d iterations of %d GPU events", len(f.pieces), f.level.lag)
}

// judge sets the confidence and its reasons.
func (f *finding) judge(r *Result) {
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
	say := func(by float64, format string, args ...any) {
		conf += by
		r.Reasons = append(r.Reasons, fmt.Sprintf(format, args...))
	}
	say(0.3*min(share, 0.8)/0.8-0.1, "the steps hold %.1f %% of the GPU time", 100*share)
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
	case f.level.loops:
		say(0.15, "each step is made of repeated blocks")
	case f.alone(r):
		say(-0.45, "the repeated part holds no repeated blocks and stands alone: it may be the layers of one pass")
	default:
		say(-0.1, "no repeated blocks inside a step")
	}
	r.Confidence = max(0, min(1, conf))
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
	return outside < max(2*fewKernels, f.level.lag/2, (len(r.PhaseOf)-outside)/8)
}
