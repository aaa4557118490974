package split

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"
)

// join finds the seams within steps. When a step takes several passes, every so many seams hold the scheduler's work and the others do not:
// small units that occur once in each of these seams, nowhere else in the loop, and behind its last pass too (or before its first). That tells them
// from what happens once, as in a first step, and from what belongs to some of the passes.
func (t *tailor) join() {
	where, most := t.seamsOf()
	groups := map[string][]int32{} // units that occur in the same seams
	for x, w := range where {
		if len(w) > 0 && !t.copies(x) {
			key := fmt.Sprint(w)
			groups[key] = append(groups[key], x)
		}
	}
	begin, end := t.c.begin[0], t.c.end[t.c.size()-1]
	before, behind := distinct(t.tok[max(0, begin-most):begin]), distinct(t.tok[end:min(len(t.tok), end+most)])
	pass := t.folded.time(begin, end) / time.Duration(t.c.size())
	ends := t.endsWithin()
	var best []int32
	var seen int // at how many ends of the loop best lies

	for _, key := range slices.Sorted(maps.Keys(groups)) { // of groups alike in size always the same one
		g := groups[key]
		w := where[g[0]]
		near := rank(holdsAny(before, g)) + rank(holdsAny(behind, g))
		if near == 0 && (!ends || len(w) == 1) || 20*t.least(g, w) >= pass {
			continue
		}
		if best != nil && cmp.Or(cmp.Compare(len(w), len(where[best[0]])), cmp.Compare(near, seen)) <= 0 {
			continue
		}
		if t.close(w, before) {
			best, seen = g, near
		}
	}
	if best == nil {
		t.alternate = t.alternates()
		return
	}
	t.closes = func(x int32) bool { return slices.Contains(best, x) }
	for k := range t.seams {
		if s := &t.seams[k]; s.kind != apart && !slices.Contains(where[best[0]], k) {
			s.kind = within
		}
	}
}

// holdsAny reports whether a sorted set holds any of the units.
func holdsAny(set, units []int32) bool {
	return slices.ContainsFunc(units, func(x int32) bool {
		_, found := slices.BinarySearch(set, x)
		return found
	})
}

// alternates reports whether every few seams hold two kernels or more that the others do not, as those between steps of several passes do.
func (t *tailor) alternates() bool {
	const passes = 4
	where := map[int32][]int{}
	for k, s := range t.seams {
		if s.kind == apart {
			continue
		}
		for _, x := range distinct(t.tok[s.from:s.to]) {
			if !t.copies(x) {
				where[x] = append(where[x], k)
			}
		}
	}
	kernels := map[string]int{}
	for _, w := range where {
		if 2*passes*len(w) < len(t.seams) || 4*len(w) > 3*len(t.seams)+3 {
			continue // too few to close all steps, or too many to leave any open
		}
		run, several, long := 1, 0, 0 // passes since the last that hold it, how often there were several, seams beyond what a step may have
		for k, s := range t.seams {
			_, found := slices.BinarySearch(w, k)
			several += rank(found && run > 1)
			if run++; found || s.kind == apart {
				run = 1
			}
			long += rank(run > passes)
		}
		if several > 1 && 2*several > len(w) && 10*long < len(t.seams) {
			kernels[fmt.Sprint(w)]++
		}
	}
	for _, n := range kernels {
		if n > 1 {
			return true
		}
	}
	return false
}

// endsWithin reports whether the trace ends within a pass, so that what closes the last step is not in it.
func (t *tailor) endsWithin() bool {
	end := t.c.end[t.c.size()-1]
	_, iteration := t.period()
	if end == len(t.tok) || len(t.nest.tok)-t.at[end] >= iteration {
		return false
	}
	known := map[int32]bool{}
	see := func(from, to int) {
		for _, x := range t.tok[from:to] {
			known[x] = true
		}
	}
	for k := range t.c.begin {
		see(t.c.begin[k], t.c.end[k])
	}
	for _, s := range t.seams {
		if s.kind != apart {
			see(s.from, s.to)
		}
	}
	return !slices.ContainsFunc(t.tok[end:], func(x int32) bool { return !known[x] })
}

// least returns the least GPU time that a group of units takes in one of the seams that hold it.
func (t *tailor) least(group []int32, seams []int) (least time.Duration) {
	for n, k := range seams {
		var sum time.Duration
		for i := t.seams[k].from; i < t.seams[k].to; i++ {
			if slices.Contains(group, t.tok[i]) {
				sum += t.folded.time(i, i+1)
			}
		}
		if n == 0 || sum < least {
			least = sum
		}
	}
	return least
}

// seamsOf returns for each unit the seams within images that hold it, nil if it occurs twice in one or in a pass, and the units of the longest.
func (t *tailor) seamsOf() (where map[int32][]int, most int) {
	where = map[int32][]int{}
	for k, s := range t.seams {
		for i := t.c.begin[k]; i < s.from; i++ {
			where[t.tok[i]] = nil
		}
	}
	last := t.c.size() - 1
	for _, x := range t.tok[t.c.begin[last]:t.c.end[last]] {
		where[x] = nil
	}
	for k, s := range t.seams {
		if s.kind == apart {
			continue
		}
		most = max(most, s.to-s.from)
		for _, x := range t.tok[s.from:s.to] {
			w, seen := where[x]
			if seen && (w == nil || w[len(w)-1] == k) {
				where[x] = nil
			} else {
				where[x] = append(w, k)
			}
		}
	}
	return where, most
}

// close reports whether the given seams may be those that close steps: not all, so many passes apart as a step may have, longer than the
// other ones by a scheduler's work, and what the others hold is also in these, or before the first pass.
func (t *tailor) close(closing []int, before []int32) bool {
	const passes = 4
	var inner []int // those that do not close
	held := map[int32]bool{}
	for _, x := range before {
		held[x] = true
	}
	for _, k := range closing {
		for _, x := range t.tok[t.seams[k].from:t.seams[k].to] {
			held[x] = true
		}
	}
	run, others, foreign := 1, 0, 0
	for k, s := range t.seams {
		run++
		if _, closed := slices.BinarySearch(closing, k); closed || s.kind == apart {
			run = 1
			continue
		}
		inner = append(inner, k)
		for _, x := range t.tok[s.from:s.to] {
			others++
			foreign += rank(!held[x])
		}
		if run > passes {
			return false
		}
	}
	schedules := 0
	for _, k := range inner { // beside the next seam that closes, or the one before it
		next, _ := slices.BinarySearch(closing, k)
		schedules += rank(t.schedules(t.seams[closing[min(next, len(closing)-1)]], t.seams[k]))
	}
	return 8*foreign <= others && 2*schedules > len(inner)
}

// schedules reports whether the outer seam holds work of its own, of two units or more if the inner one holds anything: a kernel that was not
// recorded, or one that has another variant in its place, tells no passes from steps.
func (t *tailor) schedules(outer, inner seam) bool {
	a, b := t.tok[outer.from:outer.to], t.tok[inner.from:inner.to]
	some := len(b) > 0
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	own := len(a) - len(b)
	return 3*own > len(a) && (own > 1 || !some)
}

// joined reports whether units between two passes leave them in one step.
func (t *tailor) joined(from, to int) bool {
	return t.closes != nil && !slices.ContainsFunc(t.tok[max(from, 0):max(to, 0)], t.closes)
}
