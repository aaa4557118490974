package trace_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"log"
	"time"

	"github.com/ditlens/ditlens/trace"
)

// A model that replays captured graphs leaves no operators in its trace. The trace that was recorded while the graphs were
// captured has them.
func ExampleMergeCapture() {
	ctx := context.Background()
	const path = "run/trace_rank_0.json.gz"
	t, err := trace.Load(ctx, trace.LoadOptions{}, path)
	if err != nil {
		log.Fatal(err)
	}
	captures, err := trace.LoadCapture(ctx, trace.LoadOptions{}, trace.FindCapture(path)...)
	if err != nil {
		log.Fatal(err)
	}
	merged, match, err := trace.MergeCapture(t, captures...)
	if err != nil {
		log.Fatal(err) // a *trace.CaptureMismatchError says how far they agree
	}
	fmt.Println(len(merged.Ops), match.Paired, "of", match.Launches)
}

// The second half of a trace becomes a file of its own.
func ExampleWriteWindow() {
	var b trace.Builder
	thread := b.Thread(0, 1, 1, "python")
	for i, name := range []string{"aten::mm", "aten::silu"} {
		at, id := time.Duration(i)*time.Millisecond, int64(i+1)
		b.Op(trace.Op{Name: name, Start: at, Dur: 50, Thread: thread})
		b.Launch(trace.Launch{Name: "hipLaunchKernel", Start: at + 10, Dur: 20, Thread: thread, Correlation: id})
		b.GPU(trace.GPUEvent{Name: "kernel of " + name, Start: at + 100, Dur: 40, Correlation: id})
	}
	t, err := b.Build()
	if err != nil {
		log.Fatal(err)
	}
	var half []trace.GPUID
	for i := len(t.GPU) / 2; i < len(t.GPU); i++ {
		half = append(half, trace.GPUID(i))
	}
	var file bytes.Buffer
	z := gzip.NewWriter(&file)
	if err := trace.WriteWindow(z, t, half); err != nil {
		log.Fatal(err)
	}
	if err := z.Close(); err != nil {
		log.Fatal(err)
	}
	window, err := trace.Read(context.Background(), trace.LoadOptions{}, "window.json.gz", &file)
	if err != nil {
		log.Fatal(err)
	}
	for _, g := range window.GPU {
		fmt.Println(g.Name, "at", g.Start, "by", window.Ops[g.Op].Name)
	}
	// Output: kernel of aten::silu at 1.0001ms by aten::silu
}
