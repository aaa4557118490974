package split

import (
	"slices"

	"github.com/ditlens/ditlens/trace"
)

// flesh moves the pieces from positions of the skeleton to positions of the lane. Between the last bone of a step and the first of the next
// may be events that the skeleton left out; those that also follow the last step are tail, those that also precede the first are head.
func (f *finding) flesh(sig, bones []int32) {
	for i := range f.pieces {
		p := &f.pieces[i]
		p.from, p.to = int(bones[p.from]), int(bones[p.to-1])+1
	}
	gap := f.usualGap(sig)
	if len(gap) == 0 {
		return
	}
	first, last := &f.pieces[0], &f.pieces[len(f.pieces)-1]
	begin, lead := match(sig, gap, first.from-1, -1)
	end, trail := match(sig, gap, last.to, 1)
	if trail == 0 || lead+trail > len(gap) {
		trail = len(gap) - lead
	}
	for i := 1; i < len(f.pieces); i++ {
		q, p := &f.pieces[i-1], &f.pieces[i]
		if p.image != q.image {
			q.to, _ = match(sig, gap[:trail], q.to, 1)
			p.from, _ = match(sig, gap[trail:], p.from-1, -1)
			continue
		}
		if p.from-q.to > len(gap)+max(8, f.period/8) {
			continue // something else lies between them
		}
		to, n := match(sig[:p.from], gap[:trail], q.to, 1)
		if n < trail {
			to, _ = match(sig, gap[trail:], p.from-1, -1)
			to = max(to, q.to)
		}
		q.to = to
		for k := to; k < p.from && !slices.Contains(gap, sig[k]); k++ {
			if f.events[f.lane[k]].Kind != trace.Kernel {
				to = k + 1 // a copy that other steps do not have is of neither
			}
		}
		p.from = to
	}
	if lead > 0 {
		first.from = begin
	}
	if trail > 0 {
		last.to = min(end, len(sig))
	}
}

// usualGap returns the commonest sequence of events between the bones of two steps.
func (f *finding) usualGap(sig []int32) []int32 {
	type gap struct{ from, to, count int }
	var gaps []gap
next:
	for i := 1; i < len(f.pieces); i++ {
		from, to := f.pieces[i-1].to, f.pieces[i].from
		if f.pieces[i].image != f.pieces[i-1].image {
			continue
		}
		for k := range gaps {
			if slices.Equal(sig[gaps[k].from:gaps[k].to], sig[from:to]) {
				gaps[k].count++
				continue next
			}
		}
		gaps = append(gaps, gap{from, to, 1})
	}
	best := gap{}
	for _, g := range gaps {
		if g.count > best.count || g.count == best.count && g.to-g.from < best.to-best.from {
			best = g
		}
	}
	return sig[best.from:best.to]
}

// match walks from position at and reports how much of the pattern is met, read from its begin (dir > 0) or its end, and behind which
// position of the sequence. It passes up to two strays before each.
func match(sig, pattern []int32, at, dir int) (edge, n int) {
	edge = at
	if dir < 0 {
		edge = at + 1
	}
	for skipped := 0; n < len(pattern) && skipped <= strays && at >= 0 && at < len(sig); at += dir {
		want := pattern[n]
		if dir < 0 {
			want = pattern[len(pattern)-1-n]
		}
		if sig[at] != want {
			skipped++
			continue
		}
		n, skipped = n+1, 0
		edge = at
		if dir > 0 {
			edge = at + 1
		}
	}
	return edge, n
}
