package trace_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/ditlens/ditlens/internal/realtraces"
	"github.com/ditlens/ditlens/internal/synth"
	"github.com/ditlens/ditlens/trace"
)

// throughWindow writes events of a trace and reads them back.
func throughWindow(t *testing.T, tr *trace.Trace, events []trace.GPUID, opts trace.LoadOptions) *trace.Trace {
	t.Helper()
	var b bytes.Buffer
	if err := trace.WriteWindow(&b, tr, events); err != nil {
		t.Fatal(err)
	}
	if !json.Valid(b.Bytes()) {
		t.Fatal("the window is not valid JSON")
	}
	opts.Strict = true
	back, err := trace.Read(context.Background(), opts, "window.json", &b)
	if err != nil {
		t.Fatal(err)
	}
	if err := back.Check(); err != nil {
		t.Fatal(err)
	}
	return back
}

// A linked event is a GPU event with all that it is linked to, without ids that depend on what else is in the trace.
type linkedEvent struct {
	Event  trace.GPUEvent
	Launch *trace.Launch
	Ops    []trace.Op // innermost first
	Module []string
}

func linked(tr *trace.Trace, id trace.GPUID) linkedEvent {
	e := linkedEvent{Event: tr.GPU[id]}
	e.Event.RawDur = 0
	e.Event.Launch, e.Event.Op = 0, 0
	if l := tr.GPU[id].Launch; l != trace.None {
		launch := tr.Launches[l]
		launch.Op, launch.Thread, launch.GPU = 0, 0, 0
		e.Launch = &launch
	}
	for op := tr.GPU[id].Op; op != trace.None; op = tr.Ops[op].Parent {
		o := tr.Ops[op]
		for f := o.Frame; f != trace.None; f = tr.Frames[f].Parent {
			e.Module = append(e.Module, tr.Frames[f].Name)
		}
		o.Parent, o.Thread, o.Frame = 0, 0, 0
		e.Ops = append(e.Ops, o)
	}
	return e
}

func compareWindow(t *testing.T, tr *trace.Trace, events []trace.GPUID, back *trace.Trace) {
	t.Helper()
	if len(back.GPU) != len(events) {
		t.Fatalf("%d GPU events came back of %d", len(back.GPU), len(events))
	}
	for i, id := range events {
		want, got := linked(tr, id), linked(back, trace.GPUID(i))
		if reflect.DeepEqual(want, got) {
			continue
		}
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("GPU event %d (-want +got):\n%s", id, diff)
		}
	}
	if diff := cmp.Diff(tr.Header, back.Header, cmpopts.IgnoreFields(trace.Header{}, "WithStack")); diff != "" {
		t.Errorf("header (-want +got):\n%s", diff)
	}
}

func allEvents(tr *trace.Trace) []trace.GPUID {
	ids := make([]trace.GPUID, len(tr.GPU))
	for i := range ids {
		ids[i] = trace.GPUID(i)
	}
	return ids
}

func TestWriteWindowReal(t *testing.T) {
	t.Parallel()
	for _, name := range []string{realtraces.SD35, realtraces.Flux, "other/llm_sglang_decode.json.gz", "other/h100_vit_classifier.json.gz",
		"other/mi250_train_rocm62.json.gz", "other/cuda_multi_stream_sync.json.gz", "other/triton_example.json.gz"} {
		t.Run(name, func(t *testing.T) {
			tr := loadReal(t, name)
			all := allEvents(tr)
			compareWindow(t, tr, all, throughWindow(t, tr, all, trace.LoadOptions{}))
			some := all[len(all)/3 : len(all)/2]
			compareWindow(t, tr, some, throughWindow(t, tr, some, trace.LoadOptions{}))
		})
	}
}

func TestWriteWindowWithStacks(t *testing.T) {
	t.Parallel()
	opts := trace.LoadOptions{Stacks: true}
	tr, err := trace.Load(context.Background(), opts, realtraces.Path(t, realtraces.SD35))
	if err != nil {
		t.Fatal(err)
	}
	some := allEvents(tr)[3000:3400]
	compareWindow(t, tr, some, throughWindow(t, tr, some, opts))
}

// A merged trace comes back with its captured operators.
func TestWriteWindowMerged(t *testing.T) {
	t.Parallel()
	merged, match, err := trace.MergeCapture(loadReal(t, realtraces.Flux), trace.Capture{Trace: loadReal(t, realtraces.FluxCapture)})
	if err != nil {
		t.Fatal(err)
	}
	replays := merged.GraphReplays()
	events := slices.Concat(replays[1].Events, replays[2].Events)
	back := throughWindow(t, merged, events, trace.LoadOptions{})
	compareWindow(t, merged, events, back)
	unpaired := 0
	for i := range back.Ops {
		o := &back.Ops[i]
		if o.Captured && o.Name == "aten::addmm" && cmp.Equal(o.Inputs, merged.Ops[match.Unpaired[0].Op].Inputs) {
			unpaired++
		}
	}
	if unpaired != 2 {
		t.Errorf("the unpaired operator came back %d times, want 2", unpaired)
	}
}

// Modules around captured operators are merged, written and read back.
func TestWriteWindowMergedModules(t *testing.T) {
	var c, m trace.Builder
	th := c.Thread(0, 1, 1, "")
	c.Launch(trace.Launch{Name: "hipStreamBeginCapture", Start: 10, Dur: 1, Thread: th})
	c.Frame(trace.Frame{Name: "Model", Module: true, Start: 20, Dur: 1000, Thread: th})
	for i, name := range []string{"Attention", "FeedForward", "Attention"} {
		at := time.Duration(100 + 100*i)
		c.Frame(trace.Frame{Name: name, Module: true, Start: at, Dur: 80, Thread: th})
		c.Frame(trace.Frame{Name: "forward", Start: at + 5, Dur: 70, Thread: th})
		c.Op(trace.Op{Name: "aten::linear", Start: at + 10, Dur: 50, Thread: th})
		c.Op(trace.Op{Name: "aten::mm", Start: at + 20, Dur: 30, Thread: th})
		c.Launch(trace.Launch{Name: "hipLaunchKernel", Kernel: "gemm", Start: at + 25, Dur: 5, Thread: th})
	}
	c.Launch(trace.Launch{Name: "hipStreamEndCapture", Start: 1500, Dur: 1, Thread: th})
	m.Thread(0, 1, 1, "")
	m.Frame(trace.Frame{Name: "Pipeline", Module: true, Start: 0, Dur: 9000, Thread: th})
	m.Op(trace.Op{Name: "region", Start: 5, Dur: 8000, Thread: th})
	m.Launch(trace.Launch{Name: "hipGraphLaunch", Start: 10, Dur: 5000, Thread: th, Correlation: 1})
	for i := range 3 {
		m.GPU(trace.GPUEvent{Name: "gemm", Start: time.Duration(100 * i), Dur: 50, Correlation: 1})
	}
	captured, err := c.Build()
	if err != nil {
		t.Fatal(err)
	}
	main, err := m.Build()
	if err != nil {
		t.Fatal(err)
	}
	merged, _, err := trace.MergeCapture(main, trace.Capture{Trace: captured})
	if err != nil {
		t.Fatal(err)
	}
	if err := merged.Check(); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"FeedForward", "Model", "Pipeline"}, linked(merged, 1).Module[:3]); diff != "" {
		t.Errorf("modules (-want +got):\n%s", diff)
	}
	compareWindow(t, merged, allEvents(merged), throughWindow(t, merged, allEvents(merged), trace.LoadOptions{Stacks: true}))
}

func TestWriteWindowSynthetic(t *testing.T) {
	doc := synth.Flux(synth.FluxConfig{}).JSON()
	tr := readDocument(t, doc)
	all := allEvents(tr)
	compareWindow(t, tr, all, throughWindow(t, tr, all, trace.LoadOptions{}))
}

func readDocument(t *testing.T, doc []byte) *trace.Trace {
	t.Helper()
	tr, err := trace.Read(context.Background(), trace.LoadOptions{}, "generated", bytes.NewReader(doc))
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

func TestWriteWindowOddNames(t *testing.T) {
	var b trace.Builder
	names := []string{"tab\tline\n", `quote " and \ slash`, "\x00\x01\x1f\x7f", "ü€\U0001F600", "", "</script>"}
	th := b.Thread(0, 1, 1<<40, "main \x02")
	for i, n := range names {
		start := time.Duration(1_700_000_000_000_000_001 + 1001*i)
		in := b.Inputs(trace.Inputs{
			Args:  []trace.Arg{{Type: n, Value: n, Dims: []int64{}}, {Type: "TensorList", List: []trace.Arg{{Dims: []int64{1, 2}}, {Dims: []int64{3}}}}},
			Extra: map[string]string{"kernel_backend": n, n + "x": "1"},
		})
		b.Op(trace.Op{Name: n, Thread: th, Start: start, Dur: 900, Inputs: in, ExternalID: int64(i + 1)})
		b.Launch(trace.Launch{Name: "hipLaunchKernel", Kernel: n, Thread: th, Start: start + 1, Dur: 5, Correlation: int64(i + 1)})
		b.GPU(trace.GPUEvent{Name: n, Start: start + 500, Dur: 3, Correlation: int64(i + 1), Stream: -7, Bytes: 5, Grid: [3]uint32{1, 2, 3}})
		b.Annotation(trace.Annotation{Name: n, Thread: th, Start: start, Dur: 950})
	}
	tr, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	all := allEvents(tr)
	back := throughWindow(t, tr, all, trace.LoadOptions{})
	compareWindow(t, tr, all, back)
	var got []string
	for _, a := range back.Annotations {
		got = append(got, a.Name)
	}
	if diff := cmp.Diff(names, got); diff != "" {
		t.Errorf("annotations (-want +got):\n%s", diff)
	}
	if back.Threads[0].Name != "main \x02" || back.Threads[0].TID != 1<<40 {
		t.Errorf("thread: %+v", back.Threads[0])
	}
}

func TestWriteWindowRefusesUnknownEvents(t *testing.T) {
	for _, id := range []trace.GPUID{-1, 0} {
		if err := trace.WriteWindow(&bytes.Buffer{}, &trace.Trace{}, []trace.GPUID{id}); err == nil {
			t.Errorf("event %d of an empty trace was written", id)
		}
	}
	var b bytes.Buffer
	if err := trace.WriteWindow(&b, &trace.Trace{}, nil); err != nil || !json.Valid(b.Bytes()) {
		t.Errorf("empty window: %v, %s", err, b.Bytes())
	}
}

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, fmt.Errorf("disk full") }

func TestWriteWindowReportsWriteErrors(t *testing.T) {
	if err := trace.WriteWindow(brokenWriter{}, &trace.Trace{}, nil); err == nil {
		t.Error("no error")
	}
}
