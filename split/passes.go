package split

import (
	"cmp"
	"slices"
	"time"
)

// weight ranks choruses by GPU time, those made of runs of blocks a little higher, and those made of convolutions, as tiles of a decoder
// are, lower.
func (c *chorus) weight() time.Duration {
	switch {
	case c.conv && c.bare:
		return c.time / 64
	case c.conv:
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
			if c.runs && 5*f.across(best, c) >= 2*best.time || 5*share >= best.time && f.decodes(best, c) {
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
		best.rival = f.rival(all, best)
		best.holds = slices.ContainsFunc(all, func(c *chorus) bool {
			return c.size() > best.size() && 5*f.shared(best, c) >= best.time && f.apart(best, c) && f.coherent(best, c) && f.looped(c)
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
	steps := newTailor(f, c).steps()
	for i, p := range steps {
		from, to := f.at[p.from], f.at[p.to]
		steps[i].from, steps[i].to = from, to
		l.regions = append(l.regions, region{to - from, from, to})
		l.lag, l.time = max(l.lag, to-from), l.time+f.before[to]-f.before[from]
	}
	return f.inner(&l, steps)
}

// rival returns the greatest weight of a chorus that has no time in common with best. One behind it counts for more: encoders come first; and for
// yet more when nothing convolves between them, as a decoder does before a checker of what it made.
func (f *folded) rival(all []*chorus, best *chorus) (weight time.Duration) {
	from, to := best.begin[0], best.end[best.size()-1]
	for _, c := range all {
		switch {
		case c.end[c.size()-1] <= from:
			weight = max(weight, c.weight())
		case c.begin[0] >= to && !c.conv && f.convolved(to, c.begin[0]) == 0:
			weight = max(weight, 3*c.weight())
		case c.begin[0] >= to && !c.conv:
			weight = max(weight, c.weight()*3/2)
		case c.begin[0] >= to:
			weight = max(weight, c.weight())
		}
	}
	return weight
}

// across returns the GPU time of the iterations of in that lie between the first and the last of out.
func (f *folded) across(out, in *chorus) (sum time.Duration) {
	for i := range in.begin {
		if out.begin[0] <= in.begin[i] && in.end[i] <= out.end[out.size()-1] {
			sum += f.time(in.begin[i], in.end[i])
		}
	}
	return sum
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
