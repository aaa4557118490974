package split

import (
	"cmp"
	"slices"
	"time"

	"github.com/ditlens/ditlens/trace"
)

// Loops nest: image > step > forward > block > layer. A level is one loop: a lag and the regions that repeat with it.
type level struct {
	lag     int
	regions []region
	time    time.Duration // GPU time of the regions
	matched time.Duration // of it, the part that has its like one lag later
	loops   bool          // an iteration consists mostly of loops of its own, as a step does of blocks
}

// A nest is the sequence in which loops are looked for, with the GPU time before each position.
type nest struct {
	tok    []int32
	place  []int32         // of each position in the lane
	before []time.Duration // len(tok)+1 prefix sums, of all events up to the position
	levels []level         // by lag
	copied []bool          // by token: a copy
	conv   []bool          // by token: a convolution, as far as names tell
	prod   []bool          // by token: a matrix product or attention
	name   []int32         // by token: the number of its name
	names  []string        // by that number
	solid  int32           // tokens from here on stand for a run of blocks, or for a whole pass
}

// matched returns the GPU time of the part of a region that has its like one lag later.
func (n *nest) matched(r region) time.Duration { return n.before[r.to-r.lag] - n.before[r.from] }

// findLevels finds the loops of the sequence without the multiples of their lags. It ends with the error of stop when that has one.
func (n *nest) findLevels(stop func() error, distinct int) error {
	total := n.before[len(n.tok)]
	for _, lag := range candidateLags(n.tok, distinct) {
		if err := stop(); err != nil {
			return err
		}
		l := level{lag: lag}
		for _, r := range repeats(n.tok, lag) {
			if !n.harmonic(r) {
				l.regions = append(l.regions, r)
				l.matched += n.matched(r)
			}
		}
		l.time = n.overlap([]region{{0, 0, len(n.tok)}}, l.regions)
		if l.time > total/1000 {
			n.levels = append(n.levels, l)
		}
	}
	for i := range n.levels {
		n.levels[i].loops = n.inner(&n.levels[i], nil)
	}
	return nil
}

// harmonic reports whether a known region of a lag that divides r's covers r: r is then the same loop, seen at a multiple.
func (n *nest) harmonic(r region) bool {
	for i := range n.levels {
		l := &n.levels[i]
		if off := r.lag % l.lag; 2*l.lag > r.lag+r.lag/8 || min(off, l.lag-off) > l.lag/16 {
			continue
		}
		k, _ := slices.BinarySearchFunc(l.regions, r.from, func(x region, from int) int { return cmp.Compare(x.to, from+1) })
		if k < len(l.regions) {
			x := l.regions[k]
			if cover := min(x.to, r.to) - max(x.from, r.from); 10*cover >= 9*(r.to-r.from) {
				return true
			}
		}
	}
	return false
}

// inner reports whether loops inside single iterations make up at least half of the level's GPU time. Where the iterations are not known they are
// told by the length of the loops.
func (n *nest) inner(l *level, iterations []piece) bool {
	if l.time < n.before[len(n.tok)]/50 {
		return false // too little time to matter
	}
	var marks []region
	for i := range n.levels {
		in := &n.levels[i]
		if 2*in.lag > l.lag {
			break
		}
		for _, r := range in.regions {
			if r.iterations() >= 2.5 && 10*(r.to-r.from) <= 11*l.lag && (iterations == nil || withinOne(r, iterations)) {
				marks = append(marks, r)
			}
		}
	}
	slices.SortFunc(marks, func(a, b region) int { return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to)) })
	return 2*n.overlap(l.regions, marks) >= l.time
}

// overlap returns the GPU time of the outer regions that at least one of the marks covers. Both are sorted by from.
func (n *nest) overlap(outer, marks []region) time.Duration {
	var sum time.Duration
	m := 0
	for _, o := range outer {
		done := o.from
		for m > 0 && marks[m-1].to > o.from {
			m--
		}
		for ; m < len(marks) && marks[m].from < o.to; m++ {
			from, to := max(marks[m].from, done), min(marks[m].to, o.to)
			if from < to {
				sum += n.before[to] - n.before[from]
				done = to
			}
		}
	}
	return sum
}

// newNest reads the events at the given indices of a lane as one sequence. The time of events that were left out counts
// with the one before them.
func newNest(t *trace.Trace, lane []trace.GPUID, sig, at []int32) *nest {
	n := &nest{place: at, tok: make([]int32, len(at)), before: make([]time.Duration, len(at)+1)}
	var sum time.Duration
	next := 0
	for i, id := range lane {
		if next < len(at) && int(at[next]) == i {
			n.tok[next], n.before[next] = sig[i], sum
			next++
		}
		sum += t.GPU[id].Dur
	}
	n.before[len(at)] = sum
	return n
}
