package report_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/ditlens/ditlens/hw"
	"github.com/ditlens/ditlens/report"
	"github.com/ditlens/ditlens/split"
	"github.com/ditlens/ditlens/trace"
)

// The whole way: a trace file, the analysis, and what it says.
func Example() {
	ctx := context.Background()
	t, err := trace.Load(ctx, trace.LoadOptions{}, "../examples/analyze/sample.json.gz")
	if err != nil {
		log.Fatal(err)
	}
	r, err := (&report.Analyzer{}).Analyze(ctx, t)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s: %d steps, %.1f %s\n", r.WorkloadType, r.Split.StepCount, float64(r.Throughput.Value), r.ThroughputUnit)
	top := r.Operators[0]
	fmt.Printf("%s: %d calls, %s bound, %.1f %% of the roof\n", top.Name, top.Count, top.Bound, float64(top.Efficiency))
	// Output:
	// diffusion: 4 steps, 41.6 images/sec
	// aten::addmm: 16 calls, compute bound, 77.5 % of the roof
}

// Analyze a trace against the data sheet of a given GPU, with markers alone, and look at one category.
func ExampleAnalyzer() {
	ctx := context.Background()
	t, err := trace.Load(ctx, trace.LoadOptions{}, "../examples/analyze/sample.json.gz")
	if err != nil {
		log.Fatal(err)
	}
	a := report.Analyzer{Split: split.Marker{}, Hardware: hw.MI300X(), Ceiling: hw.Datasheet}
	r, err := a.Analyze(ctx, t)
	if err != nil {
		log.Fatal(err)
	}
	for _, c := range r.Coverage.ByCategory {
		if c.Category == "attention" {
			fmt.Printf("%d calls, %.1f %% of GPU time, %.1f %% of the %s roof\n", c.Count, float64(c.Percent), float64(c.Efficiency), r.Hardware.Ceiling)
		}
	}
	// Output:
	// 28 calls, 10.1 % of GPU time, 22.2 % of the datasheet roof
}

// Compare the ranks of a run: each is reduced to what is compared, one after the other, so that one trace at a time is in memory.
func ExampleAnalyzer_Rank() {
	ctx := context.Background()
	var a report.Analyzer
	for rank := 1; rank < 4; rank++ {
		r, err := a.Rank(ctx, allReduce(rank))
		if err != nil {
			log.Fatal(err)
		}
		a.Others = append(a.Others, r)
	}
	r, err := a.Analyze(ctx, allReduce(0))
	if err != nil {
		log.Fatal(err)
	}
	for _, k := range r.Ranks.Ranks {
		fmt.Printf("rank %d waits %v, transfers %v\n", k.Rank, k.Wait.Duration(), k.Transfer.Duration())
	}
	// Output:
	// rank 0 waits 300µs, transfers 50µs
	// rank 1 waits 200µs, transfers 50µs
	// rank 2 waits 100µs, transfers 50µs
	// rank 3 waits 0s, transfers 50µs
}

// allReduce is the trace of a rank in a collective that each rank enters 100 µs after the one before it.
func allReduce(rank int) *trace.Trace {
	var b trace.Builder
	b.SetHeader(trace.Header{Rank: rank, WorldSize: 4})
	at := time.Duration(rank) * 100 * time.Microsecond
	b.GPU(trace.GPUEvent{Name: "ncclDevKernel_AllReduce", Start: at, Dur: 350*time.Microsecond - at,
		Inputs: b.Inputs(trace.Inputs{Extra: map[string]string{"Collective name": "allreduce", "Process Group Name": "0", "Group size": "4"}})})
	t, err := b.Build()
	if err != nil {
		log.Fatal(err)
	}
	return t
}
