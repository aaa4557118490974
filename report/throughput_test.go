package report_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

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
			if !near(p.LatencySeconds, 390e-6) || strings.Contains(p.Basis, "upper bound") != c.bound {
				t.Errorf("%v s, basis %s", p.LatencySeconds, p.Basis)
			}
		})
	}
}
