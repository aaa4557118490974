package trace

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// shortKernel is the duration below which a kernel of a graph replay cannot be trusted where end stamps abut: the profiler
// then folds the gap to the next kernel, some microseconds, into it.
const shortKernel = 10 * time.Microsecond

// abutting is the largest gap between two kernels of a stream that counts as none.
const abutting = 2 * time.Nanosecond

// A GraphReplay is one launch of a captured graph with the work that it caused.
type GraphReplay struct {
	Launch LaunchID
	Events []GPUID // in the order of their starts
}

// GraphReplays returns the graph launches that have GPU work, in the order of the launches.
func (t *Trace) GraphReplays() []GraphReplay {
	var list []GraphReplay
	var index []int32 // by launch: its place in the list, from 1
	for i := range t.Launches {
		if l := &t.Launches[i]; l.Kind == LaunchGraph && l.GPU > 0 {
			if list == nil {
				index = make([]int32, len(t.Launches))
			}
			index[i] = int32(len(list) + 1)
			list = append(list, GraphReplay{Launch: LaunchID(i), Events: make([]GPUID, 0, l.GPU)})
		}
	}
	if list == nil {
		return nil
	}
	for i := range t.GPU {
		if l := t.GPU[i].Launch; l != None && index[l] > 0 {
			r := &list[index[l]-1]
			r.Events = append(r.Events, GPUID(i))
		}
	}
	return list
}

// diagnoseGraphs tells what the graph replays of a trace leave unknown: operators, durations, idle time. It replaces what
// it said before of the same trace.
func diagnoseGraphs(t *Trace) {
	t.Diagnostics = slices.DeleteFunc(t.Diagnostics, func(d Diagnostic) bool {
		return slices.Contains([]string{"graph_without_capture", "graph_short_kernels", "graph_idle", "graph_kernels_vary"}, d.Code)
	})
	replays := t.GraphReplays()
	if len(replays) == 0 {
		return
	}
	diagnoseUncaptured(t, replays)
	diagnoseShort(t, replays)
	diagnoseVarying(t, replays)
}

// diagnoseUncaptured counts the work of replays that no captured operator owns.
func diagnoseUncaptured(t *Trace, replays []GraphReplay) {
	var events int64
	var lost, all time.Duration
	for i := range t.GPU {
		all += t.GPU[i].Dur
	}
	for _, r := range replays {
		for _, id := range r.Events {
			if g := &t.GPU[id]; g.Op == None || !t.Ops[g.Op].Captured {
				events++
				lost += g.Dur
			}
		}
	}
	if events == 0 {
		return
	}
	t.diagnose("graph_without_capture", Warning, events, fmt.Sprintf(
		"%d GPU events (%.3f ms, %.1f %% of GPU time) were replayed from graphs and have no operator; a trace of the capture phase would give them theirs",
		events, float64(lost)/1e6, 100*float64(lost)/float64(max(all, 1))))
}

// diagnoseShort looks at the gaps between the kernels of each replay. Where there are none, short kernels last too long;
// where there are, the device was idle inside a graph.
func diagnoseShort(t *Trace, replays []GraphReplay) {
	var short, idle int64
	var shortTime, idleTime time.Duration
	for _, r := range replays {
		gaps, n := replayGaps(t, r)
		if gaps >= time.Microsecond {
			idle++
			idleTime += gaps
		}
		if 10*n.abut < 9*n.all || n.all == 0 {
			continue
		}
		for _, id := range r.Events {
			if g := &t.GPU[id]; g.Kind == Kernel && g.Dur < shortKernel {
				short++
				shortTime += g.Dur
			}
		}
	}
	if short > 0 {
		t.diagnose("graph_short_kernels", Warning, short, fmt.Sprintf(
			"%d kernels of graph replays are shorter than %d µs (%.3f ms together) and end where the next begins: idle time is counted into them, so their durations and efficiencies are unreliable",
			short, shortKernel.Microseconds(), float64(shortTime)/1e6))
	}
	if idle > 0 {
		t.diagnose("graph_idle", Info, idle, fmt.Sprintf("the device was idle for %.3f ms inside %d graph replays", float64(idleTime)/1e6, idle))
	}
}

// A gapCount tells how many pairs of neighbours on a stream there are, and how many of them abut.
type gapCount struct{ abut, all int64 }

// replayGaps returns the time inside a replay in which none of its work ran, if it is more than stamps differ by.
func replayGaps(t *Trace, r GraphReplay) (idle time.Duration, n gapCount) {
	type lane struct {
		device int32
		stream int64
	}
	last := make(map[lane]time.Duration)
	var end time.Duration
	for i, id := range r.Events {
		g := &t.GPU[id]
		if i > 0 && g.Start-end > abutting {
			idle += g.Start - end
		}
		if before, ok := last[lane{g.Device, g.Stream}]; ok {
			n.all++
			if g.Start-before <= abutting {
				n.abut++
			}
		}
		last[lane{g.Device, g.Stream}] = g.End()
		if i == 0 || g.End() > end {
			end = g.End()
		}
	}
	return idle, n
}

// diagnoseVarying notices replays of what seems to be the same graph with different numbers of events: then events are
// missing and idle time cannot be told.
func diagnoseVarying(t *Trace, replays []GraphReplay) {
	type graph struct {
		op    string
		first string
	}
	counts := make(map[graph][]int)
	for _, r := range replays {
		key := graph{first: t.GPU[r.Events[0]].Name}
		if op := t.Launches[r.Launch].Op; op != None {
			key.op = t.Ops[op].Name
		}
		counts[key] = append(counts[key], len(r.Events))
	}
	varying := int64(0)
	for _, c := range counts {
		slices.Sort(c)
		usual := c[len(c)/2]
		for _, n := range c {
			// Graphs that differ by more than a tenth are likely not the same.
			if n != usual && 10*max(n-usual, usual-n) < usual {
				varying++
			}
		}
	}
	if varying > 0 {
		t.diagnose("graph_kernels_vary", Warning, varying, fmt.Sprintf(
			"%d of %d graph replays have fewer or more events than others of their graph: events were lost, so idle time is unreliable", varying, len(replays)))
	}
}

// compareReplays orders replays as the operators of their launches are ordered.
func compareReplays(t *Trace, x, y LaunchID) int {
	a, b := &t.Launches[x], &t.Launches[y]
	return cmp.Or(cmp.Compare(a.Thread, b.Thread), cmp.Compare(a.Start, b.Start), cmp.Compare(b.Dur, a.Dur), cmp.Compare(x, y))
}
