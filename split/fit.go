package split

import (
	"cmp"
	"slices"
	"time"
)

// Where in a seam the next step begins is told by the ends of the loop: what precedes the first iteration as it precedes the others is head, what follows
// the last as it follows the others is tail.

// fit finds how much of a boundary is head and how much is tail. What precedes the first step and follows the last may be of the loop as far
// as it is like a boundary, unless the trace begins or ends there: a step may then be cut.
func (t *tailor) fit() {
	t.tally()
	t.model = t.typical()
	usual := t.model.to - t.model.from
	if usual == 0 {
		t.sure = true
		return
	}
	first, last := 0, t.c.size()-1
	i, lead := t.before(first, t.near(first, 1))
	j, trail := t.behind(last, 0, t.near(last, -1))
	if lead+trail < usual { // the head ends the tail, which makes it easier to find
		j, trail = t.behind(last, lead, t.near(last, -1))
	}
	for k, s := range t.seams {
		if s.kind == apart && lead+trail < usual {
			_, l := t.before(k+1, t.model)
			_, r := t.behind(k, 0, t.model)
			lead, trail = max(lead, l), max(trail, r)
		}
	}
	rest := usual - lead - trail
	t.blind = lead == 0 && trail == 0 && rest > variants && i > 0 && j < len(t.tok)
	begins, ends := i == 0, j == len(t.tok)
	if begins && ends { // that which begins or ends within a run of blocks is cut
		s := t.near(first, 1)
		at, like := t.align(t.c.begin[first]-1, s.to-1, -1, s.from)
		begins = t.cutBefore(at, like) || at == 0 && like < len(t.tok) && t.at[1] < t.at[like+1]-t.at[like]
		ends = !begins
	}
	if rest < 0 { // one more step, unless it is but a few kernels that other phases launch too
		begins = begins && t.works(0, t.c.begin[first]-usual+trail)
		ends = ends && t.works(t.c.end[last]+usual-lead, len(t.tok))
	}
	switch {
	case rest == 0:
		t.sure = true
	case ends: // the trace ends within the last step, or within one more
		t.more = rest < 0
		lead += t.vary(len(t.tok), t.model.to-lead, min(usual-lead, variants))
		trail = usual - lead
	case begins: // it begins within the first step, or within one more
		t.less = rest < 0
		lead = usual - trail
	case rest < 0 && lead < usual && trail < usual, rest < 0 && lead == usual:
		lead = usual - trail
	case rest < 0:
		trail = usual - lead
	case rest <= variants: // to the head
		lead += rest
		t.sure = true
	case trail > 0:
		lead = usual - trail
	}
	t.lead, t.trail = lead, trail
}

// period returns the GPU time and the kernels from one iteration to the next, as they mostly are.
func (t *tailor) period() (time.Duration, int) {
	var times []time.Duration
	var kernels []int
	for k := range t.seams {
		times = append(times, t.folded.time(t.c.begin[k], t.c.begin[k+1]))
		kernels = append(kernels, t.at[t.c.begin[k+1]]-t.at[t.c.begin[k]])
	}
	return median(times), median(kernels)
}

// works reports whether units hold a part of the model: more than a few of a step's small kernels.
func (t *tailor) works(from, to int) bool {
	step, _ := t.period()
	return from < to && 50*t.folded.time(from, to) > step
}

// near returns the boundary next to iteration k in a direction if it is as long as the typical one, else that.
func (t *tailor) near(k, dir int) seam {
	if dir < 0 {
		k--
	}
	for ; k >= 0 && k < len(t.seams) && t.seams[k].kind != apart; k += dir {
		if s := t.seams[k]; s.kind == boundary {
			if s.to-s.from == t.model.to-t.model.from && !t.holdsStray(s) {
				return s
			}
			break
		}
	}
	return t.model
}

// typical returns the boundary that most boundaries are equal to, of those the one with least that others do not have, and a later one rather
// than an earlier one. Rather one without copies that others do not have.
func (t *tailor) typical() (best seam) {
	equal := map[uint64]int{}
	hash := func(s seam) uint64 {
		h := uint64(14695981039346656037) // FNV-1a
		for _, x := range t.tok[s.from:s.to] {
			h = (h ^ uint64(x)) * 1099511628211
		}
		return h
	}
	for _, s := range t.seams {
		if s.kind == boundary {
			equal[hash(s)]++
		}
	}
	top, least := -1, 0
	for _, s := range t.seams {
		if s.kind != boundary {
			continue
		}
		n, odd := equal[hash(s)], 0
		if t.holdsStray(s) {
			n = 0
		}
		for _, x := range t.tok[s.from:s.to] {
			odd += t.boundaries - t.heldIn[x]
		}
		if cmp.Or(cmp.Compare(n, top), cmp.Compare(least, odd)) >= 0 {
			best, top, least = s, n, odd
		}
	}
	return best
}

// align compares units before i (dir < 0) or from i on (dir > 0) with those of the model.
func (t *tailor) align(i, j, dir, bound int) (int, int) {
	a := &aligner{tok: t.tok, hidden: t.hidden}
	return a.extend(i, j, dir, bound)
}

// hidden returns how many events between a unit and the next one the sequence leaves out.
func (t *tailor) hidden(i int) int {
	next := t.at[i+1]
	if next == len(t.place) {
		return 0
	}
	return int(t.place[next]-t.place[next-1]) - 1
}

// before returns where a head like that of a boundary begins in front of iteration k, and how much of the boundary it is.
func (t *tailor) before(k int, s seam) (at, lead int) {
	i, j := t.headBefore(k, s, s.from)
	if k == 0 && t.cutBefore(i, j) {
		i = 0
	}
	return i, s.to - j
}

// headBefore aligns what precedes iteration k with a boundary, down to a bound of it. The first step of an image may launch much that no other does,
// such as autotuning, amid its head.
func (t *tailor) headBefore(k int, s seam, bound int) (i, j int) {
	i, j = t.align(t.c.begin[k]-1, s.to-1, -1, bound)
	begin := 0
	if k > 0 {
		begin = t.c.end[k-1]
	}
	for (k == 0 || t.seams[k-1].kind == apart) && j > bound {
		p := i
		for p > begin && t.once(t.tok[p-1]) {
			p--
		}
		if p == i || p == begin || t.tok[p-1] != t.tok[j-1] || t.outside[t.tok[p-1]] > 2*t.images {
			break
		}
		i, j = t.align(p-1, j-1, -1, bound)
	}
	return i, j
}

// once reports whether a unit occurs outside of the loop only, or between images.
func (t *tailor) once(x int32) bool { return t.outside[x] == t.count[x] }

// behind returns where a tail like that of a boundary ends behind iteration k, and how much of the boundary it is, if so much of it is head.
func (t *tailor) behind(k, lead int, s seam) (at, trail int) {
	bound := s.to
	if lead < s.to-s.from {
		bound -= lead
	}
	i, j := t.align(t.c.end[k], s.from, 1, bound)
	if k+1 == t.c.size() && t.cutBehind(i, j) {
		i = len(t.tok)
	}
	return i, j - s.from
}

// cutBefore reports whether all that the trace holds before unit i is as what precedes unit j, and less than a step of it.
func (t *tailor) cutBefore(i, j int) bool {
	n := t.at[max(i, 0)]
	_, step := t.period()
	return n > 0 && n < step && n <= t.at[max(j, 0)] && slices.Equal(t.nest.tok[:n], t.nest.tok[t.at[j]-n:t.at[j]])
}

// cutBehind reports the same of what the trace holds from unit i on, and what follows unit j.
func (t *tailor) cutBehind(i, j int) bool {
	n := len(t.nest.tok) - t.at[min(i, len(t.tok))]
	_, step := t.period()
	return n > 0 && n < step && t.at[j]+n <= len(t.nest.tok) && slices.Equal(t.nest.tok[t.at[i]:], t.nest.tok[t.at[j]:t.at[j]+n])
}
