package split

import (
	"cmp"
	"slices"
	"time"
)

// A chorus is a set of units that sound together: each occurs once in every iteration of a loop, in the same order.
type chorus struct {
	members [][]int       // positions in the folded sequence, by member; the first member leads each iteration
	begin   []int         // of each iteration: position of the first member
	end     []int         // behind the last member
	time    time.Duration // that recurs from one step to another
	span    time.Duration // that recurs from one iteration to another, without what lies between iterations
	same    int           // steps that are nearly equal to the commonest
	runs    bool          // iterations hold runs of blocks
	conv    bool          // iterations are mostly convolutions
	bare    bool          // and hold no matrix product, as far as names tell
	holds   bool          // a finer loop within the iterations might be the steps
	rival   time.Duration // weight of the strongest loop elsewhere
}

func (c *chorus) size() int { return len(c.begin) }

// regular is 1 if most steps are alike, else 0. One alone is like none.
func (c *chorus) regular() int { return rank(c.same > 1 && 2*c.same >= c.size()) }

// choruses groups units of equal number of occurrences that alternate.
func (f *folded) choruses() []*chorus {
	where := make([][]int, f.n)
	for i, t := range f.tok {
		where[t] = append(where[t], i)
	}
	order := make([]int, 0, f.n)
	for t, w := range where {
		if len(w) >= 2 {
			order = append(order, t)
		}
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(where[a][0], where[b][0]) })
	const most = 8 // leaders tried for each number of occurrences
	byCount := map[int][]*chorus{}
	var all []*chorus
	for _, t := range order {
		w := where[t]
		joined := false
		for _, c := range byCount[len(w)] {
			if alternate(c.members[0], w) {
				c.members = append(c.members, w)
				joined = joined || f.firm(c.members[0], w)
			}
		}
		if !joined && len(byCount[len(w)]) < most {
			c := &chorus{members: [][]int{w}}
			byCount[len(w)] = append(byCount[len(w)], c)
			all = append(all, c)
		}
	}
	out := all[:0]
	for _, c := range all {
		if c.settle(f) {
			out = append(out, c)
		}
	}
	return out
}

// alternate reports whether between any two of a there is exactly one of b, and the last of b follows the last of a.
func alternate(a, b []int) bool {
	for i := range a {
		if b[i] <= a[i] || i+1 < len(a) && b[i] >= a[i+1] {
			return false
		}
	}
	return true
}

// firm reports whether b follows a at about the same distance each time. What does not may lead a chorus of its own.
func (f *folded) firm(a, b []int) bool {
	least, most := len(f.nest.tok), 0
	for i := range a {
		d := f.at[b[i]] - f.at[a[i]]
		least, most = min(least, d), max(most, d)
	}
	return most <= 2*least+16
}

// settle drops members for which a unit of another phase stands in in the first or last iteration, and sums up the iterations. It reports whether a
// chorus of two members or more is left.
func (c *chorus) settle(f *folded) bool {
	n := len(c.members[0])
	for len(c.members) > 2 && f.standsIn(c.members[0], c.members[1], 0) {
		c.members = c.members[1:]
	}
	for _, k := range [...]int{n - 1, n / 2} { // in the order of the last iteration, and of one amid
		slices.SortStableFunc(c.members[1:], func(a, b []int) int { return cmp.Compare(a[k], b[k]) })
		for m := len(c.members); m > 2 && f.standsIn(c.members[m-2], c.members[m-1], n-1); m = len(c.members) {
			c.members = c.members[:m-1]
		}
	}
	if first := f.tok[c.members[0][0]]; len(c.members) < 2 && (first < f.solid || int(first) >= f.n-len(f.levels)) {
		return false // one unit alone is no loop, unless it is a whole pass
	}
	for k := range n {
		b, e := c.members[0][k], 0
		for _, m := range c.members {
			e = max(e, m[k]+1)
		}
		c.begin, c.end = append(c.begin, b), append(c.end, e)
	}
	c.explain(f)
	c.conv = 2*f.convolved(c.begin[n/2], c.end[n/2]) >= f.time(c.begin[n/2], c.end[n/2])
	c.bare = slices.Contains(f.prod, true) && !f.multiplies(c.begin[n/2], c.end[n/2])
	return true
}

// standsIn reports whether what lies between members a and b in iteration k is unlike what lies between them in the others: far more, or
// nothing of it, or b comes first in most of these.
func (f *folded) standsIn(a, b []int, k int) bool {
	far, swapped := 0, 0
	times := map[int32]int{} // in how many other iterations a unit lies between them
	for i := range a {
		if i == k {
			continue
		}
		far = max(far, f.at[b[i]]-f.at[a[i]])
		swapped += rank(b[i] < a[i])
		// members after the first need not keep their order
		for _, t := range distinct(f.tok[a[i]+1 : max(a[i]+1, b[i])]) {
			times[t]++
		}
	}
	if f.at[b[k]]-f.at[a[k]] > max(64, 2*far+8) || 2*swapped > len(a)-1 {
		return true
	}
	here := f.tok[a[k]+1 : max(a[k]+1, b[k])]
	if slices.ContainsFunc(here, func(t int32) bool { return times[t] > 0 }) {
		return false
	}
	for _, n := range times {
		if 2*n >= len(a)-1 {
			return true
		}
	}
	return false
}

func distinct(tok []int32) []int32 {
	s := slices.Clone(tok)
	slices.Sort(s)
	return slices.Compact(s)
}

// multiplies reports whether units [from, to) hold a matrix product.
func (f *folded) multiplies(from, to int) bool {
	return slices.ContainsFunc(f.nest.tok[f.at[from]:f.at[to]], func(s int32) bool { return int(s) < len(f.prod) && f.prod[s] })
}

// convolved returns the GPU time of convolutions among units [from, to).
func (f *folded) convolved(from, to int) (sum time.Duration) {
	for i := f.at[from]; i < f.at[to]; i++ {
		if s := int(f.nest.tok[i]); s < len(f.conv) && f.conv[s] {
			sum += f.before[i+1] - f.before[i]
		}
	}
	return sum
}
