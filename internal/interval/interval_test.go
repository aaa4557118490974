package interval

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func set(ends ...time.Duration) Set {
	var s Set
	for i := 0; i < len(ends); i += 2 {
		s = append(s, Interval{ends[i], ends[i+1]})
	}
	return s
}

func TestUnion(t *testing.T) {
	got := Union(set(5, 7, 0, 2, 2, 3, 6, 9, 4, 4, 20, 10))
	if d := cmp.Diff(set(0, 3, 5, 9), got); d != "" {
		t.Error(d)
	}
}

// TestAgainstBitmap compares every operation with the same one on a bitmap of points.
func TestAgainstBitmap(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	const n = 64
	for range 2000 {
		a, b := randomSet(r, n), randomSet(r, n)
		start := time.Duration(r.IntN(n))
		end := start + time.Duration(r.IntN(n))
		diff, clip := a.Minus(b), a.Clip(start, end)
		var length time.Duration
		for p := range time.Duration(2 * n) {
			if in(a, p) {
				length++
			}
			if want := in(a, p) && !in(b, p); in(diff, p) != want {
				t.Fatalf("%v minus %v = %v: point %d", a, b, diff, p)
			}
			if want := in(a, p) && p >= start && p < end; in(clip, p) != want {
				t.Fatalf("%v clip %d..%d = %v: point %d", a, start, end, clip, p)
			}
		}
		if a.Len() != length {
			t.Fatalf("%v: Len %d, want %d", a, a.Len(), length)
		}
	}
}

func randomSet(r *rand.Rand, n int) Set {
	var in []Interval
	for range r.IntN(6) {
		s := time.Duration(r.IntN(n))
		in = append(in, Interval{s, s + time.Duration(r.IntN(12))})
	}
	return Union(in)
}

func in(s Set, p time.Duration) bool {
	for _, v := range s {
		if v.Start <= p && p < v.End {
			return true
		}
	}
	return false
}
