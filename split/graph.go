package split

import (
	"context"
	"fmt"
	"time"

	"github.com/ditlens/ditlens/trace"
)

// Graph finds steps by graph launches: a replay of a captured graph is a forward pass, or a fixed part of one. It reads each
// replay as one event and looks for the loop of replays and the eager work around them.
type Graph struct{}

// Name returns "graph".
func (Graph) Name() string { return "graph" }

// Split implements [Splitter].
func (g Graph) Split(ctx context.Context, in *Input) (*Result, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	o := newOrder(in.Trace)
	f, replays, err := findReplays(in.Trace, o, ctx.Err)
	if err != nil {
		return nil, err
	}
	if replays == 0 {
		return nil, noSteps(in, o, g.Name(), CodeMissing, "no graph launches")
	}
	if replays == 1 {
		if r := g.only(in, o); r != nil {
			return r, nil
		}
	}
	if f == nil || len(f.pieces) < 2 {
		return nil, noSteps(in, o, g.Name(), CodeNoSteadyState, fmt.Sprintf("%d graph launches that do not repeat", replays))
	}
	c := f.cut(in.Trace, o)
	c.Method, c.Mode = "graph", g.Name()
	r := assemble(in, c, o)
	f.judge(in.Trace, r, o)
	message := fmt.Sprintf("%d steps of %d graph launches", len(r.Steps), replays)
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
func (g Graph) only(in *Input, o *order) *Result {
	t := in.Trace
	c := Cut{Method: "graph", Mode: g.Name(), StepOf: make([]int32, len(t.GPU)), Confidence: 0.6}
	var inside, all time.Duration
	var ids []trace.GPUID
	for _, id := range o.ids {
		g := &t.GPU[id]
		c.StepOf[id] = -1
		all += g.Dur
		if g.Launch >= 0 && t.Launches[g.Launch].Kind == trace.LaunchGraph {
			c.StepOf[id] = 0
			inside += g.Dur
			ids = append(ids, id)
		}
	}
	if 2*inside < all || blocks(t, o, ids) == "" {
		return nil
	}
	c.Reasons = []string{fmt.Sprintf("the only graph launch holds %.1f %% of the GPU time", 100*float64(inside)/float64(all))}
	r := assemble(in, c, o)
	if speaksAgainst(t, r, o) != "" {
		return nil
	}
	r.NonEmptyModes = []string{g.Name()}
	r.Attempts = []Attempt{{Mode: g.Name(), Code: CodeOK, Message: "1 step, the only graph launch", Steps: 1}}
	return r
}

// findReplays looks for the loop of steps in a lane in which each graph launch is one event.
func findReplays(t *trace.Trace, o *order, stop func() error) (f *finding, replays int, err error) {
	sig, distinct := o.signatures(o.lane), o.distinct
	eager := distinct
	var at []int32
	known := map[int]int32{} // graphs by number of events: a replay may lack its last ones, but not change its size much
	for i := 0; i < len(o.lane); {
		l := t.GPU[o.lane[i]].Launch
		at = append(at, int32(i))
		if l < 0 || t.Launches[l].Kind != trace.LaunchGraph {
			i++
			continue
		}
		j := i
		for j < len(o.lane) && t.GPU[o.lane[j]].Launch == l {
			j++
		}
		sig[i] = graphSignature(known, j-i, &distinct)
		replays++
		i = j
	}
	if replays == 0 {
		return nil, 0, nil
	}
	s := search{t: t, lane: o.lane, sig: sig, distinct: distinct, solid: eager, stop: stop}
	if f, err = s.at(at); f == nil {
		return nil, replays, err
	}
	inSteps := 0
	for k := range f.pieces {
		p := &f.pieces[k]
		for _, a := range at[p.from:p.to] {
			if l := t.GPU[o.lane[a]].Launch; l >= 0 && t.Launches[l].Kind == trace.LaunchGraph {
				inSteps++
			}
		}
		to := len(o.lane)
		if p.to < len(at) {
			to = int(at[p.to])
		}
		p.from, p.to = int(at[p.from]), to
	}
	if inSteps < len(f.pieces) {
		return nil, replays, nil
	}
	f.loops = true // a captured pass stands for its blocks
	return f, replays, nil
}

// graphSignature numbers graphs by how many events they replay, up to one in fifty.
func graphSignature(known map[int]int32, events int, distinct *int) int32 {
	for d := 0; 50*d <= events; d++ {
		if s, ok := known[events-d]; ok {
			return s
		}
		if s, ok := known[events+d]; ok {
			return s
		}
	}
	s := int32(*distinct)
	known[events] = s
	*distinct++
	return s
}
