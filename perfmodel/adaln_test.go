package perfmodel_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ditlens/ditlens/internal/realtraces"
	"github.com/ditlens/ditlens/perfmodel"
	"github.com/ditlens/ditlens/trace"
)

// run launches one kernel of an operator with the given tensors.
func (s *scene) run(op, kernel string, dims ...[]int64) {
	s.kernel(s.op(trace.None, op, dims...), kernel, 10)
}

// eagerBlock is what an eager adaLN block launches between two sublayers.
func eagerBlock(s *scene, batch, tokens, width int64) {
	x, row, all := []int64{batch, tokens, width}, []int64{batch, 1, width}, []int64{batch * tokens, width}
	s.run("aten::silu", "elementwise", []int64{batch, width})
	s.run("aten::addmm", "Cijk_", []int64{6 * width}, []int64{batch, width}, []int64{width, 6 * width})
	s.run("aten::mm", "Cijk_", all, []int64{width, width})
	s.run("aten::mul", "elementwise", row, x) // gate
	s.run("aten::add", "elementwise", x, x)   // residual
	s.t.Ops = append(s.t.Ops, trace.Op{Name: "aten::native_layer_norm", Parent: trace.None, Inputs: &trace.Inputs{Args: []trace.Arg{
		{Type: "c10::BFloat16", Dims: x}, {Type: "ScalarList", Value: "[64]"}, {}, {}, {Type: "Scalar", Value: "1e-06"}}}})
	s.kernel(trace.OpID(len(s.t.Ops)-1), "vectorized_layer_norm_kernel", 10)
	s.run("aten::add", "elementwise", row) // 1 + scale
	s.run("aten::mul", "elementwise", x, row)
	s.run("aten::add", "elementwise", x, row)
	s.run("aten::mm", "Cijk_", all, []int64{width, 4 * width})
}

func TestModulationsEager(t *testing.T) {
	const batch, tokens, width = 2, 128, 64
	var s scene
	eagerBlock(&s, batch, tokens, width)
	groups := perfmodel.Modulations(perfmodel.Attribute(&s.t, perfmodel.Default()))
	if len(groups) != 1 {
		t.Fatalf("%d groups, want 1", len(groups))
	}
	g := groups[0]
	const n, row = batch * tokens * width * 2, batch * width * 2
	stats := int64(8 * batch * tokens) // the norm writes mean and reciprocal deviation in 32 bits
	want := perfmodel.ModulationGroup{
		Members: []int{3, 4, 5, 7, 8}, Projection: []int{0, 1}, Gated: true, Normed: true,
		Dims: []int64{batch, tokens, width}, Tensor: n,
		Bytes: 11*n + 3*row + stats, Fused: 4*n + 3*row,
	}
	if d := cmp.Diff(want, g); d != "" {
		t.Error(d)
	}
}

func TestModulationsNeedAScale(t *testing.T) {
	x := []int64{2, 128, 64}
	var s scene
	s.run("aten::add", "elementwise", x, x)
	s.run("aten::rms_norm", "rms_norm", x)
	s.run("aten::mul", "elementwise", x, x) // no row broadcast over the tokens
	s.run("aten::mm", "Cijk_", []int64{256, 64}, []int64{64, 64})
	if groups := perfmodel.Modulations(perfmodel.Attribute(&s.t, perfmodel.Default())); len(groups) != 0 {
		t.Errorf("found %+v", groups)
	}
}

// Every compiled modulation kernel of the real traces belongs to one group, and every block has its groups: two for each
// stream of a double block and one for a single block, a step, apart from those at the ends.
func TestModulationsCompiled(t *testing.T) {
	for _, test := range []struct {
		trace, capture string
		groups         int
	}{
		{realtraces.SD35, "", 4 * (2*2*37 + 2)},
		{realtraces.Flux, realtraces.FluxCapture, 4 * (2*2*19 + 38 + 1)},
	} {
		list := perfmodel.Attribute(loadReal(t, test.trace, test.capture), perfmodel.Default())
		groups := perfmodel.Modulations(list)
		if len(groups) != test.groups {
			t.Errorf("%s: %d groups, want %d", test.trace, len(groups), test.groups)
		}
		owners := map[int]int{}
		for _, g := range groups {
			for _, m := range append(append([]int(nil), g.Members...), g.Projection...) {
				owners[m]++
			}
			if g.Fused > g.Bytes || g.Fused < 2*g.Tensor || !g.Compiled {
				t.Errorf("%s: %+v", test.trace, g)
			}
		}
		for i := range list {
			if n := owners[i]; n > 1 || n == 0 && list[i].Work.Category == perfmodel.Modulation {
				t.Errorf("%s: %s is in %d groups", test.trace, list[i].Call.Name, n)
			}
		}
	}
}
