package trace_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ditlens/ditlens/trace"
	"github.com/google/go-cmp/cmp"
)

func ExampleBuilder() {
	var b trace.Builder
	b.SetHeader(trace.Header{Rank: 0, Devices: []trace.Device{{Name: "AMD Instinct MI300X"}}})
	main := b.Thread(0, 100, 100, "python")
	b.Op(trace.Op{Name: "aten::mm", Start: 0, Dur: 20 * time.Microsecond, Thread: main})
	b.Launch(trace.Launch{Name: "hipLaunchKernel", Start: 5 * time.Microsecond, Dur: time.Microsecond, Correlation: 7, Thread: main})
	b.GPU(trace.GPUEvent{Name: "Cijk_Ailk", Start: 30 * time.Microsecond, Dur: 50 * time.Microsecond, Correlation: 7})
	t, err := b.Build()
	if err != nil {
		fmt.Println(err)
		return
	}
	g := t.GPU[0]
	fmt.Println(g.Name, "of", t.Ops[g.Op].Name, "ran", g.Dur)
	// Output: Cijk_Ailk of aten::mm ran 50µs
}

// TestBuilderOrder adds the same events in many orders: the Trace is the same.
func TestBuilderOrder(t *testing.T) {
	build := func(seed uint64) *trace.Trace {
		var b trace.Builder
		r := rand.New(rand.NewPCG(seed, 0))
		for _, i := range r.Perm(200) {
			main, other := b.Thread(0, 1, 1, ""), b.Thread(0, 1, 2, "")
			at := time.Duration(i) * 10
			b.Op(trace.Op{Name: fmt.Sprint("o", i%7), Start: at, Dur: time.Duration(i%5) * 20, Thread: main, Inputs: b.Inputs(trace.Inputs{Args: []trace.Arg{{Dims: []int64{int64(i % 3)}}}})})
			b.Op(trace.Op{Name: "same", Start: at / 50, Dur: 5, Thread: other, Inputs: b.Inputs(trace.Inputs{Args: []trace.Arg{{Dims: []int64{int64(i)}}}})})
			b.Launch(trace.Launch{Name: "hipLaunchKernel", Start: at + 1, Dur: 1, Thread: main, Correlation: int64(i%150 + 1)})
			b.GPU(trace.GPUEvent{Name: fmt.Sprint("k", i%3), Start: at / 3, Dur: 2, Correlation: int64(i%150 + 1), Stream: int64(i % 2)})
			b.Annotation(trace.Annotation{Name: "a", Start: at / 20, Dur: 3, Thread: main})
			b.Frame(trace.Frame{Name: "f", Start: at, Dur: 30, Thread: main, Module: i%2 == 0})
		}
		tr, err := b.Build()
		if err != nil {
			t.Fatal(err)
		}
		if err := tr.Check(); err != nil {
			t.Fatal(err)
		}
		return tr
	}
	want := build(0)
	for seed := range uint64(5) {
		if diff := cmp.Diff(want, build(seed+1)); diff != "" {
			t.Fatalf("the order of adding matters (-first +other):\n%.3000s", diff)
		}
	}
}

func TestBuildRefuses(t *testing.T) {
	for name, add := range map[string]func(*trace.Builder){
		"unknown thread":        func(b *trace.Builder) { b.Op(trace.Op{Name: "o", Thread: 5}) },
		"negative duration":     func(b *trace.Builder) { b.GPU(trace.GPUEvent{Name: "k", Dur: -1}) },
		"end beyond range":      func(b *trace.Builder) { b.GPU(trace.GPUEvent{Name: "k", Start: 1 << 62, Dur: 1 << 62}) },
		"launch of no thread":   func(b *trace.Builder) { b.Launch(trace.Launch{Thread: -1}) },
		"range of no thread":    func(b *trace.Builder) { b.Annotation(trace.Annotation{Thread: -1}) },
		"frame of no thread":    func(b *trace.Builder) { b.Frame(trace.Frame{Thread: 1}) },
		"negative frame":        func(b *trace.Builder) { b.Frame(trace.Frame{Thread: b.Thread(0, 1, 1, ""), Dur: -5}) },
		"thread of a lost file": func(b *trace.Builder) { b.AddFile(trace.File{}); b.Thread(7, 1, 1, "") },
		"work of a lost file":   func(b *trace.Builder) { b.AddFile(trace.File{}); b.GPU(trace.GPUEvent{File: 3}) },
	} {
		var b trace.Builder
		add(&b)
		if tr, err := b.Build(); err == nil {
			t.Errorf("%s: no error, %+v", name, tr)
		}
	}
}

func TestEmptyBuilder(t *testing.T) {
	var b trace.Builder
	tr, err := b.Build()
	if err != nil || tr.Header.Rank != -1 || count(tr, "empty_trace") != 1 {
		t.Errorf("%+v, %v", tr, err)
	}
}

// A countdown is a context that ends when it has been looked at a number of times.
type countdown struct {
	context.Context
	left atomic.Int64 // looks before the end; negative: those since
}

func (c *countdown) Err() error {
	if c.left.Add(-1) >= 0 {
		return nil
	}
	return context.Canceled
}

// plenty is more looks than any loading takes.
const plenty = 1 << 20

// loadFor loads a file under a context that ends after so many looks, and returns how many were left.
func loadFor(t *testing.T, looks int64, path string) (left int64, err error) {
	c := countdown{Context: t.Context()}
	c.left.Store(looks)
	_, err = trace.Load(&c, trace.LoadOptions{}, path)
	return c.left.Load(), err
}

// TestLoadStopsAnywhere ends the context at every look that Load takes at it: few more follow, and looks are frequent
// wherever time goes.
func TestLoadStopsAnywhere(t *testing.T) {
	const n = 10_000
	rnd := rand.New(rand.NewPCG(1, 2))
	var events []string
	for _, i := range rnd.Perm(n) {
		events = append(events, op("o", 2*i, 1), runtimeCall("l", 2*i, 1, i+1), kernel("k", 2*i, 1, 7, i+1))
	}
	path := write(t, "t.json", []byte(document(events...)))
	left, err := loadFor(t, plenty, path)
	if err != nil {
		t.Fatal(err)
	}
	all := plenty - left
	if want := int64(3 * n * 13 / 4096); all < want { // log2 n comparisons for each event to sort
		t.Errorf("Load looks at its context %d times, want at least %d", all, want)
	}
	for looks := int64(0); looks < all; looks += 1 + all/40 {
		if left, err := loadFor(t, looks, path); !errors.Is(err, context.Canceled) || left < -40 {
			t.Errorf("ended at look %d of %d: %d looks followed, error %v", looks, all, -left, err)
		}
	}
}

func TestStacks(t *testing.T) {
	text := document(
		`{"ph":"X","cat":"python_function","name":"run.py(1): main","pid":100,"tid":100,"ts":0,"dur":100}`,
		`{"ph":"X","cat":"python_function","name":"nn.Module: FluxTransformer2DModel_0","pid":100,"tid":100,"ts":10,"dur":80}`,
		`{"ph":"X","cat":"python_function","name":"nn.Module: Linear_12","pid":100,"tid":100,"ts":20,"dur":20}`,
		`{"ph":"X","cat":"python_function","name":"linear.py(9): forward","pid":100,"tid":100,"ts":21,"dur":18}`,
		op("aten::linear", 22, 10), op("aten::addmm", 23, 5), op("aten::silu", 50, 5), op("aten::empty", 95, 2))
	tr := load(t, trace.LoadOptions{Stacks: true}, write(t, "t.json", []byte(text)))
	got := map[string]string{}
	for i := range tr.Ops {
		path := ""
		for f := tr.Ops[i].Frame; f != trace.None; f = tr.Frames[f].Parent {
			if tr.Frames[f].Module {
				path = "/" + tr.Frames[f].Name + path
			}
		}
		got[tr.Ops[i].Name] = path
	}
	want := map[string]string{"aten::linear": "/FluxTransformer2DModel/Linear", "aten::addmm": "/FluxTransformer2DModel/Linear", "aten::silu": "/FluxTransformer2DModel", "aten::empty": ""}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("module paths (-want +got):\n%s", diff)
	}
	if tr := loadText(t, text); len(tr.Frames) != 0 || tr.Ops[0].Frame != trace.None {
		t.Error("frames are kept without being asked for")
	}
}
