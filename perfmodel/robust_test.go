package perfmodel_test

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/ditlens/ditlens/perfmodel"
	"github.com/ditlens/ditlens/perfmodel/perfmodeltest"
	"github.com/ditlens/ditlens/trace"
)

// Every shipped model that a worked row or a sample reaches keeps the promises of an OpModel.
func TestShippedModelsConform(t *testing.T) {
	calls := append(samples(), generated()...)
	for _, row := range slices.Concat(workedRows(), libraryRows(), convRows()) {
		calls = append(calls, row.call)
	}
	reached := make(map[string]bool)
	for _, c := range calls {
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
		call("_C::rotary_embedding", i64(128), bf16(128, 8, 64), bf16(128, 2, 64), number("64"), bf16(4096, 64), number("True")),
		call("aten::rms_norm", x, list("[128]"), bf16(128), number("1e-6")),
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
		call("aiter::rope_cached_fwd", bf16(64, 2, 8, 128), f32(64, 1, 1, 64), f32(64, 1, 1, 64)),
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

func TestPooling(t *testing.T) {
	x := bf16(1, 4, 8, 8)
	wants(t, call("aten::avg_pool2d", x, list("[2, 2]"), list("[]"), list("[0, 0]"), number("False")), 256, 2*(256+64))
	wants(t, call("aten::max_pool2d_with_indices", x, list("[3]"), list("[2]"), list("[1]"), list("[1]"), number("False")), 64*9, 2*(256+64)+8*64)
	wants(t, call("aten::avg_pool2d", x, list("[3]"), list("[2]"), list("[0]"), number("True")), 64*9, 2*(256+64))
	wants(t, call("aten::adaptive_avg_pool2d", x, list("[1, 1]")), 256, 2*(256+4))
	refused(t, call("aten::avg_pool2d", x), "stride")
}

func TestNormsAndReductions(t *testing.T) {
	x := bf16(2, 64, 128)
	const n = 2 * 64 * 128
	wants(t, call("aten::rms_norm", x, list("[128]"), bf16(128), number("1e-6")), 4*n+2*128, 4*n+256)
	wants(t, call("aten::layer_norm", x, list("[128]"), absent, absent, number("1e-6"), number("True")), 5*n, 4*n)
	wants(t, call("aten::layer_norm", x, list("[128]"), bf16(128), bf16(128), number("1e-6"), number("True")), 7*n,
		4*n+512)
	wants(t, call("aten::native_layer_norm", x, list("[128]"), absent, absent, number("1e-6")), 5*n, 4*n+8*128)
	wants(t, call("aiter::rmsnorm2d_fwd_with_add_ck", x, x, x, x, bf16(128), number("1e-6")), 5*n+2*128, 8*n+256)
	wants(t, call("_C::fused_add_rms_norm", x, x, bf16(128), number("1e-6")), 5*n+2*128, 8*n+256)
	wants(t, call("_C::rotary_embedding", i64(128), bf16(128, 8, 64), bf16(128, 2, 64), number("64"), bf16(4096, 64), number("True")),
		3*128*10*64, 128*8+128*64*2+2*2*128*10*64)
	wants(t, call("primus::fused_ln_modulate", x, bf16(64, 128), bf16(64, 128)), 12*n, 4*n+2*2*64*128)
	wants(t, call("aten::batch_norm", bf16(1, 64, 8, 8), f32(64), f32(64), f32(64), f32(64), number("False")), 2*4096,
		4*4096+4*4*64)
	wants(t, call("aiter::silu_and_mul", bf16(64, 128), bf16(64, 256)), 5*64*128, 2*64*128*3)

	wants(t, call("aten::sum", tensor("int", 4, 8), list("[0]"), number("False"), absent), 32, 4*32+8*8)
	wants(t, call("aten::sum", f32(4, 8), absent), 32, 4*32+4)
	wants(t, call("aten::sum", f32(4, 8)), 32, 4*32+4)
	wants(t, call("aten::sum", bf16(4, 8), number("6")), 32, 2*32+4)
	wants(t, call("aten::mean", bf16(4, 8), list("[0]"), number("False"), number("6")), 32, 2*32+4*8)
	wants(t, call("aten::mean", f32(4, 8), list("[]"), number("False"), absent), 32, 4*32+4)
	wants(t, call("aten::argmax", tensor("int", 1, 77), number("-1"), number("False")), 77, 4*77+8)
	wants(t, call("aten::max", f32(4, 8), number("1"), number("False")), 32, 4*32+12*4)
	wants(t, call("aten::max", f32(4, 8)), 32, 4*32+4)
	wants(t, call("aten::all", truth(4, 8)), 32, 32+1)
	wants(t, call("aten::var_mean", f32(4, 8), list("[1]"), number("1"), number("True")), 4*32, 4*32+2*4*4)
	wants(t, call("aten::_softmax", bf16(4, 8), number("-1"), number("True")), 5*32, 2*32+4*32)
	refused(t, call("aten::sum", f32(4, 8), list("[7]"), number("False"), absent), "dimension")
}

func TestPointwiseTypes(t *testing.T) {
	long := i64(16)
	wants(t, call("aten::gt", long, number("0")), 16, 8*16+16)
	wants(t, call("aten::eq", f32(4), f32()), 4, 16+4)
	wants(t, call("aten::add", long, number("1"), number("1")), 16, 16*16)
	wants(t, call("aten::add", long, number("0.5"), number("1")), 16, 8*16+4*16)
	wants(t, call("aten::mul", long, tensor("double")), 16, 8*16+4*16)
	wants(t, call("aten::mul", bf16(16), tensor("double")), 16, 64)
	wants(t, call("aten::div", long, long), 16, 2*8*16+4*16)
	wants(t, call("aten::add", tensor("c10::Half", 16), bf16(16), number("1")), 16, 2*32+4*16)
	wants(t, call("aten::add", bf16(16), tensor("long int", 16), number("1")), 16, 32+128+32)
	wants(t, call("aten::add_", bf16(16), f32(16), number("1")), 16, 32+64+32)
	wants(t, call("aten::add", f32(4, 1), f32(1, 8), number("1")), 32, 16+32+128)
	wants(t, call("aten::add", f32(), f32(), number("1")), 1, 12)
	wants(t, call("aten::where", truth(256, 256), i64(256, 256), i64(256, 256)), 65536, 65536*25)
	wants(t, call("aten::abs", i64(256, 256), i64(0)), 65536, 65536*16)
	wants(t, call("aten::log", long), 64, 8*16+4*16)
	wants(t, call("aten::gelu", bf16(16), text("tanh")), 160, 64)
	wants(t, call("aten::gelu", bf16(16), text("none")), 128, 64)
	wants(t, call("aten::clamp", bf16(16), number("0"), number("1")), 32, 64)
	wants(t, call("aten::pow", f32(16), number("2")), 32, 128)
	wants(t, call("aten::add", strided(bf16(4, 8), 0, 1), bf16(4, 8), number("1")), 32, 16+64+64)
	complexes := tensor("c10::complex<float>", 16)
	wants(t, call("aten::mul", complexes, complexes), 6*16, 3*8*16)
	refused(t, call("aten::add", f32(3), f32(4), number("1")), "broadcast")
	refused(t, call("aten::add", number("1"), number("2")), "argument 0")
}

func TestCopiesAndFills(t *testing.T) {
	runtime := func(name string, kind trace.GPUKind, dir trace.CopyDir, bytes int64) *perfmodel.Call {
		return &perfmodel.Call{Name: name, Kernel: name, Kind: kind, Dir: dir, Bytes: bytes}
	}
	wants(t, runtime("Memcpy HtoD (Pageable -> Device)", trace.Memcpy, trace.HostToDevice, 1000), 0, 1000)
	wants(t, runtime("Memcpy DtoD (Device -> Device)", trace.Memcpy, trace.DeviceToDevice, 1000), 0, 2000)
	wants(t, runtime("Memset (Device)", trace.Memset, trace.DirUnknown, 1000), 0, 1000)
	refused(t, runtime("Memcpy DtoD (Device -> Device)", trace.Memcpy, trace.DeviceToDevice, 0), "payload")
	wants(t, call("aten::_local_scalar_dense", i64(1)), 0, 8)
	wants(t, call("aten::copy_", f32(4, 8), bf16(4, 8), number("False")), 0, 32*6)
	wants(t, call("aten::fill_", i64(256, 256), number("0")), 0, 8*65536)
	wants(t, call("aten::zero_", f32(16)), 0, 64)

	scalars := func(texts ...string) []trace.Arg {
		var args []trace.Arg
		for _, s := range texts {
			if s == "" {
				args = append(args, absent)
			} else {
				args = append(args, number(s))
			}
		}
		return args
	}
	wants(t, call("aten::arange", scalars("10", "", "", "", "False")...), 0, 80)
	wants(t, call("aten::arange", scalars("10.", "", "", "", "False")...), 0, 40)
	wants(t, call("aten::arange", scalars("10", "6", "", "", "False")...), 0, 40)
	wants(t, call("aten::arange", scalars("2", "10", "", "", "", "False")...), 0, 64)
	wants(t, call("aten::arange", scalars("0", "10", "3", "", "", "", "False")...), 0, 32)
	wants(t, call("aten::arange", append(scalars("0", "10", "3"), i64(0))...), 0, 32)
	refused(t, call("aten::arange", scalars("0", "10", "-3", "", "", "", "False")...), "agree")
	refused(t, call("aten::arange", scalars("0", "10", "0", "", "", "", "False")...), "agree")
	refused(t, call("aten::cat", tensors(bf16(4, 8), bf16(4, 8)), number("0")), "element type")

	wants(t, call("aten::embedding", bf16(49408, 768), i64(1, 77), number("-1")), 0, 77*8+2*77*768*2)
	wants(t, call("aten::index_select", bf16(49408, 768), number("-2"), i64(77)), 0, 77*8+2*77*768*2)
	idle := wants(t, call("aten::constant_pad_nd", bf16(4, 8), list("[0, 0]"), number("0")), 0, 4*32)
	if !strings.Contains(idle.Kind, "can go") {
		t.Errorf("padding by nothing is called %q", idle.Kind)
	}
	wants(t, call("aten::constant_pad_nd", bf16(4, 8), list("[-1, -1]"), number("0")), 0, 2*24+2*24)
	refused(t, call("aten::constant_pad_nd", bf16(4, 8), list("[-5, -5]"), number("0")), "cut")
}

// What a rank must send, by the convention of bus bandwidth.
func TestCollectives(t *testing.T) {
	c := func(name, in, out, n string) *perfmodel.Call {
		k := call("record_param_comms")
		k.Inputs.Extra = map[string]string{"Collective name": name, "dtype": "BFloat16", "In msg nelems": in,
			"Out msg nelems": out, "Group size": n}
		return k
	}
	wants(t, c("allreduce", "1024", "1024", "8"), 0, 2*1024*2*7/8)
	wants(t, c("_allgather_base", "1024", "8192", "8"), 0, 8192*2*7/8)
	wants(t, c("_reduce_scatter_base", "8192", "1024", "8"), 0, 8192*2*7/8)
	wants(t, c("all_to_all", "1024", "1024", "4"), 0, 1024*2*3/4)
	wants(t, c("send", "1024", "1024", "2"), 0, 2048)
	refused(t, c("allreduce", "1024", "1024", ""), "roup size")
	refused(t, c("allreduce", "", "1024", "8"), "In msg")
}

// Sizes that do not fit are refused, zeros are work of nothing, and no argument brings a model down.
func TestExtremes(t *testing.T) {
	huge := int64(math.MaxInt64)
	for _, c := range []*perfmodel.Call{
		call("aten::mm", bf16(huge, huge), bf16(huge, huge)),
		call("aten::mm", bf16(1<<31, 1<<30), bf16(1<<30, 1<<31)),
		call("aten::add", bf16(1<<40, 1), bf16(1, 1<<40), number("1")),
		call("aten::_scaled_dot_product_flash_attention", bf16(1, 1, 1<<40, 64), bf16(1, 1, 1<<40, 64),
			bf16(1, 1, 1<<40, 64), number("0."), number("True")),
		call("aten::bmm", strided(bf16(huge, 1, 1), 0, 1, 1), strided(bf16(huge, 1, 1), 0, 1, 1)),
		call("aten::constant_pad_nd", bf16(1<<31, 1<<30), list("[2147483647, 2147483647, 2147483647, 2147483647]"),
			number("0")),
	} {
		w, err := models.Lookup(c).Work(c)
		var e *perfmodel.RangeError
		if !errors.As(err, &e) || !strings.Contains(err.Error(), c.Name) {
			t.Errorf("%s: %+v, %v; want a RangeError", c.Name, w, err)
		}
	}
	wants(t, call("aten::mm", bf16(0, 8), bf16(8, 4)), 0, 64)
	wants(t, call("aten::mm", bf16(4, 0), bf16(0, 4)), 0, 32)
	wants(t, call("aten::add", bf16(0), bf16(0), number("1")), 0, 0)
	wants(t, call("aten::native_layer_norm", bf16(0, 8), list("[8]"), absent, absent, number("0")), 0, 0)
	wants(t, call("aten::_scaled_dot_product_flash_attention", bf16(1, 0, 8, 8), bf16(1, 0, 8, 8), bf16(1, 0, 8, 8),
		number("0."), number("True")), 0, 0)
	refused(t, call("aten::mm", bf16(-1, 8), bf16(8, 4)), "sane shape")
	refused(t, call("aten::mm"), "none are recorded")
	refused(t, &perfmodel.Call{Name: "aten::mm"}, "none are recorded")
	refused(t, call("aten::mm", bf16(8, 8)), "argument 1")
	refused(t, call("aten::mm", number("1"), number("2")), "shape of argument 0")
}

func FuzzModels(f *testing.F) {
	f.Add("aten::mm", "c10::BFloat16", "float", "[1, 1]", "True", int64(64), int64(8), int64(3), uint8(3))
	f.Add("aten::convolution", "float", "", "[0]", "1", int64(1), int64(-3), int64(1)<<40, uint8(9))
	f.Add("triton_red_fused_add_native_layer_norm_3", "c10::Half", "long int", "128", "7", int64(0), int64(9),
		int64(math.MaxInt64), uint8(5))
	f.Add("aten::arange", "Scalar", "Scalar", "1e300", "-inf", int64(5), int64(5), int64(5), uint8(7))
	f.Add("aten::_flash_attention_forward", "c10::BFloat16", "int", "-1", "True", int64(1), int64(77), int64(64),
		uint8(15))
	f.Fuzz(func(t *testing.T, name, type1, type2, value1, value2 string, a, b, c int64, n uint8) {
		args := make([]trace.Arg, n%20)
		shapes := [...][]int64{{a, b}, {a, b, c}, {b, c, a, c}, {c}, {}, {a, b, c, a, b}, {b, a}, {c, b}}
		for i := range args {
			arg := trace.Arg{Type: type1, Dims: shapes[(i+int(n)/20)%len(shapes)], Value: value1}
			if i%3 == 2 {
				arg.Type, arg.Value = type2, value2
			}
			if i%2 == 1 {
				arg.Strides = arg.Dims
			}
			if arg.Type == "Scalar" || arg.Type == "ScalarList" {
				arg.Dims, arg.Strides = nil, nil
			}
			if arg.Type == "TensorList" {
				arg.List = []trace.Arg{{Dims: arg.Dims}, {Dims: shapes[0], Strides: shapes[3]}}
			}
			args[i] = arg
		}
		k := &perfmodel.Call{Name: name, Kernel: value2, Bytes: c, Kind: trace.GPUKind(n % 3),
			Dir: trace.CopyDir(n % 7), Inputs: &trace.Inputs{Args: args,
				Extra: map[string]string{"kernel_kwargs": "XBLOCK=1,R0_BLOCK=2", "Collective name": value1,
					"dtype": type2, "In msg nelems": value2,
					"Out msg nelems": "7", "Group size": value1}}}
		for _, e := range everyModel {
			check(t, e.Model, k)
		}
		if m := models.Lookup(k); m != nil {
			check(t, m, k)
		}
		perfmodel.Classify(name, value1)
	})
}

var everyModel = models.All()

// check asks a model about a call of any kind and demands an answer in bounds or a typed error.
func check(t *testing.T, m perfmodel.OpModel, c *perfmodel.Call) {
	w, err := m.Work(c)
	if err != nil {
		var missing *perfmodel.MissingError
		var span *perfmodel.RangeError
		if !errors.As(err, &missing) && !errors.As(err, &span) {
			t.Fatalf("%s: untyped error %v", m.Info().Name, err)
		}
		return
	}
	if w.Bytes < 0 || w.Read < 0 || w.Written < 0 || w.FLOPs() < 0 || w.Read+w.Written > w.Bytes || w.Read+w.Written < 0 {
		t.Fatalf("%s: %+v for %+v", m.Info().Name, w, c.Inputs.Args)
	}
	if (w.Certainty == perfmodel.Exact) != (w.Why == "") {
		t.Fatalf("%s: certainty %v with reason %q", m.Info().Name, w.Certainty, w.Why)
	}
}

// A hundred thousand calls as a run of FLUX makes them: products, compiled kernels, attention and pointwise operators.
func BenchmarkLookupAndWork(b *testing.B) {
	rows := workedRows()
	b.ReportAllocs()
	const calls = 100_000
	for b.Loop() {
		for i := range calls {
			c := rows[i%len(rows)].call
			if _, err := models.Lookup(c).Work(c); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/calls, "ns/call")
}

// Counting costs no memory.
func TestWorkAllocatesNothing(t *testing.T) {
	for _, row := range workedRows() {
		m := models.Lookup(row.call)
		if n := testing.AllocsPerRun(10, func() {
			if models.Lookup(row.call) != nil {
				m.Work(row.call)
			}
		}); n > 0 {
			t.Errorf("%s: %g allocations", row.name, n)
		}
	}
}
