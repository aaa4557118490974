package report_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/ditlens/ditlens/report"
	"github.com/ditlens/ditlens/trace"
)

func TestBL36_StepWithoutEventsHasATime(t *testing.T) {
	var b trace.Builder
	thread := b.Thread(0, 1, 1, "")
	for i := range 3 {
		at := time.Second + time.Duration(i)*100*time.Microsecond
		b.Annotation(trace.Annotation{Name: fmt.Sprint("denoise_step_", i), Start: at, Dur: 100 * time.Microsecond, Thread: thread})
		b.Launch(trace.Launch{Name: "hipLaunchKernel", Start: at + time.Microsecond, Dur: time.Microsecond, Correlation: int64(i) + 1, Thread: thread})
		if i > 0 {
			b.GPU(trace.GPUEvent{Name: "k", Start: at + 5*time.Microsecond, Dur: 90 * time.Microsecond, Correlation: int64(i) + 1})
		}
	}
	tr, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	r := analyze(t, report.Analyzer{}, tr)
	for _, s := range r.Split.Steps {
		if s.Start < 0 || s.End < s.Start {
			t.Errorf("step %d from %v to %v us", s.Index, s.Start, s.End)
		}
	}
	if s := r.Split.Steps[0]; len(r.Split.Steps) != 3 || s.Kernels != 0 || s.Complete {
		t.Errorf("%d steps, the first %+v", len(r.Split.Steps), s)
	}
}
