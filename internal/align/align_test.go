package align_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ditlens/ditlens/internal/align"
)

func TestLCS(t *testing.T) {
	tests := []struct {
		name        string
		a, b        string
		first, last []int32
	}{
		{"equal", "abc", "abc", []int32{0, 1, 2}, []int32{0, 1, 2}},
		{"empty", "", "ab", []int32{-1, -1}, []int32{-1, -1}},
		{"nothing in common", "abc", "xyz", []int32{-1, -1, -1}, []int32{-1, -1, -1}},
		{"missing tail", "abcd", "abc", []int32{0, 1, 2}, []int32{0, 1, 2}},
		{"dropped from a", "abd", "abcd", []int32{0, 1, -1, 2}, []int32{0, 1, -1, 2}},
		{"either of two", "aab", "ab", []int32{0, 2}, []int32{1, 2}},
		{"a swallowed name", "abcabd", "abd", []int32{0, 1, 5}, []int32{3, 4, 5}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := align.LCS(tokens(tt.a), tokens(tt.b))
			if diff := cmp.Diff(tt.first, r.First); diff != "" {
				t.Errorf("first (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.last, r.Last); diff != "" {
				t.Errorf("last (-want +got):\n%s", diff)
			}
		})
	}
}

// Every longest alignment, found by trying them all, lies between First and Last, and both are among them.
func TestLCSBoundsAllLongest(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 400 {
		a, b := randomTokens(rnd, 9), randomTokens(rnd, 9)
		all := longest(a, b)
		r := align.LCS(a, b)
		var first, last bool
		for _, one := range all {
			first = first || slices.Equal(one, r.First)
			last = last || slices.Equal(one, r.Last)
		}
		if !first || !last {
			t.Fatalf("a=%v b=%v: first %v (%v), last %v (%v) not among %v", a, b, r.First, first, r.Last, last, all)
		}
		for j := range b {
			for i := range a {
				some := slices.ContainsFunc(all, func(one []int32) bool { return one[j] == int32(i) })
				if got := r.Optimal(i, j); got != some {
					t.Fatalf("a=%v b=%v: Optimal(%d, %d) is %v", a, b, i, j, got)
				}
			}
			if r.First[j] != r.Last[j] || r.First[j] == align.None {
				continue
			}
			for _, one := range all {
				if one[j] != r.First[j] {
					t.Fatalf("a=%v b=%v: %d is paired with %d in both, but not in %v", a, b, j, r.First[j], one)
				}
			}
		}
	}
}

func TestLCSOfLongSequences(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	for range 20 {
		a, b := make([]int32, 300), make([]int32, 280)
		for i := range a {
			a[i] = rnd.Int32N(6)
		}
		for j := range b {
			b[j] = rnd.Int32N(6)
		}
		r := align.LCS(a, b)
		want := dynamic(a, b)
		if got := check(t, a, b, r.First); got != want || r.Length != want {
			t.Fatalf("first pairs %d, length %d, want %d", got, r.Length, want)
		}
		if got := check(t, a, b, r.Last); got != want {
			t.Fatalf("last pairs %d, want %d", got, want)
		}
	}
}

func BenchmarkLCS(b *testing.B) {
	rnd := rand.New(rand.NewPCG(5, 6))
	x := make([]int32, 1600)
	for i := range x {
		x[i] = int32(i % 27)
	}
	y := make([]int32, 0, len(x))
	for _, v := range x {
		if rnd.IntN(10) > 0 {
			y = append(y, v)
		}
	}
	for b.Loop() {
		align.LCS(x, y)
	}
}

// check fails unless partner is increasing and pairs equal tokens; it returns the number of pairs.
func check(t *testing.T, a, b, partner []int32) int {
	t.Helper()
	n, last := 0, int32(-1)
	for j, i := range partner {
		if i == align.None {
			continue
		}
		if i <= last || a[i] != b[j] {
			t.Fatalf("token %d is paired with %d after %d: %d, %d", j, i, last, b[j], a[i])
		}
		last = i
		n++
	}
	return n
}

func dynamic(a, b []int32) int {
	row := make([]int, len(b)+1)
	for _, x := range a {
		diagonal := 0
		for j, y := range b {
			up := row[j+1]
			if x == y {
				row[j+1] = diagonal + 1
			} else {
				row[j+1] = max(up, row[j])
			}
			diagonal = up
		}
	}
	return row[len(b)]
}

// longest lists all longest alignments of b to a.
func longest(a, b []int32) [][]int32 {
	var all [][]int32
	best := 0
	var try func(j, from, n int, partner []int32)
	try = func(j, from, n int, partner []int32) {
		if j == len(b) {
			if n > best {
				all, best = nil, n
			}
			if n == best {
				all = append(all, append([]int32(nil), partner...))
			}
			return
		}
		try(j+1, from, n, append(partner, align.None))
		for i := from; i < len(a); i++ {
			if a[i] == b[j] {
				try(j+1, i+1, n+1, append(partner, int32(i)))
			}
		}
	}
	try(0, 0, 0, nil)
	return all
}

func tokens(s string) []int32 {
	x := make([]int32, len(s))
	for i := range s {
		x[i] = int32(s[i])
	}
	return x
}

func randomTokens(rnd *rand.Rand, n int) []int32 {
	x := make([]int32, rnd.IntN(n))
	for i := range x {
		x[i] = rnd.Int32N(3)
	}
	return x
}
