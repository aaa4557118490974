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
	tok  []int32         // of each unit; a run has the number of its loop behind the signatures
	at   []int           // where the unit begins in the sequence; one more for the end
	runs int32           // first token of a run
	n    int             // distinct tokens
	each []time.Duration // see unitTimes
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
	taken := make([]int32, len(n.tok)) // 1 + loop that covers the position
	for _, r := range all {
		free := true
		for i := r.from; i < r.to && free; i += max(1, r.lag/4) {
			free = taken[i] == 0
		}
		if free && taken[r.to-1] == 0 {
			for i := r.from; i < r.to; i++ {
				taken[i] = 1 + r.loop
			}
		}
	}
	f := &folded{nest: n, runs: n.solid, n: distinct + len(n.levels)}
	for i := 0; i < len(n.tok); {
		f.at = append(f.at, i)
		if taken[i] == 0 {
			f.tok = append(f.tok, n.tok[i])
			i++
			continue
		}
		f.tok = append(f.tok, taken[i]-1)
		for t := taken[i]; i < len(n.tok) && taken[i] == t; {
			i++
		}
	}
	f.at = append(f.at, len(n.tok))
	return f
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

// sing folds the sequence and returns the chorus of forward passes. Where most of what a folded loop holds occurs elsewhere too, as that of
// cached steps does in the others, or most members of the chorus occur inside folded runs, a run was not one of blocks but of steps; it
// is then left open.
func (n *nest) sing(distinct int) (*folded, *chorus) {
	open := make([]bool, len(n.levels))
	f, c := n.chorus(distinct, open)
	if f.leaks(open) {
		if g, d := n.chorus(distinct, open); d != nil && (c == nil || d.size() > c.size() && 50*d.time >= 49*c.time && d.regular() >= c.regular()) {
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
	holds   bool          // a finer loop within the iterations might be the steps
	rival   time.Duration // weight of the strongest loop elsewhere
}

func (c *chorus) size() int { return len(c.begin) }

// regular is 1 if most steps are alike, else 0.
func (c *chorus) regular() int { return rank(2*c.same >= c.size()) }

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
	slices.SortStableFunc(c.members[1:], func(a, b []int) int { return cmp.Compare(a[n/2], b[n/2]) })
	for m := len(c.members); m > 2 && f.standsIn(c.members[m-2], c.members[m-1], n-1); m = len(c.members) {
		c.members = c.members[:m-1]
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
	return true
}

// standsIn reports whether what lies between members a and b in iteration k is unlike what lies between them in the others: far more, or
// nothing of it.
func (f *folded) standsIn(a, b []int, k int) bool {
	far := 0
	times := map[int32]int{} // in how many other iterations a unit lies between them
	for i := range a {
		if i == k {
			continue
		}
		far = max(far, f.at[b[i]]-f.at[a[i]])
		// members after the first need not keep their order
		for _, t := range distinct(f.tok[a[i]+1 : max(a[i]+1, b[i])]) {
			times[t]++
		}
	}
	if f.at[b[k]]-f.at[a[k]] > max(64, 2*far+8) {
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

// explain cuts the sequence into passes at the chorus and sums up what these account for.
func (c *chorus) explain(f *folded) {
	own := make([]piece, c.size())
	for k := range own {
		own[k] = piece{from: c.begin[k], to: c.end[k], whole: true}
	}
	c.span, _ = f.alike(own)
	steps := newTailor(f, c).passes()
	c.time, c.same = f.alike(steps)
	var runs time.Duration
	for _, p := range steps {
		for i := p.from; i < p.to; i++ {
			if f.tok[i] >= f.runs {
				runs += f.time(i, i+1)
			}
		}
	}
	c.runs = 3*runs >= c.time
}

// alike returns the GPU time of the pieces that is accounted for by the likeness of each to one nearby, less what that has and it has not; and how
// many of them are nearly equal to the commonest. What happens once is not of the loop, even if two members happen to stand around it, and
// pieces that have nothing to do with the loop differ in what they hold of it.
func (f *folded) alike(pieces []piece) (sum time.Duration, same int) {
	const reach = 8 // a cached step may be that far from the next of its kind
	bags := make([]bag, len(pieces))
	hash := make([]uint64, len(pieces))
	equal := map[uint64]int{}
	usual := len(pieces) / 2
	for k, p := range pieces {
		bags[k] = newBag(f.tok[p.from:p.to])
		hash[k] = bags[k].hash()
		equal[hash[k]]++
		if n := equal[hash[k]]; n > 1 && n >= equal[hash[usual]] {
			usual = k
		}
	}
	each := f.unitTimes()
	for k, p := range pieces {
		all := f.time(p.from, p.to)
		if mine, its := bags[k].difference(bags[usual], each); 100*(mine+its) <= all {
			same++
		}
		if equal[hash[k]] > 1 {
			sum += all
			continue
		}
		var best time.Duration
		for j := max(0, k-reach); j <= min(len(pieces)-1, k+reach); j++ {
			if j == k {
				continue
			}
			mine, its := bags[k].difference(bags[j], each)
			if !p.whole { // it is no wonder that it lacks something
				its = 0
			}
			best = max(best, all-mine-its)
		}
		sum += best
	}
	return sum, same
}

// unitTimes returns the mean GPU time of a unit, by token.
func (f *folded) unitTimes() []time.Duration {
	if f.each == nil {
		f.each = make([]time.Duration, f.n)
		n := make([]int, f.n)
		for i, t := range f.tok {
			f.each[t] += f.time(i, i+1)
			n[t]++
		}
		for t := range f.each {
			f.each[t] /= time.Duration(max(1, n[t]))
		}
	}
	return f.each
}

// difference returns the time of what only b holds and of what only c holds, by the time of each token.
func (b bag) difference(c bag, each []time.Duration) (mine, its time.Duration) {
	i, j := 0, 0
	for i < len(b) || j < len(c) {
		switch {
		case j == len(c) || i < len(b) && b[i].sig < c[j].sig:
			mine += time.Duration(b[i].count) * each[b[i].sig]
			i++
		case i == len(b) || c[j].sig < b[i].sig:
			its += time.Duration(c[j].count) * each[c[j].sig]
			j++
		default:
			mine += time.Duration(max(b[i].count-c[j].count, 0)) * each[b[i].sig]
			its += time.Duration(max(c[j].count-b[i].count, 0)) * each[b[i].sig]
			i++
			j++
		}
	}
	return mine, its
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

// weight ranks choruses by GPU time, those made of runs of blocks a little higher, and those made of convolutions, as tiles of a decoder
// are, lower.
func (c *chorus) weight() time.Duration {
	if c.conv {
		return c.time / 4
	}
	if c.runs {
		return c.time * 5 / 4
	}
	return c.time
}

// passes returns the chorus whose iterations are forward passes of the denoiser: the finest that is made of runs of blocks. Coarser ones
// are images, steps of several passes or patterns of full and cached steps. In a model without runs of blocks it is the
// coarsest that holds no decoder.
func (f *folded) passes() *chorus {
	all := f.choruses()
	best := strongest(all)
	for best != nil {
		var down *chorus
		for _, c := range all {
			if c.size() < best.size()*5/4+1 || 4*len(c.members) < len(best.members) {
				continue
			}
			share := f.shared(best, c)
			if c.runs && 5*share >= 2*best.time || 5*share >= best.time && f.decodes(best, c) {
				if down == nil || c.time > down.time || c.time == down.time && len(c.members) > len(down.members) {
					down = c
				}
			}
		}
		if down == nil {
			break
		}
		best = down
	}
	if best != nil {
		best.rival = rival(all, best)
		best.holds = slices.ContainsFunc(all, func(c *chorus) bool {
			return c.size() > best.size() && 5*f.shared(best, c) >= best.time && f.coherent(best, c) && f.looped(c)
		})
	}
	return best
}

// strongest returns the chorus of most weight; of those that nearly have it, one of which most steps are alike, and of these the one with
// least between its iterations.
func strongest(all []*chorus) (best *chorus) {
	var most time.Duration
	for _, c := range all {
		most = max(most, c.weight())
	}
	for _, c := range all {
		if 50*c.weight() >= 49*most && (best == nil || cmp.Or(cmp.Compare(c.regular(), best.regular()), cmp.Compare(c.span, best.span)) > 0) {
			best = c
		}
	}
	return best
}

// looped reports whether the steps that a chorus makes are themselves made of loops, as blocks are not.
func (f *folded) looped(c *chorus) bool {
	var l level
	for _, p := range newTailor(f, c).steps() {
		from, to := f.at[p.from], f.at[p.to]
		l.regions = append(l.regions, region{to - from, from, to})
		l.lag, l.time = max(l.lag, to-from), l.time+f.before[to]-f.before[from]
	}
	return f.inner(&l)
}

// rival returns the greatest weight of a chorus that has no time in common with best. One behind it counts for more: encoders come first.
func rival(all []*chorus, best *chorus) (weight time.Duration) {
	from, to := best.begin[0], best.end[best.size()-1]
	for _, c := range all {
		switch {
		case c.end[c.size()-1] <= from:
			weight = max(weight, c.weight())
		case c.begin[0] >= to && !c.conv:
			weight = max(weight, c.weight()*3/2)
		case c.begin[0] >= to:
			weight = max(weight, c.weight())
		}
	}
	return weight
}

// shared returns the GPU time of the iterations of in that lie within iterations of out.
func (f *folded) shared(out, in *chorus) (sum time.Duration) {
	k := 0
	for i := range in.begin {
		for k < len(out.end) && out.end[k] < in.end[i] {
			k++
		}
		if k < len(out.end) && out.begin[k] <= in.begin[i] {
			sum += f.time(in.begin[i], in.end[i])
		}
	}
	return sum
}

// decodes reports whether iterations of out hold convolutions around those of in, as images hold a decoder behind their steps.
func (f *folded) decodes(out, in *chorus) bool {
	sum := func(c *chorus) (conv, all time.Duration) {
		for i := range c.begin {
			conv += f.convolved(c.begin[i], c.end[i])
			all += f.time(c.begin[i], c.end[i])
		}
		return conv, all
	}
	convOut, all := sum(out)
	convIn, _ := sum(in)
	return !in.conv && 100*(convOut-convIn) > all && f.apart(out, in) && f.coherent(out, in)
}

// coherent reports whether the iterations of in are alike and those within one of out follow each other with next to nothing between them, as
// steps do. The blocks of a U-net have convolutions between them.
func (f *folded) coherent(out, in *chorus) bool {
	var inside, between time.Duration
	k := 0
	for _, s := range newTailor(f, in).seams {
		for k < len(out.end) && out.end[k] <= s.from {
			k++
		}
		if k == len(out.end) || s.to >= out.end[k] || s.from < out.begin[k] {
			continue
		}
		if s.kind == apart {
			return false
		}
		between += f.time(s.from, s.to)
	}
	for i := range in.begin {
		inside += f.time(in.begin[i], in.end[i])
	}
	return 10*between <= inside && in.regular() > 0
}

// apart reports whether iterations of out hold more than iterations of in and the few kernels of a scheduler: encoders and a decoder, which
// make them images.
func (f *folded) apart(out, in *chorus) bool {
	const scheduler = 64 // kernels that guidance and a scheduler's update may take
	inside := 0
	for i := range in.begin {
		inside += f.at[in.end[i]] - f.at[in.begin[i]]
	}
	all := 0
	for i := range out.begin {
		all += f.at[out.end[i]] - f.at[out.begin[i]]
	}
	return all-inside > scheduler*out.size()
}
