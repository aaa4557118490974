package trace

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sort"
	"time"
)

// link gives each launch its operator and each GPU event its launch. The path is kernel, then the call with the same
// correlation, then the innermost operator that encloses the call on its thread. Flow events are not needed.
func link(ctx context.Context, t *Trace) {
	linkLaunches(ctx, t)
	byCorrelation := indexLaunches(ctx, t)
	for i := range each(ctx, len(t.GPU)) {
		g := &t.GPU[i]
		if g.Correlation == 0 {
			continue
		}
		if l := byCorrelation.find(t, g); l != None {
			g.Launch, g.Op = l, t.Launches[l].Op
			t.Launches[l].GPU++
		}
	}
	if byCorrelation.shared > 0 {
		t.diagnose("shared_correlations", Info, byCorrelation.shared, fmt.Sprintf(
			"the correlations of %d GPU events are carried by several launches; each went to the one that fits best", byCorrelation.shared))
	}
	if byCorrelation.mixed > 0 {
		t.diagnose("mixed_processes", Warning, byCorrelation.mixed, fmt.Sprintf("launches of several processes in one file carry the correlations of %d of "+
			"%d GPU events: which of them launched what is a guess; give each process a file of its own", byCorrelation.mixed, len(t.GPU)))
	}
	for i := range each(ctx, len(t.Launches)) {
		if l := &t.Launches[i]; l.Kind == LaunchOther && l.GPU > 0 {
			l.Kind = LaunchKernel // a call of unknown name is a launch because work names it
		}
	}
}

// linkLaunches finds the innermost operator of each launch.
func linkLaunches(ctx context.Context, t *Trace) {
	byThread := make([]LaunchID, len(t.Launches))
	for i := range each(ctx, len(byThread)) {
		byThread[i] = LaunchID(i)
	}
	order(ctx, byThread, func(x, y LaunchID) int {
		return cmp.Or(cmp.Compare(t.Launches[x].Thread, t.Launches[y].Thread), cmp.Compare(x, y))
	})
	enclose(ctx, len(byThread), len(t.Ops), func(i int) (ThreadID, time.Duration) {
		l := &t.Launches[byThread[i]]
		return l.Thread, l.Start
	}, func(i int) span {
		o := &t.Ops[i]
		return span{o.Thread, o.Start, o.End()}
	}, func(i, op int) { t.Launches[byThread[i]].Op = OpID(op) })
}

// A launchIndex finds launches by input and correlation: launches in that order.
type launchIndex struct {
	ids    []LaunchID
	shared int64 // GPU events whose correlation several launches carry
	mixed  int64 // of them, those whose launches are of several processes
}

func indexLaunches(ctx context.Context, t *Trace) launchIndex {
	var x launchIndex
	for i := range each(ctx, len(t.Launches)) {
		if t.Launches[i].Correlation != 0 {
			x.ids = append(x.ids, LaunchID(i))
		}
	}
	order(ctx, x.ids, func(a, b LaunchID) int {
		return cmp.Or(compareKey(t, a, t.fileOf(b), t.Launches[b].Correlation), cmp.Compare(a, b))
	})
	return x
}

func compareKey(t *Trace, l LaunchID, file int32, correlation int64) int {
	return cmp.Or(cmp.Compare(t.fileOf(l), file), cmp.Compare(t.Launches[l].Correlation, correlation))
}

func (t *Trace) fileOf(l LaunchID) int32    { return t.Threads[t.Launches[l].Thread].File }
func (t *Trace) processOf(l LaunchID) int64 { return t.Threads[t.Launches[l].Thread].PID }

// find returns the launch of a GPU event. If several carry its correlation (two processes in one file, a call inside a
// call) it is the one whose name fits best, then the last one that began before the event.
func (x *launchIndex) find(t *Trace, g *GPUEvent) LaunchID {
	from, ok := slices.BinarySearchFunc(x.ids, g, func(l LaunchID, g *GPUEvent) int {
		return compareKey(t, l, g.File, g.Correlation)
	})
	if !ok {
		return None
	}
	group := x.near(t, g, from)
	if len(group) > 1 {
		x.shared++
		if process := t.processOf(group[0]); slices.ContainsFunc(group, func(l LaunchID) bool { return t.processOf(l) != process }) {
			x.mixed++
		}
	}
	best := group[0]
	for _, l := range group[1:] {
		if better(g, &t.Launches[l], &t.Launches[best]) {
			best = l
		}
	}
	return best
}

// maxNamesakes bounds the launches of one correlation that are looked at for an event: a few are normal, but some files give
// all calls the same.
const maxNamesakes = 64

// near returns the launches with the correlation of g, the first of which is at from: if they are many, the last ones that
// began before it.
func (x *launchIndex) near(t *Trace, g *GPUEvent, from int) []LaunchID {
	n := sort.Search(len(x.ids)-from, func(i int) bool { return compareKey(t, x.ids[from+i], g.File, g.Correlation) != 0 })
	group := x.ids[from : from+n]
	if n <= maxNamesakes {
		return group
	}
	begun := max(2, sort.Search(n, func(i int) bool { return t.Launches[group[i]].Start > g.Start }))
	return group[max(0, begun-maxNamesakes):begun]
}

// better tells whether launch l fits g better than launch m, which began no later.
func better(g *GPUEvent, l, m *Launch) bool {
	if fl, fm := fits(g, l), fits(g, m); fl != fm {
		return fl > fm
	}
	return l.Start <= g.Start
}

// fits rates how well the kind of a launch agrees with the kind of a GPU event.
func fits(g *GPUEvent, l *Launch) int {
	switch l.Kind {
	case LaunchKernel, LaunchGraph:
		if g.Kind == Kernel || l.Kind == LaunchGraph {
			return 2
		}
	case LaunchCopy:
		if g.Kind != Kernel {
			return 2
		}
	case LaunchSync, CaptureBegin, CaptureEnd:
		return 0
	}
	return 1
}

// fallbackByExternalID gives GPU events without a launch the operator that carries their External id, if exactly one
// operator of the input does.
func fallbackByExternalID(ctx context.Context, t *Trace) {
	type key struct {
		file int32
		id   int64
	}
	wanted := make(map[key]OpID)
	for i := range each(ctx, len(t.GPU)) {
		if g := &t.GPU[i]; g.Launch == None && g.ExternalID != 0 {
			wanted[key{g.File, g.ExternalID}] = None
		}
	}
	if len(wanted) == 0 {
		return
	}
	const several = -2
	for i := range each(ctx, len(t.Ops)) {
		k := key{t.Threads[t.Ops[i].Thread].File, t.Ops[i].ExternalID}
		switch id, ok := wanted[k]; {
		case ok && id == None:
			wanted[k] = OpID(i)
		case ok:
			wanted[k] = several
		}
	}
	for i := range each(ctx, len(t.GPU)) {
		if g := &t.GPU[i]; g.Launch == None && g.ExternalID != 0 {
			g.Op = max(None, wanted[key{g.File, g.ExternalID}])
		}
	}
}
