package report_test

import (
	"bytes"
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ditlens/ditlens/hw"
	"github.com/ditlens/ditlens/internal/realtraces"
	"github.com/ditlens/ditlens/internal/synth"
	"github.com/ditlens/ditlens/report"
	"github.com/ditlens/ditlens/split"
	"github.com/ditlens/ditlens/trace"
	"github.com/ditlens/ditlens/trace/record"
)

func analyze(t testing.TB, a report.Analyzer, tr *trace.Trace) *report.Report {
	t.Helper()
	r, err := a.Analyze(context.Background(), tr)
	if err != nil {
		t.Fatal(err)
	}
	checkReport(t, r, tr)
	return r
}

// checkReport holds for every report: no GPU time is lost or counted twice, and the timeline adds up.
func checkReport(t testing.TB, r *report.Report, tr *trace.Trace) {
	t.Helper()
	var want report.Micros
	for i := range tr.GPU {
		want += report.Micros(tr.GPU[i].Dur)
	}
	var phases, ops, cats report.Micros
	for _, p := range r.Split.Phases {
		phases += p.GPUTime
	}
	for i := range r.Operators {
		ops += r.Operators[i].KernelTime
	}
	for _, c := range r.Coverage.ByCategory {
		cats += c.Time
	}
	for what, got := range map[string]report.Micros{"phases": phases, "operators": ops, "categories": cats, "trace": r.Trace.GPUTime} {
		if got != want {
			t.Errorf("%s hold %v us of GPU time, the trace %v", what, got, want)
		}
	}
	l := r.Timeline
	if sum := l.Computation + l.ExposedComm + l.ExposedMemcpy + l.Idle; sum != l.Total {
		t.Errorf("timeline: parts %v us, total %v", sum, l.Total)
	}
}

func read(t testing.TB, data []byte) *trace.Trace {
	t.Helper()
	tr, err := trace.Read(context.Background(), trace.LoadOptions{}, "synthetic", bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

func TestSyntheticRunMatchesItsAnswer(t *testing.T) {
	for name, c := range map[string]synth.FluxConfig{
		"marked": {}, "unmarked": {Unnamed: true}, "two images": {Images: 2, Unnamed: true}, "eight steps": {Steps: 8, Single: 6},
	} {
		t.Run(name, func(t *testing.T) {
			run := synth.Flux(c)
			r := analyze(t, report.Analyzer{}, read(t, run.JSON()))
			steps, images := max(c.Steps, 4)*max(c.Images, 1), max(c.Images, 1)
			if r.Status != report.StatusOK || r.WorkloadType != "diffusion" || r.Split.StepCount != steps || r.Split.Images != images {
				t.Errorf("status %s, type %s, %d steps, %d images; want ok, diffusion, %d, %d", r.Status, r.WorkloadType,
					r.Split.StepCount, r.Split.Images, steps, images)
			}
			got := map[string]synth.OpAnswer{}
			for _, op := range r.Operators {
				if _, known := run.Answer.ByOp[op.Name]; known {
					a := got[op.Name]
					got[op.Name] = synth.OpAnswer{Calls: a.Calls + op.Count, FLOPs: a.FLOPs + int64(op.FLOPs)*int64(op.Count),
						Bytes: a.Bytes + int64(op.Bytes)*int64(op.Count), Time: a.Time + op.KernelTime.Duration()}
				}
			}
			if d := cmp.Diff(run.Answer.ByOp, got); d != "" {
				t.Error(d)
			}
			if r.Workload.Height != 512 || r.Workload.Width != 512 || r.Workload.Batch != 1 {
				t.Errorf("workload %+v", r.Workload)
			}
			if r.Coverage.ModelledPercent < 99.5 {
				t.Errorf("modelled %v %%", r.Coverage.ModelledPercent)
			}
		})
	}
}

func TestOrderOfEventsDoesNotMatter(t *testing.T) {
	run := synth.Flux(synth.FluxConfig{})
	events := slices.Clone(run.Events())
	want := analyze(t, report.Analyzer{}, read(t, run.JSON()))
	rand.New(rand.NewPCG(3, 4)).Shuffle(len(events), func(i, j int) { events[i], events[j] = events[j], events[i] })
	got := analyze(t, report.Analyzer{}, read(t, synth.Document(run.Device, events)))
	want.Trace.Files[0].SHA256, got.Trace.Files[0].SHA256 = "", ""
	var a, b bytes.Buffer
	if err := want.WriteJSON(&a); err != nil {
		t.Fatal(err)
	}
	if err := got.WriteJSON(&b); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(strings.Split(a.String(), "\n"), strings.Split(b.String(), "\n")); d != "" {
		t.Errorf("the report depends on the order of events: %.2000s", d)
	}
}

func TestThroughput(t *testing.T) {
	tr := read(t, synth.Flux(synth.FluxConfig{}).JSON())
	span := tr.GPU[len(tr.GPU)-1].End() - tr.GPU[0].Start
	whole := analyze(t, report.Analyzer{}, tr).Throughput
	if want := 1 / span.Seconds(); math.Abs(float64(whole.Value)-want) > 1e-9*want {
		t.Errorf("%v images/sec, want %v", whole.Value, want)
	}
	t.Run("batch of four", func(t *testing.T) {
		p := analyze(t, report.Analyzer{Workload: record.Workload{Batch: 4}}, tr).Throughput
		if p.LatencySeconds != whole.LatencySeconds || !near(p.Value, 4*whole.Value) || !near(p.SecondsPerItem, whole.LatencySeconds/4) {
			t.Errorf("%+v", p)
		}
	})
	t.Run("more steps asked for than recorded", func(t *testing.T) {
		r := analyze(t, report.Analyzer{Workload: record.Workload{NumInferenceSteps: 28}}, tr)
		if r.Throughput.Value >= whole.Value/3 || !strings.Contains(r.Throughput.Basis, "28 steps") {
			t.Errorf("%+v", r.Throughput)
		}
	})
	t.Run("video", func(t *testing.T) {
		r := analyze(t, report.Analyzer{Workload: record.Workload{Frames: 81}}, tr)
		if r.ThroughputUnit != "videos/sec" || !near(r.Throughput.FramesPerSec, 81*r.Throughput.Value) {
			t.Errorf("%+v", r.Throughput)
		}
	})
}

func near(a, b report.Number) bool { return math.Abs(float64(a-b)) <= 1e-9*math.Abs(float64(b)) }

func TestNothingPeriodicIsReportedWhole(t *testing.T) {
	run := synth.New()
	for i := range 40 {
		run.Addmm(int64(64+i*i), 512, int64(128+8*i))
	}
	r := analyze(t, report.Analyzer{}, read(t, run.JSON()))
	if r.Status != report.StatusNoSteadyState || r.Split.Method != "none" || r.WorkloadType != "unknown" || r.Throughput.Value.Known() {
		t.Errorf("status %s, method %s, type %s, throughput %v", r.Status, r.Split.Method, r.WorkloadType, r.Throughput.Value)
	}
	codes := map[string]bool{}
	for _, a := range r.Split.Attempts {
		codes[a.Code] = true
	}
	if !codes[split.CodeMissing] || !(codes[split.CodeNoSteadyState] || codes[split.CodeEmpty] || codes[split.CodeLowQuality]) {
		t.Errorf("attempts %+v", r.Split.Attempts)
	}
}

func TestEmptyTrace(t *testing.T) {
	r := analyze(t, report.Analyzer{}, read(t, []byte(`{"traceEvents": [
		{"ph": "M", "name": "process_name", "pid": 100, "args": {"name": "python"}},
		{"ph": "X", "cat": "cuda_runtime", "name": "hipDeviceSynchronize", "pid": 100, "tid": 100, "ts": 10, "dur": 5, "args": {"correlation": 1}}]}`)))
	if r.Status != report.StatusEmpty || len(r.Operators) != 0 || r.Throughput.Value.Known() {
		t.Errorf("status %s, %d operators, throughput %v", r.Status, len(r.Operators), r.Throughput.Value)
	}
	if !slices.ContainsFunc(r.Diagnostics, func(d report.Diagnostic) bool { return d.Code == "empty_trace" }) {
		t.Errorf("diagnostics %+v", r.Diagnostics)
	}
	if len(r.Findings) != 1 || r.Findings[0].Code != "record_again" || !strings.Contains(r.Findings[0].Detail, "repeat=1") {
		t.Errorf("findings %+v", r.Findings)
	}
}

func TestUnknownGPUGivesRatesWithoutPercent(t *testing.T) {
	run := synth.Flux(synth.FluxConfig{})
	run.Device = "AMD Instinct MI999X"
	r := analyze(t, report.Analyzer{}, read(t, run.JSON()))
	for _, op := range r.Operators {
		if op.Efficiency.Known() || op.RooflineTime.Known() {
			t.Errorf("%s has a percentage", op.Name)
		}
		if op.Name == "aten::addmm" && !(op.TFLOPS > 0) {
			t.Errorf("%s has no rate", op.Name)
		}
	}
	if !slices.ContainsFunc(r.Diagnostics, func(d report.Diagnostic) bool { return d.Code == "unknown_gpu" }) {
		t.Errorf("diagnostics %+v", r.Diagnostics)
	}
	var md strings.Builder
	if err := r.WriteMarkdown(&md); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(md.String(), "kernels modelled: no ceiling of the GPU is known") {
		t.Errorf("the text does not say why nothing has an efficiency: %.300s", md.String())
	}
}

// TestBL96RateOfSeveralCalls: two calls of 1e11 FLOPs in 1 and 9 ms make 20 TFLOP/s, not the mean of their rates, 55.6.
func TestBL96RateOfSeveralCalls(t *testing.T) {
	var b trace.Builder
	th := b.Thread(0, 1, 1, "")
	arg := func(rows, cols int64) trace.Arg { return trace.Arg{Type: "c10::BFloat16", Dims: []int64{rows, cols}} }
	in := b.Inputs(trace.Inputs{Args: []trace.Arg{arg(5000, 1000), arg(1000, 10_000)}})
	for i, dur := range []time.Duration{time.Millisecond, 9 * time.Millisecond} {
		at, corr := time.Duration(i)*time.Second, int64(i+1)
		b.Op(trace.Op{Name: "aten::mm", Start: at, Dur: 100, Thread: th, Inputs: in})
		b.Launch(trace.Launch{Name: "hipLaunchKernel", Start: at + 10, Dur: 10, Thread: th, Correlation: corr})
		b.GPU(trace.GPUEvent{Name: "Cijk", Start: at + 50, Dur: dur, Correlation: corr})
	}
	tr, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	op := analyze(t, report.Analyzer{}, tr).Operators[0]
	if math.Abs(float64(op.TFLOPS)-20) > 1e-9 || op.FLOPs != 1e11 || op.Count != 2 || math.Abs(float64(op.TFLOPSEach.Mean)-(100+100.0/9)/2) > 1e-9 {
		t.Errorf("%v TFLOP/s, each %+v", op.TFLOPS, op.TFLOPSEach)
	}
}

// TestBL50RawTimeIsKept: a kernel of 3.4 s that was cut to the 120 µs before the next one on its queue.
func TestBL50RawTimeIsKept(t *testing.T) {
	var b trace.Builder
	us := time.Microsecond
	for _, g := range []trace.GPUEvent{
		{Name: "elt", Start: 0, Dur: 3_400_000 * us}, {Name: "gemm", Start: 120 * us, Dur: 80 * us}, {Name: "attn", Start: 210 * us, Dur: 90 * us},
		{Name: "x", Start: 400 * us, Dur: 20 * us, Stream: 1}, {Name: "y", Start: 415 * us, Dur: 20 * us, Stream: 1},
	} {
		b.GPU(g)
	}
	tr, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	r := analyze(t, report.Analyzer{}, tr)
	if r.Trace.GPUTime.Duration() != 330*us || r.Trace.RawGPUTime.Duration() != 3_400_210*us || r.Timeline.Busy.Duration() != 325*us {
		t.Errorf("time %v, as recorded %v, busy %v", r.Trace.GPUTime, r.Trace.RawGPUTime, r.Timeline.Busy)
	}
}

// TestBL104Exposed: a collective of 80 µs, 40 of which a product hides.
func TestBL104Exposed(t *testing.T) {
	var b trace.Builder
	us := time.Microsecond
	b.GPU(trace.GPUEvent{Name: "gemm", Start: 0, Dur: 100 * us, Stream: 0})
	b.GPU(trace.GPUEvent{Name: "ncclDevKernel_AllToAll", Start: 60 * us, Dur: 80 * us, Stream: 1})
	tr, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	l := analyze(t, report.Analyzer{}, tr).Timeline
	if l.TotalComm != 80_000 || l.ExposedComm != 40_000 || l.Busy != 140_000 {
		t.Errorf("%+v", l)
	}
}

func load(t testing.TB, name string) *trace.Trace {
	t.Helper()
	tr, err := trace.Load(context.Background(), trace.LoadOptions{}, realtraces.Path(t, name))
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

func TestSD35(t *testing.T) {
	tr := load(t, realtraces.SD35)
	bare := *tr
	bare.Annotations = nil
	for name, v := range map[string]*trace.Trace{"as it is": tr, "without annotations": &bare} {
		t.Run(name, func(t *testing.T) {
			r := analyze(t, report.Analyzer{}, v)
			if r.Status != "ok" || r.WorkloadType != "diffusion" || r.Split.StepCount != 4 || r.ThroughputUnit != "images/sec" {
				t.Errorf("status %s, type %s, %d steps", r.Status, r.WorkloadType, r.Split.StepCount)
			}
			if r.Timeline.Busy.String() != "712489.744" || r.Trace.GPUTime.String() != "712489.971" || r.Timeline.Total.String() != "1171628.656" {
				t.Errorf("busy %v, sum %v, total %v", r.Timeline.Busy, r.Trace.GPUTime, r.Timeline.Total)
			}
			if want := report.Number(1 / 1.171628656); !near(r.Throughput.Value, want) {
				t.Errorf("throughput %v, want %v", r.Throughput.Value, want)
			}
			if r.Workload.Height != 1024 || r.Workload.Width != 1024 {
				t.Errorf("%+v", r.Workload)
			}
			checkSD35Rows(t, r)
		})
	}
}

// checkSD35Rows compares rows with figures worked out by hand at 708 TFLOP/s and 5.3 TB/s.
func checkSD35Rows(t *testing.T, r *report.Report) {
	find := func(name string, x, w []int64) *report.Operator {
		for i := range r.Operators {
			op := &r.Operators[i]
			if op.Name == name && len(op.InputDims) > 1 && slices.Equal(op.InputDims[0], x) && slices.Equal(op.InputDims[1], w) {
				return op
			}
		}
		t.Fatalf("no row %s %v %v", name, x, w)
		return nil
	}
	a := find("aten::_scaled_dot_product_flash_attention", []int64{2, 38, 4429, 64}, []int64{2, 38, 4429, 64})
	if a.Count != 152 || a.FLOPs != 381_649_693_696 || a.Bytes != 172_341_248 || a.Bound != "compute" || !near(a.RooflineTime, 381_649_693_696.0/708e6) {
		t.Errorf("attention: %d calls, %v FLOPs, %v bytes, %s, %v us", a.Count, a.FLOPs, a.Bytes, a.Bound, a.RooflineTime)
	}
	if m := find("aten::mm", []int64{8192, 2432}, []int64{2432, 9728}); m.FLOPs != 387_620_798_464 || m.Bytes != 246_546_432 {
		t.Errorf("mm: %v FLOPs, %v bytes", m.FLOPs, m.Bytes)
	}
	if c := find("aten::convolution", []int64{1, 128, 1024, 1024}, []int64{128, 128, 3, 3}); c.FLOPs != 309_371_863_040 {
		t.Errorf("convolution: %v FLOPs", c.FLOPs)
	}
	for _, op := range r.Operators {
		if op.Category == "modulation" && (op.Bound == "unmodelled" || !op.Efficiency.Known()) {
			t.Errorf("%s has no roof: %v", op.Name, op.Notes)
		}
	}
	if r.Coverage.ModelledPercent < 99.5 {
		t.Errorf("modelled %v %%", r.Coverage.ModelledPercent)
	}
}

func TestCeilingsAreNotMixed(t *testing.T) {
	tr := read(t, synth.Flux(synth.FluxConfig{}).JSON())
	low := analyze(t, report.Analyzer{Ceiling: hw.Achievable}, tr)
	high := analyze(t, report.Analyzer{Ceiling: hw.Datasheet}, tr)
	if !(high.Roofline.Ideal < low.Roofline.Ideal) || low.Hardware.Ceiling == high.Hardware.Ceiling {
		t.Errorf("datasheet %v us, achievable %v us", high.Roofline.Ideal, low.Roofline.Ideal)
	}
	// The link to the host has its own source, and says that nobody measured it.
	if s := low.Hardware.HostSource; !strings.Contains(s, "PCIe") || !strings.Contains(s, "the data sheet's is used") {
		t.Errorf("host link, achievable: %q", s)
	}
	if s := high.Hardware.HostSource; !strings.Contains(s, "PCIe") || strings.Contains(s, "is used") {
		t.Errorf("host link, datasheet: %q", s)
	}
}

func TestOtherTracesAreNotDiffusion(t *testing.T) {
	for _, name := range []string{"cpu_only_rank-34.pt.trace.json.gz", "cuda_multi_stream_sync.json.gz", "h100_vit_classifier.json.gz",
		"llm_sglang_decode.json.gz", "mi250_train_rocm62.json.gz", "triton_example.json.gz"} {
		t.Run(name, func(t *testing.T) {
			r := analyze(t, report.Analyzer{}, load(t, "other/"+name))
			if r.WorkloadType == "diffusion" {
				t.Errorf("called diffusion: %q", r.WorkloadEvidence)
			}
		})
	}
}

func BenchmarkAnalyze(b *testing.B) {
	tr := load(b, realtraces.SD35)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := (&report.Analyzer{}).Analyze(context.Background(), tr); err != nil {
			b.Fatal(err)
		}
	}
}

func TestPreambleIsNeitherIdleNorLatency(t *testing.T) {
	const window = 45 * time.Second
	var b trace.Builder
	thread := b.Thread(0, 1, 1, "")
	b.GPU(trace.GPUEvent{Name: "w", Dur: time.Millisecond, Correlation: 1})
	for i := range int64(4) {
		at := window + time.Duration(i)*100*time.Microsecond
		b.Annotation(trace.Annotation{Name: "denoise_step_" + string('0'+rune(i)), Start: at, Dur: 100 * time.Microsecond, Thread: thread})
		b.Launch(trace.Launch{Name: "hipLaunchKernel", Start: at + time.Microsecond, Dur: time.Microsecond, Correlation: 10 + i, Thread: thread})
		b.GPU(trace.GPUEvent{Name: "k", Start: at + 5*time.Microsecond, Dur: 90 * time.Microsecond, Correlation: 10 + i})
	}
	tr, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	r := analyze(t, report.Analyzer{}, tr)
	want := report.Micros(390 * time.Microsecond)
	if r.Timeline.Total != want || r.Timeline.Busy != report.Micros(360*time.Microsecond) || r.Throughput.LatencySeconds != report.Number(want.Seconds()) {
		t.Errorf("total %v, busy %v us, latency %v s", r.Timeline.Total, r.Timeline.Busy, r.Throughput.LatencySeconds)
	}
}

// TestSynchronisationsInTheLoop gives every step a wait for the device behind which the host dawdles.
func TestSynchronisationsInTheLoop(t *testing.T) {
	const dawdle = 300 * time.Microsecond
	run := synth.New()
	for i := range 6 {
		run.Mark("denoise_step_"+strconv.Itoa(i), func() {
			for range 8 {
				run.Addmm(512, 1024, 1024)
				run.Attention(1, 16, 512, 512, 64)
			}
			run.Sync()
			run.Idle(dawdle)
		})
	}
	r := analyze(t, report.Analyzer{}, read(t, run.JSON()))
	i := slices.IndexFunc(r.Findings, func(f report.Finding) bool { return f.Code == "step_syncs" })
	if i < 0 {
		t.Fatalf("findings %+v", r.Findings)
	}
	// Five waits are followed by a step; the GPU idles a little longer than the host dawdles.
	if got := r.Findings[i].AtStake.Duration(); got < 5*dawdle || got > 5*dawdle+5*20*time.Microsecond {
		t.Errorf("%v at stake", got)
	}
}

// TestReportDoesNotDependOnTheOrigin: the same run counted from an instant within it and behind it.
func TestReportDoesNotDependOnTheOrigin(t *testing.T) {
	tr := read(t, synth.Flux(synth.FluxConfig{}).JSON())
	text := func(tr *trace.Trace) string {
		var b bytes.Buffer
		if err := analyze(t, report.Analyzer{}, tr).WriteJSON(&b); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	want := text(tr)
	first, last := tr.GPU[0].Start, tr.GPU[len(tr.GPU)-1].End()
	for name, by := range map[string]time.Duration{"within": -(first + last) / 2, "behind": -last - time.Hour} {
		if d := cmp.Diff(strings.Split(want, "\n"), strings.Split(text(moved(tr, by)), "\n")); d != "" {
			t.Errorf("origin %s: %.2000s", name, d)
		}
	}
}

// moved returns the trace with all instants moved.
func moved(t *trace.Trace, by time.Duration) *trace.Trace {
	c := *t
	c.GPU, c.Launches, c.Annotations, c.Ops = slices.Clone(t.GPU), slices.Clone(t.Launches), slices.Clone(t.Annotations), slices.Clone(t.Ops)
	for i := range c.GPU {
		c.GPU[i].Start += by
	}
	for i := range c.Launches {
		c.Launches[i].Start += by
	}
	for i := range c.Annotations {
		c.Annotations[i].Start += by
	}
	for i := range c.Ops {
		c.Ops[i].Start += by
	}
	return &c
}

// A cancelling spec ends a context when it is asked for the cache: in the middle of the analysis.
type cancelling struct {
	hw.HardwareSpec
	cancel context.CancelFunc
}

func (c cancelling) CacheBytes() int64 {
	c.cancel()
	return c.HardwareSpec.CacheBytes()
}

func TestAnalyzeEndsWithItsContext(t *testing.T) {
	spec, err := hw.Lookup("MI300X")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	tr := read(t, synth.Flux(synth.FluxConfig{}).JSON())
	if r, err := (&report.Analyzer{Hardware: cancelling{spec, cancel}, Split: late{split.Auto{}}}).Analyze(ctx, tr); !errors.Is(err, context.Canceled) || r != nil {
		t.Errorf("report %v, error %v", r != nil, err)
	}
}

// A late splitter does not hear of the end of the context.
type late struct{ split.Splitter }

func (l late) Split(ctx context.Context, in *split.Input) (*split.Result, error) {
	return l.Splitter.Split(context.WithoutCancel(ctx), in)
}
