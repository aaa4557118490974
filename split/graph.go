package split

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sort"
	"time"

	"github.com/ditlens/ditlens/trace"
)

// Graph finds steps by graph launches: a replay of a captured graph is a forward pass, or a fixed part of one. It reads each
// replay as one event and looks for the loop of replays and the eager work around them. Graphs are told apart by what they launch and by where
// in a step they stand; a step is incomplete when a replay of its lacks what others of that graph have. Where graphs are parts of blocks it looks
// for the loop among the kernels instead, as [Autocorrelation] does.
type Graph struct{}

// Name returns "graph".
func (Graph) Name() string { return "graph" }

// Split implements [Splitter].
func (g Graph) Split(ctx context.Context, in *Input) (*Result, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	o := newOrder(in.Trace)
	launches := replays(in.Trace, o.lane)
	if len(launches) == 0 {
		return nil, noSteps(in, o, g.Name(), CodeMissing, "no graph launches")
	}
	f, err := findReplays(in.Trace, o, launches, ctx.Err)
	if err != nil {
		return nil, err
	}
	if f == nil || len(f.pieces) < 2 {
		if len(launches) == 1 {
			if r := g.only(in, o, launches[0]); r != nil {
				return r, nil
			}
		}
		return nil, noSteps(in, o, g.Name(), CodeNoSteadyState, fmt.Sprintf("%d graph launches that do not repeat", len(launches)))
	}
	c := f.cut(in.Trace, o)
	c.Method, c.Mode = "graph", g.Name()
	r := assemble(in, c, o)
	f.judge(in.Trace, r, o)
	message := fmt.Sprintf("%d steps of %d graph launches", len(r.Steps), len(launches))
	r.NonEmptyModes = []string{g.Name()}
	r.Attempts = []Attempt{{Mode: g.Name(), Code: CodeOK, Message: message, Steps: len(r.Steps)}}
	if r.Confidence < minConfidence {
		no := noSteps(in, o, g.Name(), CodeLowQuality, message+": "+f.doubt)
		no.Attempts[0].Steps = len(r.Steps)
		return nil, no
	}
	return r, nil
}

// only makes the one graph launch of a trace its only step, if it holds at least half of the GPU time and runs blocks: a pass is
// captured as a whole.
func (g Graph) only(in *Input, o *order, launch replay) *Result {
	t := in.Trace
	c := Cut{Method: "graph", Mode: g.Name(), StepOf: make([]int32, len(t.GPU)), Partial: []bool{!launch.whole}, Confidence: 0.6}
	var inside, all time.Duration
	for id := range t.GPU {
		c.StepOf[id] = -1
		all += t.GPU[id].Dur
	}
	ids := o.lane[launch.from:launch.to]
	for _, id := range ids {
		c.StepOf[id] = 0
		inside += t.GPU[id].Dur
	}
	if 2*inside < all || blocks(t, o, ids) == "" {
		return nil
	}
	c.Reasons = []string{fmt.Sprintf("the only graph launch holds %.1f %% of the GPU time", 100*float64(inside)/float64(all))}
	if !launch.whole {
		c.Reasons = append(c.Reasons, "it reaches an end of the trace, which may have cut it")
	}
	r := assemble(in, c, o)
	if speaksAgainst(t, r, o) != "" {
		return nil
	}
	r.NonEmptyModes = []string{g.Name()}
	r.Attempts = []Attempt{{Mode: g.Name(), Code: CodeOK, Message: "1 step, the only graph launch", Steps: 1}}
	return r
}

// findReplays looks for the loop of steps of the graph launches of a lane.
func findReplays(t *trace.Trace, o *order, all []replay, stop func() error) (*finding, error) {
	n, err := graphs(t, o, all, stop)
	if err != nil {
		return nil, err
	}
	passes := withEager(o, all, n)
	f, err := findPasses(t, o, passes, n, stop)
	if err == nil && !holdBlocks(t, o, all) {
		var g *finding
		if g, err = findLoop(t, o, stop); g != nil && g.loops && (f == nil || len(g.pieces) < len(f.pieces)) {
			f, passes = g, all // the graphs are parts of blocks
		}
	}
	if f == nil || err != nil {
		return nil, err
	}
	held := f.markCut(passes)
	f.markUnrecorded(t, o, t.Launches[t.GPU[o.lane[all[len(all)-1].from]].Launch].Thread)
	if median(held) == 0 {
		return nil, nil
	}
	return f, nil
}

// markCut marks the steps of which a replay is not whole, and those at an end of the lane that hold fewer replays than others do. It returns
// how many each of them holds.
func (f *finding) markCut(all []replay) (held []int) {
	held = make([]int, len(f.pieces))
	for k := range f.pieces {
		p := &f.pieces[k]
		first := sort.Search(len(all), func(i int) bool { return all[i].to > p.from })
		for _, r := range all[first:] {
			if r.from >= p.to {
				break
			}
			held[k]++
			p.whole = p.whole && r.whole
		}
	}
	for k, usual := 0, median(held); k < len(held); k++ {
		if p := &f.pieces[k]; p.from == 0 || p.to == len(f.lane) {
			p.whole = p.whole && held[k] >= usual
		}
	}
	return held
}

// markUnrecorded marks the steps with more graph launches of a thread that replayed nothing, as far as recorded, than others have.
func (f *finding) markUnrecorded(t *trace.Trace, o *order, thread trace.ThreadID) {
	lost := make([]int, len(f.pieces))
	for i := range t.Launches {
		l := &t.Launches[i]
		if l.GPU > 0 || l.Kind != trace.LaunchGraph || l.Thread != thread {
			continue
		}
		k := sort.Search(len(f.pieces), func(k int) bool { return o.key[f.lane[f.pieces[k].from]] > l.Start }) - 1
		if k >= 0 && l.Start < o.key[f.lane[f.pieces[k].to-1]] {
			lost[k]++
		}
	}
	least := slices.Min(lost)
	for k, n := range lost {
		f.pieces[k].whole = f.pieces[k].whole && n == least
	}
}

// findPasses looks for steps of whole passes, each graph launch being one event.
func findPasses(t *trace.Trace, o *order, all []replay, graphs int, stop func() error) (*finding, error) {
	s := search{t: t, lane: o.lane, sig: o.signatures(o.lane), distinct: o.distinct + graphs, solid: o.distinct, stop: stop}
	job := jobs(o, all, graphs)
	var at []int32
	for i, k := 0, 0; i < len(o.lane); {
		at = append(at, int32(i))
		if k == len(all) || i < all[k].from {
			i++
			continue
		}
		s.sig[i] = int32(o.distinct + job[all[k].graph])
		i = all[k].to
		k++
	}
	f, err := s.at(at)
	if f == nil || err != nil {
		return nil, err
	}
	at = append(at, int32(len(o.lane)))
	for k := range f.pieces {
		p := &f.pieces[k]
		p.from, p.to = int(at[p.from]), int(at[p.to])
	}
	f.loops = true // a captured pass stands for its blocks
	if f.pieces[0].from == 0 && f.pieces[len(f.pieces)-1].to == len(o.lane) {
		f.agree = false // there are no ends of the loop that could
	}
	return f, nil
}

// holdBlocks reports whether the largest replay is made of repeated blocks, as one of a pass is.
func holdBlocks(t *trace.Trace, o *order, all []replay) bool {
	r := slices.MaxFunc(all, func(a, b replay) int { return cmp.Compare(a.to-a.from, b.to-b.from) })
	return blocks(t, o, o.lane[r.from:r.to]) != ""
}
