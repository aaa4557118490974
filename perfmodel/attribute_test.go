package perfmodel_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ditlens/ditlens/hw"
	"github.com/ditlens/ditlens/perfmodel"
	"github.com/ditlens/ditlens/trace"
)

// scene builds small traces: operators by depth-first order, events by start.
type scene struct{ t trace.Trace }

func (s *scene) op(parent trace.OpID, name string, dims ...[]int64) trace.OpID {
	in := new(trace.Inputs)
	for _, d := range dims {
		in.Args = append(in.Args, trace.Arg{Type: "c10::BFloat16", Dims: d})
	}
	if dims == nil {
		in = nil
	}
	s.t.Ops = append(s.t.Ops, trace.Op{Name: name, Parent: parent, Inputs: in})
	return trace.OpID(len(s.t.Ops) - 1)
}

func (s *scene) kernel(op trace.OpID, name string, us int) trace.GPUID {
	start := time.Duration(len(s.t.GPU)) * time.Second
	s.t.GPU = append(s.t.GPU, trace.GPUEvent{
		Name: name, Start: start, Dur: time.Duration(us) * time.Microsecond, Op: op, Launch: trace.None,
	})
	return trace.GPUID(len(s.t.GPU) - 1)
}

// counting models n FLOPs of a category; it needs a first argument with shape.
type counting struct {
	name     string
	category perfmodel.Category
	flops    int64
	wrapper  bool
}

func (m counting) Info() perfmodel.Info {
	return perfmodel.Info{Name: m.name, Doc: "A fixed number of FLOPs.", Wrapper: m.wrapper}
}

func (m counting) Work(c *perfmodel.Call) (perfmodel.Work, error) {
	if c.Inputs == nil || len(c.Inputs.Args) == 0 || len(c.Inputs.Args[0].Dims) == 0 {
		return perfmodel.Work{}, &perfmodel.MissingError{Op: c.Name, What: "shape of argument 0"}
	}
	w := perfmodel.Work{Category: m.category}
	w.Compute[0] = hw.Compute{Unit: hw.Matrix, Type: hw.BF16, FLOPs: m.flops}
	return w, nil
}

func fakeModels(t *testing.T) *perfmodel.Registry {
	t.Helper()
	r := new(perfmodel.Registry)
	for _, m := range []struct {
		counting
		ops []string
	}{
		{counting{"gemm", perfmodel.GEMM, 10, false}, []string{"aten::mm", "aten::addmm", "aten::bmm"}},
		{counting{"linear", perfmodel.GEMM, 10, true}, []string{"aten::linear", "aten::matmul"}},
		{counting{"attention", perfmodel.Attention, 20, false}, []string{
			"aten::_scaled_dot_product_flash_attention", "aten::_flash_attention_forward"}},
		{counting{"sdpa", perfmodel.Attention, 20, true}, []string{"aten::scaled_dot_product_attention"}},
		{counting{"conv", perfmodel.Conv, 30, false}, []string{"aten::convolution", "aten::miopen_convolution"}},
		{counting{"conv2d", perfmodel.Conv, 30, true}, []string{"aten::conv2d"}},
		{counting{"binary", perfmodel.Elementwise, 1, false}, []string{"aten::add", "aten::add_"}},
		{counting{"copy", perfmodel.Copy, 0, false}, []string{"aten::copy_"}},
		{counting{"softmax", perfmodel.Softmax, 5, false}, []string{"aten::_softmax"}},
	} {
		if err := r.Add(m.counting, m.ops...); err != nil {
			t.Fatal(err)
		}
	}
	return r
}

// row is what a test looks at of an instance.
type row struct {
	Name  string
	Model string
	GPU   []trace.GPUID
	Core  []trace.GPUID
}

func rows(t *trace.Trace, r *perfmodel.Registry) (list []row) {
	for _, in := range perfmodel.Attribute(t, r) {
		list = append(list, row{in.Call.Name, in.Model, in.GPU, in.Core})
	}
	return list
}

func TestAttributeOwners(t *testing.T) {
	shape := []int64{4, 4}
	ids := func(g ...trace.GPUID) []trace.GPUID { return g }
	for _, test := range []struct {
		name  string
		build func(s *scene)
		want  []row
	}{
		{"BL-60: nested attention counts once, under the op that knows its arguments", func(s *scene) {
			a := s.op(trace.None, "aten::scaled_dot_product_attention", shape)
			b := s.op(a, "aten::_scaled_dot_product_flash_attention", shape)
			c := s.op(b, "aten::_flash_attention_forward", shape)
			d := s.op(c, "aten::zeros", shape)
			s.kernel(d, "FillFunctor", 2)
			s.kernel(c, "attn_fwd", 14)
		}, []row{{"aten::_scaled_dot_product_flash_attention", "attention", ids(0, 1), ids(1)}}},

		{"attention by parts stays one attention", func(s *scene) {
			a := s.op(trace.None, "aten::scaled_dot_product_attention", shape)
			s.kernel(s.op(a, "aten::bmm", shape), "Cijk_scores", 5)
			s.kernel(s.op(a, "aten::_softmax", shape), "softmax_warp_forward", 3)
			s.kernel(s.op(a, "aten::bmm", shape), "Cijk_values", 5)
		}, []row{{"aten::scaled_dot_product_attention", "sdpa", ids(0, 1, 2), ids(0, 1, 2)}}},

		{"linear leaves the product to mm and the bias to add_", func(s *scene) {
			a := s.op(trace.None, "aten::linear", shape)
			s.kernel(s.op(s.op(a, "aten::matmul", shape), "aten::mm", shape), "Cijk_a", 9)
			s.kernel(s.op(a, "aten::add_", shape), "vectorized_elementwise_kernel add", 2)
		}, []row{{"aten::mm", "gemm", ids(0), ids(0)}, {"aten::add_", "binary", ids(1), ids(1)}}},

		{"linear owns a kernel of its own", func(s *scene) {
			a := s.op(trace.None, "aten::linear", shape)
			s.kernel(s.op(a, "aten::copy_", shape), "direct_copy_kernel_cuda", 1)
			s.kernel(a, "gemv_kernel", 9)
		}, []row{{"aten::linear", "linear", ids(0, 1), ids(1)}}},

		{"what linear launches beside mm is no second product", func(s *scene) {
			a := s.op(trace.None, "aten::linear", shape)
			s.kernel(s.op(a, "aten::mm", shape), "Cijk_a", 9)
			s.kernel(a, "direct_copy_kernel_cuda", 2)
		}, []row{{"aten::mm", "gemm", ids(0), ids(0)}, {"aten::linear", "", ids(1), ids(1)}}},

		{"BL-69: helpers of a convolution are told from its core", func(s *scene) {
			a := s.op(s.op(trace.None, "aten::conv2d", shape), "aten::convolution", shape)
			b := s.op(a, "aten::miopen_convolution", shape)
			s.kernel(b, "batched_transpose_32x32_half", 4)
			s.kernel(b, "SubTensorOpWithScalar1d", 1)
			s.kernel(b, "Cijk_Ailk_Bljk", 20)
			s.kernel(s.op(b, "aten::add_", shape), "elementwise_kernel_manual_unroll CUDAFunctor_add", 3)
		}, []row{{"aten::convolution", "conv", ids(0, 1, 2, 3), ids(2)}}},

		{"an operator whose arguments are missing leaves the work to the next below", func(s *scene) {
			a := s.op(trace.None, "aten::convolution")
			s.kernel(s.op(a, "aten::miopen_convolution", shape), "igemm_fwd", 5)
		}, []row{{"aten::miopen_convolution", "conv", ids(0), ids(0)}}},

		{"BL-95: without models each operator has its direct kernels", func(s *scene) {
			a := s.op(trace.None, "my::outer", shape)
			s.kernel(a, "a", 10)
			s.kernel(s.op(a, "my::inner", shape), "b", 5)
		}, []row{{"my::outer", "", ids(0), ids(0)}, {"my::inner", "", ids(1), ids(1)}}},

		{"BL-52: kernels of a replayed graph stand for themselves", func(s *scene) {
			a := s.op(trace.None, "Torch-Compiled Region: 0/0")
			s.t.Launches = []trace.Launch{{Name: "hipGraphLaunch", Kind: trace.LaunchGraph, Op: a}}
			for _, n := range []string{"gemm", "attn", "gemm"} {
				s.t.GPU[s.kernel(a, n, 5)].Launch = 0
			}
		}, []row{{"gemm", "", ids(0), ids(0)}, {"attn", "", ids(1), ids(1)}, {"gemm", "", ids(2), ids(2)}}},

		{"an event that no operator launched", func(s *scene) {
			s.kernel(trace.None, "orphan", 5)
		}, []row{{"orphan", "", ids(0), ids(0)}}},

		{"a region with a model below it", func(s *scene) {
			a := s.op(trace.None, "## Call CompiledFxGraph f3 ##")
			s.kernel(s.op(a, "aten::addmm", shape), "Cijk_a", 5)
			s.kernel(a, "direct", 5)
		}, []row{{"aten::addmm", "gemm", ids(0), ids(0)}, {"direct", "", ids(1), ids(1)}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			var s scene
			test.build(&s)
			if d := cmp.Diff(test.want, rows(&s.t, fakeModels(t))); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestAttributeSaysWhatIsMissing(t *testing.T) {
	var s scene
	s.kernel(s.op(trace.None, "aten::mm"), "Cijk_a", 5)
	s.kernel(s.op(trace.None, "my::op", []int64{2}), "strange", 5)
	s.kernel(trace.None, "Cijk_b", 5)
	s.kernel(s.op(trace.None, "my range"), "Cijk_c", 5)
	s.t.GPU[s.kernel(trace.None, "attn_fwd", 5)].Launch = 0
	s.t.Launches = []trace.Launch{{Kind: trace.LaunchGraph}}
	var got []string
	for _, in := range perfmodel.Attribute(&s.t, fakeModels(t)) {
		var m *perfmodel.MissingError
		if !errors.As(in.Missing, &m) {
			t.Fatalf("%s: Missing is %v", in.Call.Name, in.Missing)
		}
		got = append(got, string(in.Work.Category)+": "+m.What)
	}
	want := []string{"gemm: shape of argument 0", "other: a model", "gemm: operator: none is recorded for it",
		"gemm: operator: only my range encloses its launch",
		"attention: operator: it was replayed from a graph whose capture is not known"}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestAttributeWithoutModels(t *testing.T) {
	var s scene
	s.kernel(s.op(trace.None, "aten::mm", []int64{2, 2}), "Cijk_a", 5)
	want := []row{{"aten::mm", "", []trace.GPUID{0}, []trace.GPUID{0}}}
	if d := cmp.Diff(want, rows(&s.t, nil)); d != "" {
		t.Error(d)
	}
}
