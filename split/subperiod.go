package split

import (
	"cmp"
	"slices"
	"time"
)

// subPeriods returns the loops inside the steps, before them and behind: blocks, encoder layers, tiles. Those count that hold at least a
// fifth of the time of where they are, the most important first.
func (n *nest) subPeriods(steps []piece) []SubPeriod {
	if len(steps) == 0 {
		return nil
	}
	first, last := steps[0].from, steps[len(steps)-1].to
	places := []struct {
		name string
		region
	}{{"step", region{0, first, last}}, {string(TextEncode), region{0, 0, first}}, {string(VAEDecode), region{0, last, len(n.tok)}}}
	var out []SubPeriod
	for _, p := range places {
		type found struct {
			SubPeriod
			time time.Duration
		}
		var all []found
		for i := range n.levels {
			l := &n.levels[i]
			var in []region
			most := 0.0
			for _, r := range l.regions {
				if r.iterations() >= 2.5 && r.from >= p.from && r.to <= p.to && (p.name != "step" || 2*l.lag <= steps[0].to-steps[0].from && withinOne(r, steps)) {
					in = append(in, r)
					most = max(most, r.iterations())
				}
			}
			if t := n.overlap([]region{p.region}, in); l.lag > 1 && 5*t >= n.before[p.to]-n.before[p.from] && len(in) > 0 {
				all = append(all, found{SubPeriod{l.lag, int(most + 0.5), p.name}, t})
			}
		}
		slices.SortStableFunc(all, func(a, b found) int { return cmp.Compare(b.time, a.time) })
		for _, f := range all[:min(len(all), 3)] {
			out = append(out, f.SubPeriod)
		}
	}
	return out
}

// withinOne reports whether a region lies in a single step, give or take a kernel at the ends.
func withinOne(r region, steps []piece) bool {
	k, _ := slices.BinarySearchFunc(steps, r.from+1, func(p piece, at int) int { return cmp.Compare(p.to, at) })
	return k < len(steps) && r.from+2 >= steps[k].from && r.to <= steps[k].to+2
}
