package report_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/ditlens/ditlens/report"
	"github.com/ditlens/ditlens/trace"
)

// TestOneStepIsSaid reports a single pass of 12 layers, with and without a marker of its step.
func TestOneStepIsSaid(t *testing.T) {
	build := func(marked bool) *trace.Trace {
		var b trace.Builder
		thread := b.Thread(0, 1, 1, "")
		at := time.Second
		launch := func(names ...string) {
			for _, n := range names {
				at += 10 * time.Microsecond
				b.Launch(trace.Launch{Name: "hipLaunchKernel", Start: at, Dur: time.Microsecond, Correlation: int64(at), Thread: thread})
				b.GPU(trace.GPUEvent{Name: n, Start: at + 3*time.Microsecond, Dur: 6 * time.Microsecond, Correlation: int64(at)})
			}
		}
		launch("embedding", "copy")
		for range 12 {
			launch("norm", "gemm_qkv", "attention", "gemm_o", "gemm_up", "gelu", "gemm_down")
		}
		launch("unpatchify", "scheduler_add")
		if marked {
			b.Annotation(trace.Annotation{Name: "denoise_step_0", Start: time.Second, Dur: at - time.Second + 5*time.Microsecond, Thread: thread})
		}
		tr, err := b.Build()
		if err != nil {
			t.Fatal(err)
		}
		return tr
	}
	for _, c := range []struct {
		name   string
		marked bool
		steps  int
		status string
		want   []string
	}{
		{"kernels only", false, 0, report.StatusNoSteadyState, []string{"12 of 7 kernels", "as in a single pass of the model", "record two or more"}},
		{"marked", true, 1, report.StatusOK, []string{"One denoising step was recorded", "record two or more", "| throughput | ≤ ", "| latency | ≥ "}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := analyze(t, report.Analyzer{}, build(c.marked))
			if len(r.Split.Steps) != c.steps || r.Status != c.status {
				t.Errorf("%d steps, status %s", len(r.Split.Steps), r.Status)
			}
			var b bytes.Buffer
			if err := r.WriteMarkdown(&b); err != nil {
				t.Fatal(err)
			}
			for _, s := range c.want {
				if !strings.Contains(b.String(), s) {
					t.Errorf("the report does not say %q", s)
				}
			}
		})
	}
}
