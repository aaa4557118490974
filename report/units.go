package report

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// notAvailable stands for an unknown number in text that people read.
const notAvailable = "n/a"

// duration shows a time in the unit that fits it, as in "204.6 ms".
func duration(m Micros) string { return micros(Number(m) / 1000) }

// dur is duration for a time.Duration.
func dur(d time.Duration) string { return duration(Micros(d)) }

// micros is duration for a number of microseconds that may be unknown.
func micros(us Number) string {
	switch a := math.Abs(float64(us)); {
	case !us.Known():
		return notAvailable
	case a >= 10e6:
		return decimals(float64(us)/1e6, 1) + " s"
	case a >= 1000:
		return decimals(float64(us)/1e3, 1) + " ms"
	case a == 0:
		return "0 µs"
	case a < 0.05:
		return "< 0.1 µs"
	default:
		return decimals(float64(us), 1) + " µs"
	}
}

// seconds shows a time given in seconds with three decimals, as in "1.172 s".
func seconds(s Number) string {
	if !s.Known() {
		return notAvailable
	}
	return decimals(float64(s), 3) + " s"
}

// percent shows a percentage with one decimal, or two below 1 %. What is not all is not shown as 100 %.
func percent(p Number) string {
	switch a := math.Abs(float64(p)); {
	case !p.Known():
		return notAvailable
	case a >= 99.95 && a < 100:
		return "> 99.9 %"
	case a == 0 || a >= 1:
		return decimals(float64(p), 1) + " %"
	case a < 0.005:
		return "< 0.01 %"
	default:
		return decimals(float64(p), 2) + " %"
	}
}

// percentFine shows a percentage with two decimals.
func percentFine(p Number) string {
	switch {
	case !p.Known():
		return notAvailable
	case p >= 99.995 && p < 100:
		return "> 99.99 %"
	default:
		return decimals(float64(p), 2) + " %"
	}
}

// significant shows a number with three significant digits, without an exponent from 0.001 on.
func significant(n Number) string {
	f := float64(n)
	switch a := math.Abs(f); {
	case !n.Known():
		return notAvailable
	case a == 0:
		return "0"
	case a < 0.001:
		return strconv.FormatFloat(f, 'e', 1, 64)
	}
	_, exponent, _ := strings.Cut(strconv.FormatFloat(f, 'e', 2, 64), "e")
	digits, _ := strconv.Atoi(exponent)
	return decimals(f, max(0, 2-digits))
}

// scaled shows a number in base units with the SI prefix that fits, as in "5.30 TB/s".
func scaled(n Number, unit string) string {
	if !n.Known() {
		return notAvailable
	}
	f, prefix := float64(n), ""
	for _, p := range []string{"k", "M", "G", "T", "P", "E"} {
		if math.Abs(f) < 1000 {
			break
		}
		f, prefix = f/1000, p
	}
	return significant(Number(f)) + " " + prefix + unit
}

// count shows a whole number with separators, as in "8,066".
func count[T int | int64](n T) string { return decimals(float64(n), 0) }

// decimals shows f with n decimals and separators between thousands.
func decimals(f float64, n int) string {
	s := strconv.FormatFloat(f, 'f', n, 64)
	whole, fraction, _ := strings.Cut(s, ".")
	sign := ""
	if strings.HasPrefix(whole, "-") {
		sign, whole = "-", whole[1:]
	}
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	if n == 0 {
		return sign + whole
	}
	return sign + whole + "." + fraction
}
