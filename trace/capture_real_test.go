package trace_test

import (
	"context"
	"errors"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ditlens/ditlens/internal/realtraces"
	"github.com/ditlens/ditlens/trace"
)

// realTraces are the shared traces that tests have read so far: reading them again and again is most of what tests wait for.
var realTraces sync.Map // path to a func() (*trace.Trace, error)

// loadReal reads a shared trace once. Like every Trace it must not be changed.
func loadReal(tb testing.TB, name string) *trace.Trace {
	tb.Helper()
	path := realtraces.Path(tb, name)
	read, _ := realTraces.LoadOrStore(path, sync.OnceValues(func() (*trace.Trace, error) {
		return trace.Load(context.Background(), trace.LoadOptions{}, path)
	}))
	t, err := read.(func() (*trace.Trace, error))()
	if err != nil {
		tb.Fatal(err)
	}
	return t
}

func TestMergeCaptureFlux(t *testing.T) {
	t.Parallel()
	main := loadReal(t, realtraces.Flux)
	captures, err := trace.LoadCapture(context.Background(), trace.LoadOptions{}, trace.FindCapture(realtraces.Path(t, realtraces.Flux))...)
	if err != nil {
		t.Fatal(err)
	}
	if len(captures) != 1 || captures[0].Batch != 1 || captures[0].Piecewise {
		t.Fatalf("captures: %d, want one of batch 1", len(captures))
	}
	merged, match, err := trace.MergeCapture(main, captures...)
	if err != nil {
		t.Fatal(err)
	}
	if err := merged.Check(); err != nil {
		t.Fatal(err)
	}
	want := &trace.CaptureMatch{Replays: 4, Matched: 4, Launches: 4 * 1567, Paired: 4 * 1566, Events: 4 * 1566, Agreement: 1, Unpaired: match.Unpaired}
	if diff := cmp.Diff(want, match); diff != "" {
		t.Errorf("match (-want +got):\n%s", diff)
	}
	if len(match.Unpaired) != 1 || match.Unpaired[0].Count != 4 {
		t.Fatalf("unpaired: %+v, want one launch in 4 replays", match.Unpaired)
	}
	op := merged.Ops[match.Unpaired[0].Op]
	if op.Name != "aten::addmm" || !cmp.Equal(op.Inputs.Args[1].Dims, []int64{256, 3072}) || !cmp.Equal(op.Inputs.Args[2].Dims, []int64{3072, 64}) {
		t.Errorf("unpaired operator is %s %v", op.Name, op.Inputs.Args)
	}
	calls := make(map[string]int)
	var sum time.Duration
	for i := range merged.GPU {
		g, was := &merged.GPU[i], &main.GPU[i]
		sum += g.Dur
		if g.Name != was.Name || g.Start != was.Start || g.Launch != was.Launch {
			t.Fatalf("GPU event %d changed", i)
		}
		o := &merged.Ops[g.Op]
		if o.Captured {
			calls[o.Name]++
		} else if o.Name != main.Ops[was.Op].Name {
			t.Fatalf("GPU event %d is of %s, was of %s", i, o.Name, main.Ops[was.Op].Name)
		}
	}
	if sum != 201_351_762 {
		t.Errorf("GPU time is %d ns", sum)
	}
	if calls["sage_fwd_1"] != 4*57 || calls["aten::mm"] != 4*427 || calls["aten::addmm"] != 4*76 {
		t.Errorf("calls: %v", calls)
	}
	// Each paired event is of the function that its launch recorded, with the arguments of the same place in the capture.
	k, same := 0, sameInputs()
	for i := range captures[0].Trace.Launches {
		if l := &captures[0].Trace.Launches[i]; l.GPU == 0 && l.Kind == trace.LaunchKernel && k < 1566 {
			for _, r := range merged.GraphReplays() {
				g := merged.GPU[r.Events[k]]
				o, c := merged.Ops[g.Op], captures[0].Trace.Ops[l.Op]
				if g.Name != l.Kernel || o.Name != c.Name || !same(o.Inputs, c.Inputs) {
					t.Fatalf("event %d: %s of %s, captured %s of %s", k, g.Name, o.Name, l.Kernel, c.Name)
				}
			}
			k++
		}
	}
	if len(main.Files) != 1 || len(merged.Files) != 2 {
		t.Errorf("files: %d and %d", len(main.Files), len(merged.Files))
	}
}

// The replay that was recorded while the graph was captured needs no other trace.
func TestMergeCaptureOfItself(t *testing.T) {
	t.Parallel()
	c := loadReal(t, realtraces.FluxCapture)
	merged, match, err := trace.MergeCapture(c)
	if err != nil {
		t.Fatal(err)
	}
	if match.Matched != 1 || match.Paired != 1566 || merged.Check() != nil {
		t.Errorf("match: %+v, %v", match, merged.Check())
	}
}

// A capture of another model is refused: the SD3.5 trace has no captured graph, the graph of FLUX explains no step of a
// language model.
func TestMergeCaptureRefusesOtherModel(t *testing.T) {
	t.Parallel()
	llm := loadReal(t, "other/llm_sglang_decode.json.gz")
	_, _, err := trace.MergeCapture(llm, trace.Capture{Trace: loadReal(t, realtraces.FluxCapture)})
	var mismatch *trace.CaptureMismatchError
	if !errors.As(err, &mismatch) || mismatch.Graphs != 1 || mismatch.Replays != 1 || mismatch.Agreement > 0.01 {
		t.Errorf("language model: %v", err)
	}
	_, _, err = trace.MergeCapture(loadReal(t, realtraces.Flux), trace.Capture{Trace: loadReal(t, realtraces.SD35)})
	if !errors.As(err, &mismatch) || mismatch.Graphs != 0 {
		t.Errorf("no captured graph: %v", err)
	}
}

func BenchmarkMergeCapture(b *testing.B) {
	main, captures := loadReal(b, realtraces.Flux), []trace.Capture{{Trace: loadReal(b, realtraces.FluxCapture)}}
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := trace.MergeCapture(main, captures...); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkLoadWithCapture(b *testing.B) {
	path := realtraces.Path(b, realtraces.Flux)
	capture := filepath.Join(filepath.Dir(path), "capture_traces")
	load := func(b *testing.B, path string) *trace.Trace {
		t, err := trace.Load(context.Background(), trace.LoadOptions{}, path)
		if err != nil {
			b.Fatal(err)
		}
		return t
	}
	b.Run("separately", func(b *testing.B) {
		for b.Loop() {
			load(b, path)
			load(b, filepath.Join(capture, "capture_trace_rank_0.json.gz"))
		}
	})
	b.Run("merged", func(b *testing.B) {
		for b.Loop() {
			t := load(b, path)
			captures, err := trace.LoadCapture(context.Background(), trace.LoadOptions{}, capture)
			if err != nil {
				b.Fatal(err)
			}
			merged, _, err := trace.MergeCapture(t, captures...)
			if err != nil {
				b.Fatal(err)
			}
			if len(merged.Ops) <= len(t.Ops) {
				b.Fatal("nothing merged")
			}
		}
	})
}

// withLaunches returns a copy of a trace without those captured launches that keep, given their number, refuses.
func withLaunches(tr *trace.Trace, keep func(n int) bool) *trace.Trace {
	out := *tr
	out.Launches, out.GPU = nil, append([]trace.GPUEvent(nil), tr.GPU...)
	moved := make([]trace.LaunchID, len(tr.Launches))
	n := 0
	for i := range tr.Launches {
		l := &tr.Launches[i]
		moved[i] = trace.LaunchID(len(out.Launches))
		if captured := l.GPU == 0 && l.Kind == trace.LaunchKernel; captured {
			if n++; !keep(n - 1) {
				continue
			}
		}
		out.Launches = append(out.Launches, *l)
	}
	for i := range out.GPU {
		if l := out.GPU[i].Launch; l != trace.None {
			out.GPU[i].Launch = moved[l]
		}
	}
	return &out
}

// repeatLaunches returns a copy of a trace in which the captured launches from … to are launched twice.
func repeatLaunches(tr *trace.Trace, from, to int) *trace.Trace {
	first, second := withLaunches(tr, func(n int) bool { return n < to }), withLaunches(tr, func(n int) bool { return n >= from })
	begin := 0
	for second.Launches[begin].GPU != 0 || second.Launches[begin].Kind != trace.LaunchKernel {
		begin++
	}
	end := len(first.Launches) - 1
	for first.Launches[end].GPU != 0 || first.Launches[end].Kind != trace.LaunchKernel {
		end--
	}
	out := *tr
	out.GPU = nil
	out.Launches = append(append([]trace.Launch(nil), first.Launches[:end+1]...), second.Launches[begin:]...)
	return &out
}

// Damage to the capture of a real trace makes few kernels unknown and none wrong.
func TestMergeCaptureFluxDamaged(t *testing.T) {
	t.Parallel()
	main, whole := loadReal(t, realtraces.Flux), []trace.Capture{{Trace: loadReal(t, realtraces.FluxCapture)}}
	right, _, err := trace.MergeCapture(main, whole...)
	if err != nil {
		t.Fatal(err)
	}
	dropping := func(every int) *trace.Trace {
		return withLaunches(whole[0].Trace, func(n int) bool { return n%every != 3 })
	}
	tests := []struct {
		name    string
		capture *trace.Trace
		lost    int // launches of each replay that have no kernel, or kernels that have no launch
	}{
		{"every tenth dropped", dropping(10), 157},
		{"every 37th dropped", dropping(37), 43},
		{"every 400th dropped", dropping(400), 4},
		{"a joint block repeated", repeatLaunches(whole[0].Trace, 400, 437), 37},
		{"a single block repeated", repeatLaunches(whole[0].Trace, 1200, 1221), 21},
		{"half a block repeated", repeatLaunches(whole[0].Trace, 1200, 1210), 10},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			merged, match, err := trace.MergeCapture(main, trace.Capture{Trace: tt.capture})
			if err != nil {
				t.Fatal(err)
			}
			wrong := 0
			same := sameInputs()
			for i := range merged.GPU {
				o, r := &merged.Ops[merged.GPU[i].Op], &right.Ops[right.GPU[i].Op]
				if o.Captured && (o.Name != r.Name || !same(o.Inputs, r.Inputs)) {
					wrong++
				}
			}
			if wrong > 0 || match.Unknown > 5*tt.lost+match.Events/20 {
				t.Errorf("%d wrong, %d of %d unknown, %d lost", wrong, match.Unknown, match.Events, 4*tt.lost)
			}
		})
	}
}

// sameInputs returns a function that compares arguments, each pair once.
func sameInputs() func(x, y *trace.Inputs) bool {
	known := make(map[[2]*trace.Inputs]bool)
	return func(x, y *trace.Inputs) bool {
		pair := [2]*trace.Inputs{x, y}
		if _, ok := known[pair]; !ok {
			known[pair] = cmp.Equal(x, y)
		}
		return known[pair]
	}
}
