package perfmodel

// A band says which keys a query sees: query i of nq sees the keys from i+shift-left to i+shift+right.
type band struct {
	shift       int64 // 0 when the first query meets the first key, nk-nq when the last meets the last
	left, right int64 // unbounded for no limit
}

const unbounded = int64(1) << 40

var everyKey = band{left: unbounded, right: unbounded}

// pairs counts the (query, key) pairs that the band leaves, exactly. The number of keys that query i sees is the
// difference of two ramps in i that are clamped to [0, nk], so the count is a difference of two sums of clamped
// ramps.
func (b band) pairs(nq, nk int64) int64 {
	if b.left >= unbounded && b.right >= unbounded {
		return product(nq, nk)
	}
	const limit = 1 << 30 // keeps every sum below within 63 bits
	if nq > limit || nk > limit {
		return tooMuch
	}
	left, right := min(b.left, limit), min(b.right, limit)
	return max(0, ramp(b.shift+right+1, nq, nk)-ramp(b.shift-left, nq, nk))
}

// ramp returns the sum of x clamped to [0, top] over n whole numbers x from start on.
func ramp(start, n, top int64) int64 { return upTo(start+n-1, top) - upTo(start-1, top) }

// upTo returns the sum of x clamped to [0, top] over all x <= last.
func upTo(last, top int64) int64 {
	switch {
	case last <= 0:
		return 0
	case last <= top:
		return last * (last + 1) / 2
	}
	return top*(top+1)/2 + (last-top)*top
}
