package perfmodel_test

import (
	"strings"
	"testing"

	"github.com/ditlens/ditlens/perfmodel"
	"github.com/ditlens/ditlens/trace"
)

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
	wants(t, call("primus::fused_ln_modulate", x, bf16(64, 128), bf16(64, 128)), 12*n, 4*n+2*2*64*128+8*128)
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
	wants(t, call("aten::_safe_softmax", bf16(4, 8), number("-1"), number("6")), 5*32, 2*32+4*32)
	wants(t, call("aten::cumsum", bf16(4, 8), number("-1"), number("6")), 32, 2*32+4*32)
	wants(t, call("aten::_fused_rms_norm", x, list("[128]"), bf16(128), number("1e-6")), 4*n+2*128, 4*n+256+4*128)
	refused(t, call("aten::sum", f32(4, 8), list("[7]"), number("False"), absent), "dimension")
}

// Norms, rotations and quantisations of libraries, in the orders of their schemas.
func TestOperatorsOfLibraries(t *testing.T) {
	x, q, weight, scales := bf16(2, 64, 128), fp8(2, 64, 128), bf16(128), f32(2, 64, 1)
	const n, rows = 2 * 64 * 128, 2 * 64
	eps, no := number("1e-6"), number("False")
	for _, op := range []string{"aiter::rmsnorm", "aiter::rms_norm_cu", "_C::rms_norm", "sgl_kernel::rmsnorm"} {
		wants(t, call(op, x, x, weight, eps), 4*n+2*rows, 4*n+256)
	}
	for _, op := range []string{"aiter::rms_norm", "aiter::rmsnorm2d_fwd", "aiter::rmsnorm2d_fwd_ck"} {
		wants(t, call(op, x, weight, eps, number("0")), 4*n+2*rows, 4*n+256)
		wants(t, call(strings.Replace(op, "::", "::wrapper_", 1), x, weight, eps, number("0")), 4*n+2*rows, 4*n+256)
		refused(t, call(op, f32(1), x, weight, eps), "agreeing")
	}
	for _, op := range []string{"_C::fused_add_rms_norm", "aiter::fused_add_rms_norm_cu", "sgl_kernel::fused_add_rmsnorm"} {
		wants(t, call(op, x, x, weight, eps), 5*n+2*rows, 8*n+256)
	}
	for _, op := range []string{"aiter::rmsnorm2d_fwd_with_add", "aiter::add_rmsnorm"} {
		wants(t, call(op, x, x, x, x, weight, eps, no), 5*n+2*rows, 8*n+256)
	}
	wants(t, call("aiter::rmsnorm_quant", q, x, scales, weight, eps, number("0")), 7*n+2*rows, 3*n+4*rows+256)
	wants(t, call("aiter::rmsnorm2d_fwd_with_smoothquant", q, x, f32(128), scales, weight, eps), 7*n+2*rows, 3*n+4*rows+256+512)
	wants(t, call("_C::rms_norm_static_fp8_quant", q, x, weight, f32(1), eps), 7*n+2*rows, 3*n+256)
	w := wants(t, call("aiter::add_rmsnorm_quant", q, x, x, x, scales, weight, eps), 8*n+2*rows, 7*n+4*rows+256)
	if w.Written != 3*n {
		t.Errorf("a residual's sum: %d bytes written", w.Written)
	}
	wants(t, call("_C::fused_add_rms_norm_static_fp8_quant", q, x, x, weight, f32(1), eps), 8*n+2*rows, 7*n+256)
	wants(t, call("_C::rms_norm_dynamic_per_token_quant", q, x, weight, scales, eps, absent, x), 8*n+2*rows, 7*n+4*rows+256)
	wants(t, call("_C::rms_norm_dynamic_per_token_quant", q, x, weight, scales, eps, absent, absent), 7*n+2*rows, 3*n+4*rows+256)

	image := bf16(1, 64, 8, 8)
	grouped := int64(5*4096 + 6*64)
	wants(t, call("aiter::_groupnorm_run", image, number("32"), bf16(64), bf16(64), eps), grouped, 4*4096+256)
	wants(t, call("aiter::_groupnorm_run", image, f32(1024), image, number("32"), bf16(64), bf16(64), eps), grouped, 4*4096+256)

	query, key, table := bf16(64, 2, 8, 128), bf16(64, 2, 4, 128), bf16(4096, 1, 1, 64)
	const heads = 64 * 2 * 128
	wants(t, call("aiter::rope_fwd_impl", query, query, f32(64, 1, 1, 64), no), 3*8*heads, 2*2*8*heads+4*64*64)
	wants(t, call("aiter::rope_cached_2c_fwd_impl", query, key, query, key, bf16(64, 1, 1, 64), bf16(64, 1, 1, 64), number("0"), no),
		3*12*heads, 2*2*12*heads+2*2*64*64)
	wants(t, call("aiter::rope_cached_positions_2c_fwd_impl", query, key, query, key, table, table, i64(64, 2), number("0"), no, no),
		3*12*heads, 2*2*12*heads+2*2*128*64+8*128)
	wants(t, call("aiter::rope_thd_fwd_impl", bf16(64, 8, 128), bf16(64, 8, 128), tensor("int", 3), f32(64, 1, 1, 64), no), 3*64*8*128,
		2*2*64*8*128+12+4*64*64)

	packed := tensor("c10::Float4_e2m1fn_x2", 128, 64)
	wants(t, call("aiter::dynamic_per_token_scaled_quant", q, x, scales, absent, no), 3*n, 3*n+4*rows)
	wants(t, call("aiter::quant_mxfp4", bf16(128, 128), packed, tensor("c10::Float8_e8m0fnu", 128, 4), number("32")), 3*n, 2*n+n/2+128*4)
	wants(t, call("sgl_kernel::sgl_per_token_quant_fp8", x, q, scales), 3*n, 3*n+4*rows)
	wants(t, call("_C::dynamic_scaled_int8_quant", i8(2, 64, 128), x, scales, absent), 3*n, 3*n+4*rows)
}

// A packed query is two values a byte, which no argument of SageAttention tells.
func TestSagePacked(t *testing.T) {
	packed := tensor("unsigned char", 1, 24, 768, 64)
	refused(t, call("sage_fwd_mxfp4", packed, packed, fp8(1, 24, 768, 128), absent), "unpacked")
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
	wants(t, call("aten::masked_fill", bf16(16), truth(16), f32()), 16, 32+16+32)
	wants(t, call("aten::masked_fill", bf16(16), truth(16), number("-inf")), 16, 32+16+32)
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
	cat := func(kernel string) *perfmodel.Call {
		return with(call("aten::cat", tensors(bf16(4, 8), bf16(4, 8)), number("0")), func(c *perfmodel.Call) { c.Kernel = kernel })
	}
	for kernel, size := range map[string]int64{
		"void CatArrayBatchedCopy_contig<at::native::(anonymous namespace)::OpaqueType<16u>, unsigned int, 2, 128, 1>(int)": 16,
		"void CatArrayBatchedCopy<OpaqueType<4>, unsigned int, 2, 128, 1>(int)":                                             4,
		"void at::native::CatArrayBatchedCopy_aligned16_contig<long, unsigned int, 1, 128>(int)":                            8,
		"void HIPCatArrayBatchedCopy<c10::Half, unsigned int, 3, 128>(int)":                                                 2,
		"void elementwise_kernel<direct_copy_kernel_cuda(c10::BFloat16)>":                                                   2,
	} {
		wants(t, cat(kernel), 0, 2*64*size)
	}
	refused(t, cat(""), "element type")
	refused(t, cat("void CatArrayBatchedCopy<OpaqueType<99u>, unsigned int>"), "element type")

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
