package split

import (
	"fmt"
	"slices"
	"sort"
	"time"

	"github.com/ditlens/ditlens/trace"
)

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
