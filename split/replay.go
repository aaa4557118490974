package split

import (
	"cmp"
	"slices"
	"time"

	"github.com/ditlens/ditlens/trace"
)

// A replay is the GPU events of one graph launch in a lane, as positions [from, to).
type replay struct {
	from, to int
	graph    int  // the graph that it replays
	whole    bool // it has what other replays of that graph have
	edge     bool // it is the first or the last of the lane, by launch or in time, so that the trace may begin or end within it
}

// A form is what one replay, or several equal ones, launched as far as was recorded. A graph has one form, and one more for each of its replays that
// lost events.
type form struct {
	work  bag
	size  int   // events
	of    []int // replays
	graph int   // -1 while not known
}

// replays returns the graph launches of a lane. If the trace begins within a replay its launch may not have been recorded: the first events then have
// only the correlation in common.
func replays(t *trace.Trace, lane []trace.GPUID) (all []replay) {
	for i := 0; i < len(lane); i++ {
		l := t.GPU[lane[i]].Launch
		if l < 0 || t.Launches[l].Kind != trace.LaunchGraph {
			continue
		}
		if n := len(all); n > 0 && t.GPU[lane[all[n-1].from]].Launch == l { // past strays of no launch
			all[n-1].to = i + 1
			continue
		}
		all = append(all, replay{from: i, to: i + 1})
	}
	if len(all) == 0 {
		return nil
	}
	n, c := 0, t.GPU[lane[0]].Correlation
	for c != 0 && n < all[0].from && t.GPU[lane[n]].Launch < 0 && t.GPU[lane[n]].Correlation == c {
		n++
	}
	if n > 1 {
		all = slices.Insert(all, 0, replay{from: 0, to: n})
	}
	first, last := slices.Min(lane), lane[0] // to begin and to end
	for _, id := range lane {
		if t.GPU[id].End() > t.GPU[last].End() {
			last = id
		}
	}
	for i := range all {
		r := &all[i]
		r.edge = r.from == 0 || r.to == len(lane) || slices.Contains(lane[r.from:r.to], first) || slices.Contains(lane[r.from:r.to], last)
	}
	return all
}

// graphs tells which replays are of one graph and which of these are whole, and returns the number of graphs. A replay that has nothing but a part of
// what another has is of the same graph, and cut: by an end of the trace, or because the profiler dropped events. It is of a graph of its own, as
// that of a cached step is, if it recurs, or if it left no time for what it lacks.
func graphs(t *trace.Trace, o *order, all []replay, stop func() error) (n int, err error) {
	forms := formsOf(t, o, all)
	var first []*form // the largest form of each graph
	var parts []*form // of a graph yet to be chosen
	for _, f := range forms {
		if err := stop(); err != nil {
			return 0, err
		}
		f.graph = -1
		least, part := f.size/50, false // nearly equal to a larger one
		for g, of := range first {
			missing, ok := of.lacking(f)
			if !ok {
				continue
			}
			if missing <= least {
				f.graph, least = g, missing
			}
			part = part || len(f.of) == 1 && leftTime(t, o, all, f.of[0], of.of[0])
		}
		switch {
		case f.graph >= 0:
		case part:
			parts = append(parts, f)
		default:
			f.graph = len(first)
			first = append(first, f)
		}
		for _, i := range f.of {
			all[i].graph = f.graph
		}
	}
	slices.SortFunc(parts, func(a, b *form) int { return cmp.Compare(a.of[0], b.of[0]) })
	for _, f := range parts {
		f.graph = inPlace(all, f, first)
		all[f.of[0]].graph = f.graph
	}
	judgeWhole(all, forms, len(first))
	return len(first), nil
}

// judgeWhole marks the replays as whole that lack hardly more than others of their graph do of what most of these launch. One at an edge may well
// be cut: there must be another one, and it must lack nothing.
func judgeWhole(all []replay, forms []*form, graphs int) {
	usual, replayed, lacks := make([]*form, graphs), make([]int, graphs), make([][]int, graphs)
	for _, f := range forms { // larger ones first
		replayed[f.graph] += len(f.of)
		if u := usual[f.graph]; u == nil || len(f.of) > len(u.of) {
			usual[f.graph] = f
		}
	}
	missing := make([]int, len(all))
	for _, f := range forms {
		n, _ := usual[f.graph].lacking(f)
		for _, i := range f.of {
			missing[i] = n
			if !all[i].edge {
				lacks[f.graph] = append(lacks[f.graph], n)
			}
		}
	}
	usually := make([]int, graphs)
	for g, n := range lacks {
		if len(n) > 0 { // not all at an edge
			usually[g] = median(n)
		}
	}
	for i := range all {
		r := &all[i]
		if r.edge {
			r.whole = missing[i] == 0 && replayed[r.graph] > 1
			continue
		}
		const unreported = 1 // the last node of a graph
		r.whole = missing[i] <= max(unreported, 2*usually[r.graph])
	}
}

// formsOf returns the forms of replays, larger ones first.
func formsOf(t *trace.Trace, o *order, all []replay) []*form {
	var forms []*form
	known := map[uint64]*form{}
	var sig []int32
	for i, r := range all {
		sig = sig[:0]
		for _, id := range o.lane[r.from:r.to] {
			if t.GPU[id].Launch == t.GPU[o.lane[r.from]].Launch {
				sig = append(sig, o.sig[id])
			}
		}
		work := newBag(sig)
		h := work.hash()
		if known[h] == nil {
			known[h] = &form{work: work, size: len(sig)}
			forms = append(forms, known[h])
		}
		known[h].of = append(known[h].of, i)
	}
	slices.SortStableFunc(forms, func(a, b *form) int { return cmp.Or(cmp.Compare(b.size, a.size), cmp.Compare(len(b.of), len(a.of))) })
	return forms
}

// lacking returns how many events of f are missing in g; ok is false if g has more than a few that f has not.
func (f *form) lacking(g *form) (missing int, ok bool) {
	missing, more, foreign := f.work.compare(g.work)
	return missing, 50*(more+foreign) <= g.size
}

// leftTime reports whether what replay i lacks of replay k left its time idle, or may have lain beyond an end of the trace.
func leftTime(t *trace.Trace, o *order, all []replay, i, k int) bool {
	r := all[i]
	if r.edge {
		return true
	}
	busy := func(r replay) (sum time.Duration) {
		for _, id := range o.lane[r.from:r.to] {
			sum += t.GPU[id].Dur
		}
		return sum
	}
	before, behind := &t.GPU[o.lane[r.from-1]], &t.GPU[o.lane[r.to]]
	idle := behind.Start - before.End() - busy(r)
	return 2*idle > busy(all[k])-busy(r)
}

// inPlace returns the graph of which a form is a part; if several hold it, the one whose replays most often have the same neighbors.
func inPlace(all []replay, part *form, graphs []*form) (best int) {
	i := part.of[0]
	most := -1
	for g, f := range graphs {
		if _, ok := f.lacking(part); !ok {
			continue
		}
		like := 0
		for _, k := range f.of {
			like += rank(i > 0 && k > 0 && all[i-1].graph == all[k-1].graph)
			like += rank(i+1 < len(all) && k+1 < len(all) && all[i+1].graph == all[k+1].graph)
		}
		if like > most {
			best, most = g, like
		}
	}
	return best
}
