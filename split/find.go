package split

import (
	"fmt"
	"slices"
	"time"

	"github.com/ditlens/ditlens/trace"
)

// A finding is the loop of steps that was found in a lane of a trace.
type finding struct {
	events    []trace.GPUEvent
	lane      []trace.GPUID
	period    int           // events of a typical step
	full      int           // and of one of the longer ones, which others may be cached forms of
	loops     bool          // steps are made of blocks
	time      time.Duration // GPU time of the steps
	explained time.Duration // of it, what recurs from one to another
	pieces    []piece       // in positions of the lane
	forwards  int           // most passes a step, as far as seen
	agree     bool          // both ends of the loop agree on the boundaries
	torn      bool          // half of the steps or more begin amid blocks
	blind     bool          // neither end of the loop tells where in a boundary a step begins
	alternate bool          // every few boundaries hold work that others do not
	adjoined  bool          // another loop, not of convolutions, follows at once
	conv      bool          // steps are mostly convolutions
	rivalled  bool          // a loop elsewhere holds nearly as much
	holds     bool          // within its steps is another loop that might be the steps
	frayed    bool          // what adjoins the steps is like a part of them
	spilt     time.Duration // GPU time outside that is like the steps, see spill
	inside    []SubPeriod   // loops below the step
	total     time.Duration
	beside    []*finding // in other lanes, piece by piece the same steps
	apart     []*finding // in other lanes that work much, which do not
	dissent   []string   // what other lanes have against it
	doubt     string     // what speaks most against it

	sig      []int32 // see named
	distinct int
}

// findLoop looks for the loop of steps in the sequence. If that leaves doubts it looks again with the shapes of operators, which tell
// layers apart that launch the same kernels, and then in the skeleton. It returns nil if there is none.
func findLoop(t *trace.Trace, o *order, stop func() error) (*finding, error) {
	if len(o.lane) < 4 {
		return nil, nil
	}
	every := indices(len(o.lane))
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
	if sig, distinct := names(t.GPU, o.lane); distinct < s.distinct {
		coarse := s
		coarse.sig, coarse.distinct, coarse.solid = sig, distinct, distinct
		g, err := coarse.at(every)
		if err != nil {
			return f, err
		}
		if g.better(f) {
			f = g
		}
	}
	bones := skeleton(s.sig, s.distinct)
	if f.sure() || len(bones) == len(s.sig) {
		return f, nil
	}
	g, err := s.at(bones)
	switch {
	case err != nil || g == nil:
		return f, err
	case f != nil && f.agree && len(f.pieces) == len(g.pieces):
		f.loops = f.loops || g.loops
		return f, nil
	case g.better(f):
		g.flesh(s.sig, bones)
		g.spilt = g.spill()
		return g, nil
	}
	return f, nil
}

// named returns the lane as numbers of names, and how many names there are.
func (f *finding) named() ([]int32, int) {
	if f.sig == nil {
		f.sig, f.distinct = names(f.events, f.lane)
	}
	return f.sig, f.distinct
}

// better reports whether a finding in another reading of the sequence explains clearly more, or hardly less with ends that agree.
func (f *finding) better(than *finding) bool {
	switch {
	case f == nil:
		return false
	case than == nil:
		return true
	}
	return f.weight() > than.weight()*11/10 || f.agree && !than.agree && f.weight() > than.weight()*4/5
}

// sure reports whether the loop is beyond doubt: made of blocks, with ends that agree, most of the work but not all of it, and no work like
// that of its steps outside.
func (f *finding) sure() bool {
	if f == nil || !f.loops || !f.agree || 2*f.time <= f.total || f.spills() {
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
	s.kinds(n)
	f := &finding{events: s.t.GPU, lane: s.lane, total: n.before[len(n.tok)]}
	fo, c := n.sing(s.distinct)
	if c == nil {
		return nil, nil
	}
	ta := newTailor(fo, c)
	f.pieces = ta.steps()
	f.torn = fo.splits(f.pieces)
	for i := range f.pieces {
		p := &f.pieces[i]
		p.from, p.to = fo.at[p.from], fo.at[p.to]
	}
	f.agree, f.loops, f.alternate, f.blind = ta.sure, c.runs, ta.alternate, ta.blind
	f.holds, f.explained, f.conv = c.holds, c.time, c.conv
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
	slices.Sort(lengths)
	f.full = lengths[len(lengths)*3/4]
	steps.lag, steps.time = slices.Max(lengths), f.time
	f.loops = f.loops || n.inner(&steps, f.pieces)
	f.inside = n.subPeriods(f.pieces)
	f.torn = f.torn || n.tears(f.pieces)
	f.adjoined = !f.loops && n.adjoins(f.pieces[len(f.pieces)-1].to)
	if len(positions) == len(s.lane) {
		f.spilt = f.spill()
	}
	return f, nil
}

// kinds notes in n which signatures are copies and which are convolutions.
func (s *search) kinds(n *nest) {
	n.copied, n.conv, n.prod = make([]bool, s.distinct), make([]bool, s.distinct), make([]bool, s.distinct)
	n.name = make([]int32, s.distinct)
	seen := make([]bool, s.distinct)
	known := map[string]int32{}
	for i, id := range s.lane {
		if k := s.sig[i]; !seen[k] {
			g := &s.t.GPU[id]
			if _, ok := known[g.Name]; !ok {
				known[g.Name] = int32(len(known))
				n.names = append(n.names, g.Name)
			}
			n.name[k] = known[g.Name]
			seen[k], n.copied[k], n.conv[k], n.prod[k] = true, g.Kind != trace.Kernel, convolution(g.Name), product(g.Name)
		}
	}
}

// weight ranks what is found in the sequence and in its skeleton.
func (f *finding) weight() time.Duration {
	if f.loops {
		return f.explained * 5 / 4
	}
	return f.explained
}

// cut gives every event its step: those of the lane and of lanes that go with it by position, others by when they were launched.
func (f *finding) cut(t *trace.Trace, o *order) Cut {
	c := Cut{Method: "autocorrelation", SubPeriods: f.inside, StepOf: make([]int32, len(t.GPU)), Detected: len(f.pieces)}
	for i := range c.StepOf {
		c.StepOf[i] = -1
	}
	for _, p := range f.pieces {
		c.ImageOf = append(c.ImageOf, p.image)
		c.Partial = append(c.Partial, !p.whole)
		if f.forwards > 1 {
			c.Forwards = append(c.Forwards, p.passes)
		}
	}
	inLane := make([]bool, len(t.GPU))
	ruler := map[int32]*finding{} // by device
	for _, g := range append([]*finding{f}, f.beside...) {
		for _, id := range g.lane {
			inLane[id] = true
			if d := t.GPU[id].Device; ruler[d] == nil {
				ruler[d] = g
			}
		}
		for s, p := range g.pieces {
			c.Partial[s] = c.Partial[s] || !p.whole
			for _, id := range g.lane[p.from:p.to] {
				c.StepOf[id] = int32(s)
			}
		}
	}
	var foreign []trace.GPUID // on devices without steps of their own
	for id := range t.GPU {
		if inLane[id] {
			continue
		}
		if g := ruler[t.GPU[id].Device]; g != nil {
			c.StepOf[id] = g.stepAt(o, o.key[id])
		} else {
			foreign = append(foreign, trace.GPUID(id))
		}
	}
	for _, ids := range byDevice(t, foreign) {
		f.whileRunning(t, ids, c.StepOf)
	}
	f.object(&c, o)
	return c
}

func (f *finding) describe() string {
	return fmt.Sprintf("%d iterations of %d GPU events", len(f.pieces), f.period)
}
