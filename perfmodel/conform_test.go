package perfmodel_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/ditlens/ditlens/perfmodel"
	"github.com/ditlens/ditlens/perfmodel/perfmodeltest"
	"github.com/ditlens/ditlens/trace"
	"github.com/google/go-cmp/cmp"
)

// Every shipped model that a worked row or a sample reaches keeps the promises of an OpModel.
func TestShippedModelsConform(t *testing.T) {
	reached := make(map[string]bool)
	for _, c := range everyCall() {
		m := models.Lookup(c)
		if m == nil {
			t.Errorf("no model for %s", c.Name)
			continue
		}
		reached[m.Info().Name] = true
		perfmodeltest.Run(t, m, c)
	}
	for _, e := range models.All() {
		if !reached[e.Info.Name] {
			t.Errorf("%s: no call of it is tried here", e.Info.Name)
		}
	}
}

// A profiler may write the overload behind the name of an operator; the work is the same.
func TestOverloadsInNames(t *testing.T) {
	calls := append(everyCall(), call("aten::add_", bf16(64, 8), f32(64, 8), number("1")),
		call("aiter::_groupnorm_run", bf16(1, 8, 4, 4), f32(64), bf16(1, 8, 4, 4), number("2"), bf16(8), bf16(8), number("1e-6")))
	for _, c := range calls {
		if !strings.Contains(c.Name, "::") {
			continue
		}
		full := *c
		full.Name += ".Tensor_out"
		if diff := cmp.Diff(work(t, c), work(t, &full)); diff != "" {
			t.Errorf("%s (-name +name with overload):\n%s", c.Name, diff)
		}
	}
}

// everyCall returns at least one call of every shipped model.
func everyCall() []*perfmodel.Call {
	calls := append(samples(), generated()...)
	for _, row := range slices.Concat(workedRows(), libraryRows(), convRows(), sageRows()) {
		calls = append(calls, row.call)
	}
	return calls
}

// samples are calls of models that the worked rows leave out.
func samples() []*perfmodel.Call {
	x := bf16(2, 64, 128)
	collective := func(name string) *perfmodel.Call {
		c := call("record_param_comms")
		c.Inputs.Extra = map[string]string{"Collective name": name, "dtype": "BFloat16", "In msg nelems": "1024",
			"Out msg nelems": "8192", "Group size": "8"}
		return c
	}
	return []*perfmodel.Call{
		{Name: "Memcpy DtoD (Device -> Device)", Kind: trace.Memcpy, Dir: trace.DeviceToDevice, Bytes: 64},
		call("aten::linear", x, bf16(64, 128)), call("aten::matmul", x, bf16(128, 64)), call("aten::_local_scalar_dense", i64(1)),
		call("aten::baddbmm", bf16(2, 64, 8), x, bf16(2, 128, 8), number("1"), number("1")), call("aten::bmm", x, bf16(2, 128, 8)),
		call("aten::_addmm_activation", bf16(8), bf16(64, 128), bf16(128, 8), number("1"), number("1"), number("True")),
		call("aten::_scaled_mm", fp8(64, 128), fp8(128, 8), f32(1), f32(1)),
		with(call("aten::_foreach_copy_", tensors(x), tensors(x), number("False")), func(c *perfmodel.Call) {
			c.Kernel = multiTensor("UnaryOpFunctor<c10::BFloat16, 2, 1, 1>, Copy<float, float>")
		}),
		call("aten::mse_loss", x, x, number("1")),
		call("aten::fill_", x, number("0")), call("aten::zero_", x), call("aten::index", x, tensors(i64(2))),
		call("aten::scatter_", x, number("0"), i64(1, 64, 128), x), call("aten::index_put_", x, absent, bf16(64, 128), number("False")),
		call("aten::sort", x, number("-1"), number("False")), call("aten::topk", x, number("5"), number("-1"), number("True"), number("True")),
		call("aten::upsample_nearest1d", bf16(1, 8, 16), list("[32]")), call("aten::upsample_linear1d", bf16(1, 8, 16), list("[32]"), number("False")),
		call("aten::upsample_trilinear3d", bf16(1, 8, 4, 4, 4), list("[8, 8, 8]"), number("False")),
		call("aten::upsample_bicubic2d", bf16(1, 8, 4, 4), list("[8, 8]"), number("False")),
		call("_C::fused_add_rms_norm", x, x, bf16(128), number("1e-6")),
		call("aiter::rmsnorm2d_fwd_with_add_dynamicquant", fp8(2, 64, 128), x, x, x, f32(128), bf16(128), number("1e-6")),
		call("aiter::rmsnorm_quant", fp8(2, 64, 128), x, f32(128), bf16(128), number("1e-6")),
		call("_C::fused_add_rms_norm_static_fp8_quant", fp8(2, 64, 128), x, x, bf16(128), f32(1), number("1e-6")),
		call("_C::rms_norm_dynamic_per_token_quant", fp8(2, 64, 128), x, bf16(128), f32(128), number("1e-6"), absent, x),
		call("aiter::dynamic_per_token_scaled_quant", fp8(2, 64, 128), x, f32(128), absent), call("aiter::per_token_quant_hip", x, absent),
		call("_C::rotary_embedding", i64(128), bf16(128, 8, 64), bf16(128, 2, 64), number("64"), bf16(4096, 64), number("True")),
		call("aten::rms_norm", x, list("[128]"), bf16(128), number("1e-6")),
		call("aten::_fused_rms_norm", x, list("[128]"), bf16(128), absent),
		call("aten::native_layer_norm", x, list("[128]"), absent, absent, number("1e-6")),
		call("aiter::rmsnorm", x, x, bf16(128), number("1e-6")),
		call("aiter::rms_norm", x, bf16(128), number("1e-6")),
		call("aiter::rmsnorm2d_fwd_with_add_ck", x, x, x, x, bf16(128), number("1e-6")),
		call("aten::native_group_norm", bf16(1, 64, 8, 8), bf16(64), bf16(64), number("1"), number("64"),
			number("64"), number("32"), number("1e-6")),
		call("aten::batch_norm", bf16(1, 64, 8, 8), f32(64), f32(64), f32(64), f32(64), number("False")),
		call("primus::fused_ln_modulate", x, bf16(64, 128), bf16(64, 128)),
		call("aiter::silu_and_mul", bf16(64, 128), bf16(64, 256)),
		call("aiter::rope_cached_fwd_impl", bf16(64, 2, 8, 128), bf16(64, 2, 8, 128), f32(64, 1, 1, 64),
			f32(64, 1, 1, 64)),
		call("aten::softmax", x, number("-1"), absent),
		call("aten::cumsum", x, number("-1"), absent),
		call("aten::max", f32(4, 8), number("1"), number("False")),
		call("aten::var_mean", f32(4, 8), list("[1]"), number("1"), number("True")),
		call("aten::argmax", tensor("int", 1, 77), number("-1"), number("False")),
		call("aten::index_select", bf16(49408, 768), number("0"), i64(77)),
		call("aten::embedding", bf16(49408, 768), i64(1, 77), number("-1"), number("False"), number("False")),
		call("aten::nonzero", truth(64)),
		call("aten::arange", number("0"), number("10"), number("1"), number("4"), number("0"), absent, number("False")),
		call("aten::normal_", x, number("0."), number("1."), absent),
		call("aten::constant_pad_nd", x, list("[0, 0]"), number("0")),
		call("aten::where", truth(64, 1), f32(64, 8), number("0.5")),
		call("aten::clamp", x, number("0"), number("1")),
		call("aten::tril", x, number("0")),
		call("aten::upsample_bilinear2d", bf16(1, 8, 16, 16), list("[32, 32]"), number("False")),
		collective("allreduce"), collective("_allgather_base"), collective("all_to_allv"), collective("send"),
	}
}

// generated are calls of the models whose operators all take the same arguments.
func generated() (calls []*perfmodel.Call) {
	x, q, tokens := f32(4, 8), bf16(1, 8, 8, 16), bf16(8, 4, 16)
	for _, e := range models.All() {
		name := e.Info.Name
		switch {
		case strings.HasPrefix(name, "pointwise."):
			calls = append(calls, call(e.Ops[0], x, x, x))
		case strings.HasPrefix(name, "foreach.") || name == "fill.foreach":
			c := call(e.Ops[0], tensors(f32(4), f32(2, 2)), tensors(f32(4), f32(2, 2)))
			calls = append(calls, with(c, func(c *perfmodel.Call) { c.Kernel = multiTensor("ZeroFunctor<float, 1, 1, 0>") }))
		case strings.HasPrefix(name, "reduce.") && name != "reduce.topk":
			calls = append(calls, call(e.Ops[0], x, list("[1]"), number("False"), absent))
		case strings.HasPrefix(name, "activation."):
			calls = append(calls, call(e.Ops[0], x, f32(4, 16), f32(1)))
		case strings.HasPrefix(name, "attention.") && strings.Contains(name, "varlen"):
			calls = append(calls, call(e.Ops[0], tokens, tokens, tokens, tensor("int", 2), tensor("int", 2)))
		case strings.HasPrefix(name, "attention.") && len(e.Ops) > 0:
			calls = append(calls, call(e.Ops[0], q, q, q))
		case name == "pool.adaptive2d":
			calls = append(calls, call(e.Ops[0], bf16(1, 4, 8, 8), list("[2, 2]")))
		case strings.HasPrefix(name, "pool."):
			calls = append(calls, call(e.Ops[0], bf16(1, 4, 8, 8, 8), list("[2]"), list("[]"), list("[0]"), list("[1]"), number("False")))
		}
	}
	return calls
}
