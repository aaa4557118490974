package split_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/ditlens/ditlens/split"
	"github.com/ditlens/ditlens/trace"
)

// A tape records events for a trace, times in microseconds. Kernels run on their stream in order.
type tape struct {
	t    *testing.T
	b    trace.Builder
	th   trace.ThreadID
	corr int64
	free map[int64]time.Duration
}

func newTape(t *testing.T) *tape {
	x := &tape{t: t, free: map[int64]time.Duration{}}
	x.th = x.b.Thread(0, 100, 100, "python")
	return x
}

func us(x float64) time.Duration { return time.Duration(x * 1000) }

// launch launches a kernel at a host time; it runs when its stream is free.
func (x *tape) launch(name string, host, dur float64) {
	x.corr++
	x.b.Launch(trace.Launch{Name: "hipLaunchKernel", Start: us(host), Dur: us(1), Correlation: x.corr, Thread: x.th})
	at := max(us(host+2), x.free[0])
	x.kernel(name, float64(at)/1000, dur, 0, x.corr)
}

// lost records a launch whose kernel the profiler dropped.
func (x *tape) lost(host float64) {
	x.corr++
	x.b.Launch(trace.Launch{Name: "hipLaunchKernel", Start: us(host), Dur: us(1), Correlation: x.corr, Thread: x.th})
}

func (x *tape) kernel(name string, ts, dur float64, stream, corr int64) {
	g := trace.GPUEvent{Name: name, Start: us(ts), Dur: us(dur), Stream: stream, Correlation: corr}
	if strings.HasPrefix(name, "Memcpy") {
		g.Kind, g.Bytes = trace.Memcpy, 28_000_000_000
	}
	x.b.GPU(g)
	x.free[stream] = us(ts + dur)
}

func (x *tape) mark(name string, ts, dur float64) {
	x.b.Annotation(trace.Annotation{Name: name, Start: us(ts), Dur: us(dur), Thread: x.th})
}

func (x *tape) gpuMark(name string, ts, dur float64, stream int64) {
	x.b.Annotation(trace.Annotation{Name: name, Start: us(ts), Dur: us(dur), GPU: true, Stream: stream, Thread: trace.None})
}

// row runs kernels one after the other without launches, with gaps of 5 us.
func (x *tape) row(dur float64, names ...string) {
	for _, n := range names {
		at := x.free[0] + us(5)
		x.kernel(n, float64(at)/1000, dur, 0, 0)
	}
}

func (x *tape) trace() *trace.Trace {
	tr, err := x.b.Build()
	if err != nil {
		x.t.Fatal(err)
	}
	return tr
}

func (x *tape) split(s split.Splitter) (*trace.Trace, *split.Result) {
	x.t.Helper()
	tr := x.trace()
	r, err := s.Split(x.t.Context(), &split.Input{Trace: tr})
	if err != nil {
		x.t.Fatal(err)
	}
	covers(x.t, tr, r)
	return tr, r
}

func (x *tape) wantSteps(r *split.Result, kernelsOf ...int) {
	x.t.Helper()
	if d := gocmp.Diff(kernelsOf, kernels(r)); d != "" {
		x.t.Errorf("kernels of the steps (-want +got):\n%s%v", d, r.Reasons)
	}
}

func repeat(n int, names ...string) (out []string) {
	for range n {
		out = append(out, names...)
	}
	return out
}

func cat(parts ...[]string) []string { return slices.Concat(parts...) }

func step(blocks int) []string {
	return cat([]string{"pe"}, repeat(blocks, "qkv", "attn", "mlp"), []string{"fin", "sched"})
}

func TestBL20_NoMarkersAtAll(t *testing.T) {
	x := newTape(t)
	x.row(10, repeat(4, step(3)...)...)
	_, r := x.split(split.Auto{})
	x.wantSteps(r, 12, 12, 12, 12)
	if r.Method != "autocorrelation" || r.Marked != 0 || r.Detected != 4 {
		t.Errorf("method %s, %d marked, %d detected", r.Method, r.Marked, r.Detected)
	}
}

// TestBL28_NoProfilerStep records the same work without the annotation of the profiler's schedule, with it, and with annotations of others only.
func TestBL28_NoProfilerStep(t *testing.T) {
	for name, annotation := range map[string]string{"none": "", "of the profiler": "ProfilerStep#0", "of others": "my_region"} {
		t.Run(name, func(t *testing.T) {
			x := newTape(t)
			if annotation != "" {
				x.mark(annotation, 0, 1e6)
			}
			x.row(10, repeat(4, step(3)...)...)
			_, r := x.split(split.Auto{})
			x.wantSteps(r, 12, 12, 12, 12)
		})
	}
}

func TestBL20_NothingPeriodic(t *testing.T) {
	x := newTape(t)
	for i := range 40 {
		x.row(10, fmt.Sprint("k", i*i))
	}
	tr := x.trace()
	_, err := split.Auto{}.Split(t.Context(), &split.Input{Trace: tr})
	var no *split.NoSteadyStateError
	if !errors.As(err, &no) {
		t.Fatal(err)
	}
	covers(t, tr, no.Result)
	var codes []string
	for _, a := range no.Attempts {
		codes = append(codes, a.Mode+" "+a.Code)
	}
	want := []string{"marker steady_state_chunk_missing", "autocorrelation trace_split_no_steady_state", "graph steady_state_chunk_missing"}
	if d := gocmp.Diff(want, codes); d != "" || no.Result.Method != "none" {
		t.Error(d, no.Result.Method)
	}
}

// scheduled plays images whose denoise_step markers wrap only the scheduler.
func scheduled(x *tape, images int) {
	for im := range images {
		base := float64(5000 * im)
		x.mark("model_inference", base, 3000)
		for s := range 3 {
			for k := range 3 {
				x.launch([]string{"pe", "attn", "mlp"}[k], base+float64(10+1000*s+290*k), 250)
			}
			x.mark(fmt.Sprint("denoise_step_", s), base+float64(900+1000*s), 20)
			x.launch("sched", base+float64(905+1000*s), 2)
		}
	}
}

func TestBL21_MarkerWrapsOnlyTheScheduler(t *testing.T) {
	x := newTape(t)
	scheduled(x, 1)
	_, r := x.split(split.Marker{})
	x.wantSteps(r, 4, 4, 4)
	for _, s := range r.Steps {
		if s.GPUTime != us(752) {
			t.Errorf("step %d: %v of GPU time, want 752µs", s.Index, s.GPUTime)
		}
	}
}

func TestBL21_NamesRestartForEachImage(t *testing.T) {
	x := newTape(t)
	scheduled(x, 2)
	_, r := x.split(split.Marker{})
	x.wantSteps(r, 4, 4, 4, 4, 4, 4)
	if len(r.Images) != 2 || r.Images[1].Steps != 3 || r.Steps[3].Image != 1 {
		t.Errorf("images %+v", r.Images)
	}
}

func TestBL23_MarkerAroundTheWholeImage(t *testing.T) {
	x := newTape(t)
	for im := range 2 {
		base := float64(5000 * im)
		x.mark("execute_diffusion_1_256x256", base, 4000)
		names := cat([]string{"embed"}, repeat(10, "t5_gemm", "t5_attn"), repeat(4, step(3)...), []string{"conv_in"}, repeat(12, "conv", "group_norm"))
		for i, n := range names {
			x.launch(n, base+float64(10+20*i), 15)
		}
	}
	_, r := x.split(split.Auto{})
	x.wantSteps(r, 12, 12, 12, 12, 12, 12, 12, 12)
	if len(r.Images) != 2 {
		t.Fatalf("%d images", len(r.Images))
	}
	im := r.Images[0]
	if im.Batch != 1 || im.Height != 256 || im.Width != 256 || im.Steps != 4 || im.HostEnd-im.HostStart != us(4000) {
		t.Errorf("image %+v", im)
	}
	want := map[split.PhaseName]int{split.TextEncode: 42, split.Denoise: 96, split.VAEDecode: 50}
	if d := gocmp.Diff(want, phases(r)); d != "" {
		t.Error(d)
	}
}

func guided(x *tape, forwards bool) {
	for s := range 3 {
		base := float64(1000 * s)
		for f := range 2 {
			at := base + float64(400*f)
			if forwards {
				x.mark("transformer_forward", at, 390)
			}
			for k, n := range []string{"pe", "attn", "mlp", "fin"} {
				x.launch(n, at+float64(10+90*k), 80)
			}
		}
		x.mark("scheduler_step", base+850, 50)
		x.launch("sched", base+860, 2)
	}
}

func TestBL24_TwoForwardsAStep(t *testing.T) {
	for _, forwards := range []bool{true, false} {
		x := newTape(t)
		guided(x, forwards)
		_, r := x.split(split.Marker{})
		x.wantSteps(r, 9, 9, 9)
		if forwards && r.ForwardsPerStep != 2 {
			t.Errorf("%d forwards a step", r.ForwardsPerStep)
		}
	}
}

func TestBL25_KernelsRunAfterTheirMarker(t *testing.T) {
	x := newTape(t)
	x.mark("denoising_step_0", 0, 45)
	x.mark("denoising_step_1", 45, 107)
	for i := range 8 {
		x.corr++
		x.b.Launch(trace.Launch{Name: "hipLaunchKernel", Start: us(float64(1 + 5*i)), Dur: us(1), Correlation: x.corr, Thread: x.th})
		x.kernel("k", float64(10+16*i), 16, 0, x.corr)
	}
	for i := range 8 {
		x.corr++
		x.b.Launch(trace.Launch{Name: "hipLaunchKernel", Start: us(float64(46 + 13*i)), Dur: us(1), Correlation: x.corr, Thread: x.th})
		x.kernel("k", float64(138+16*i), 16, 0, x.corr)
	}
	_, r := x.split(split.Marker{})
	x.wantSteps(r, 8, 8)
	for i, at := range []time.Duration{us(10), us(138)} {
		if s := r.Steps[i]; s.GPUTime != us(128) || s.Start != at {
			t.Errorf("step %d: %v from %v", i, s.GPUTime, s.Start)
		}
	}
}

func TestBL27_TilesAreNotSteps(t *testing.T) {
	x := newTape(t)
	x.row(10, cat(repeat(4, step(3)...), repeat(10, "conv3d", "gn"))...)
	_, r := x.split(split.Autocorrelation{})
	x.wantSteps(r, 12, 12, 12, 12)
	if d := gocmp.Diff(map[split.PhaseName]int{split.Denoise: 48, split.VAEDecode: 20}, phases(r)); d != "" {
		t.Error(d)
	}
	if !slices.Contains(r.SubPeriods, split.SubPeriod{Kernels: 2, Repeats: 10, Within: string(split.VAEDecode)}) {
		t.Errorf("sub-periods %+v lack the tiles", r.SubPeriods)
	}
}

func TestBL30_CompileInTheWindow(t *testing.T) {
	x := newTape(t)
	host := 0.0
	for s := range 5 {
		x.mark(fmt.Sprint("denoising_step_", s), host, 0)
		begin := host
		names := []string{"pe", "qkv", "attn", "mlp", "qkv", "attn", "mlp", "fin"}
		for i, n := range names {
			x.launch(n, host, 16)
			host += 20
			if s == 0 && i == 1 {
				for k := range 30 {
					x.launch(fmt.Sprint("autotune_", k), host, 10)
					host += 2_000_000
				}
			}
			if s == 3 && i == 1 {
				for k := range 10 {
					x.launch(fmt.Sprint("tuned_", k), host, 10)
					host += 12
				}
			}
		}
		x.mark(fmt.Sprint("denoising_step_", s), begin, host-begin)
		host += 10
	}
	_, r := x.split(split.Marker{})
	if len(r.Classes) != 1 || r.Classes[0].MedianGPUTime != us(128) {
		t.Errorf("classes %+v", r.Classes)
	}
	if !strings.HasPrefix(r.Steps[0].Outlier, "warm-up/compile") || !strings.HasPrefix(r.Steps[3].Outlier, "extra kernels") || r.Steps[1].Outlier != "" {
		t.Errorf("outliers %q, %q, %q", r.Steps[0].Outlier, r.Steps[1].Outlier, r.Steps[3].Outlier)
	}
}

func TestBL31_NoWarmUpRule(t *testing.T) {
	x := newTape(t)
	x.row(8.333, repeat(10, step(3)...)...)
	_, r := x.split(split.Autocorrelation{})
	if r.Steady == nil || r.Steady.First != 0 || r.Steady.Last != 9 {
		t.Errorf("steady state %+v, want all of 10 steps", r.Steady)
	}
}

func TestBL32_CachedSteps(t *testing.T) {
	full := cat([]string{"pe"}, repeat(4, "attn", "mlp"), []string{"fin", "sched"})
	cached := []string{"pe", "attn", "mlp", "l1", "add", "fin", "sched"}
	x := newTape(t)
	for _, c := range "FFCFCCFCCF" {
		if c == 'F' {
			x.row(10, full...)
		} else {
			x.row(25.0/7, cached...)
		}
	}
	_, r := x.split(split.Autocorrelation{})
	x.wantSteps(r, 11, 11, 7, 11, 7, 7, 11, 7, 7, 11)
	if len(r.Classes) != 2 || r.Classes[0].Name != "full" || r.Classes[1].Name != "cached" {
		t.Fatalf("classes %+v", r.Classes)
	}
	if len(r.Classes[0].Steps) != 5 || r.Classes[0].MedianGPUTime != us(110) || len(r.Classes[1].Steps) != 5 {
		t.Errorf("classes %+v", r.Classes)
	}
	if r.Steady == nil || r.Steady.Class != 0 {
		t.Errorf("steady state %+v", r.Steady)
	}
}

func TestBL34_TwoExperts(t *testing.T) {
	x := newTape(t)
	pass := cat([]string{"pe"}, repeat(6, "qkv", "attn", "mlp"), []string{"fin"})
	for s := range 10 {
		if s == 4 {
			x.row(2000, "Memcpy HtoD (Pinned -> Device)")
		}
		x.row(10, pass...)
		if s < 4 {
			x.row(10, pass...)
			x.row(2, "guide")
		}
		x.row(2, "sched")
	}
	_, r := x.split(split.Autocorrelation{})
	x.wantSteps(r, 42, 42, 42, 42, 21, 21, 21, 21, 21, 21)
	if d := gocmp.Diff(map[split.PhaseName]int{split.Denoise: 294, split.BetweenSteps: 1}, phases(r)); d != "" {
		t.Error(d)
	}
	for i, s := range r.Steps {
		if want := map[bool]int{true: 2, false: 1}[i < 4]; s.Forwards != want {
			t.Errorf("step %d has %d forwards, want %d", i, s.Forwards, want)
		}
	}
}

func TestBL36_FirstKernelsLost(t *testing.T) {
	x := newTape(t)
	for s := range 3 {
		base := float64(1000 * s)
		x.mark(fmt.Sprint("denoising_step_", s), base, 990)
		for k, n := range step(3) {
			if s == 0 && k < 3 {
				x.lost(base + float64(10+50*k))
				continue
			}
			x.launch(n, base+float64(10+50*k), 20)
		}
	}
	_, r := x.split(split.Marker{})
	x.wantSteps(r, 9, 12, 12)
	if r.Steps[0].Complete || !r.Steps[1].Complete || r.Steady == nil || r.Steady.First != 1 {
		t.Errorf("complete %v, %v; steady state %+v", r.Steps[0].Complete, r.Steps[1].Complete, r.Steady)
	}
}

func TestBL36_AllKernelsOfTheFirstStepLost(t *testing.T) {
	x := newTape(t)
	for s := range 3 {
		base := float64(1000 * s)
		x.mark(fmt.Sprint("denoising_step_", s), base, 990)
		for k, n := range []string{"qkv", "attn", "mlp"} {
			if s == 0 {
				x.lost(base + float64(10+50*k))
				continue
			}
			x.launch(n, base+float64(10+50*k), 20)
		}
	}
	_, r := x.split(split.Marker{})
	x.wantSteps(r, 0, 3, 3)
	if r.Steps[0].Complete || !r.Steps[1].Complete || r.Steady == nil || r.Steady.First != 1 || r.ForwardsPerStep != 1 {
		t.Errorf("complete %v, %v; steady state %+v; %d forwards", r.Steps[0].Complete, r.Steps[1].Complete, r.Steady, r.ForwardsPerStep)
	}
}

// TestAllKernelsOfAStepLost: wherever the step stands, and wherever the clock's origin lies.
func TestAllKernelsOfAStepLost(t *testing.T) {
	for lost := range 4 {
		for _, origin := range []float64{0, -1500, -1e6} {
			t.Run(fmt.Sprint("step ", lost, " from ", origin), func(t *testing.T) {
				x := newTape(t)
				x.free[0] = us(origin)
				for s := range 4 {
					base := origin + float64(1000*s)
					x.mark(fmt.Sprint("denoising_step_", s), base, 990)
					for k, n := range []string{"qkv", "attn", "mlp"} {
						if s == lost {
							x.lost(base + float64(10+50*k))
						} else {
							x.launch(n, base+float64(10+50*k), 20)
						}
					}
				}
				_, r := x.split(split.Marker{})
				for s := range r.Steps {
					if p := &r.Steps[s]; p.Complete != (s != lost) || p.Kernels > 0 && p.Span() != us(120) {
						t.Errorf("step %d: complete %v, span %v", s, p.Complete, p.Span())
					}
				}
			})
		}
	}
}

func TestBL37_KernelsLongBeforeTheFirstStep(t *testing.T) {
	t.Run("kernels alone", func(t *testing.T) {
		x := newTape(t)
		x.kernel("w", 0, 1000, 0, 0)
		x.free[0] = us(45_000_000)
		x.row(10, repeat(3, step(3)...)...)
		_, r := x.split(split.Autocorrelation{})
		x.wantSteps(r, 12, 12, 12)
		wantPreamble(t, r)
	})
	t.Run("marked", func(t *testing.T) {
		x := newTape(t)
		x.kernel("w", 0, 1000, 0, 0)
		for s := range 3 {
			at := float64(45_001_000 + 300*s)
			x.mark(fmt.Sprint("denoising_step_", s), at, 295)
			for k, n := range step(3) {
				x.launch(n, at+float64(20*k), 10)
			}
		}
		_, r := x.split(split.Marker{})
		x.wantSteps(r, 12, 12, 12)
		wantPreamble(t, r)
	})
}

func wantPreamble(t *testing.T, r *split.Result) {
	t.Helper()
	if d := gocmp.Diff(map[split.PhaseName]int{split.Preamble: 1, split.Denoise: 36}, phases(r)); d != "" {
		t.Error(d)
	}
	if m := r.Images[0]; m.End-m.Start > time.Second {
		t.Errorf("the image takes %v", m.End-m.Start)
	}
}

func TestBL45_KernelsWithoutCorrelation(t *testing.T) {
	x := newTape(t)
	at := 0.0
	for s := range 3 {
		x.mark(fmt.Sprint("denoising_step_", s), at, 295)
		for k, n := range step(3) {
			x.launch(n, at+float64(20*k), 10)
			if k == 5 {
				x.kernel("ncclDevKernel_Generic_1", at+float64(20*k)+14, 4, 0, 0)
			}
		}
		at += 300
	}
	_, r := x.split(split.Marker{})
	x.wantSteps(r, 13, 13, 13)
}

func TestBL52_GraphReplays(t *testing.T) {
	x := newTape(t)
	for s := range 4 {
		base := float64(2000 * s)
		x.launch("cat", base, 3)
		x.corr++
		x.b.Launch(trace.Launch{Name: "hipGraphLaunch", Start: us(base + 20), Dur: us(5), Correlation: x.corr, Thread: x.th})
		at := base + 30
		for _, n := range cat([]string{"pe"}, repeat(10, "gemm", "attn", "norm"), []string{"fin"}) {
			x.kernel(n, at, 40, 0, x.corr)
			at += 45
		}
		x.launch("sched", base+40, 2)
	}
	tr := x.trace()
	for _, m := range []split.Splitter{split.Graph{}, split.Autocorrelation{}, split.Auto{}} {
		r, err := m.Split(t.Context(), &split.Input{Trace: tr})
		if err != nil {
			t.Fatal(err)
		}
		x.wantSteps(r, 34, 34, 34, 34)
	}
}

func TestBL53_GPUSideMarkersOnTwoStreams(t *testing.T) {
	x := newTape(t)
	x.mark("denoising_step_0", 0, 100)
	x.gpuMark("denoising_step_0", 50, 60, 0)
	x.gpuMark("denoising_step_0", 55, 20, 1)
	x.launch("a", 5, 40)
	x.corr++
	x.b.Launch(trace.Launch{Name: "hipLaunchKernel", Start: us(9), Dur: us(1), Correlation: x.corr, Thread: x.th})
	x.kernel("b", 55, 20, 1, x.corr)
	_, r := x.split(split.Marker{})
	x.wantSteps(r, 2)
}

func TestBL53_GPUSideMarkersAlone(t *testing.T) {
	x := newTape(t)
	for s := range 2 {
		base := float64(200 * s)
		x.gpuMark(fmt.Sprint("denoising_step_", s), base, 110, 0)
		x.gpuMark(fmt.Sprint("denoising_step_", s), base+5, 80, 1)
		x.kernel("a", base+1, 100, 0, 0)
		x.kernel("b", base+6, 70, 1, 0)
	}
	_, r := x.split(split.Marker{})
	x.wantSteps(r, 2, 2)
}

func TestBL52_TwoReplaysAreTwoSteps(t *testing.T) {
	x := newTape(t)
	for s := range 2 {
		base := float64(200 * s)
		x.corr++
		x.b.Launch(trace.Launch{Name: "hipGraphLaunch", Start: us(base), Dur: us(5), Correlation: x.corr, Thread: x.th})
		x.kernel("gemm", base+10, 40, 0, x.corr)
		x.kernel("attn", base+60, 40, 0, x.corr)
		x.kernel("norm", base+110, 4, 0, x.corr)
	}
	_, r := x.split(split.Auto{})
	x.wantSteps(r, 3, 3)
	if r.Method != "graph" {
		t.Errorf("method %s", r.Method)
	}
}

func TestRequestedStepsAreAWitness(t *testing.T) {
	x := newTape(t)
	x.row(10, repeat(10, "a", "b", "c", "d", "e", "f", "g", "h", "i", "j")...)
	tr := x.trace()
	if _, err := (split.Autocorrelation{}).Split(t.Context(), &split.Input{Trace: tr}); err == nil {
		t.Error("ten equal runs of ten kernels, and nothing else known, are taken for steps")
	}
	r, err := split.Autocorrelation{}.Split(t.Context(), &split.Input{Trace: tr, Requested: 10})
	if err != nil {
		t.Fatal(err)
	}
	x.wantSteps(r, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10)
}
