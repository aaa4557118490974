package perfmodel

import (
	"math"
	"math/bits"
)

// Counts saturate at tooMuch instead of overflowing, and stay there; a Work that holds it is refused as a RangeError.
// All counts are at least 0.
const tooMuch = math.MaxInt64

// product multiplies counts. Zero times anything is zero.
func product(xs ...int64) int64 {
	p := int64(1)
	for _, x := range xs {
		if x == 0 {
			return 0
		}
		if high, low := bits.Mul64(uint64(p), uint64(x)); high > 0 || low > tooMuch {
			p = tooMuch
		} else {
			p = int64(low)
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
