package ceiling_test

import (
	"context"
	"math"
	"testing"

	"github.com/ditlens/ditlens/hw"
	"github.com/ditlens/ditlens/internal/realtraces"
	"github.com/ditlens/ditlens/perfmodel"
	"github.com/ditlens/ditlens/perfmodel/ceiling"
	"github.com/ditlens/ditlens/trace"
)

func loadReal(t *testing.T, name string) *trace.Trace {
	t.Helper()
	tr, err := trace.Load(context.Background(), trace.LoadOptions{}, realtraces.Path(t, name))
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

// traced sums the FLOPs of the denoiser's operators: products that have the hidden size on one side, and attentions that see all of
// the joint tokens. only selects the operators to look at.
func traced(tr *trace.Trace, h, tokens int64, only func(o *trace.Op) bool) (linear, attention int64) {
	list := perfmodel.Attribute(tr, perfmodel.Default())
	for i := range list {
		in := &list[i]
		if in.Missing != nil || in.Op == trace.None || !only(&tr.Ops[in.Op]) {
			continue
		}
		switch in.Work.Category {
		case perfmodel.GEMM, perfmodel.Modulation:
			if in.Work.Compute[0].Unit == hw.Matrix && hidden(in.Call.Inputs, h) {
				linear += in.Work.FLOPs()
			}
		case perfmodel.Attention, perfmodel.CrossAttention:
			if sees(in.Call.Inputs, tokens) {
				attention += in.Work.FLOPs()
			}
		}
	}
	return linear, attention
}

func hidden(in *trace.Inputs, h int64) bool {
	for _, a := range in.Args {
		if len(a.Dims) == 2 && (a.Dims[0]%h == 0 || a.Dims[1]%h == 0) {
			return true
		}
	}
	return false
}

func sees(in *trace.Inputs, tokens int64) bool {
	for _, a := range in.Args {
		if len(a.Dims) == 4 && (a.Dims[1] == tokens || a.Dims[2] == tokens) {
			return true
		}
	}
	return false
}

// reconcile compares the analysis of steps forward passes with a trace.
func reconcile(t *testing.T, w *ceiling.Work, linear, attention int64) {
	t.Helper()
	p := &w.Parts[0]
	if got := w.Steps * p.FLOPs(ceiling.Attention); got != attention {
		t.Errorf("attention: analytic %d, traced %d", got, attention)
	}
	analytic := w.Steps * p.FLOPs(ceiling.Linear)
	ratio, warning := ceiling.Reconcile(analytic, linear)
	t.Logf("linear: analytic %d, traced %d, ratio %.6f", analytic, linear, ratio)
	if math.Abs(ratio-1) > 0.002 || warning != "" {
		t.Errorf("linear: analytic %d, traced %d, ratio %.5f %s", analytic, linear, ratio, warning)
	}
}

func TestStableDiffusion35AgainstTrace(t *testing.T) {
	w := work(t, open(t, "sd35_large"), func(o *ceiling.Options) { o.Steps = 4 })
	linear, attention := traced(loadReal(t, realtraces.SD35), 2432, 4096+333, func(*trace.Op) bool { return true })
	reconcile(t, w, linear, attention)
}

// All convolutions of the trace are the patch embedding of each step and the decoder of one image.
func TestDecoderAgainstTrace(t *testing.T) {
	w := work(t, open(t, "sd35_large"), func(o *ceiling.Options) { o.Steps = 4 })
	var analytic, found int64
	for i := range w.Parts {
		analytic += w.Parts[i].Calls * w.Parts[i].FLOPs(ceiling.Convolution)
	}
	list := perfmodel.Attribute(loadReal(t, realtraces.SD35), perfmodel.Default())
	for i := range list {
		if list[i].Work.Category == perfmodel.Conv {
			found += list[i].Work.FLOPs()
		}
	}
	ratio := float64(analytic) / float64(found)
	t.Logf("convolutions: analytic %d, traced %d, ratio %.6f", analytic, found, ratio)
	if math.Abs(ratio-1) > 0.002 { // the trace counts biases
		t.Errorf("convolutions: ratio %g", ratio)
	}
}

func TestFluxAgainstMergedTrace(t *testing.T) {
	w := work(t, open(t, "flux1"), func(o *ceiling.Options) { o.Steps, o.Height, o.Width = 4, 256, 256 })
	main := loadReal(t, realtraces.Flux)
	captures, err := trace.LoadCapture(context.Background(), trace.LoadOptions{}, trace.FindCapture(realtraces.Path(t, realtraces.Flux))...)
	if err != nil {
		t.Fatal(err)
	}
	merged, _, err := trace.MergeCapture(main, captures...)
	if err != nil {
		t.Fatal(err)
	}
	linear, attention := traced(merged, 3072, 256+512, func(o *trace.Op) bool { return o.Captured })
	reconcile(t, w, linear, attention)
}
