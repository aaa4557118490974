package split_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/ditlens/ditlens/split"
	"github.com/ditlens/ditlens/trace"
)

// TestOneStepWithoutEvidence plays pipelines of one step. Nothing repeats as steps do, which the error says, and that blocks do.
func TestOneStepWithoutEvidence(t *testing.T) {
	said := 0
	for seed := range uint64(40) {
		s := randomScene("plain", seed)
		s.steps, s.graph, s.double, s.single = 1, false, max(3, s.double), max(3, s.single)
		tr, _, _ := s.make()
		r, err := split.Auto{}.Split(t.Context(), &split.Input{Trace: tr})
		var no *split.NoSteadyStateError
		if !errors.As(err, &no) {
			t.Errorf("seed %d: error %v, want *NoSteadyStateError: %+v", seed, err, s)
			if r != nil {
				t.Logf("%d steps, confidence %.2f", len(r.Steps), r.Confidence)
			}
			continue
		}
		if d := diagnosed(no.Result, "single_step"); d != "" && strings.Contains(err.Error(), d) {
			said++
			if blocks := fmt.Sprintf("%d of %d kernels each", s.double, s.blockSize); !strings.Contains(d, blocks) {
				t.Errorf("seed %d: %q does not say %q", seed, d, blocks)
			}
		}
	}
	if said < 36 {
		t.Errorf("%d of 40 traces of one step are said to be that", said)
	}
}

// diagnosed returns the message of a diagnostic, "" if there is none.
func diagnosed(r *split.Result, code string) string {
	for _, d := range r.Diagnostics {
		if d.Code == code {
			return d.Message
		}
	}
	return ""
}

// TestOneStepByEvidence plays a pipeline of one step in which a marker, a graph launch or a call of compiled code shows it.
func TestOneStepByEvidence(t *testing.T) {
	type evidence struct {
		kernels  int
		complete bool
	}
	pipeline := func(x *tape, mark func(step, pass, sched, end float64), graph bool) {
		at := 10.0
		launch := func(dur float64, names ...string) {
			for _, n := range names {
				x.launch(n, at, dur)
				at += 10
			}
		}
		launch(20, repeat(6, "t5_gemm", "t5_attn", "t5_up")...)
		step := at - 5
		launch(5, "pre")
		pass := at - 5
		if graph {
			x.replay(at, 40, repeat(12, "qkv", "attn", "mlp")...)
			at += 10
		} else {
			launch(40, repeat(12, "qkv", "attn", "mlp")...)
		}
		sched := at - 5
		launch(5, "scale", "add")
		end := at - 5
		launch(20, repeat(8, "conv", "group_norm")...)
		mark(step, pass, sched, end)
	}
	for _, c := range []struct {
		name   string
		method string
		want   evidence
		graph  bool
		mark   func(x *tape) func(step, pass, sched, end float64)
	}{
		{"step", "marker", evidence{39, true}, false, func(x *tape) func(step, pass, sched, end float64) {
			return func(step, _, _, end float64) { x.mark("denoise_step_0", step, end-step) }
		}},
		{"forward pass", "marker", evidence{36, true}, false, func(x *tape) func(step, pass, sched, end float64) {
			return func(_, pass, sched, _ float64) { x.mark("transformer_forward", pass, sched-pass) }
		}},
		{"forward pass and scheduler", "marker", evidence{38, true}, false, func(x *tape) func(step, pass, sched, end float64) {
			return func(_, pass, sched, end float64) {
				x.mark("transformer_forward", pass, sched-pass)
				x.mark("scheduler_step", sched, end-sched)
			}
		}},
		{"scheduler, so that the begin is unknown", "marker", evidence{57, false}, false, func(x *tape) func(step, pass, sched, end float64) {
			return func(_, _, sched, end float64) { x.mark("scheduler_step", sched, end-sched) }
		}},
		{"marker around the scheduler alone", "marker", evidence{57, false}, false, func(x *tape) func(step, pass, sched, end float64) {
			return func(_, _, sched, end float64) { x.mark("denoise_step_0", sched, end-sched) }
		}},
		{"compiled code", "marker", evidence{36, true}, false, func(x *tape) func(step, pass, sched, end float64) {
			return func(_, pass, sched, _ float64) { x.mark("Torch-Compiled Region: 0/0", pass, sched-pass) }
		}},
		{"graph launch", "graph", evidence{36, true}, true, func(*tape) func(step, pass, sched, end float64) {
			return func(_, _, _, _ float64) {}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			x := newTape(t)
			pipeline(x, c.mark(x), c.graph)
			_, r := x.split(split.Auto{})
			x.wantSteps(r, c.want.kernels)
			got := evidence{r.Steps[0].Kernels, r.Steps[0].Complete}
			if d := gocmp.Diff(c.want, got, gocmp.AllowUnexported(evidence{})); d != "" {
				t.Error(d)
			}
			if r.Method != c.method {
				t.Errorf("method %s, want %s", r.Method, c.method)
			}
			if diagnosed(r, "single_step") == "" {
				t.Error("nothing says that there is only one step")
			}
			if (r.Steady != nil) != c.want.complete {
				t.Errorf("steady state %v", r.Steady)
			}
		})
	}
}

// replay launches a captured graph of kernels at a host time.
func (x *tape) replay(host, dur float64, names ...string) {
	x.corr++
	x.b.Launch(trace.Launch{Name: "hipGraphLaunch", Start: us(host), Dur: us(1), Correlation: x.corr, Thread: x.th, Kind: trace.LaunchGraph})
	at := max(us(host+2), x.free[0])
	for _, n := range names {
		x.kernel(n, float64(at)/1000, dur, 0, x.corr)
		at = x.free[0]
	}
}
