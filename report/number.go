package report

import (
	"bytes"
	"fmt"
	"math"
	"strconv"
	"time"
)

// A Number is a float that may be unknown. Unknown is NaN in memory and null in JSON; infinities are unknown too.
type Number float64

// unknown is the Number that is not known.
var unknown = Number(math.NaN())

// Known reports whether n has a value.
func (n Number) Known() bool { return !math.IsNaN(float64(n)) && !math.IsInf(float64(n), 0) }

// MarshalJSON writes the number in the shortest form that reads back equal, or null.
func (n Number) MarshalJSON() ([]byte, error) {
	if !n.Known() {
		return []byte("null"), nil
	}
	f := float64(n)
	if a := math.Abs(f); a != 0 && (a < 1e-6 || a >= 1e21) {
		return strconv.AppendFloat(nil, f, 'e', -1, 64), nil
	}
	return strconv.AppendFloat(nil, f, 'f', -1, 64), nil
}

// UnmarshalJSON reads a number or null.
func (n *Number) UnmarshalJSON(b []byte) error {
	if bytes.Equal(b, []byte("null")) {
		*n = unknown
		return nil
	}
	f, err := strconv.ParseFloat(string(b), 64)
	if err != nil {
		return fmt.Errorf("report: number %q: %w", b, err)
	}
	*n = Number(f)
	return nil
}

// Micros is a time that is written as microseconds with three decimals. It holds nanoseconds, so sums are exact.
type Micros time.Duration

// Duration returns the time as a time.Duration.
func (m Micros) Duration() time.Duration { return time.Duration(m) }

// Seconds returns the time in seconds.
func (m Micros) Seconds() float64 { return time.Duration(m).Seconds() }

// String returns microseconds with three decimals, as in "1346.082".
func (m Micros) String() string {
	sign, n := "", int64(m)
	if n < 0 {
		sign, n = "-", -n
	}
	return fmt.Sprintf("%s%d.%03d", sign, n/1000, n%1000)
}

// MarshalJSON writes microseconds with three decimals.
func (m Micros) MarshalJSON() ([]byte, error) { return []byte(m.String()), nil }

// UnmarshalJSON reads microseconds.
func (m *Micros) UnmarshalJSON(b []byte) error {
	f, err := strconv.ParseFloat(string(b), 64)
	if err != nil {
		return fmt.Errorf("report: microseconds %q: %w", b, err)
	}
	*m = Micros(math.Round(f * 1000))
	return nil
}
