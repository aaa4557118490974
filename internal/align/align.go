// Package align pairs two sequences of tokens by their longest common subsequence, and tells which pairs every longest
// common subsequence has.
package align

import (
	"math/bits"
	"slices"
)

// None stands for a token without partner.
const None = -1

// An Alignment holds two longest alignments of a sequence b to a sequence a. First and Last have one index into a, or None,
// for each token of b. Of all longest common subsequences, First pairs each token of b with the earliest tokens of a that
// it can have, Last with the latest: a pair that both have is in every one of them.
type Alignment struct {
	First, Last []int32
	Length      int // of the longest common subsequence

	a, b     []int32
	prefixes *table
	suffixes *table // of both sequences reversed; nil until it is needed
}

// LCS aligns b to a. It takes len(a) * len(b) / 64 steps and as many words of memory.
func LCS(a, b []int32) *Alignment {
	t := newTable(a, b)
	return &Alignment{First: t.walk(a, b, true), Last: t.walk(a, b, false), Length: t.length(len(a), len(b)), a: a, b: b, prefixes: t}
}

// Optimal tells whether some longest common subsequence pairs b[j] with a[i].
func (x *Alignment) Optimal(i, j int) bool {
	if x.a[i] != x.b[j] {
		return false
	}
	if x.suffixes == nil {
		x.suffixes = newTable(reversed(x.a), reversed(x.b))
	}
	return x.prefixes.length(i, j)+1+x.suffixes.length(len(x.a)-i-1, len(x.b)-j-1) == x.Length
}

func reversed(list []int32) []int32 {
	list = slices.Clone(list)
	slices.Reverse(list)
	return list
}

// A table holds the lengths of the common subsequences of all prefixes of a and b as bits. Row i stands for a[:i]; bit j is
// clear when b[:j+1] has one more in common with it than b[:j] has (Crochemore et al., Hyyrö).
type table struct {
	rows  []uint64
	words int
}

func newTable(a, b []int32) *table {
	t := &table{words: (len(b) + 63) / 64}
	t.rows = make([]uint64, (len(a)+1)*t.words)
	masks := t.masks(b)
	absent := make([]uint64, t.words)
	for k := range t.row(0) {
		t.rows[k] = ^uint64(0)
	}
	for i, x := range a {
		mask := masks[x]
		if mask == nil {
			mask = absent
		}
		t.advance(t.row(i+1), t.row(i), mask)
	}
	return t
}

// masks has, for each token of b, the bits of the positions at which it stands.
func (t *table) masks(b []int32) map[int32][]uint64 {
	masks := make(map[int32][]uint64)
	for j, x := range b {
		mask := masks[x]
		if mask == nil {
			mask = make([]uint64, t.words)
			masks[x] = mask
		}
		mask[j/64] |= 1 << (j % 64)
	}
	return masks
}

func (t *table) row(i int) []uint64 { return t.rows[i*t.words : (i+1)*t.words] }

// advance sets next = (v + (v & mask)) | (v &^ mask), a sum over all words.
func (t *table) advance(next, v, mask []uint64) {
	var carry uint64
	for k := range v {
		u := v[k] & mask[k]
		var sum uint64
		sum, carry = bits.Add64(v[k], u, carry)
		next[k] = sum | (v[k] &^ u)
	}
}

// gains tells whether b[:j] has one more in common with a[:i] than b[:j-1] has.
func (t *table) gains(i, j int) bool {
	return t.rows[i*t.words+(j-1)/64]>>((j-1)%64)&1 == 0
}

// spares tells whether a[:i-1] has as much in common with b[:j] as a[:i] has.
func (t *table) spares(i, j int) bool { return t.length(i-1, j) == t.length(i, j) }

// length is that of the longest common subsequence of a[:i] and b[:j].
func (t *table) length(i, j int) int {
	row, n := t.row(i), 0
	for k := range j / 64 {
		n += bits.OnesCount64(^row[k])
	}
	if rest := j % 64; rest > 0 {
		n += bits.OnesCount64(^row[j/64] & (1<<rest - 1))
	}
	return n
}

// walk follows a longest common subsequence from the end of both sequences to their start. It gives tokens the earliest
// partners, or the latest: it leaves a token of a, or of b, alone wherever nothing is lost by that.
func (t *table) walk(a, b []int32, early bool) []int32 {
	partner := make([]int32, len(b))
	for j := range partner {
		partner[j] = None
	}
	i, j := len(a), len(b)
	for i > 0 && j > 0 {
		switch {
		case early && t.spares(i, j), !early && !t.gains(i, j):
			if early {
				i--
			} else {
				j--
			}
		case a[i-1] == b[j-1]:
			i, j = i-1, j-1
			partner[j] = int32(i)
		case early:
			j--
		default:
			i--
		}
	}
	return partner
}
