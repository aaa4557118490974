package perfmodel_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ditlens/ditlens/internal/realtraces"
	"github.com/ditlens/ditlens/perfmodel"
	"github.com/ditlens/ditlens/trace"
)

func (s *scene) product(rows, depth, width int64) {
	s.run("aten::mm", "Cijk_", []int64{rows, depth}, []int64{depth, width})
}

// share makes equal arguments one value, as a loaded trace has them.
func (s *scene) share() {
	seen := map[string]*trace.Inputs{}
	for i := range s.t.Ops {
		key := callText(s.t.Ops[i].Inputs)
		if seen[key] == nil {
			seen[key] = s.t.Ops[i].Inputs
		}
		s.t.Ops[i].Inputs = seen[key]
	}
}

func TestRolesOfLinearLayers(t *testing.T) {
	const h, n = 1024, 4096 // 16 heads of 64
	for _, test := range []struct {
		name  string
		build func(s *scene)
		want  []string
	}{
		{"a block with an MLP twice as wide as its gate leaves it", func(s *scene) {
			s.product(1, h, 6*h)
			s.product(n, h, 3*h)
			s.selfAttend(1, n)
			s.product(n, h, h)
			s.product(n, h, 8*h)
			s.product(n, 4*h, h)
		}, []string{"adaLN projection", "q, k, v projection", "attention output projection", "MLP up", "MLP down"}},
		{"a single block projects attention and MLP together", func(s *scene) {
			s.product(n, h, 4*h)
			for range 3 {
				s.product(n, h, h)
			}
			s.selfAttend(1, n)
			s.product(n, 5*h, h)
		}, []string{"MLP up", "q, k, v projection", "q, k, v projection", "q, k, v projection", "MLP down with attention output"}},
		{"a single block with one layer for q, k, v and the MLP", func(s *scene) {
			for range 2 {
				s.product(n, h, 7*h)
				s.selfAttend(1, n)
				s.product(n, 5*h, h)
			}
		}, []string{"q, k, v projection and MLP up", "MLP down with attention output",
			"q, k, v projection and MLP up", "MLP down with attention output"}},
		{"a single block with a gated MLP", func(s *scene) {
			s.product(n, h, 3*h+2*3*h)
			s.selfAttend(1, n)
			s.product(n, h+3*h, h)
		}, []string{"q, k, v projection and MLP up", "MLP down with attention output"}},
		{"what shape does not prove stays without a name", func(s *scene) {
			s.product(n, h, h)
			s.selfAttend(1, n)
			s.product(n, h, 7*h)
			s.product(n, h, h+1)
		}, []string{"q, k, v projection", "", ""}},
		{"equal layers with two roles have one name", func(s *scene) {
			s.product(n, h, h)
			s.selfAttend(1, n)
			s.product(n, h, h)
			s.product(n, h, 4*h)
			s.product(n, 4*h, h)
		}, []string{"attention projections", "attention projections", "MLP up", "MLP down"}},
		{"timestep embedding", func(s *scene) {
			s.product(1, 256, h)
			s.product(1, h, 6*h)
			s.product(n, h, 3*h)
			s.selfAttend(1, n)
		}, []string{"conditioning", "adaLN projection", "q, k, v projection"}},
		{"the text's output behind the image's MLP", func(s *scene) {
			s.product(n, h, h)
			s.product(512, h, h)
			s.selfAttend(1, n+512)
			s.product(n, h, h)
			s.product(n, h, 4*h)
			s.product(n, 4*h, h)
			s.product(512, h, h)
			s.product(512, h, 4*h)
			s.product(512, 4*h, h)
		}, []string{"attention projections", "attention projections", "attention projections", "MLP up", "MLP down",
			"attention projections", "MLP up", "MLP down"}},
		{"cross-attention reads keys of another stream", func(s *scene) {
			s.product(512, 2048, h)
			s.product(n, h, h)
			s.product(512, 2048, h)
			s.attend(1, 16, n, 512, 64, false, false)
			s.product(n, h, h)
		}, []string{"q, k, v projection", "attention projections", "q, k, v projection", "attention projections"}},
		{"a classifier's head is no conditioning", func(s *scene) {
			s.product(n, h, 3*h)
			s.selfAttend(1, n)
			s.product(1, h, 1000)
		}, []string{"q, k, v projection", ""}},
		{"nothing around it", func(s *scene) { s.product(64, 64, 64) }, []string{""}},
	} {
		t.Run(test.name, func(t *testing.T) {
			var s scene
			test.build(&s)
			s.share()
			var got []string
			for _, in := range perfmodel.Attribute(&s.t, perfmodel.Default()) {
				if in.Work.Category == perfmodel.GEMM {
					got = append(got, in.Work.Kind)
				}
			}
			if d := cmp.Diff(test.want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

// The linear layers of the denoisers by role: calls of each, from the architectures. The last joint block of SD3.5 drops its text
// stream, and T5 gates its MLP with two layers.
func TestRolesOfRealTraces(t *testing.T) {
	for _, test := range []struct {
		trace, capture string
		want           map[string]int
	}{
		{realtraces.SD35, "", map[string]int{"adaLN projection": 4 * (2*38 + 1), "MLP up": 4*(2*38-1) + 2*(12+32) + 2*2*24,
			"MLP down": 4*(2*38-1) + 2*(12+32) + 2*24}},
		{realtraces.Flux, realtraces.FluxCapture, map[string]int{"adaLN projection": 4 * (2*19 + 38 + 1), "MLP up": 4*(2*19+38) + 12 + 2*24,
			"MLP down": 4*2*19 + 12 + 24, "MLP down with attention output": 4 * 38}},
	} {
		got := map[string]int{}
		for _, in := range perfmodel.Attribute(loadReal(t, test.trace, test.capture), perfmodel.Default()) {
			if k := in.Work.Kind; in.Work.Category == perfmodel.GEMM && test.want[k] > 0 {
				got[k]++
			}
			if in.Work.Category == perfmodel.GEMM && in.Work.Kind == "" {
				got["unnamed"]++
			}
		}
		if got["unnamed"] > 30 {
			t.Errorf("%s: %d linear layers without role", test.trace, got["unnamed"])
		}
		delete(got, "unnamed")
		if d := cmp.Diff(test.want, got); d != "" {
			t.Errorf("%s: %s", test.trace, d)
		}
	}
}
