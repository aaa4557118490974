package split

import (
	"slices"
	"time"
)

// What was folded may have been steps: those that skip most of their pass follow each other as blocks do, and those of a small model hold no blocks. Such loops
// are left open, if what then comes out explains the trace better.

// sing folds the sequence and returns the chorus of forward passes. Where most of what a folded loop holds occurs elsewhere too, as that of
// cached steps does in the others, or most members of the chorus occur inside folded runs, a run was not one of blocks but of steps; it
// is then left open.
func (n *nest) sing(distinct int) (*folded, *chorus) {
	open := make([]bool, len(n.levels))
	f, c := n.chorus(distinct, open)
	if c == nil {
		if f.leaks(open) {
			return n.chorus(distinct, open)
		}
		return f, nil
	}
	if f.images(c) && n.openDecoded(open) {
		if g, d := n.chorus(distinct, open); d != nil && d.size() > c.size() && (g.coherent(c, d) || d.regular() > 0 && 4*d.weight() > 5*c.weight()) {
			return g, d
		}
	}
	if g, d := n.skipped(distinct, open, f, c); d != nil {
		return g, d
	}
	if f.leaks(open) {
		if g, d := n.chorus(distinct, open); d != nil && d.size() > c.size() && 50*d.time >= 49*c.time && d.regular() >= c.regular() {
			return g, d
		}
	}
	return f, c
}

func (n *nest) chorus(distinct int, open []bool) (*folded, *chorus) {
	for {
		f := n.fold(distinct, open)
		c := f.passes()
		if c == nil || !f.swallows(c, open) {
			return f, c
		}
	}
}

// skipped looks for a folded loop that is one of steps which skip most of their pass: the runs of such steps begin and end amid an iteration, with what the
// step before and the one behind have in common with them. With it open, what is folded still lies within the steps, not between.
func (n *nest) skipped(distinct int, open []bool, f *folded, c *chorus) (*folded, *chorus) {
	for i := range n.levels {
		l := &n.levels[i]
		if open[i] || 50*l.time < n.before[len(n.tok)] || !f.folds(int32(distinct+i)) || l.whole() {
			continue
		}
		try := slices.Clone(open)
		try[i] = true
		g, d := n.chorus(distinct, try)
		if d == nil || d.size() <= c.size() || d.regular() < c.regular() {
			continue
		}
		all := &chorus{begin: []int{0}, end: []int{len(g.tok)}}
		if 4*d.weight() > 5*c.weight() && g.coherent(all, d) && g.decodedNext(g.at[d.end[d.size()-1]]) || 20*d.time >= 19*c.time && g.holdsRuns(d) {
			return g, d
		}
	}
	return nil, nil
}

// folds reports whether a loop is folded anywhere.
func (f *folded) folds(loop int32) bool { return slices.Contains(f.tok, loop) }

// whole reports whether the regions of a loop hold equally many iterations, to a tenth of one.
func (l *level) whole() bool {
	first := l.regions[0]
	for _, r := range l.regions {
		if over := (r.to - r.from) % l.lag; r.to-r.from != first.to-first.from || 10*min(over, l.lag-over) > l.lag {
			return false
		}
	}
	return true
}

// holdsRuns reports whether nearly all folded loops among the iterations of a chorus lie within them.
func (f *folded) holdsRuns(c *chorus) bool {
	var inside, all time.Duration
	for k := range c.begin {
		end := c.end[k]
		if k+1 < c.size() {
			end = c.begin[k+1]
		}
		for i := c.begin[k]; i < end; i++ {
			if f.tok[i] >= f.runs {
				all += f.time(i, i+1)
				if i < c.end[k] {
					inside += f.time(i, i+1)
				}
			}
		}
	}
	return inside > 0 && 10*inside >= 9*all
}

// images reports whether most iterations convolve in one place only, as an image does in its decoder.
func (f *folded) images(c *chorus) bool {
	decoded := 0
	for k := range c.begin {
		decoded += rank(inOnePlace(f.at[c.begin[k]], f.at[c.end[k]], func(i int) bool { return f.is(f.conv, i) }))
	}
	return 2*decoded > c.size()
}

// openDecoded opens the loops that a decoder follows in most places, with no matrix product between: these are steps. It reports whether there are any.
func (n *nest) openDecoded(open []bool) (some bool) {
	for i := range n.levels {
		l := &n.levels[i]
		decoded := 0
		for _, r := range l.regions {
			decoded += rank(n.decodedNext(r.to))
		}
		if 2*decoded > len(l.regions) && !open[i] {
			open[i], some = true, true
		}
	}
	return some
}

// decodedNext reports whether a little behind a position something convolves, with no matrix product before it.
func (n *nest) decodedNext(at int) bool {
	const little = 64
	for end := min(at+little, len(n.tok)); at < end && !n.is(n.prod, at); at++ {
		if n.is(n.conv, at) {
			return true
		}
	}
	return false
}

// is reports whether a position holds a token of a kind.
func (n *nest) is(kind []bool, at int) bool {
	s := int(n.tok[at])
	return s < len(kind) && kind[s]
}

// leaks opens the folded loops of which a third or more of what they hold also occurs elsewhere, in parts: cached steps hold what full ones begin
// and end with. Blocks that occur elsewhere do so as a whole. It reports whether there are any such loops.
func (f *folded) leaks(open []bool) (some bool) {
	base := int32(f.n - len(f.levels))
	loop := make([]int32, len(f.nest.tok)) // 1 + the loop that covers the position
	held := map[int32]map[int32]int{}      // loop -> how often its runs hold each token
	count := make([]int, base)
	for i, t := range f.tok {
		for k := f.at[i]; k < f.at[i+1]; k++ {
			s := f.nest.tok[k]
			count[s]++
			if t >= base {
				loop[k] = 1 + t
				if held[t] == nil {
					held[t] = map[int32]int{}
				}
				held[t][s]++
			}
		}
	}
	for t, h := range held {
		out := 0
		for s, n := range h {
			if 10*(count[s]-n) > count[s] {
				out++
			}
		}
		if 3*out >= len(h) && f.inParts(h, loop, t) {
			open[t-base], some = true, true
		}
	}
	return some
}

// inParts reports whether what a loop holds occurs outside of its runs in stretches that mostly lack a part of it.
func (f *folded) inParts(held map[int32]int, loop []int32, t int32) bool {
	whole, parts := 0, 0
	here := map[int32]bool{}
	gap := 0
	end := func() {
		if len(here) == len(held) {
			whole += len(here)
		} else {
			parts += len(here)
		}
		clear(here)
	}
	for i, s := range f.nest.tok {
		if _, ok := held[s]; ok && loop[i] != 1+t {
			here[s] = true
			gap = 0
		} else if gap++; gap > 2 && len(here) > 0 {
			end()
		}
	}
	end()
	return parts > whole
}

// swallows opens a loop whose runs hold members of the chorus, if most members are hidden in runs.
func (f *folded) swallows(c *chorus, open []bool) bool {
	member := map[int32]bool{}
	for _, m := range c.members {
		if t := f.tok[m[0]]; t < f.runs {
			member[t] = true
		}
	}
	hidden := map[int32]map[int32]bool{} // loop -> members in its runs
	all := map[int32]bool{}
	for i, t := range f.tok {
		if int(t) < f.n-len(f.levels) {
			continue
		}
		for _, s := range f.nest.tok[f.at[i]:f.at[i+1]] {
			if member[s] {
				if hidden[t] == nil {
					hidden[t] = map[int32]bool{}
				}
				hidden[t][s], all[s] = true, true
			}
		}
	}
	if 2*len(all) < len(c.members) {
		return false
	}
	worst := -1 // the longest of them: blocks are folded rightly within steps
	for t, h := range hidden {
		if k := int(t) - (f.n - len(f.levels)); 4*len(h) >= len(c.members) && !open[k] {
			worst = max(worst, k)
		}
	}
	if worst < 0 {
		return false
	}
	open[worst] = true
	return true
}
