package split

import (
	"slices"
	"time"
)

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
		bags[k] = newBag(f.work[p.from:p.to])
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

// unitTimes returns the mean GPU time of a unit, by what it launches.
func (f *folded) unitTimes() []time.Duration {
	if f.each == nil {
		f.each = make([]time.Duration, slices.Max(f.work)+1)
		n := make([]int, len(f.each))
		for i, w := range f.work {
			f.each[w] += f.time(i, i+1)
			n[w]++
		}
		for w := range f.each {
			f.each[w] /= time.Duration(max(1, n[w]))
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
