package report

import (
	"math"
	"slices"
	"time"
)

// describe returns the statistics of a sample. It sorts x.
func describe(x []float64) Stats {
	s := Stats{N: len(x), Mean: unknown, Median: unknown, Std: unknown, Min: unknown, Max: unknown, Sum: unknown}
	if len(x) == 0 {
		return s
	}
	slices.Sort(x)
	var sum float64
	for _, v := range x {
		sum += v
	}
	n := float64(len(x))
	mean := sum / n
	s.Sum, s.Mean, s.Min, s.Max = Number(sum), Number(mean), Number(x[0]), Number(x[len(x)-1])
	s.Median = Number((x[(len(x)-1)/2] + x[len(x)/2]) / 2)
	if len(x) > 1 {
		var q float64
		for _, v := range x {
			q += (v - mean) * (v - mean)
		}
		s.Std = Number(math.Sqrt(q / (n - 1)))
	}
	return s
}

// describeTimes is describe of durations, in microseconds; the sum is exact.
func describeTimes(d []time.Duration) Stats {
	x := make([]float64, len(d))
	var sum time.Duration
	for i, v := range d {
		x[i] = microseconds(v)
		sum += v
	}
	s := describe(x)
	if len(d) > 0 {
		s.Sum = Number(microseconds(sum))
	}
	return s
}

// microseconds converts without rounding more than float64 must.
func microseconds(d time.Duration) float64 { return float64(d) / 1e3 }

// medianTime returns the median of d, 0 for none. It sorts d.
func medianTime(d []time.Duration) time.Duration {
	if len(d) == 0 {
		return 0
	}
	slices.Sort(d)
	return (d[(len(d)-1)/2] + d[len(d)/2]) / 2
}

// ratio is a / b, unknown when b is not positive.
func ratio(a, b float64) Number {
	if !(b > 0) {
		return unknown
	}
	return Number(a / b)
}
