package report

import (
	"cmp"
	"math"
	"slices"
	"time"
)

// A clock tells how far the clock of a rank is ahead of that of the first rank, the common one: at the common instant T it shows
// T + shift + rate*(T-at).
type clock struct {
	shift, spread time.Duration
	rate          float64
	at            time.Duration
	known         bool
}

// common returns the common instant at which the clock shows t.
func (c *clock) common(t time.Duration) time.Duration {
	since := t - c.shift - c.at
	return c.at + since - time.Duration(float64(since)*c.rate/(1+c.rate))
}

const (
	// clockError is what the ends of one collective may differ by on ranks whose clocks are known.
	clockError = 50 * time.Microsecond
	// mostDrift is the difference in rate up to which two clocks are believed: a clock that is being corrected over the network runs
	// up to 500 ppm off.
	mostDrift = 1e-3
)

// A reading is the end of a call by the common clock and by how much the clock of a rank shows it later.
type reading struct{ at, ahead time.Duration }

// readClock draws a line through readings: its slope by the medians of the first and the last third, which single calls cannot move, its
// height by the median. A slope that leaves the readings no closer to the line is none. It sorts r.
func readClock(r []reading) clock {
	slices.SortFunc(r, func(x, y reading) int { return cmp.Compare(x.at, y.at) })
	level := clock{at: r[len(r)/2].at, known: true}
	level.settle(r)
	n := len(r) / 3
	if n == 0 {
		return level
	}
	first, last := r[:n], r[len(r)-n:]
	begin, end := median(first, reading.instant), median(last, reading.instant)
	rate := float64(median(last, reading.lead)-median(first, reading.lead)) / float64(end-begin)
	if !(math.Abs(rate) <= mostDrift) {
		return level
	}
	line := clock{at: level.at, known: true, rate: rate}
	if line.settle(r); 2*line.spread < level.spread {
		return line
	}
	return level
}

func (r reading) instant() time.Duration { return r.at }
func (r reading) lead() time.Duration    { return r.ahead }

func median(r []reading, of func(reading) time.Duration) time.Duration {
	d := make([]time.Duration, len(r))
	for i := range r {
		d[i] = of(r[i])
	}
	return medianTime(d)
}

// settle puts the line at the median height of the readings, and measures their median distance from it.
func (c *clock) settle(r []reading) {
	above := func(x reading) time.Duration { return x.ahead - time.Duration(c.rate*float64(x.at-c.at)) }
	c.shift = median(r, above)
	c.spread = median(r, func(x reading) time.Duration { d := above(x) - c.shift; return max(d, -d) })
}

// align reads the clocks: that of a rank by the rank already set with which it shares the most calls.
func (m *matching) align(n int) {
	m.clocks = make([]clock, n)
	m.clocks[0].known = true
	shared := m.shared(n)
	for {
		from, to, most := 0, 0, 0
		for r := range n {
			for s := range n {
				if !m.clocks[r].known && m.clocks[s].known && shared[r][s] > most {
					from, to, most = s, r, shared[r][s]
				}
			}
		}
		if most == 0 {
			return
		}
		m.clocks[to] = readClock(m.readings(to, from))
	}
}

// shared counts the common calls of any two ranks.
func (m *matching) shared(n int) [][]int {
	count := make([][]int, n)
	for i := range count {
		count[i] = make([]int, n)
	}
	for _, c := range m.channels {
		for _, x := range c.parties {
			for _, y := range c.parties {
				count[x.index][y.index] += len(x.calls)
			}
		}
	}
	return count
}

// readings are the ends of the common calls of rank r and a rank s whose clock is known.
func (m *matching) readings(r, s int) (list []reading) {
	for _, c := range m.channels {
		x, y := c.party(r), c.party(s)
		if x == nil || y == nil {
			continue
		}
		for i := range x.calls {
			at := m.clocks[s].common(y.calls[i].end())
			list = append(list, reading{at, x.calls[i].end() - at})
		}
	}
	return list
}
