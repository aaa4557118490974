package report

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/ditlens/ditlens/hw"
	"github.com/ditlens/ditlens/trace"
)

// Ranks compares the ranks of one run by the collectives that they run together. A collective lasts on each rank from its own
// arrival to the common end: what the rank that comes last needs is the transfer, the rest is waiting for it. That needs no
// common clock; clocks are compared by the ends, which are the same instant for all.
type Ranks struct {
	Ranks       []Rank       `json:"ranks"`       // by rank
	Collectives []Collective `json:"collectives"` // the longest wait and transfer first
	Matched     int          `json:"matched_calls"`
	Unmatched   int          `json:"unmatched_calls"` // over all ranks
	Doubts      []string     `json:"doubts"`          // why calls are unmatched, what is uncertain
}

// A Rank is one rank beside the others. Wait + Transfer is the time of its matched collectives.
type Rank struct {
	Rank     int    `json:"rank"`
	File     string `json:"file"`
	Steps    int    `json:"steps"`
	StepSpan Micros `json:"median_step_span_us"` // of the steady state, 0 without
	Busy     Micros `json:"busy_us"`
	Idle     Micros `json:"idle_us"`
	Exposed  Micros `json:"exposed_comm_us"`
	Wait     Micros `json:"collective_wait_us"`
	Transfer Micros `json:"collective_transfer_us"`
	Calls    int    `json:"matched_calls"`
	Last     int    `json:"arrived_last"` // calls that all others waited for
	// ClockShift is how far the clock of this rank is ahead of that of the first one in the middle of what they share, Drift how much
	// faster it runs, in parts per million, and Spread the median distance of single collectives from that; unknown when the two share
	// no collective. A drift that explains nothing is 0.
	ClockShift Number `json:"clock_shift_us"`
	Drift      Number `json:"clock_drift_ppm"`
	Spread     Number `json:"clock_spread_us"`
}

// A Collective is all calls of one kind in one process group.
type Collective struct {
	Name       string `json:"name"`
	Group      string `json:"group"` // as recorded, "" when the kernels do not tell
	Ranks      []int  `json:"ranks"` // those whose traces were given
	Calls      int    `json:"calls"`
	Transfer   Micros `json:"transfer_us"`        // sum over calls
	Wait       Micros `json:"wait_us"`            // sum over calls and ranks
	Arrival    Number `json:"arrival_spread_us"`  // from the first to the last arrival, median; unknown without clock shifts
	Bytes      Number `json:"bytes_per_rank"`     // sum over calls; unknown when not recorded of each
	Bandwidth  Number `json:"bytes_per_second"`   // Bytes / Transfer
	Efficiency Number `json:"efficiency_percent"` // of the peer link
}

// A RankTrace is what of the trace of one rank is compared with the others. It is small, so the trace need not be kept.
type RankTrace struct {
	rank     Rank
	cut      bool // its file ends too early
	channels map[channelKey][]collectiveCall
}

// Rank reduces the trace of one rank to what [Analyzer.Others] takes. Errors are those of [Analyzer.Analyze], and a trace that
// does not tell its rank.
func (a *Analyzer) Rank(ctx context.Context, t *trace.Trace) (*RankTrace, error) {
	r := &Report{}
	in := analysis{Report: r, trace: t, origin: firstStart(t)}
	in.readInput(nil)
	if err := in.split(ctx, a.Split, a.Workload.NumInferenceSteps); err != nil {
		return nil, err
	}
	in.attribute(a.Models)
	in.measureTimeline()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return in.rankTrace()
}

// rankTrace reduces the analysis of one rank.
func (in *analysis) rankTrace() (*RankTrace, error) {
	r := Rank{Steps: len(in.Split.Steps), StepSpan: in.Split.MedianSpan, Busy: in.Timeline.Busy, Idle: in.Timeline.Idle,
		Exposed: in.Timeline.ExposedComm, ClockShift: unknown, Drift: unknown, Spread: unknown}
	if len(in.Trace.Files) > 0 {
		r.File = in.Trace.Files[0].Path
	}
	if in.Trace.Rank == nil {
		return nil, fmt.Errorf("report: %q does not tell its rank, neither inside nor in its name", r.File)
	}
	r.Rank = *in.Trace.Rank
	cut := slices.ContainsFunc(in.Trace.Files, func(f File) bool { return f.Truncated })
	return &RankTrace{r, cut, in.collectiveCalls()}, nil
}

// compareRanks puts this rank beside the others.
func (in *analysis) compareRanks(others []*RankTrace) error {
	if len(others) == 0 {
		return nil
	}
	own, err := in.rankTrace()
	if err != nil {
		return err
	}
	list := append(slices.Clone(others), own)
	slices.SortStableFunc(list, func(x, y *RankTrace) int { return cmp.Compare(x.rank.Rank, y.rank.Rank) })
	for i := range list[1:] {
		if x, y := &list[i].rank, &list[i+1].rank; x.Rank == y.Rank {
			return fmt.Errorf("report: %q and %q are both of rank %d", x.File, y.File, x.Rank)
		}
	}
	m := match(list)
	in.Ranks = &Ranks{Unmatched: m.unmatched, Doubts: m.doubts}
	for i, t := range list {
		rank := t.rank
		if c := m.clocks[i]; c.known {
			rank.ClockShift, rank.Spread = Number(microseconds(c.shift)), Number(microseconds(c.spread))
			rank.Drift = Number(1e6 * c.rate)
		}
		in.Ranks.Ranks = append(in.Ranks.Ranks, rank)
	}
	in.Ranks.sumUp(m, list, in.spec, in.ceiling)
	return nil
}

// sumUp adds the matched calls, for the ranks and by name.
func (r *Ranks) sumUp(m *matching, list []*RankTrace, spec hw.HardwareSpec, ceiling hw.Ceiling) {
	for _, c := range m.channels {
		rows := map[string]*collectiveRow{}
		for i := range c.parties[0].calls {
			name := c.parties[0].calls[i].name
			if rows[name] == nil {
				rows[name] = &collectiveRow{Collective: Collective{Name: name, Group: c.key.group, Ranks: c.ranks(list)}}
			}
			r.Matched++
			rows[name].add(c, i, m.clocks, r.Ranks)
		}
		for _, name := range slices.Sorted(maps.Keys(rows)) {
			row := rows[name].finish(spec, ceiling)
			if row.Efficiency > 100 {
				r.Doubts = append(r.Doubts, fmt.Sprintf("%s of group %s runs above the rate of the link: its bytes or durations are wrong, or the ranks share a GPU.",
					name, c.key))
			}
			r.Collectives = append(r.Collectives, row)
		}
	}
	slices.SortStableFunc(r.Collectives, func(x, y Collective) int {
		return cmp.Compare(y.Wait+y.Transfer*Micros(len(y.Ranks)), x.Wait+x.Transfer*Micros(len(x.Ranks)))
	})
}

// A collectiveRow is a Collective in the making.
type collectiveRow struct {
	Collective
	bytes    int64
	unsized  bool // of some calls the bytes are not recorded
	arrivals []time.Duration
}

// add counts the i-th call of a channel, for the row and for its ranks.
func (r *collectiveRow) add(c *channel, i int, clocks []clock, ranks []Rank) {
	last, begin, end := 0, time.Duration(0), time.Duration(0)
	aligned, together := true, 1 // how many arrived last
	var bytes int64
	for k := range c.parties {
		p := &c.parties[k]
		call := &p.calls[i]
		switch d := cmp.Compare(call.dur, c.parties[last].calls[i].dur); {
		case d < 0:
			last, together = k, 1
		case d == 0 && k > 0:
			together++
		}
		at := clocks[p.index].common(call.start)
		if k == 0 {
			begin, end = at, at
		}
		begin, end = min(begin, at), max(end, at)
		aligned = aligned && clocks[p.index].known
		bytes = max(bytes, call.bytes)
	}
	transfer := c.parties[last].calls[i].dur
	for k := range c.parties {
		rank := &ranks[c.parties[k].index]
		wait := Micros(c.parties[k].calls[i].dur - transfer)
		rank.Calls++
		rank.Wait += wait
		rank.Transfer += Micros(transfer)
		r.Wait += wait
	}
	if together == 1 {
		ranks[c.parties[last].index].Last++
	}
	r.Calls++
	r.Transfer += Micros(transfer)
	r.bytes += bytes
	r.unsized = r.unsized || bytes == 0
	if aligned {
		r.arrivals = append(r.arrivals, end-begin)
	}
}

// finish returns the row with its rates.
func (r *collectiveRow) finish(spec hw.HardwareSpec, ceiling hw.Ceiling) Collective {
	c := r.Collective
	c.Arrival, c.Bytes, c.Bandwidth, c.Efficiency = unknown, unknown, unknown, unknown
	if len(r.arrivals) > 0 {
		c.Arrival = Number(microseconds(medianTime(r.arrivals)))
	}
	if r.unsized {
		return c
	}
	c.Bytes = Number(r.bytes)
	c.Bandwidth = ratio(float64(r.bytes), c.Transfer.Seconds())
	if spec == nil {
		return c
	}
	if roof, err := hw.Roofline(spec, ceiling, hw.Demand{Bytes: r.bytes, Level: hw.PeerLink}); err == nil {
		c.Efficiency = ratio(100*roof.Time, c.Transfer.Seconds())
	}
	return c
}
