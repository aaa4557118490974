package split

// An aligner compares two places of a sequence that ought to hold the same, past short stretches that only one of them has.
type aligner struct {
	tok    []int32
	bound  int             // where the alignment ends
	hidden func(i int) int // events between position i and the next that the sequence leaves out, nil for none
}

// extend walks i and j together while the sequence agrees, one step of dir at a time, past short stretches that only one of
// them has, until j has passed the bound. It returns the boundaries next to the last agreeing positions: positions from
// which on (dir < 0), or up to which (dir > 0), the loop reaches.
func (a *aligner) extend(i, j, dir, bound int) (int, int) {
	at := func(i, j int) bool {
		if dir < 0 && j < bound || dir > 0 && j >= bound {
			return false
		}
		return i >= 0 && j >= 0 && i < len(a.tok) && j < len(a.tok) && a.tok[i] == a.tok[j]
	}
	a.bound = bound
	if dir < 0 {
		a.bound--
	}
	for {
		for at(i, j) && a.lasts(i, j, dir, 1, at) {
			i, j = i+dir, j+dir
		}
		di, dj, ok := a.resync(i, j, dir, at)
		if !ok {
			break
		}
		i, j = i+dir*di, j+dir*dj
	}
	if dir < 0 {
		return i + 1, j + 1
	}
	return i, j
}

// resync finds the fewest positions to skip on either side so that the sequence agrees again: for one position if one is skipped,
// for two if two are, for three if more are.
func (a *aligner) resync(i, j, dir int, at func(i, j int) bool) (di, dj int, ok bool) {
	const most = 40
	for skip := 1; skip <= most; skip++ {
		for di := 0; di <= skip; di++ {
			dj := skip - di
			if i, j := i+dir*di, j+dir*dj; a.lasts(i, j, dir, skip, at) {
				return di, dj, true
			}
		}
	}
	return 0, 0, false
}

// lasts reports whether the sequence agrees from i and j on for as long as it must behind so many skipped events.
func (a *aligner) lasts(i, j, dir, skipped int, at func(i, j int) bool) bool {
	if a.parted(i, j, dir) {
		skipped = max(skipped, 3)
	}
	n := 0
	for n < min(skipped, 3) && at(i+dir*n, j+dir*n) {
		n++
	}
	// at the bound or the end of the sequence two will do: there are no more
	end := i + dir*n
	return n == min(skipped, 3) || n == 2 && skipped <= 8 && (j+dir*n == a.bound || end < 0 || end == len(a.tok))
}

// parted reports whether more than a stray lies in front of i, seen in the direction, that the sequence leaves out and that do not in front of j.
func (a *aligner) parted(i, j, dir int) bool {
	if dir > 0 {
		i, j = i-1, j-1
	}
	if a.hidden == nil || min(i, j) < 0 || max(i, j) >= len(a.tok) {
		return false
	}
	return a.hidden(i) > a.hidden(j)+1
}
