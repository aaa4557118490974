package perfmodel

import "math"

// Counts saturate at tooMuch instead of overflowing, and stay there; a Work that holds it is refused as a RangeError. All
// counts are at least 0.
const tooMuch = math.MaxInt64

// product multiplies counts. Zero times anything is zero.
func product(xs ...int64) int64 {
	p := int64(1)
	for _, x := range xs {
		if x == 0 {
			return 0
		}
		if p > tooMuch/x {
			p = tooMuch
		} else {
			p *= x
		}
	}
	return p
}

// sum adds counts.
func sum(xs ...int64) int64 {
	s := int64(0)
	for _, x := range xs {
		if s > tooMuch-x {
			return tooMuch
		}
		s += x
	}
	return s
}

// ratio divides counts, rounding down.
func ratio(a, b int64) int64 {
	if a == tooMuch {
		return a
	}
	return a / b
}
