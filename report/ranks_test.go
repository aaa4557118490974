package report_test

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/ditlens/ditlens/hw"
	"github.com/ditlens/ditlens/report"
	"github.com/ditlens/ditlens/trace"
	"github.com/google/go-cmp/cmp"
)

// A meeting is a collective with the arrival of each rank and its end, in microseconds of one common clock.
type meeting struct {
	name, group string
	arrivals    map[int]float64
	end         float64
	bytes       int
}

// rankTraces writes down the meetings as the clocks of the ranks show them: each is ahead by its shift. A group "" leaves kernels
// that say nothing of themselves.
func rankTraces(t *testing.T, shifts map[int]float64, meetings []meeting, change func(*trace.Builder, int)) map[int]*trace.Trace {
	t.Helper()
	traces := map[int]*trace.Trace{}
	for rank, shift := range shifts {
		var b trace.Builder
		b.SetHeader(trace.Header{Rank: rank, WorldSize: len(shifts), BaseTime: 1000 * time.Hour})
		b.AddFile(trace.File{Path: fmt.Sprintf("rank%d.json", rank)})
		for _, m := range meetings {
			at, ok := m.arrivals[rank]
			if !ok {
				continue
			}
			g := trace.GPUEvent{Name: "ncclDevKernel_Generic", Start: nano(at + shift), Dur: nano(m.end) - nano(at), Stream: 9}
			if m.group != "" {
				g.Inputs = b.Inputs(trace.Inputs{Extra: map[string]string{"Collective name": m.name, "Process Group Name": m.group, "dtype": "Byte",
					"In msg nelems": fmt.Sprint(m.bytes), "Out msg nelems": fmt.Sprint(m.bytes), "Group size": fmt.Sprint(len(m.arrivals))}})
			}
			b.GPU(g)
		}
		if change != nil {
			change(&b, rank)
		}
		tr, err := b.Build()
		if err != nil {
			t.Fatal(err)
		}
		traces[rank] = tr
	}
	return traces
}

func nano(us float64) time.Duration { return time.Duration(us * 1000) }

// compareRanks analyses the first rank beside the others.
func compareRanks(t *testing.T, first int, traces map[int]*trace.Trace) *report.Report {
	t.Helper()
	var a report.Analyzer
	for rank, tr := range traces {
		if rank == first {
			continue
		}
		r, err := a.Rank(t.Context(), tr)
		if err != nil {
			t.Fatal(err)
		}
		a.Others = append(a.Others, r)
	}
	r, err := a.Analyze(t.Context(), traces[first])
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestBL101ClocksOfRanksDiffer: two ranks, five collectives, a clock 350 µs ahead, arrivals 20 µs apart.
func TestBL101ClocksOfRanksDiffer(t *testing.T) {
	var meetings []meeting
	for i := range 5 {
		at := float64(1000 * i)
		meetings = append(meetings, meeting{"allreduce", "0", map[int]float64{0: at, 1: at + 20}, at + 120, 1000})
	}
	traces := rankTraces(t, map[int]float64{0: 0, 1: 350}, meetings, nil)
	r := compareRanks(t, 0, traces)
	if got := r.Ranks.Ranks[1]; got.ClockShift != 350 || got.Spread != 0 {
		t.Errorf("clock of rank 1: %v ± %v, want 350 ± 0", got.ClockShift, got.Spread)
	}
	if c := r.Ranks.Collectives; len(c) != 1 || c[0].Arrival != 20 || c[0].Calls != 5 || c[0].Bytes != 5*1000 {
		t.Errorf("collectives: %+v", c)
	}
	t.Run("base times differ", func(t *testing.T) {
		var b trace.Builder
		b.SetHeader(trace.Header{Rank: 1, BaseTime: 1000*time.Hour - time.Millisecond})
		for i := range traces[1].GPU {
			g := traces[1].GPU[i]
			g.Start += time.Millisecond
			b.GPU(g)
		}
		moved, err := b.Build()
		if err != nil {
			t.Fatal(err)
		}
		r := compareRanks(t, 0, map[int]*trace.Trace{0: traces[0], 1: moved})
		if got := r.Ranks.Ranks[1].ClockShift; got != 350 {
			t.Errorf("clock of rank 1: %v, want 350", got)
		}
	})
}

// TestBL102WaitingIsNoTransfer: one rank is in the collective for 1000 µs, the other for 40.
func TestBL102WaitingIsNoTransfer(t *testing.T) {
	traces := rankTraces(t, map[int]float64{0: 0, 1: 0}, []meeting{{"all_to_all", "0", map[int]float64{0: 0, 1: 960}, 1000, 4_000_000}}, nil)
	r := compareRanks(t, 0, traces)
	c := r.Ranks.Collectives[0]
	if c.Transfer.Duration() != 40*time.Microsecond || c.Wait.Duration() != 960*time.Microsecond || math.Abs(float64(c.Bandwidth)/50e9-1) > 1e-12 {
		t.Errorf("transfer %v, wait %v, rate %v", c.Transfer, c.Wait, c.Bandwidth)
	}
	for i, want := range []report.Rank{{Wait: 960_000, Transfer: 40_000, Calls: 1}, {Transfer: 40_000, Calls: 1, Last: 1}} {
		got := r.Ranks.Ranks[i]
		if got.Wait != want.Wait || got.Transfer != want.Transfer || got.Calls != want.Calls || got.Last != want.Last {
			t.Errorf("rank %d: %+v", i, got)
		}
	}
	if f := finding(r, "waiting_for_ranks"); f == nil || f.AtStake.Duration() != 960*time.Microsecond || !strings.Contains(f.Detail, "Rank 1 arrives last") {
		t.Errorf("finding %+v", f)
	}

	t.Run("waiting that computation hides is no loss", func(t *testing.T) {
		for hidden, want := range map[time.Duration]time.Duration{0: 960 * time.Microsecond, 600 * time.Microsecond: 400 * time.Microsecond, time.Millisecond: 0} {
			busy := rankTraces(t, map[int]float64{0: 0, 1: 0}, []meeting{{"all_to_all", "0", map[int]float64{0: 0, 1: 960}, 1000, 4_000_000}},
				func(b *trace.Builder, _ int) { b.GPU(trace.GPUEvent{Name: "gemm", Dur: hidden, Stream: 1}) })
			var stake time.Duration
			if f := finding(compareRanks(t, 0, busy), "waiting_for_ranks"); f != nil {
				stake = f.AtStake.Duration()
			}
			if stake != want {
				t.Errorf("%v hidden: %v at stake, want %v", hidden, stake, want)
			}
		}
	})

	t.Run("one rank alone has no roof", func(t *testing.T) {
		r := compareRanks(t, 0, map[int]*trace.Trace{0: traces[0]})
		op := r.Operators[0]
		if r.Ranks != nil || op.Efficiency.Known() || op.Bound != "unmodelled" || !strings.Contains(strings.Join(op.Notes, " "), "waiting for other ranks") {
			t.Errorf("ranks %v, efficiency %v, bound %q, notes %q", r.Ranks, op.Efficiency, op.Bound, op.Notes)
		}
	})
}

func finding(r *report.Report, code string) *report.Finding {
	for i := range r.Findings {
		if r.Findings[i].Code == code {
			return &r.Findings[i]
		}
	}
	return nil
}

// TestRanksOfSubgroups: groups of two ranks each, linked by one of all; clocks are found for every rank, whatever the order in
// which the ranks are given, and drawn arrivals give the known wait.
func TestRanksOfSubgroups(t *testing.T) {
	for _, named := range []bool{true, false} {
		t.Run(fmt.Sprint("named ", named), func(t *testing.T) {
			rnd := rand.New(rand.NewPCG(5, 6))
			shifts := map[int]float64{0: 0, 1: -2500, 2: 13, 3: 1e6}
			groups := []map[string][]int{{"left": {0, 1}, "right": {2, 3}}, {"world": {0, 1, 2, 3}}}
			if !named {
				groups = []map[string][]int{{"": {0, 1, 2, 3}}}
			}
			wait := map[int]float64{}
			var meetings []meeting
			at := 0.0
			for range 100 {
				for _, parallel := range groups {
					for _, name := range []string{"", "left", "right", "world"} {
						ranks := parallel[name]
						if ranks == nil {
							continue
						}
						m := meeting{name: "allgather", group: name, arrivals: map[int]float64{}, bytes: 64}
						last := 0.0
						for _, r := range ranks {
							m.arrivals[r] = at + float64(rnd.IntN(300))
							last = max(last, m.arrivals[r])
						}
						m.end = last + 30
						for _, r := range ranks {
							wait[r] += last - m.arrivals[r]
						}
						meetings = append(meetings, m)
					}
					at += 1000
				}
			}
			r := compareRanks(t, 2, rankTraces(t, shifts, meetings, nil))
			for _, k := range r.Ranks.Ranks {
				if float64(k.ClockShift) != shifts[k.Rank] || k.Wait.Duration() != nano(wait[k.Rank]) {
					t.Errorf("rank %d: clock %v, wait %v; want %v, %v", k.Rank, k.ClockShift, k.Wait, shifts[k.Rank], wait[k.Rank])
				}
			}
			if r.Ranks.Matched != len(meetings) || r.Ranks.Unmatched != 0 || len(r.Ranks.Doubts) != 0 {
				t.Errorf("matched %d of %d, unmatched %d, doubts %q", r.Ranks.Matched, len(meetings), r.Ranks.Unmatched, r.Ranks.Doubts)
			}
		})
	}
}

// TestRanksMeetWithinOperators: an operator that multiplies and then calls a collective owns both kernels; the collective still counts.
func TestRanksMeetWithinOperators(t *testing.T) {
	const us = time.Microsecond
	traces := map[int]*trace.Trace{}
	for rank := range 2 {
		var b trace.Builder
		b.SetHeader(trace.Header{Rank: rank, WorldSize: 2})
		host := b.Thread(b.AddFile(trace.File{Path: fmt.Sprintf("rank%d.json", rank)}), 1, 1, "")
		matrix := trace.Arg{Type: "c10::BFloat16", Dims: []int64{1024, 1024}}
		b.Op(trace.Op{Name: "aten::mm", Dur: 10 * us, Thread: host, Inputs: b.Inputs(trace.Inputs{Args: []trace.Arg{matrix, matrix}})})
		b.Launch(trace.Launch{Name: "hipLaunchKernel", Start: us, Dur: us, Thread: host, Correlation: 1})
		b.Launch(trace.Launch{Name: "hipLaunchKernel", Start: 3 * us, Dur: us, Thread: host, Correlation: 2})
		arrival := time.Duration(100+30*rank) * us
		b.GPU(trace.GPUEvent{Name: "Cijk_Alik_Bljk_BBS_BH", Start: 20 * us, Dur: arrival - 20*us, Correlation: 1})
		b.GPU(trace.GPUEvent{Name: "ncclDevKernel_Generic", Start: arrival, Dur: 200*us - arrival, Stream: 9, Correlation: 2,
			Inputs: b.Inputs(trace.Inputs{Extra: map[string]string{"Collective name": "allreduce", "Process Group Name": "0"}})})
		tr, err := b.Build()
		if err != nil {
			t.Fatal(err)
		}
		traces[rank] = tr
	}
	r := compareRanks(t, 0, traces)
	if len(r.Operators) != 1 || r.Operators[0].Category != "gemm" {
		t.Fatalf("the product does not own both kernels: %+v", r.Operators)
	}
	if first := r.Ranks.Ranks[0]; r.Ranks.Matched != 1 || first.Wait.Duration() != 30*us || first.Transfer.Duration() != 70*us {
		t.Errorf("matched %d, wait %v, transfer %v", r.Ranks.Matched, first.Wait, first.Transfer)
	}
	if c := r.Ranks.Collectives; len(c) != 1 || c[0].Bytes.Known() {
		t.Errorf("the bytes of the product are not those of the collective: %+v", c)
	}
}

// TestRanksThatDoNotMeet: what cannot be the same calls is left out and said.
func TestRanksThatDoNotMeet(t *testing.T) {
	both := func(name string, n int) (list []meeting) {
		for i := range n {
			at := float64(1000 * i)
			list = append(list, meeting{name, "g", map[int]float64{0: at, 1: at}, at + 100, 8})
		}
		return list
	}
	extra := func(g trace.GPUEvent) func(*trace.Builder, int) {
		return func(b *trace.Builder, rank int) {
			if rank == 1 {
				g.Inputs = b.Inputs(trace.Inputs{Extra: map[string]string{"Collective name": "allreduce", "Process Group Name": "g"}})
				b.GPU(g)
			}
		}
	}
	apart := rankTraces(t, map[int]float64{0: 0, 1: 0}, nil, func(b *trace.Builder, rank int) {
		rnd := rand.New(rand.NewPCG(1, uint64(rank)))
		for i := range 50 {
			b.GPU(trace.GPUEvent{Name: "ncclDevKernel_Generic", Start: time.Duration(i)*time.Second + time.Duration(rnd.IntN(1e8)), Dur: 1e6, Stream: 3})
		}
	})
	for _, tt := range []struct {
		name   string
		traces map[int]*trace.Trace
		doubt  string
	}{
		{"one call more", rankTraces(t, map[int]float64{0: 0, 1: 0}, both("allreduce", 3), extra(trace.GPUEvent{Name: "ncclDevKernel", Start: 1e9, Dur: 10})), "rank 0 has 3, rank 1 has 4"},
		{"only on one rank", rankTraces(t, map[int]float64{0: 0, 1: 0}, nil, extra(trace.GPUEvent{Name: "ncclDevKernel", Start: 1e9, Dur: 10})), "no other rank"},
		{"not at the same time", apart, "do not run at the same time"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := compareRanks(t, 1, tt.traces)
			if r.Ranks.Matched != 0 || len(r.Ranks.Doubts) != 1 || !strings.Contains(r.Ranks.Doubts[0], tt.doubt) {
				t.Errorf("%+v", r.Ranks)
			}
			var md bytes.Buffer
			if err := r.WriteMarkdown(&md); err != nil || !strings.Contains(md.String(), "no collective of one was found on another") {
				t.Errorf("%v\n%.600s", err, md.String())
			}
		})
	}
}

// TestClocksOfRanksDrift: in a minute a clock that runs 20 ppm fast is ahead by many times what a collective takes; ends jitter, and some
// are far off.
func TestClocksOfRanksDrift(t *testing.T) {
	for _, ppm := range []float64{20, -300, 0} {
		rnd := rand.New(rand.NewPCG(7, 8))
		var list []meeting
		for i := range 600 {
			at := float64(100_000 * i)
			list = append(list, meeting{"allreduce", "g", map[int]float64{0: at + float64(rnd.IntN(100)), 1: at + float64(rnd.IntN(100))}, at + 150, 8})
		}
		traces := rankTraces(t, map[int]float64{0: 0, 1: 0}, list, nil)
		var b trace.Builder
		b.SetHeader(traces[1].Header)
		for i := range traces[1].GPU {
			g := traces[1].GPU[i]
			late := time.Duration(rnd.IntN(2000))
			if i%20 == 0 {
				late = time.Millisecond
			}
			g.Start += time.Duration(ppm*1e-6*float64(g.Start)) + late
			b.GPU(g)
		}
		var err error
		if traces[1], err = b.Build(); err != nil {
			t.Fatal(err)
		}
		r := compareRanks(t, 0, traces)
		k, c := r.Ranks.Ranks[1], r.Ranks.Collectives
		if r.Ranks.Matched != 600 || len(c) != 1 || c[0].Arrival > 100 {
			t.Fatalf("%v ppm: %+v", ppm, r.Ranks)
		}
		if math.Abs(float64(k.Drift)-ppm) > 0.1 || math.Abs(float64(k.ClockShift)-ppm*30) > 3 || k.Spread > 2 {
			t.Errorf("drift %v ppm, shift %v in the middle ± %v; want %v, %v", k.Drift, k.ClockShift, k.Spread, ppm, ppm*30)
		}
	}
}

// TestNobodyIsLast: ranks that arrive together are no stragglers, and those that meet nobody do not count.
func TestNobodyIsLast(t *testing.T) {
	var list []meeting
	for i := range 5 {
		at := float64(1000 * i)
		list = append(list, meeting{"allreduce", "g", map[int]float64{0: at, 1: at}, at + 100, 8}, meeting{"allreduce", "alone", map[int]float64{2: at}, at + 100, 8})
	}
	r := compareRanks(t, 0, rankTraces(t, map[int]float64{0: 0, 1: 0, 2: 0}, list, nil))
	for _, k := range r.Ranks.Ranks {
		if k.Last != 0 {
			t.Errorf("rank %d arrives last %d times", k.Rank, k.Last)
		}
	}
	var md bytes.Buffer
	if err := r.WriteMarkdown(&md); err != nil || !strings.Contains(md.String(), "2 of 3 ranks meet in 5 collectives: on average a rank transfers for 500.0 µs") {
		t.Errorf("%v\n%s", err, md.String())
	}
}

// TestMessagesArePrivate: who sends to whom is not recorded, so only two ranks can be told to meet; their group's collectives are
// matched without its messages.
func TestMessagesArePrivate(t *testing.T) {
	run := func(ranks ...int) *report.Report {
		var list []meeting
		shifts := map[int]float64{}
		for i := range 20 {
			at := float64(2000 * i)
			for k := 0; k < len(ranks); k += 2 { // pairs
				list = append(list, meeting{"send", "g", map[int]float64{ranks[k]: at + float64(200*k)}, at + 900, 8},
					meeting{"recv", "g", map[int]float64{ranks[k+1]: at + float64(200*k)}, at + 900, 8})
			}
			all := map[int]float64{}
			for _, k := range ranks {
				shifts[k], all[k] = 0, at+1000
			}
			list = append(list, meeting{"allreduce", "g", all, at + 1100, 8})
		}
		list = append(list, meeting{"recv", "g", map[int]float64{ranks[1]: 1e6}, 1e6 + 10, 8}, meeting{"send", "g", map[int]float64{ranks[0]: 1e6}, 1e6 + 10, 8})
		return compareRanks(t, ranks[0], rankTraces(t, shifts, list, nil))
	}
	if r := run(0, 1); r.Ranks.Matched != 41 || r.Ranks.Unmatched != 0 {
		t.Errorf("two ranks: %+v", r.Ranks)
	}
	r := run(0, 1, 2, 3)
	if r.Ranks.Matched != 20 || r.Ranks.Unmatched != 82 || len(r.Ranks.Doubts) != 1 || !strings.Contains(r.Ranks.Doubts[0], "between two of the 4 ranks") {
		t.Errorf("four ranks: %+v", r.Ranks)
	}
}

// TestStreamsOfRanksInTheirOrder: kernels that say nothing of themselves begin in another order on the streams of each rank.
func TestStreamsOfRanksInTheirOrder(t *testing.T) {
	traces := rankTraces(t, map[int]float64{0: 0, 1: 0}, nil, func(b *trace.Builder, rank int) {
		for i := range 30 {
			for s := range 3 {
				b.GPU(trace.GPUEvent{Name: "ncclDevKernel_Generic", Start: nano(float64(3000*i + (s+rank)%3)), Dur: nano(float64(100 + 500*s)), Stream: int64(10 + s + 5*rank)})
			}
		}
	})
	r := compareRanks(t, 0, traces)
	if r.Ranks.Matched != 90 || len(r.Ranks.Doubts) != 1 || !strings.Contains(r.Ranks.Doubts[0], "in the order of their numbers") {
		t.Errorf("%+v", r.Ranks)
	}
}

// TestFasterThanTheLink: no percentage above 100 without a word.
func TestFasterThanTheLink(t *testing.T) {
	spec, err := hw.Lookup("MI300X")
	if err != nil {
		t.Fatal(err)
	}
	for bytes, want := range map[int]int{1000: 0, 1 << 40: 1} {
		traces := rankTraces(t, map[int]float64{0: 0, 1: 0}, []meeting{{"allreduce", "g", map[int]float64{0: 0, 1: 0}, 10, bytes}}, nil)
		a := report.Analyzer{Hardware: spec}
		other, err := a.Rank(t.Context(), traces[1])
		if err != nil {
			t.Fatal(err)
		}
		a.Others = []*report.RankTrace{other}
		r := analyze(t, a, traces[0])
		if c := r.Ranks.Collectives[0]; c.Efficiency > 100 != (want == 1) || len(r.Ranks.Doubts) != want {
			t.Errorf("%d bytes: %v %% of the link, doubts %q", bytes, c.Efficiency, r.Ranks.Doubts)
		}
	}
}

// TestRankCutShort: that the file of another rank was cut is said where the ranks are compared.
func TestRankCutShort(t *testing.T) {
	traces := rankTraces(t, map[int]float64{0: 0, 1: 0}, []meeting{{"allreduce", "g", map[int]float64{0: 0, 1: 0}, 10, 8}}, nil)
	traces[1].Files[0].Truncated = true
	if r := compareRanks(t, 0, traces); len(r.Ranks.Doubts) != 1 || !strings.Contains(r.Ranks.Doubts[0], "rank 1 ends too early") || r.Ranks.Matched != 1 {
		t.Errorf("%+v", r.Ranks)
	}
}

// TestRateNeedsTheBytesOfEachCall: a rate over all calls of the bytes of some would be too low.
func TestRateNeedsTheBytesOfEachCall(t *testing.T) {
	var list []meeting
	for i := range 2 {
		at := float64(1000 * i)
		list = append(list, meeting{"allreduce", "g", map[int]float64{0: at, 1: at}, at + 100, 1000 * i})
	}
	c := compareRanks(t, 0, rankTraces(t, map[int]float64{0: 0, 1: 0}, list, nil)).Ranks.Collectives
	if len(c) != 1 || c[0].Bytes.Known() || c[0].Bandwidth.Known() {
		t.Errorf("%+v", c)
	}
}

func TestRanksMustBeTold(t *testing.T) {
	traces := rankTraces(t, map[int]float64{0: 0, 1: 0, -1: 0}, []meeting{{"allreduce", "0", map[int]float64{0: 0, 1: 0, -1: 0}, 10, 8}}, nil)
	var a report.Analyzer
	if _, err := a.Rank(t.Context(), traces[-1]); err == nil || !strings.Contains(err.Error(), "does not tell its rank") {
		t.Errorf("unknown rank: %v", err)
	}
	one, err := a.Rank(t.Context(), traces[1])
	if err != nil {
		t.Fatal(err)
	}
	a.Others = []*report.RankTrace{one}
	if _, err := a.Analyze(t.Context(), traces[1]); err == nil || !strings.Contains(err.Error(), "both of rank 1") {
		t.Errorf("a rank twice: %v", err)
	}
	r, err := a.Analyze(t.Context(), traces[0])
	if err != nil {
		t.Fatal(err)
	}
	var j bytes.Buffer
	if err := r.WriteJSON(&j); err != nil {
		t.Fatal(err)
	}
	back, err := report.ReadJSON(&j)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(r.Ranks.Collectives, back.Ranks.Collectives, cmp.Comparer(func(x, y report.Number) bool { return x == y || !x.Known() && !y.Known() })); d != "" {
		t.Error(d)
	}
}
