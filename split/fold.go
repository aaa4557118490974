package split

import (
	"cmp"
	"slices"
	"time"
)

// A folded sequence has each run of blocks as one unit, however many blocks it holds. What is left of a step is its head, its
// tail and a few runs, so that a unit of a step occurs about once in each step: also when steps differ in length.
type folded struct {
	*nest
	tok   []int32         // of each unit; a run has the number of its loop behind the signatures
	at    []int           // where the unit begins in the sequence; one more for the end
	runs  int32           // first token of a run
	n     int             // distinct tokens
	work  []int32         // of each unit: its token, or for a run a number behind all tokens that tells loops of equal lag apart by what they launch
	count []int32         // by token: how many units there are
	each  []time.Duration // see unitTimes
}

func (f *folded) time(from, to int) time.Duration { return f.before[f.at[to]] - f.before[f.at[from]] }

// fold replaces the innermost loops that occur in several places. A loop that occurs in one place only may be the steps.
func (n *nest) fold(distinct int, open []bool) *folded {
	type run struct {
		region
		loop int32
	}
	count := make([]int, distinct)
	for _, s := range n.tok {
		count[s]++
	}
	var all []run
	for i := range n.levels {
		l := &n.levels[i]
		if open[i] || l.loops || l.lag < 2 || !l.scattered() || !n.closed(l, count) {
			continue
		}
		for _, r := range l.regions {
			if r.iterations() >= 2.5 && !slices.ContainsFunc(n.tok[r.from:r.to], func(s int32) bool { return s >= n.solid }) {
				all = append(all, run{r, int32(distinct + i)})
			}
		}
	}
	slices.SortFunc(all, func(a, b run) int {
		x, y := &n.levels[a.loop-int32(distinct)], &n.levels[b.loop-int32(distinct)]
		return cmp.Or(cmp.Compare(y.time, x.time), cmp.Compare(a.lag, b.lag), cmp.Compare(a.from, b.from))
	})
	taken := make([]int32, len(n.tok)) // 1 + the kin whose run covers the position
	loops := kindred{nest: n, holds: map[held][]int32{}}
	for _, r := range all {
		free := true
		for i := r.from; i < r.to && free; i += max(1, r.lag/4) {
			free = taken[i] == 0
		}
		if free && taken[r.to-1] == 0 {
			k := loops.of(r.loop, r.region)
			for i := r.from; i < r.to; i++ {
				taken[i] = 1 + k
			}
		}
	}
	f := &folded{nest: n, runs: n.solid, n: distinct + len(n.levels)}
	for i := 0; i < len(n.tok); {
		f.at = append(f.at, i)
		if taken[i] == 0 {
			f.tok, f.work = append(f.tok, n.tok[i]), append(f.work, n.tok[i])
			i++
			continue
		}
		k := taken[i] - 1
		f.tok, f.work = append(f.tok, loops.known[k].loop), append(f.work, int32(f.n)+k)
		for i < len(n.tok) && taken[i]-1 == k {
			i++
		}
	}
	f.at = append(f.at, len(n.tok))
	f.count = make([]int32, f.n)
	for _, t := range f.tok {
		f.count[t]++
	}
	return f
}

// kindred numbers folded loops: those of one token launch the same as others of theirs if half of the names in an iteration are the same.
type kindred struct {
	*nest
	known []kin
	holds map[held][]int32 // the known ones of a loop that launch a name
}

type kin struct {
	loop  int32
	names int // in an iteration
}

type held struct{ loop, name int32 }

// of returns the number of a run's loop.
func (k *kindred) of(loop int32, r region) int32 {
	names := make([]int32, 0, r.lag)
	for _, s := range k.tok[r.from : r.from+r.lag] {
		names = append(names, k.name[s])
	}
	names = distinct(names)
	same := map[int32]int{}
	best := int32(len(k.known))
	for _, s := range names {
		for _, i := range k.holds[held{loop, s}] {
			if same[i]++; 2*same[i] >= max(len(names), k.known[i].names) {
				best = min(best, i)
			}
		}
	}
	if best == int32(len(k.known)) {
		k.known = append(k.known, kin{loop, len(names)})
		for _, s := range names {
			k.holds[held{loop, s}] = append(k.holds[held{loop, s}], best)
		}
	}
	return best
}

// scattered reports whether a loop occurs in at least two places of about the same length.
func (l *level) scattered() bool {
	longest := slices.MaxFunc(l.regions, func(a, b region) int { return cmp.Compare(a.to-a.from, b.to-b.from) })
	n := 0
	for _, r := range l.regions {
		if 4*(r.to-r.from) >= longest.to-longest.from {
			n++
		}
	}
	return n >= 2
}

// closed reports whether most of what a loop holds occurs in it and hardly elsewhere, as that of blocks does. What a run of cached steps
// holds occurs in the other steps too.
func (n *nest) closed(l *level, count []int) bool {
	inside := map[int32]int{}
	done := 0
	for _, r := range l.regions {
		for i := max(r.from, done); i < r.to; i++ {
			inside[n.tok[i]]++
		}
		done = max(done, r.to)
	}
	own := 0
	for s, k := range inside {
		if 4*k > 3*count[s] {
			own++
		}
	}
	return 5*own >= 3*len(inside)
}
