package report

import (
	"math"
	"strconv"
	"strings"
)

// What the drawings share: coordinates, axes, legends. The template puts them into SVG and escapes all text.

// px is a coordinate, written with one decimal.
type px float64

// String writes the coordinate.
func (p px) String() string {
	return strings.TrimSuffix(strconv.FormatFloat(float64(p), 'f', 1, 64), ".0")
}

// A frame is the rectangle into which a plot draws.
type frame struct {
	Width, Height            px // of the drawing
	Left, Top, Right, Bottom px // of the plot inside it
}

// A tick is a mark on an axis with its label.
type tick struct {
	At    px
	Label string
}

// An axis maps values to coordinates.
type axis struct {
	lo, hi   float64 // values
	from, to px
	log      bool
}

// at returns where a value lies, clamped to the axis.
func (a axis) at(v float64) px {
	lo, hi := a.lo, a.hi
	if a.log {
		lo, hi, v = math.Log10(lo), math.Log10(hi), math.Log10(v)
	}
	if hi <= lo || math.IsNaN(v) {
		return a.from
	}
	f := min(1, max(0, (v-lo)/(hi-lo)))
	return a.from + px(f)*(a.to-a.from)
}

// decades returns a tick at each power of ten of a logarithmic axis.
func (a axis) decades() []tick {
	var ticks []tick
	for e := math.Ceil(math.Log10(a.lo) - 1e-9); e <= math.Log10(a.hi)+1e-9; e++ {
		v := math.Pow(10, e)
		ticks = append(ticks, tick{a.at(v), plain(v)})
	}
	return ticks
}

// plain writes a power of ten without trailing zeros.
func plain(v float64) string {
	if v >= 1 {
		return decimals(v, 0)
	}
	return strconv.FormatFloat(v, 'g', 3, 64)
}

// evenly returns about n ticks at round values of a linear axis of microseconds.
func (a axis) evenly(n int) []tick {
	step := roundStep((a.hi - a.lo) / float64(n))
	if step <= 0 {
		return nil
	}
	var ticks []tick
	for v := a.lo; v <= a.hi*(1+1e-9); v += step {
		ticks = append(ticks, tick{a.at(v), roundMicros(v)})
	}
	return ticks
}

// roundStep returns the next 1, 2 or 5 times a power of ten.
func roundStep(v float64) float64 {
	if v <= 0 || math.IsInf(v, 0) || math.IsNaN(v) {
		return 0
	}
	p := math.Pow(10, math.Floor(math.Log10(v)))
	for _, f := range []float64{1, 2, 5} {
		if v <= f*p {
			return f * p
		}
	}
	return 10 * p
}

// roundMicros labels a round time on an axis.
func roundMicros(us float64) string {
	switch {
	case us == 0:
		return "0"
	case us >= 10e6:
		return strconv.FormatFloat(us/1e6, 'f', -1, 64) + " s"
	case us >= 1000:
		return decimals(us/1e3, 0) + " ms"
	default:
		return decimals(us, 0) + " µs"
	}
}

// A legendItem explains a colour.
type legendItem struct{ Hue, Label string }

// fits reports whether a label of small, bold type has room in a width.
func fits(label string, width px) bool { return px(len([]rune(label)))*7.4+16 <= width }
