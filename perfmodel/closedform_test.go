package perfmodel_test

import (
	"context"
	"math"
	"strings"
	"sync"
	"testing"

	"github.com/ditlens/ditlens/internal/realtraces"
	"github.com/ditlens/ditlens/perfmodel"
	"github.com/ditlens/ditlens/trace"
)

// A transformer of L blocks, double and single ones, of hidden size h on S joint tokens does in T forwards of batch B
// 24 h² S B L T operations in its linear layers and 4 S² h B L T in its attention. The models must add up to that.
func TestClosedForms(t *testing.T) {
	for _, tt := range []struct {
		name, file, capture string
		h, l, s, b, t       float64
		attention           string
	}{
		{"SD3.5", realtraces.SD35, "", 2432, 38, 4429, 2, 4, "aten::_flash_attention_forward"},
		{"FLUX", realtraces.Flux, realtraces.FluxCapture, 3072, 57, 768, 1, 4, "sage_fwd"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tr := loadReal(t, tt.file, tt.capture)
			var linear, attention float64
			for i := range tr.Ops {
				op := &tr.Ops[i]
				if !compiled(tr, op) {
					continue
				}
				c := &perfmodel.Call{Name: op.Name, Inputs: op.Inputs}
				switch {
				case op.Name == "aten::mm" || op.Name == "aten::addmm":
					w := work(t, c)
					linear += float64(w.FLOPs())
				case strings.HasPrefix(op.Name, tt.attention):
					w := work(t, c)
					attention += float64(w.FLOPs())
				}
			}
			if want := 24 * tt.h * tt.h * tt.s * tt.b * tt.l * tt.t; math.Abs(linear/want-1) > 0.002 {
				t.Errorf("linear layers: %g operations, want %g within 0.2 %%", linear, want)
			}
			if want := 4 * tt.s * tt.s * tt.h * tt.b * tt.l * tt.t; attention != want {
				t.Errorf("attention: %g operations, want %g", attention, want)
			}
		})
	}
}

// compiled reports whether an operator lies in a compiled region: the denoiser, in both traces.
func compiled(t *trace.Trace, op *trace.Op) bool {
	for p := op.Parent; p != trace.None; p = t.Ops[p].Parent {
		if strings.HasPrefix(t.Ops[p].Name, "Torch-Compiled Region") {
			return true
		}
	}
	return false
}

// loaded keeps the real traces that tests have read: they are large, and a Trace never changes.
var loaded sync.Map

func loadReal(t *testing.T, file, capture string) *trace.Trace {
	t.Helper()
	key := file + "+" + capture
	if tr, ok := loaded.Load(key); ok {
		return tr.(*trace.Trace)
	}
	tr := readReal(t, file, capture)
	loaded.Store(key, tr)
	return tr
}

func readReal(t *testing.T, file, capture string) *trace.Trace {
	t.Helper()
	tr, err := trace.Load(context.Background(), trace.LoadOptions{}, realtraces.Path(t, file))
	if err != nil {
		t.Fatal(err)
	}
	if capture == "" {
		return tr
	}
	captures, err := trace.LoadCapture(context.Background(), trace.LoadOptions{}, realtraces.Path(t, capture))
	if err != nil {
		t.Fatal(err)
	}
	tr, _, err = trace.MergeCapture(tr, captures...)
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

// Of what the GPU did in both runs hardly anything stays without a model, and nothing runs above its roof.
func TestModelledShareOfRealTraces(t *testing.T) {
	for _, files := range [][2]string{{realtraces.SD35, ""}, {realtraces.Flux, realtraces.FluxCapture}} {
		tr := loadReal(t, files[0], files[1])
		var total, modelled, other float64
		for _, i := range perfmodel.Attribute(tr, models) {
			d := 0.0
			for _, g := range i.GPU {
				d += tr.GPU[g].Dur.Seconds()
			}
			total += d
			if i.Work.Category == perfmodel.Other {
				other += d
			}
			if i.Missing != nil {
				continue
			}
			modelled += d
			if d > 0 && i.Work.Level == 0 && float64(i.Work.Bytes)/5.3e12 > d {
				t.Errorf("%s: %d bytes in %g s are more than the memory gives", i.Call.Name, i.Work.Bytes, d)
			}
		}
		if modelled < 0.9999*total || other > 0 {
			t.Errorf("%s: %.4f %% modelled, %.4f %% other", files[0], 100*modelled/total, 100*other/total)
		}
	}
}

// What the Inductor's kernels of both runs move, tensor by tensor and slices as slices, as it was worked out with other tools.
func TestCompiledKernelsOfRealTraces(t *testing.T) {
	for _, tt := range []struct {
		trace, capture string
		calls          int
		gigabytes      float64 // to two decimals
		percent        float64 // of 5.3 TB/s over their time, to one decimal
	}{
		{realtraces.SD35, "", 2076, 145.32, 39.8},
		{realtraces.Flux, realtraces.FluxCapture, 3796, 30.79, 15.0},
	} {
		tr := loadReal(t, tt.trace, tt.capture)
		calls, bytes, seconds := 0, int64(0), 0.0
		for _, in := range perfmodel.Attribute(tr, models) {
			if !strings.HasPrefix(in.Call.Name, "triton_") {
				continue
			}
			calls++
			bytes += in.Work.Bytes
			for _, g := range in.GPU {
				seconds += tr.GPU[g].Dur.Seconds()
			}
		}
		gigabytes, percent := float64(bytes)/1e9, 100*float64(bytes)/5.3e12/seconds
		if calls != tt.calls || math.Abs(gigabytes-tt.gigabytes) > 0.005 || math.Abs(percent-tt.percent) > 0.05 {
			t.Errorf("%s: %d calls, %.3f GB, %.2f %%; want %d, %.2f, %.1f", tt.trace, calls, gigabytes, percent, tt.calls, tt.gigabytes, tt.percent)
		}
	}
}
