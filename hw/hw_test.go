package hw_test

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/ditlens/ditlens/hw"
)

// mm is a bf16 matrix product of (m,k) x (k,n) in 2 bytes an element.
func mm(m, k, n int64) hw.Demand {
	d := hw.Demand{Bytes: 2 * (m*k + k*n + m*n)}
	d.Compute[0] = hw.Compute{Unit: hw.Matrix, Type: hw.BF16, FLOPs: 2 * m * k * n}
	return d
}

func TestRooflineWorkedRows(t *testing.T) {
	tests := []struct {
		name      string
		work      hw.Demand
		ceiling   hw.Ceiling
		tc, tm    float64 // microseconds
		bound     hw.Bound
		intensity float64
	}{
		{"MLP up", mm(8192, 2432, 9728), hw.Achievable, 547.487, 46.518, hw.ComputeBound, 1572.202},
		{"adaLN projection streams its weights", mm(2, 2432, 14592), hw.Achievable, 0.2005, 13.4044, hw.MemoryBound, 1.998},
		{"knee, achievable", mm(256, 4096, 4096), hw.Achievable, 12.133, 7.123, hw.ComputeBound, 227.56},
		{"knee, datasheet", mm(256, 4096, 4096), hw.Datasheet, 6.570, 7.123, hw.MemoryBound, 227.56},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r, err := hw.Roofline(hw.MI300X(), tt.ceiling, tt.work)
			if err != nil {
				t.Fatal(err)
			}
			near(t, "compute time", r.ComputeTime*1e6, tt.tc, 1e-3)
			near(t, "memory time", r.MemoryTime*1e6, tt.tm, 1e-3)
			near(t, "intensity", tt.work.Intensity(), tt.intensity, 1e-4)
			if r.Bound != tt.bound || r.Time != max(r.ComputeTime, r.MemoryTime) {
				t.Errorf("got bound %v and time %g", r.Bound, r.Time)
			}
			if p, ok := hw.Place(hw.MI300X(), tt.work, r, time.Millisecond, false); !ok || p.Bound != tt.bound {
				t.Errorf("Place: %+v, %v", p, ok)
			}
		})
	}
}

func near(t *testing.T, what string, got, want, rel float64) {
	t.Helper()
	if !(math.Abs(got-want) <= rel*math.Abs(want)) {
		t.Errorf("%s: got %g, want %g", what, got, want)
	}
}

// Different precisions in one kernel: the times add up (Sage attention of B 1, H 24, N 768, d 128).
func TestRooflineSumsPrecisions(t *testing.T) {
	d := hw.Demand{Bytes: 11_809_632}
	d.Compute[0] = hw.Compute{Unit: hw.Matrix, Type: hw.Int8, FLOPs: 3_623_878_656}
	d.Compute[1] = hw.Compute{Unit: hw.Matrix, Type: hw.FP8, FLOPs: 3_623_878_656}
	r, err := hw.Roofline(hw.MI300X(), hw.Achievable, d)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "compute time", r.ComputeTime*1e6, 5.693, 1e-3)
	near(t, "memory time", r.MemoryTime*1e6, 2.228, 1e-3)
	if len(r.Notes) != 1 || !strings.Contains(r.Notes[0], "int8") {
		t.Errorf("notes: %q", r.Notes)
	}
}

func TestRooflineEdges(t *testing.T) {
	copyOnly := hw.Demand{Bytes: 53_000_000}
	if r, err := hw.Roofline(hw.MI300X(), hw.Achievable, copyOnly); err != nil || r.Bound != hw.MemoryBound || r.ComputeTime != 0 {
		t.Errorf("work without arithmetic: %+v, %v", r, err)
	}
	overLink := hw.Demand{Bytes: 64_000, Level: hw.HostLink}
	if r, err := hw.Roofline(hw.MI300X(), hw.Datasheet, overLink); err != nil || r.Time != 1e-6 {
		t.Errorf("host copy: %+v, %v", r, err)
	}
	if r, err := hw.Roofline(hw.MI300X(), hw.Achievable, overLink); err != nil || r.Time != 1e-6 || len(r.Notes) != 1 {
		t.Errorf("a link without measured figure: %+v, %v", r, err)
	}
	var missing *hw.MissingError
	if _, err := hw.Roofline(lookup(t, "MI300A"), hw.Datasheet, overLink); !errors.As(err, &missing) || !strings.Contains(missing.What, "host_link") {
		t.Errorf("a link without figure: %v", err)
	}
	for _, d := range []hw.Demand{{Bytes: -1}, {Compute: [3]hw.Compute{{Unit: hw.Matrix, Type: hw.BF16, FLOPs: -5}}}} {
		if _, err := hw.Roofline(hw.MI300X(), hw.Achievable, d); !errors.Is(err, hw.ErrNegativeWork) {
			t.Errorf("%+v: %v", d, err)
		}
	}
	if r, err := hw.Roofline(hw.MI300X(), hw.Achievable, hw.Demand{}); err != nil || r.Time != 0 {
		t.Errorf("no work: %+v, %v", r, err)
	}
}

func TestKnee(t *testing.T) {
	for _, tt := range []struct {
		c    hw.Ceiling
		u    hw.Unit
		typ  hw.DType
		want float64
	}{
		{hw.Achievable, hw.Matrix, hw.BF16, 133.6}, {hw.Datasheet, hw.Matrix, hw.BF16, 246.7},
		{hw.Achievable, hw.Matrix, hw.FP8, 240.2}, {hw.Achievable, hw.Vector, hw.BF16, 30.8},
	} {
		got, ok := hw.Knee(hw.MI300X(), tt.c, tt.u, tt.typ)
		if !ok {
			t.Errorf("no knee for %v", tt)
		}
		near(t, "knee", got, tt.want, 2e-3)
	}
}

// BL-80: 1e12 FLOP in 1000 us are 76.5 % of the data sheet. BL-84: 900 TFLOP/s on MI325X under both ceilings.
func TestPercentOfBothCeilings(t *testing.T) {
	tests := []struct {
		name  string
		spec  *hw.Spec
		c     hw.Ceiling
		flops int64
		took  time.Duration
		want  float64
	}{
		{"BL-80", hw.MI300X(), hw.Datasheet, 1e12, time.Millisecond, 76.49},
		{"BL-84 datasheet", lookup(t, "MI325X"), hw.Datasheet, 900e9, time.Millisecond, 68.84},
		{"BL-84 achievable", lookup(t, "MI325X"), hw.Achievable, 900e9, time.Millisecond, 106.76},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := hw.Demand{}
			d.Compute[0] = hw.Compute{Unit: hw.Matrix, Type: hw.BF16, FLOPs: tt.flops}
			r, err := hw.Roofline(tt.spec, tt.c, d)
			if err != nil {
				t.Fatal(err)
			}
			p, ok := hw.Place(tt.spec, d, r, tt.took, false)
			near(t, "percent", p.Percent, tt.want, 1e-3)
			if !ok || (p.Percent > 100) != (len(p.Reasons) > 0) {
				t.Errorf("reasons: %q", p.Reasons)
			}
		})
	}
}

// BL-85: more than 100 % is shown with what may explain it.
func TestAboveTheRoof(t *testing.T) {
	spec := hw.MI300X()
	place := func(d hw.Demand, took time.Duration, upper bool) hw.Placement {
		t.Helper()
		r, err := hw.Roofline(spec, hw.Achievable, d)
		if err != nil {
			t.Fatal(err)
		}
		p, ok := hw.Place(spec, d, r, took, upper)
		if !ok {
			t.Fatal("no placement")
		}
		return p
	}
	small := place(hw.Demand{Bytes: 8e6}, 800*time.Nanosecond, false)
	near(t, "cache resident", small.Percent, 188.7, 1e-3)
	if !strings.Contains(strings.Join(small.Reasons, "; "), "last-level cache of 256.0 MiB") {
		t.Errorf("reasons: %q", small.Reasons)
	}
	if p := place(hw.Demand{Bytes: 8e9}, time.Millisecond, false); !strings.Contains(strings.Join(p.Reasons, ""), "suspect") {
		t.Errorf("streams above the roof: %q", p.Reasons)
	}
	if p := place(mm(8192, 8192, 8192), 1500*time.Microsecond, true); !strings.Contains(strings.Join(p.Reasons, ""), "upper bound") {
		t.Errorf("sparse attention: %q", p.Reasons)
	}
}

func TestLatencyBound(t *testing.T) {
	spec := hw.MI300X()
	tests := []struct {
		name string
		work hw.Demand
		took time.Duration
		want hw.Bound
	}{
		{"causal attention of CLIP", hw.Demand{Bytes: 788_480}, 15 * time.Microsecond, hw.LatencyBound},
		{"short and far from the roof", hw.Demand{Bytes: 8e6}, 4 * time.Microsecond, hw.LatencyBound},
		{"short and near the roof", hw.Demand{Bytes: 16e6}, 4 * time.Microsecond, hw.MemoryBound},
		{"long and far from the roof", hw.Demand{Bytes: 8e6}, 40 * time.Microsecond, hw.MemoryBound},
	}
	for _, tt := range tests {
		r, err := hw.Roofline(spec, hw.Achievable, tt.work)
		if err != nil {
			t.Fatal(err)
		}
		if p, ok := hw.Place(spec, tt.work, r, tt.took, false); !ok || p.Bound != tt.want {
			t.Errorf("%s: %+v", tt.name, p)
		}
	}
	if _, ok := hw.Place(spec, hw.Demand{Bytes: 8}, hw.Roof{Time: 1}, 0, false); ok {
		t.Error("a percentage without a recorded kernel")
	}
}

func TestNamesRoundTrip(t *testing.T) {
	for typ := hw.UnknownType; typ <= hw.Complex128; typ++ {
		text, _ := typ.MarshalText()
		var back hw.DType
		if err := back.UnmarshalText(text); err != nil || back != typ {
			t.Errorf("%v: %v, %v", typ, back, err)
		}
	}
	var typ hw.DType
	if err := typ.UnmarshalText([]byte("bfloat16")); err == nil || !strings.Contains(err.Error(), "bf16") {
		t.Errorf("unknown name: %v", err)
	}
	if got := hw.DType(99).String() + hw.LatencyBound.String() + hw.PeerLink.String() + hw.Matrix.String(); got != "99latencypeer_linkmatrix" {
		t.Error(got)
	}
	if hw.FP4.Bits() != 4 || hw.Complex128.Bits() != 128 || hw.DType(99).Bits() != 0 {
		t.Error("sizes")
	}
}
