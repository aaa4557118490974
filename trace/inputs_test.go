package trace_test

import (
	"testing"

	"github.com/ditlens/ditlens/trace"
	"github.com/google/go-cmp/cmp"
)

func TestInputs(t *testing.T) {
	tr := loadText(t, document(
		op("aten::all", 0, 1, `"External id":1`, `"Record function id":0`, `"Concrete Inputs":["", "0.125", "[1, 1]", "", "", "é\"x"]`,
			`"Input type":["c10::BFloat16", "Scalar", "ScalarList", "", "TensorList", "Device"]`,
			`"Input Strides":[[8, 1], [], [], [], [[2, 1], []], []]`, `"Input Dims":[[4, 8], [], [], [], [[3, 2], []], []]`, `"Ev Idx":0`),
		op("aten::all", 10, 1, `"External id":2`, `"Concrete Inputs":["", "0.125", "[1, 1]", "", "", "é\"x"]`,
			`"Input type":["c10::BFloat16", "Scalar", "ScalarList", "", "TensorList", "Device"]`,
			`"Input Strides":[[8, 1], [], [], [], [[2, 1], []], []]`, `"Input Dims":[[4, 8], [], [], [], [[3, 2], []], []]`, `"Ev Idx":7`),
		op("triton_0", 20, 1, `"Input Dims": [[2], []]`, `"Input type": ["float", "Scalar"]`, `"kernel_backend": "triton"`, `"num_warps": 2`, `"kernel_kwargs": "XBLOCK=1024"`),
		op("bare", 30, 1, `"External id":4`),
		op("old", 40, 1, `"Input dims": [[5, 9223372036854775807]]`),
		op("broken", 50, 1, `"Input Dims": [[5, x]]`, `"Input type": ["float"]`),
		op("twice", 60, 1, `"Input Dims": [[1]]`, `"Input Dims": [[2]]`),
		op("odd", 70, 1, `"Input Dims": {"a":1}`, `"Input type": "float"`, `"Concrete Inputs": [1, null, true]`),
	))
	want := map[string]*trace.Inputs{
		"aten::all": {Args: []trace.Arg{
			{Type: "c10::BFloat16", Dims: []int64{4, 8}, Strides: []int64{8, 1}},
			{Type: "Scalar", Dims: []int64{}, Value: "0.125"}, {Type: "ScalarList", Dims: []int64{}, Value: "[1, 1]"}, {Dims: []int64{}},
			{Type: "TensorList", List: []trace.Arg{{Dims: []int64{3, 2}, Strides: []int64{2, 1}}, {Dims: []int64{}, Strides: []int64{}}}},
			{Type: "Device", Dims: []int64{}, Value: `é"x`},
		}},
		"triton_0": {Args: []trace.Arg{{Type: "float", Dims: []int64{2}}, {Type: "Scalar", Dims: []int64{}}},
			Extra: map[string]string{"kernel_backend": "triton", "num_warps": "2", "kernel_kwargs": "XBLOCK=1024"}},
		"bare":   nil,
		"broken": {Args: []trace.Arg{{Type: "float"}}},
		"old":    {Args: []trace.Arg{{Dims: []int64{5, 9223372036854775807}}}},
		"twice":  {Args: []trace.Arg{{Dims: []int64{2}}}},
		"odd":    {Args: []trace.Arg{{Value: "1"}, {}, {Value: "true"}}},
	}
	got := map[string]*trace.Inputs{}
	for i := range tr.Ops {
		o := &tr.Ops[i]
		if before, ok := got[o.Name]; ok && before != o.Inputs {
			t.Errorf("%s: equal arguments have two values", o.Name)
		}
		got[o.Name] = o.Inputs
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("inputs (-want +got):\n%s", diff)
	}
	if f := tr.Files[0]; f.Repaired != 1 {
		t.Errorf("repaired %d, want 1: a word among dimensions; %+v", f.Repaired, f.Damage)
	}
}

func TestBuilderSharesInputs(t *testing.T) {
	var b trace.Builder
	x := b.Inputs(trace.Inputs{Args: []trace.Arg{{Type: "float", Dims: []int64{1, 2}}}})
	y := b.Inputs(trace.Inputs{Args: []trace.Arg{{Type: "float", Dims: []int64{1, 2}}}})
	z := b.Inputs(trace.Inputs{Args: []trace.Arg{{Type: "float", Dims: []int64{12}}}})
	w := b.Inputs(trace.Inputs{Args: []trace.Arg{{Type: "float", Dims: []int64{1, 2}, Strides: []int64{}}}})
	if x != y || x == z || x == w {
		t.Errorf("%p %p %p %p", x, y, z, w)
	}
}
