package split

// An aligner compares two places of a sequence that ought to hold the same, past short stretches that only one of them has.
type aligner struct {
	tok   []int32
	bound int // where the alignment ends
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
		for at(i, j) {
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
			dj, n := skip-di, 0
			for n < min(skip, 3) && at(i+dir*(di+n), j+dir*(dj+n)) {
				n++
			}
			// at the bound or the end of the sequence two will do: there are no more
			end := i + dir*(di+n)
			if n == min(skip, 3) || n == 2 && skip <= 8 && (j+dir*(dj+n) == a.bound || end < 0 || end == len(a.tok)) {
				return di, dj, true
			}
		}
	}
	return 0, 0, false
}
