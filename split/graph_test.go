package split_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/ditlens/ditlens/internal/realtraces"
	"github.com/ditlens/ditlens/split"
	"github.com/ditlens/ditlens/trace"
)

// A part of a step is launched kernel by kernel, or as one graph.
type part struct {
	graph bool
	names []string
}

func eager(names ...string) part    { return part{false, names} }
func captured(names ...string) part { return part{true, names} }

// A graphRun is a pipeline with graphs: encoders, steps of some parts each, and a decoder.
type graphRun struct {
	warmup []part // before the first step
	steps  [][]part
	single bool // a step is of one launch
}

// play returns the trace and the step of each of its GPU events, -1 for none. Its kernels run one after the other.
func (p graphRun) play(t *testing.T) (tr *trace.Trace, truth []int32) {
	t.Helper()
	x := newTape(t)
	host := 0.0
	do := func(step int32, parts ...part) {
		for _, k := range parts {
			if k.graph {
				x.replay(host, 40, k.names...)
				host += 10
			}
			for _, n := range k.names {
				truth = append(truth, step)
				if !k.graph {
					x.launch(n, host, 10)
					host += 10
				}
			}
		}
	}
	do(-1, eager(cat([]string{"embed"}, repeat(8, "t5_norm", "t5_gemm", "t5_attn", "t5_up"), []string{"t5_out", "randn"})...))
	do(-1, p.warmup...)
	for s, parts := range p.steps {
		do(int32(s), parts...)
	}
	do(-1, eager(cat([]string{"unscale"}, repeat(10, "conv", "group_norm", "silu"), []string{"clamp"})...))
	return x.trace(), truth
}

// alike returns n steps of the same parts.
func alike(n int, parts ...part) (steps [][]part) {
	for range n {
		steps = append(steps, parts)
	}
	return steps
}

// pass returns the kernels of a pass of some layers.
func pass(layers int, size string) []string {
	l := []string{"norm" + size, "qkv" + size, "attn" + size, "proj" + size, "mlp_up" + size, "mlp_down" + size}
	return cat([]string{"patch" + size, "temb"}, repeat(layers, l...), []string{"final_norm" + size, "final_gemm"})
}

// graphRuns are the ways in which steps use graphs.
func graphRuns() map[string]graphRun {
	head, tail := eager("timestep", "scale", "cat"), eager("slice", "sched_mul", "sched_add")
	again, guidance := eager("scale", "cat"), eager("guide_sub", "guide_mul")
	model, small := captured(pass(12, "")...), captured(pass(12, "_256")...)
	full := []part{head, model, tail}
	cached := []part{head, captured("patch", "temb", "norm", "qkv", "attn", "proj", "mlp_up", "mlp_down", "cache_add", "final_norm", "final_gemm"), tail}
	skipping := []part{head, captured(pass(3, "")...), tail}
	third := func(name string) part {
		return captured(repeat(5, name+"_norm", name+"_qkv", name+"_attn", name+"_mlp")...)
	}
	layers := repeat(8, "norm", "qkv", "attn", "proj", "mlp_up", "mlp_down")
	uncaptured := []part{eager(pass(12, "")...)}
	around, whole := []part{head, eager("patch", "temb")}, []part{head, eager("patch", "temb")}
	for range 12 {
		around = append(around, captured("norm", "qkv", "rope"), eager("attn"), captured("proj", "norm2", "mlp_up", "mlp_down"))
		whole = append(whole, captured("norm", "qkv", "attn", "proj", "mlp_up", "mlp_down"))
	}
	around, whole = append(around, eager("final_norm", "final_gemm"), tail), append(whole, eager("final_norm", "final_gemm"), tail)
	return map[string]graphRun{
		"one graph":                   {steps: alike(5, full...), single: true},
		"one graph, nothing eager":    {steps: alike(5, model), single: true},
		"a pass run twice":            {steps: alike(5, head, model, again, model, guidance, tail)},
		"two graphs":                  {steps: alike(5, head, model, small, guidance, tail)},
		"three graphs":                {steps: alike(5, head, third("a"), third("b"), third("c"), tail)},
		"three graphs of like layers": {steps: alike(5, head, captured(cat([]string{"patch"}, layers)...), eager("break1"), captured(cat(layers, []string{"middle"})...), eager("break2"), captured(cat(layers, []string{"final"})...), tail)},
		"full and cached":             {steps: [][]part{full, full, cached, full, cached, full, cached, full}, single: true},
		"full and with fewer layers":  {steps: [][]part{full, full, skipping, full, skipping, full, skipping, full}, single: true},
		"one with fewer layers":       {steps: [][]part{full, full, full, skipping, full, full}, single: true},
		"two shapes":                  {steps: slices.Concat(alike(4, full...), alike(4, head, small, tail)), single: true},
		"first step without graph":    {steps: slices.Concat(alike(1, head, eager(pass(12, "")...), tail), alike(4, full...)), single: true},
		"runs before capture":         {warmup: slices.Concat(uncaptured, uncaptured, uncaptured), steps: alike(5, full...), single: true},
		"graphs around attention":     {steps: alike(5, around...)},
		"a graph for each block":      {steps: alike(5, whole...)},
	}
}

// inGraph reports whether an event comes from a graph launch.
func inGraph(tr *trace.Trace, i int) bool {
	l := tr.GPU[i].Launch
	return l >= 0 && tr.Launches[l].Kind == trace.LaunchGraph
}

// wantLeft checks the steps of what is left of a trace against the true ones: each is there, with its events, and complete if it lacks none. If both ends
// of the loop are gone nothing says whether the eager work between two replays closes a step or opens one.
func wantLeft(t *testing.T, tr *trace.Trace, r *split.Result, left []int, truth []int32, bothGone bool) {
	t.Helper()
	type step struct {
		Events   int
		Complete bool
	}
	played, rest := map[int32]int{}, map[int32]int{}
	for _, s := range truth {
		played[s]++
	}
	var numbers []int32 // of the steps that are left
	for _, k := range left {
		if rest[truth[k]]++; truth[k] >= 0 && rest[truth[k]] == 1 {
			numbers = append(numbers, truth[k])
		}
	}
	var want, got []step
	for _, s := range numbers {
		want = append(want, step{rest[s], rest[s] == played[s]})
	}
	for _, s := range r.Steps {
		got = append(got, step{s.Kernels, s.Complete})
	}
	if bothGone {
		for i := range got {
			got[i].Events = 0
		}
		for i := range want {
			want[i].Events = 0
		}
	}
	if d := gocmp.Diff(want, got); d != "" {
		t.Errorf("steps of %v (-want +got):\n%s", kernels(r), d)
		return
	}
	for i, k := range left {
		if want := int32(slices.Index(numbers, truth[k])); want != r.StepOf[i] && (inGraph(tr, i) || !bothGone) {
			t.Fatalf("event %d is in step %d of %v, want %d", k, r.StepOf[i], kernels(r), want)
		}
	}
}

// TestGraphRuns cuts pipelines with graphs within replays, as a profiler does whose window opens or closes there.
func TestGraphRuns(t *testing.T) {
	for name, p := range graphRuns() {
		t.Run(name, func(t *testing.T) {
			tr, truth := p.play(t)
			from := slices.Index(truth, 0)
			to := len(truth) - 1
			for truth[to] < 0 {
				to--
			}
			// within returns the first event from a share of the loop on before which a replay is cut
			within := func(share float64) int {
				i := from + int(share*float64(to-from))
				for !inGraph(tr, i) || tr.GPU[i-1].Launch != tr.GPU[i].Launch || tr.GPU[i+1].Launch != tr.GPU[i].Launch {
					i++
				}
				return i
			}
			check := func(name string, from, to int, change func(*trace.Trace)) {
				t.Run(name, func(t *testing.T) {
					c, left := without(tr, func(i int) bool { return i < from || i >= to })
					change(c)
					r, err := split.Graph{}.Split(t.Context(), &split.Input{Trace: c})
					if err != nil {
						t.Fatal(err)
					}
					wantLeft(t, c, r, left, truth, from > 0 && to < len(truth))
				})
			}
			asIs := func(*trace.Trace) {}
			check("whole", 0, len(truth), asIs)
			for share := 0.01; share < 0.5; share += 0.06 {
				begin, end := within(share), within(1-share-0.04)
				check(fmt.Sprintf("begin at %.2f", share), begin, len(truth), asIs)
				check(fmt.Sprintf("begin at %.2f, the launch before", share), begin, len(truth), func(c *trace.Trace) {
					l := c.GPU[0].Launch
					for i := range c.GPU {
						if c.GPU[i].Launch == l {
							c.GPU[i].Launch = trace.None
						}
					}
				})
				check(fmt.Sprintf("end at %.2f", 1-share), 0, end, asIs)
				if p.single && share < 0.15 {
					check(fmt.Sprintf("from %.2f to %.2f", share, 1-share), begin, end, asIs)
				}
			}
		})
	}
}

// TestGraphReplayLosesKernels drops events amid the run, as a profiler does that is short of buffers.
func TestGraphReplayLosesKernels(t *testing.T) {
	for name, p := range graphRuns() {
		for _, lost := range []int{2, 4, 8, 16, 32} {
			t.Run(fmt.Sprint(name, "/", lost), func(t *testing.T) {
				tr, truth := p.play(t)
				from := slices.Index(truth, 1)
				for !inGraph(tr, from) {
					from++
				}
				from++
				c, left := without(tr, func(i int) bool { return i >= from && i < from+lost })
				r, err := split.Graph{}.Split(t.Context(), &split.Input{Trace: c})
				if err != nil {
					t.Fatal(err)
				}
				wantLeft(t, c, r, left, truth, false)
			})
		}
	}
}

// TestGraphCutBesideAnotherStream ends a trace within a replay, where what was launched behind that has already run on another stream.
func TestGraphCutBesideAnotherStream(t *testing.T) {
	x := newTape(t)
	at := 0.0
	for range 5 {
		x.launch("timestep", at, 10)
		x.launch("cat", at+10, 10)
		x.replay(at+20, 40, pass(12, "")...)
		x.corr++
		x.b.Launch(trace.Launch{Name: "hipMemcpyAsync", Start: us(at + 30), Dur: us(1), Correlation: x.corr, Thread: x.th})
		x.kernel("Memcpy HtoD", at+35, 20, 1, x.corr)
		x.launch("sched", at+40, 10)
		at += 4000
	}
	tr := x.trace()
	end := us(at - 2500)
	c, _ := without(tr, func(i int) bool { return tr.GPU[i].End() > end })
	r, err := split.Graph{}.Split(t.Context(), &split.Input{Trace: c})
	if err != nil {
		t.Fatal(err)
	}
	x.wantSteps(r, 80, 80, 80, 80, 39)
	if last := r.Steps[len(r.Steps)-1]; last.Complete || !r.Steps[3].Complete {
		t.Errorf("steps %+v", r.Steps)
	}
}

// TestGraphLaunchAlone records one graph launch and what lies around it, as far as the profiler's window goes.
func TestGraphLaunchAlone(t *testing.T) {
	p := graphRuns()["one graph"]
	p.steps = p.steps[:1]
	tr, truth := p.play(t)
	first := slices.IndexFunc(truth, func(s int32) bool { return s == 0 })
	for !inGraph(tr, first) {
		first++
	}
	last := first
	for inGraph(tr, last+1) {
		last++
	}
	for _, c := range []struct {
		name     string
		from, to int
		complete bool
	}{
		{"whole", 0, len(truth), true},
		{"begins within", first + 10, len(truth), false},
		{"ends within", 0, last - 10, false},
		{"is all that was recorded", first, last + 1, false}, // it may go on
	} {
		t.Run(c.name, func(t *testing.T) {
			cut, _ := without(tr, func(i int) bool { return i < c.from || i >= c.to })
			r, err := split.Graph{}.Split(t.Context(), &split.Input{Trace: cut})
			if err != nil {
				t.Fatal(err)
			}
			if len(r.Steps) != 1 || r.Steps[0].Complete != c.complete || (r.Steady != nil) != c.complete {
				t.Errorf("steps %+v, steady state %v, want one step, complete: %v", r.Steps, r.Steady, c.complete)
			}
		})
	}
}

// TestRealGraphReplaysAmidNoise adds kernels to a real trace of four replays, or drops some all through it: the steps stay and are as complete as each other.
func TestRealGraphReplaysAmidNoise(t *testing.T) {
	tr := load(t, realtraces.Flux)
	whole, err := split.Graph{}.Split(t.Context(), &split.Input{Trace: tr})
	if err != nil {
		t.Fatal(err)
	}
	complete := func(t *testing.T, r *split.Result) {
		for _, s := range r.Steps {
			if !s.Complete {
				t.Errorf("step %d is taken for incomplete", s.Index)
			}
		}
	}
	for name, change := range map[string]func(*trace.Trace) *trace.Trace{"kernels within replays": noisy, "a second stream": onSecondStream} {
		t.Run(name, func(t *testing.T) {
			c := change(tr)
			r, err := split.Graph{}.Split(t.Context(), &split.Input{Trace: c})
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(whole.StepOf, original(tr, c, r.StepOf)) {
				t.Errorf("steps of %v GPU events; those of the trace itself are not in the same steps as before", kernels(r))
			}
			complete(t, r)
		})
	}
	for seed := range uint64(5) {
		t.Run(fmt.Sprint("losses at random, ", seed), func(t *testing.T) {
			rnd := rand.New(rand.NewPCG(seed, 9))
			c, left := without(tr, func(int) bool { return rnd.IntN(100) == 0 })
			r, err := split.Graph{}.Split(t.Context(), &split.Input{Trace: c})
			if err != nil {
				t.Fatal(err)
			}
			asBefore(t, whole, r, left, false)
			complete(t, r)
		})
	}
}

// TestRealGraphReplaysCut cuts a real trace of four replays, everywhere within them.
func TestRealGraphReplaysCut(t *testing.T) {
	tr := load(t, realtraces.Flux)
	whole, err := split.Graph{}.Split(t.Context(), &split.Input{Trace: tr})
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range whole.Steps {
		for _, share := range []float64{0.1, 0.3, 0.5, 0.7, 0.9} {
			cut := step.Start + time.Duration(share*float64(step.End-step.Start))
			for _, side := range []struct {
				name  string
				drop  func(g *trace.GPUEvent) bool
				whole int // steps
			}{
				{"begins", func(g *trace.GPUEvent) bool { return g.Start < cut }, len(whole.Steps) - 1 - step.Index},
				{"ends", func(g *trace.GPUEvent) bool { return g.End() > cut }, step.Index},
			} {
				t.Run(fmt.Sprintf("%s in step %d at %.1f", side.name, step.Index, share), func(t *testing.T) {
					c, left := without(tr, func(i int) bool { return side.drop(&tr.GPU[i]) })
					r, err := split.Graph{}.Split(t.Context(), &split.Input{Trace: c})
					var no *split.NoSteadyStateError
					if errors.As(err, &no) && side.whole < 2 {
						return
					}
					if err != nil {
						t.Fatal(err)
					}
					if side.whole > 0 {
						asBefore(t, whole, r, left, true)
					} else if len(r.Steps) != 1 || r.Steps[0].Complete {
						t.Errorf("steps of %v, want one that is cut", kernels(r))
					}
				})
			}
		}
	}
}

// TestGraphRunsOfAllModes splits the pipelines by whatever mode finds most.
func TestGraphRunsOfAllModes(t *testing.T) {
	for name, p := range graphRuns() {
		t.Run(name, func(t *testing.T) {
			tr, truth := p.play(t)
			r, err := split.Auto{}.Split(t.Context(), &split.Input{Trace: tr})
			if err != nil {
				t.Fatal(err)
			}
			if d := gocmp.Diff(truth, r.StepOf); d != "" {
				t.Errorf("steps of %v by %s (-want +got):\n%s", kernels(r), r.Method, d)
			}
		})
	}
}

// TestCaptureIsNotLost captures a graph in the first step: what is launched into it runs later, and is not missing there.
func TestCaptureIsNotLost(t *testing.T) {
	x := newTape(t)
	host := 0.0
	step := func(captures bool) {
		x.launch("timestep", host, 10)
		if captures {
			x.b.Launch(trace.Launch{Name: "hipStreamBeginCapture", Start: us(host + 2), Dur: us(1), Thread: x.th, Kind: trace.CaptureBegin})
			for i := range 40 {
				x.lost(host + 4 + float64(i)/10)
			}
			x.b.Launch(trace.Launch{Name: "hipStreamEndCapture", Start: us(host + 9), Dur: us(1), Thread: x.th, Kind: trace.CaptureEnd})
		}
		x.replay(host+10, 40, pass(12, "")...)
		x.launch("sched_mul", host+20, 10)
		x.launch("sched_add", host+30, 10)
		host += 40
	}
	for _, n := range repeat(8, "t5_norm", "t5_gemm", "t5_attn", "t5_up") {
		x.launch(n, host, 10)
		host += 10
	}
	for i := range 5 {
		step(i == 0)
	}
	for _, n := range repeat(10, "conv", "group_norm", "silu") {
		x.launch(n, host, 10)
		host += 10
	}
	_, r := x.split(split.Auto{})
	x.wantSteps(r, 79, 79, 79, 79, 79)
	for _, s := range r.Steps {
		if !s.Complete {
			t.Errorf("step %d is incomplete: %q", s.Index, s.Outlier)
		}
	}
}
