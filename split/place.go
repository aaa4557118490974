package split

import (
	"cmp"
	"fmt"
	"slices"
)

// The place of a replay in a step is told by the eager kernels next to it. It says what a graph is for when what it launches does not.

// places returns the few eager kernels next to each replay, which tell its place in a step: those before it and those behind, "" if there are none.
func places(o *order, all []replay) (before, behind []string) {
	const near = 3
	for i, r := range all {
		from, to := max(0, r.from-near), min(len(o.lane), r.to+near)
		if i > 0 {
			from = max(from, all[i-1].to)
		}
		if i+1 < len(all) {
			to = min(to, all[i+1].from)
		}
		place := func(from, to int) string {
			if from == to {
				return ""
			}
			return fmt.Sprint(o.signatures(o.lane[from:to]))
		}
		before, behind = append(before, place(from, r.from)), append(behind, place(r.to, to))
	}
	return before, behind
}

// jobs numbers what graphs are for: those of which replays stand between the same eager kernels take each other's place, as the graph of a cached step
// takes that of a full one. What lies beyond an end of the trace may be the same.
func jobs(o *order, all []replay, graphs int) []int {
	job := make([]int, graphs)
	for g := range job {
		job[g] = g
	}
	merge := func(a, b int) {
		old, now := job[a], job[b]
		for g, j := range job {
			if j == old {
				job[g] = now
			}
		}
	}
	before, behind := places(o, all)
	at := map[string]int{} // place -> graph
	for i, r := range all {
		if before[i] == "" || behind[i] == "" {
			continue
		}
		place := before[i] + behind[i]
		if g, seen := at[place]; seen {
			merge(r.graph, g)
		}
		at[place] = r.graph
	}
	first, last := 0, len(all)-1
	if k := slices.Index(behind[1:], behind[first]) + 1; k > 0 && all[first].edge && behind[first] != "" {
		merge(all[first].graph, all[k].graph)
	}
	if k := slices.Index(before[:last], before[last]); k >= 0 && all[last].edge && before[last] != "" {
		merge(all[last].graph, all[k].graph)
	}
	return job
}

// withEager adds the steps that ran without a graph, as the first one does before the graph is captured: the kernels of a graph, launched one by one, and
// behind them what follows a replay.
func withEager(o *order, all []replay, graphs int) []replay {
	runs := eagerRuns(o, all, graphs)
	if len(runs) == 0 {
		return all
	}
	_, behind := places(o, all)
	both := append(slices.Clone(all), runs...)
	slices.SortFunc(both, func(a, b replay) int { return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(b.to, a.to)) })
	end := 0
	both = slices.DeleteFunc(both, func(r replay) bool { // a graph may hold what a smaller one does
		within := r.from < end
		end = max(end, r.to)
		return within
	})
	_, follows := places(o, both)
	var out []replay
	for i, r := range both {
		_, launched := slices.BinarySearchFunc(all, r.from, func(r replay, from int) int { return cmp.Compare(r.from, from) })
		if launched || follows[i] != "" && slices.Contains(behind, follows[i]) {
			out = append(out, r)
		}
	}
	return out
}

// eagerRuns returns where the kernels of a graph of some size are launched one by one.
func eagerRuns(o *order, all []replay, graphs int) (runs []replay) {
	sig := o.signatures(o.lane)
	eager := map[int32][]int{}       // where each signature stands outside of replays
	room := make([]int, len(o.lane)) // where the next replay begins
	for i, k := 0, 0; i < len(sig); i++ {
		for k < len(all) && all[k].to <= i {
			k++
		}
		room[i] = len(sig)
		if k < len(all) {
			room[i] = all[k].from
		}
		if i < room[i] {
			eager[sig[i]] = append(eager[sig[i]], i)
		}
	}
	known := make([]bool, graphs)
	for _, r := range all {
		work := sig[r.from:r.to]
		if known[r.graph] || !r.whole || len(work) < layer {
			continue
		}
		known[r.graph] = true
		end := 0
		for _, i := range eager[work[0]] {
			if to := i + len(work); i >= end && to <= room[i] && slices.Equal(sig[i:to], work) {
				runs = append(runs, replay{from: i, to: to, graph: r.graph, whole: true})
				end = to
			}
		}
	}
	return runs
}
