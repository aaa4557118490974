package perfmodel_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ditlens/ditlens/hw"
	"github.com/ditlens/ditlens/internal/realtraces"
	"github.com/ditlens/ditlens/perfmodel"
	"github.com/ditlens/ditlens/trace"
)

// BL-69: where the time of the convolutions goes, in percent of it. Most of it is the core, a quarter moves layouts.
func TestPartsOfConvolutions(t *testing.T) {
	for _, test := range []struct {
		trace string
		want  map[string]float64
	}{
		{realtraces.SD35, map[string]float64{"core": 63.2, "layout": 25.0, "bias": 9.6, "im2col": 0.2, "split-K": 2.0}},
		{realtraces.Flux, map[string]float64{"core": 60.2, "layout": 22.2, "bias": 10.8, "im2col": 4.2, "split-K": 2.6}},
	} {
		tr := loadReal(t, test.trace, "")
		var total, core time.Duration
		parts := map[string]time.Duration{}
		for _, in := range perfmodel.Attribute(tr, perfmodel.Default()) {
			if in.Work.Category != perfmodel.Conv {
				continue
			}
			for _, g := range in.GPU {
				total += tr.GPU[g].Dur
				parts[perfmodel.KernelPart(perfmodel.Conv, tr.GPU[g].Name).String()] += tr.GPU[g].Dur
			}
			for _, g := range in.Core {
				core += tr.GPU[g].Dur
			}
		}
		for p, d := range parts {
			if got := 100 * float64(d) / float64(total); math.Abs(got-test.want[p]) > 0.1 {
				t.Errorf("%s: %s %.2f %%, want %.1f", test.trace, p, got, test.want[p])
			}
		}
		if core != parts["core"] {
			t.Errorf("%s: core events take %v, core kernels %v", test.trace, core, parts["core"])
		}
	}
}

// BL-52: without its capture a replayed graph has categories and no work; the rest of the trace is modelled as ever.
func TestReplayWithoutCapture(t *testing.T) {
	tr := loadReal(t, realtraces.Flux, "")
	var total, modelled time.Duration
	replayed := 0
	for _, in := range perfmodel.Attribute(tr, perfmodel.Default()) {
		for _, g := range in.GPU {
			total += tr.GPU[g].Dur
			if in.Missing == nil {
				modelled += tr.GPU[g].Dur
			}
		}
		e := &tr.GPU[in.GPU[0]]
		if e.Launch < 0 || tr.Launches[e.Launch].Kind != trace.LaunchGraph {
			continue
		}
		replayed++
		if in.Op != trace.None || in.Call.Name != e.Name || len(in.GPU) != 1 || in.Missing == nil || in.Work.Category == perfmodel.Other {
			t.Errorf("%s: operator %d, %d events, category %s, missing %v", in.Call.Name, in.Op, len(in.GPU), in.Work.Category, in.Missing)
		}
	}
	if replayed != 4*1566 {
		t.Errorf("%d replayed kernels, want 4 times 1566", replayed)
	}
	if share := 100 * float64(modelled) / float64(total); share < 14 {
		t.Errorf("%.2f %% modelled, want at least 14 %%", share)
	}
}

// No row is above its roof unless its working set fits the last-level cache.
func TestNothingAboveTheRoof(t *testing.T) {
	spec := hw.MI300X()
	for _, files := range [][2]string{{realtraces.SD35, ""}, {realtraces.Flux, realtraces.FluxCapture}} {
		for _, g := range groups(loadReal(t, files[0], files[1])) {
			w := &g.first.Work
			if g.first.Missing != nil || w.Level != hw.DeviceMemory {
				continue
			}
			roof, err := hw.Roofline(spec, hw.Achievable, w.Demand)
			if err != nil {
				t.Errorf("%s: %v", g.first.Call.Name, err)
				continue
			}
			mean := time.Duration(g.duration * 1e3 / float64(g.count))
			place, _ := hw.Place(spec, w.Demand, roof, mean, false)
			if place.Percent > 100 && (roof.Bound != hw.MemoryBound || w.Bytes > spec.CacheBytes()) {
				t.Errorf("%s: %.1f %% of its roof: %v", g.first.Call.Name, place.Percent, place.Reasons)
			}
		}
	}
}

// Whatever the nesting: each event has one owner, an owner encloses its events, no work is counted above or below an owner,
// and the answer is the same each time.
func TestOwnershipOfRandomTrees(t *testing.T) {
	names := []string{"aten::mm", "aten::linear", "aten::matmul", "aten::convolution", "aten::conv2d", "aten::add", "aten::copy_",
		"aten::scaled_dot_product_attention", "aten::_flash_attention_forward", "my::op", "Torch-Compiled Region: 0/0"}
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 1))
		var s scene
		for i := range 1 + r.IntN(40) {
			parent := trace.OpID(r.IntN(i+1)) - 1
			if dims := []int64{4, 4}; r.IntN(4) > 0 {
				s.op(parent, names[r.IntN(len(names))], dims)
			} else {
				s.op(parent, names[r.IntN(len(names))])
			}
		}
		for range r.IntN(40) {
			s.kernel(trace.OpID(r.IntN(len(s.t.Ops)+1))-1, fmt.Sprint("kernel", r.IntN(5)), r.IntN(9))
		}
		list := perfmodel.Attribute(&s.t, fakeModels(t))
		conserved(t, &s.t, list)
		if d := cmp.Diff(list, perfmodel.Attribute(&s.t, fakeModels(t)), cmp.Comparer(sameError)); d != "" {
			t.Fatalf("seed %d: %s", seed, d)
		}
		checkNesting(t, &s.t, list)
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

func sameError(a, b error) bool { return fmt.Sprint(a) == fmt.Sprint(b) }

func checkNesting(t *testing.T, tr *trace.Trace, list []perfmodel.Instance) {
	t.Helper()
	modelled := map[trace.OpID]bool{}
	for _, in := range list {
		if in.Op != trace.None && in.Missing == nil {
			modelled[in.Op] = true
		}
	}
	for _, in := range list {
		for _, g := range in.GPU {
			encloses := in.Op == trace.None
			for o := tr.GPU[g].Op; o != trace.None; o = tr.Ops[o].Parent {
				encloses = encloses || o == in.Op
				if in.Missing == nil && o != in.Op && modelled[o] {
					t.Errorf("%s (operator %d): an event is below modelled operator %d too", in.Call.Name, in.Op, o)
				}
			}
			if !encloses {
				t.Errorf("%s (operator %d) does not enclose event %d", in.Call.Name, in.Op, g)
			}
		}
	}
}

// IDs that point nowhere are no operators.
func TestAttributeDoubtsIDs(t *testing.T) {
	var s scene
	a := s.op(5, "aten::mm", []int64{4, 4})
	s.op(a, "aten::mm", []int64{4, 4})
	s.t.Ops[a].Parent = 1 // a loop
	s.kernel(99, "orphan", 1)
	s.kernel(-7, "orphan", 1)
	s.kernel(a, "Cijk", 1)
	s.t.GPU[2].Launch = 12
	conserved(t, &s.t, perfmodel.Attribute(&s.t, fakeModels(t)))
	if list := perfmodel.Attribute(new(trace.Trace), nil); len(list) != 0 {
		t.Errorf("%d instances of nothing", len(list))
	}
}
