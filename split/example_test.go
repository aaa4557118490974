package split_test

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"time"

	"github.com/ditlens/ditlens/split"
	"github.com/ditlens/ditlens/trace"
)

// run is a trace of three steps and a decoder, as a profiler would record them with GPU activity only.
func run() *trace.Trace {
	var b trace.Builder
	at := time.Millisecond
	add := func(names ...string) {
		for _, n := range names {
			b.GPU(trace.GPUEvent{Name: n, Start: at, Dur: 10 * time.Microsecond})
			at += 12 * time.Microsecond
		}
	}
	for range 3 {
		add("embed", "qkv", "attn", "mlp", "qkv", "attn", "mlp", "qkv", "attn", "mlp", "final", "scheduler")
	}
	for range 10 {
		add("conv", "group_norm")
	}
	t, err := b.Build()
	if err != nil {
		panic(err)
	}
	return t
}

func ExampleAuto() {
	r, err := split.Auto{}.Split(context.Background(), &split.Input{Trace: run()})
	var none *split.NoSteadyStateError
	if errors.As(err, &none) {
		r = none.Result // still divides the trace into phases
	}
	fmt.Println(r.Method, len(r.Steps), "steps of", r.PeriodKernels, "kernels")
	for _, p := range r.Phases {
		fmt.Println(p.Name, p.Kernels, p.GPUTime)
	}
	// Output:
	// autocorrelation 3 steps of 12 kernels
	// denoise 36 360µs
	// vae_decode 20 200µs
}

func ExampleMarker_grammar() {
	m := split.Marker{Grammar: append(split.DefaultGrammar(), split.Pattern{
		Regexp: regexp.MustCompile(`^sampler iteration (?P<index>\d+)$`), Meaning: split.StepMarker,
	})}
	_, err := m.Split(context.Background(), &split.Input{Trace: run()})
	fmt.Println(err)
	// Output: split: no denoising steps found; marker: no step markers
}

// everyNth is a Splitter of one's own, for runs whose steps are known to launch n events each.
type everyNth int

func (everyNth) Name() string { return "every n-th" }

func (n everyNth) Split(_ context.Context, in *split.Input) (*split.Result, error) {
	c := split.Cut{Method: "counted", Mode: "every n-th", Confidence: 1, StepOf: make([]int32, len(in.Trace.GPU))}
	for i := range c.StepOf {
		c.StepOf[i] = -1
		if i < 3*int(n) {
			c.StepOf[i] = int32(i) / int32(n)
		}
	}
	return split.Assemble(in, c), nil
}

func ExampleAssemble() {
	r, _ := everyNth(12).Split(context.Background(), &split.Input{Trace: run()})
	fmt.Println(len(r.Steps), r.Steps[1].GPUTime, r.Classes[0].Name, *r.Steady)
	// Output: 3 120µs full {0 2 0}
}
