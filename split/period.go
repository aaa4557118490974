package split

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/dsp/fourier"
)

// Periods are looked for in two steps: the autocorrelation of the signature sequence, by FFT, names the lags that are
// worth a look; a scan at each of them finds the regions that truly repeat.

const (
	exhaustive    = 4000 // sequences up to this length are scanned at every lag
	shortLags     = 96   // and all others at least at the lags below this
	binsPerOctave = 8
	lagsPerBin    = 2
)

// candidateLags returns lags at which the sequence resembles itself, ascending. A signature weighs the less the more
// often it occurs: the blocks of a model would otherwise drown its head and tail, which tell the step.
func candidateLags(tok []int32, distinct int) []int {
	n := len(tok)
	if n <= exhaustive {
		lags := make([]int, max(n-1, 0))
		for i := range lags {
			lags[i] = i + 1
		}
		return lags
	}
	r := autocorrelation(tok, distinct)
	lags := make([]int, 0, 256)
	for p := 1; p < shortLags; p++ {
		lags = append(lags, p)
	}
	for lo := shortLags; lo < n; {
		hi := max(lo+1, int(math.Ceil(float64(lo)*math.Pow(2, 1.0/binsPerOctave))))
		bin := make([]int, 0, hi-lo)
		for p := lo; p < min(hi, n); p++ {
			if r[p] >= r[p-1] && (p+1 >= n || r[p] >= r[p+1]) {
				bin = append(bin, p)
			}
		}
		slices.SortFunc(bin, func(a, b int) int { return cmp.Or(cmp.Compare(r[b], r[a]), cmp.Compare(a, b)) })
		lags = append(lags, bin[:min(len(bin), lagsPerBin)]...)
		lo = hi
	}
	slices.Sort(lags)
	return lags
}

// autocorrelation correlates the sequence with itself at all lags. Each signature is a random sign, so that different
// signatures cancel, of weight 1/sqrt(occurrences). Zero padding to at least twice the length keeps the ends apart.
func autocorrelation(tok []int32, distinct int) []float64 {
	count := make([]float64, distinct)
	for _, s := range tok {
		count[s]++
	}
	size := 1
	for size < 2*len(tok) {
		size *= 2
	}
	x := make([]float64, size)
	for i, s := range tok {
		x[i] = sign(s) / math.Sqrt(count[s])
	}
	fft := fourier.NewFFT(size)
	c := fft.Coefficients(nil, x)
	for i, v := range c {
		c[i] = complex(real(v)*real(v)+imag(v)*imag(v), 0)
	}
	r := fft.Sequence(x, c)
	scale := 1 / float64(size)
	for i := range r {
		r[i] *= scale
	}
	return r
}

// sign is a fixed random sign for each signature (the top bit of a multiplicative hash, Knuth 6.4).
func sign(s int32) float64 {
	h := (uint64(s) + 1) * 0x9E3779B97F4A7C15
	h ^= h >> 29
	h *= 0xBF58476D1CE4E5B9
	if h>>63 == 0 {
		return -1
	}
	return 1
}

// A region is a part of the sequence that equals itself shifted by lag: [from, to) holds the first iteration and all
// that follow.
type region struct {
	lag, from, to int
}

func (r region) iterations() float64 { return float64(r.to-r.from) / float64(r.lag) }

// repeats returns the regions of the sequence that repeat with a lag, at least 1.85 iterations long. Up to a tenth of the
// positions may differ, and no stretch of them longer than a small part of the lag.
func repeats(tok []int32, lag int) []region {
	const miss = 9 // a mismatch costs nine matches: the break-even is 90 % agreement
	drop := miss * max(1, lag/32)
	var out []region
	for i, n := 0, len(tok)-lag; i < n; {
		if tok[i] != tok[i+lag] {
			i++
			continue
		}
		score, best, end := 0, 0, i
		j := i
		for ; j < n && score >= max(best-drop, 0); j++ {
			if tok[j] == tok[j+lag] {
				score++
				if score > best {
					best, end = score, j+1
				}
			} else {
				score -= miss
			}
		}
		if 20*(end-i) >= 17*lag {
			out = append(out, region{lag, i, end + lag})
		}
		i = j // no better region starts between its end and the place where the score was lost
	}
	return out
}
