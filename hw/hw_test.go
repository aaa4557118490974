package hw_test

import (
	"math"
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
