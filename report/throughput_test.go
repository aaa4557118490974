package report_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ditlens/ditlens/internal/synth"
	"github.com/ditlens/ditlens/report"
	"github.com/ditlens/ditlens/trace"
	"github.com/ditlens/ditlens/trace/record"
)

func TestThroughputOfALoopAloneIsAnUpperBound(t *testing.T) {
	loop := func(image string) *trace.Trace {
		var b trace.Builder
		thread := b.Thread(0, 1, 1, "")
		if image != "" {
			b.Annotation(trace.Annotation{Name: image, Dur: 500 * time.Microsecond, Thread: thread})
		}
		for i := range 4 {
			at := time.Duration(i+1) * 100 * time.Microsecond
			b.Annotation(trace.Annotation{Name: fmt.Sprint("denoise_step_", i), Start: at, Dur: 95 * time.Microsecond, Thread: thread})
			b.Launch(trace.Launch{Name: "hipLaunchKernel", Start: at + time.Microsecond, Dur: time.Microsecond, Correlation: int64(i) + 1, Thread: thread})
			b.GPU(trace.GPUEvent{Name: "k", Start: at + 5*time.Microsecond, Dur: 90 * time.Microsecond, Correlation: int64(i) + 1})
		}
		tr, err := b.Build()
		if err != nil {
			t.Fatal(err)
		}
		return tr
	}
	for name, c := range map[string]struct {
		image string
		steps int
		bound bool
	}{
		"steps alone":        {bound: true},
		"marked call":        {image: "execute_diffusion_1_512x512"},
		"all requested seen": {steps: 4},
	} {
		t.Run(name, func(t *testing.T) {
			a := report.Analyzer{Workload: record.Workload{NumInferenceSteps: c.steps}}
			p := analyze(t, a, loop(c.image)).Throughput
			if !near(p.LatencySeconds, 390e-6) || strings.Contains(p.Basis, "upper bound") != c.bound || p.UpperBound != c.bound {
				t.Errorf("%v s, basis %s", p.LatencySeconds, p.Basis)
			}
		})
	}
}

// TestDamagedTimesGiveNoThroughput: a digit is lost from one of 600 stamps.
func TestDamagedTimesGiveNoThroughput(t *testing.T) {
	run := synth.Flux(synth.FluxConfig{})
	var b trace.Builder
	tr := read(t, run.JSON())
	for _, th := range tr.Threads {
		b.Thread(th.File, th.PID, th.TID, th.Name)
	}
	for i := range tr.Ops {
		b.Op(tr.Ops[i])
	}
	for i := range tr.Launches {
		b.Launch(tr.Launches[i])
	}
	for i := range tr.GPU {
		g := tr.GPU[i]
		if i == 300 {
			g.Start /= 10
		}
		b.GPU(g)
	}
	damaged, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	for name, a := range map[string]report.Analyzer{"recorded whole": {}, "more asked for": {Workload: record.Workload{NumInferenceSteps: 28}}} {
		r := analyze(t, a, damaged)
		if r.Status != report.StatusPartial {
			t.Errorf("status %q beside damaged times", r.Status)
		}
		if r.WorkloadType != "diffusion" || r.Throughput.Value.Known() || !strings.Contains(r.Throughput.Basis, "so far apart") {
			t.Errorf("%s: %s run, %+v", name, r.WorkloadType, r.Throughput)
		}
	}
}

// TestFasterThanTheHardware: times a thousand times too short are shown with a doubt.
func TestFasterThanTheHardware(t *testing.T) {
	for by, want := range map[time.Duration]bool{1: false, 1000: true} {
		tr := read(t, synth.Flux(synth.FluxConfig{}).JSON())
		for i := range tr.GPU {
			tr.GPU[i].Dur /= by
		}
		r := analyze(t, report.Analyzer{}, tr)
		if got := slices.ContainsFunc(r.Diagnostics, func(d report.Diagnostic) bool { return d.Code == "above_roofline" }); got != want || r.Roofline.Efficiency > 1 != want {
			t.Errorf("durations / %d: efficiency %v, diagnostics %+v", by, r.Roofline.Efficiency, r.Diagnostics)
		}
	}
}
