package split

// Where a step begins cannot be told from its period: any rotation of a loop repeats with the same lag. It is told by the
// two ends of the loop, for the first iteration begins with a step's first kernel and the last ends with a step's last.
// From one boundary follow all others: wherever the same tail meets the same head, also in steps that are shorter than
// the regular ones, and across kernels that belong to no step.

// A piece is one step as positions [from, to) of a sequence.
type piece struct {
	from, to int
	image    int
	whole    bool // both ends were seen
}

// A cutter finds the pieces of a loop.
type cutter struct {
	tok   []int32
	main  region // the regular part of most GPU time
	known []bool // by token: occurs in the regular part
	from  int    // where the loop begins, irregular first iterations included
	to    int
	copy  []bool // by token: a copy or fill, not a kernel

	mid     int // a boundary between two regular steps
	longest int // length of the longest regular step
}

// cut returns the steps of the level in order, and whether both ends of the loop agree on where a step begins.
func cut(n *nest, isCopy []bool, l *level) (pieces []piece, agree bool) {
	tok := n.tok
	c := &cutter{tok: tok, copy: isCopy, known: make([]bool, len(isCopy)), main: l.regions[0]}
	for _, r := range l.regions {
		if n.matched(r) > n.matched(c.main) {
			c.main = r
		}
	}
	for _, s := range tok[c.main.from:c.main.to] {
		c.known[s] = true
	}
	lag := c.main.lag
	i, j := c.extend(c.main.from-1, c.main.from-1+lag, -1, 0)
	c.from = i
	first := mod(j-c.main.from, lag)
	i, j = c.extend(c.main.to, c.main.to-lag, 1, len(tok))
	c.to = i
	last := mod(j-c.main.from, lag)

	switch off := mod(last-first, lag); {
	case off == 0:
		return c.pieces(first), true
	case off > lag-lag/16-2: // a little less than whole steps: some kernels at the seam differ each time, count them to the head
		return c.pieces(last), true
	case c.from == 0 && c.to < len(tok):
		return c.pieces(last), false
	case c.to == len(tok) && c.from > 0:
		return c.pieces(first), false
	}
	a, b := c.pieces(first), c.pieces(last)
	if covered(b) > covered(a) {
		return b, false
	}
	return a, false
}

func covered(ps []piece) (n int) {
	for _, p := range ps {
		if p.whole {
			n += p.to - p.from
		}
	}
	return n
}

func mod(a, m int) int { return ((a % m) + m) % m }

// extend walks i and j together while the sequence agrees, one step of dir at a time, past short stretches that only one of
// them has, until j has passed the bound. It returns the boundaries next to the last agreeing positions: positions from
// which on (dir < 0), or up to which (dir > 0), the loop reaches.
func (c *cutter) extend(i, j, dir, bound int) (int, int) {
	at := func(i, j int) bool {
		if dir < 0 && j < bound || dir > 0 && j >= bound {
			return false
		}
		return i >= 0 && j >= 0 && i < len(c.tok) && j < len(c.tok) && c.tok[i] == c.tok[j]
	}
	for {
		for at(i, j) {
			i, j = i+dir, j+dir
		}
		di, dj, ok := c.resync(i, j, dir, at)
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
func (c *cutter) resync(i, j, dir int, at func(i, j int) bool) (di, dj int, ok bool) {
	const most = 40
	for skip := 1; skip <= min(most, c.main.lag/4+1); skip++ {
		for di := 0; di <= skip; di++ {
			dj, n := skip-di, 0
			for n < min(skip, 3) && at(i+dir*(di+n), j+dir*(dj+n)) {
				n++
			}
			if n == min(skip, 3) {
				return di, dj, true
			}
		}
	}
	return 0, 0, false
}

// A seam is where a step ends and the next begins; between the two may be events of no step.
type seam struct{ end, begin int }

// pieces returns the steps when the regular ones begin at the given phase of the main region.
func (c *cutter) pieces(phase int) []piece {
	lag := c.main.lag
	var bounds []int // of the regular steps
	for b := c.main.from + phase; b <= c.main.to; b += lag {
		if b > c.from && b < c.to {
			bounds = append(bounds, b)
		}
	}
	if len(bounds) == 0 {
		return nil
	}
	mid := bounds[len(bounds)/2]
	w := c.context(mid)
	head, tail := c.tok[mid:min(mid+w, len(c.tok))], c.tok[max(mid-w, 0):mid]
	begins, ends := c.find(head, 0), c.find(tail, len(tail))
	seams := c.seams(begins, ends, bounds)
	if len(seams) == 0 {
		return nil
	}
	c.mid = mid
	c.longest = lag
	for i := 1; i < len(seams); i++ {
		if c.foreign(seams[i-1].begin, seams[i].end) == 0 {
			c.longest = max(c.longest, seams[i].end-seams[i-1].begin)
		}
	}
	out := []piece{c.opening(seams[0].end, 0, begins)}
	for i := 1; i < len(seams); i++ {
		out = append(out, c.parted(piece{from: seams[i-1].begin, to: seams[i].end, whole: true}, begins, ends)...)
	}
	out = append(out, c.closing(seams[len(seams)-1].begin, len(c.tok), ends))
	image := 0
	for k := range out {
		if k > 0 && c.apart(out[k-1].to, out[k].from) {
			image++
		}
		out[k].image = image
	}
	return out
}

// parted splits a piece that holds the end of one image's loop and the beginning of the next one's.
func (c *cutter) parted(p piece, begins, ends []int) []piece {
	if c.foreign(p.from, p.to) < 8 {
		return []piece{p}
	}
	last := c.closing(p.from, p.to, ends)
	first := c.opening(p.to, last.to, begins)
	if last.to < first.from && c.apart(last.to, first.from) {
		return []piece{last, first}
	}
	return []piece{p}
}

// context returns how many tokens on either side of a boundary make it recognisable: as few as are needed to be no more
// frequent than steps can be.
func (c *cutter) context(mid int) int {
	part := c.tok[c.main.from:c.main.to]
	limit := max(1, min(8, c.main.lag/4))
	for w := min(2, limit); ; w++ {
		pat := c.tok[max(mid-w, 0):min(mid+w, len(c.tok))]
		n := count(part, pat)
		if w >= limit || float64(n) < 1.5*c.main.iterations() {
			return w
		}
		if w == min(2, limit) && float64(n) <= 6*c.main.iterations() && c.substeps(mid, w) {
			return w
		}
	}
}

// substeps reports whether the tail and head that meet at mid also meet inside the iteration, with different amounts of the
// same work between: steps of a repeating pattern of full and cached steps.
func (c *cutter) substeps(mid, w int) bool {
	pat := c.tok[mid-w : mid+w]
	long := c.tok[max(0, mid-8):min(len(c.tok), mid+8)]
	part := c.tok[c.main.from:c.main.to]
	return count(part, long) == count(part, pat) || c.main.lag < 64
}

func count(s, pat []int32) (n int) {
	for i := 0; i+len(pat) <= len(s); i++ {
		if equal(s[i:i+len(pat)], pat) {
			n++
		}
	}
	return n
}

func equal(a, b []int32) bool {
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

// find returns the positions at which pat occurs, moved by shift.
func (c *cutter) find(pat []int32, shift int) (at []int) {
	for i := 0; i+len(pat) <= len(c.tok); i++ {
		if equal(c.tok[i:i+len(pat)], pat) {
			at = append(at, i+shift)
		}
	}
	return at
}

// foreign counts the tokens of [from, to) that the regular steps do not hold.
func (c *cutter) foreign(from, to int) (n int) {
	for _, s := range c.tok[from:to] {
		if !c.known[s] {
			n++
		}
	}
	return n
}

// seams pairs each end of a step with the beginning that follows it, if there is nothing or only foreign work between
// them, and adds the boundaries of the regular part that were not recognised.
func (c *cutter) seams(begins, ends, bounds []int) []seam {
	var out []seam
	b, k := 0, 0
	near := func(x int) int { return max(2, min(16, x/16)) }
	for e := 0; e < len(ends); e++ {
		for b < len(begins) && begins[b] < ends[e] {
			b++
		}
		if b == len(begins) {
			break
		}
		if e+1 < len(ends) && ends[e+1] <= begins[b] {
			continue
		}
		if 2*c.foreign(ends[e], begins[b]) < begins[b]-ends[e] {
			continue
		}
		for k < len(bounds) && bounds[k] < ends[e] {
			if lastOf(out) < bounds[k]-near(c.main.lag) && bounds[k] < ends[e]-near(c.main.lag) {
				out = append(out, seam{bounds[k], bounds[k]})
			}
			k++
		}
		out = append(out, seam{ends[e], begins[b]})
		for k < len(bounds) && bounds[k] <= begins[b]+near(c.main.lag) {
			k++
		}
	}
	for ; k < len(bounds); k++ {
		if lastOf(out) < bounds[k]-near(c.main.lag) {
			out = append(out, seam{bounds[k], bounds[k]})
		}
	}
	return out
}

func lastOf(s []seam) int {
	if len(s) == 0 {
		return -1 << 31
	}
	return s[len(s)-1].begin
}

// opening returns the first step of an image, which ends at end and begins at floor or later. If it agrees with a regular step it
// begins where that one does. Else it begins at the farthest head that only work of steps separates from its end.
func (c *cutter) opening(end, floor int, begins []int) piece {
	reach := max(end-c.longest-c.longest/2, floor)
	if b := c.before(); b >= 0 {
		i, j := c.extend(end-1, c.mid-1, -1, b)
		if i >= floor && j-b <= 1+(c.mid-b)/20 {
			for i > floor && j > b && c.varies(j-1) {
				i, j = i-1, j-1
			}
			return piece{from: i, to: end, whole: i > 0 || j == b}
		}
	}
	p := piece{from: -1, to: end, whole: true}
	for k := len(begins) - 1; k >= 0; k-- {
		b := begins[k]
		if b >= end {
			continue
		}
		if b < reach || 10*c.foreign(b, end) > 4*(end-b) {
			break
		}
		p.from = b
	}
	if p.from < 0 {
		p.from, p.whole = c.stretch(end-1, reach-1, -1)+1, false
	}
	return p
}

// varies reports whether regular steps launch different kernels at the place of position j, as they do for copies whose variant
// depends on alignment: what stands there in another step then says nothing.
func (c *cutter) varies(j int) bool {
	for k := j - c.main.lag; k <= j+c.main.lag; k += 2 * c.main.lag {
		if k >= c.main.from && k < c.main.to && c.tok[k] != c.tok[j] {
			return true
		}
	}
	return false
}

// before and after return the other end of a regular step that ends or begins at mid, -1 if the trace does not hold one.
func (c *cutter) before() int {
	if b := c.mid - c.main.lag; b >= c.main.from {
		return b
	}
	return -1
}

func (c *cutter) after() int {
	if b := c.mid + c.main.lag; b <= c.main.to {
		return b
	}
	return -1
}

// closing returns the last step of an image, which begins at begin and ends at ceiling or before.
func (c *cutter) closing(begin, ceiling int, ends []int) piece {
	reach := min(begin+c.longest+c.longest/2, ceiling)
	if a := c.after(); a >= 0 {
		i, j := c.extend(begin, c.mid, 1, a)
		if i <= ceiling && a-j <= 1+(a-c.mid)/20 {
			return piece{from: begin, to: i, whole: true}
		}
	}
	p := piece{from: begin, to: -1, whole: true}
	for _, e := range ends {
		if e <= begin+1 {
			continue
		}
		if e <= reach && 10*c.foreign(begin, e) <= 4*(e-begin) {
			p.to = e
		}
		break
	}
	if p.to < 0 {
		p.to, p.whole = c.stretch(begin, reach, 1), false
	}
	return p
}

// stretch walks from i towards limit while the work is that of steps, and returns where it stops.
func (c *cutter) stretch(i, limit, dir int) int {
	bad := 0
	for i != limit && bad < 4 && i >= 0 && i < len(c.tok) {
		if c.known[c.tok[i]] {
			bad = 0
		} else {
			bad++
		}
		i += dir
	}
	return i - dir*bad
}

// apart reports whether the work between two steps is that of other phases: kernels that no step launches, and more than a few.
func (c *cutter) apart(from, to int) bool {
	kernels := 0
	for _, s := range c.tok[from:to] {
		if !c.copy[s] && !c.known[s] {
			kernels++
		}
	}
	return kernels >= 8 && 2*kernels >= to-from
}
