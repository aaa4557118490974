// Package interval does arithmetic on sets of time intervals: union, intersection and difference lengths.
package interval

import (
	"cmp"
	"slices"
	"time"
)

// An Interval is the half-open range [Start, End).
type Interval struct{ Start, End time.Duration }

// A Set is a union of intervals: sorted, disjoint, not touching, none empty.
type Set []Interval

// Union returns the set that covers the given intervals. It sorts and reuses its argument.
func Union(in []Interval) Set {
	slices.SortFunc(in, func(a, b Interval) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.End, b.End))
	})
	out := in[:0]
	for _, v := range in {
		if v.End <= v.Start {
			continue
		}
		if n := len(out); n > 0 && v.Start <= out[n-1].End {
			out[n-1].End = max(out[n-1].End, v.End)
			continue
		}
		out = append(out, v)
	}
	return Set(out)
}

// Len returns the total length of the set.
func (s Set) Len() time.Duration {
	var n time.Duration
	for _, v := range s {
		n += v.End - v.Start
	}
	return n
}

// Minus returns the part of s that is not in t.
func (s Set) Minus(t Set) Set {
	var out Set
	j := 0
	for _, v := range s {
		for j < len(t) && t[j].End <= v.Start {
			j++
		}
		at := v.Start
		for k := j; k < len(t) && t[k].Start < v.End; k++ {
			if t[k].Start > at {
				out = append(out, Interval{at, t[k].Start})
			}
			at = max(at, t[k].End)
		}
		if at < v.End {
			out = append(out, Interval{at, v.End})
		}
	}
	return out
}

// Clip returns the part of s inside [start, end).
func (s Set) Clip(start, end time.Duration) Set {
	var out Set
	for _, v := range s {
		v.Start, v.End = max(v.Start, start), min(v.End, end)
		if v.Start < v.End {
			out = append(out, v)
		}
	}
	return out
}
