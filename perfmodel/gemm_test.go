package perfmodel_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/ditlens/ditlens/hw"
	"github.com/ditlens/ditlens/perfmodel"
	"github.com/ditlens/ditlens/trace"
)

// BL-70: vectors and broadcasting; one multiplication and one addition are two operations, a bias one more an output.
func TestBL70Matmul(t *testing.T) {
	wants(t, call("aten::matmul", f32(2, 1, 4, 8), f32(3, 8, 5)), 1920, 4*(64+120+120))
	wants(t, call("aten::matmul", f32(8), f32(8)), 16, 4*(8+8+1))
	wants(t, call("aten::matmul", f32(4, 8), f32(8)), 64, 4*(32+8+4))
	wants(t, call("aten::matmul", f32(8), f32(8, 4)), 64, 4*(8+32+4))
	wants(t, call("aten::addmm", f32(5), f32(4, 8), f32(8, 5), number("1"), number("1")), 320+20, 4*(5+32+40+20))
	wants(t, call("aten::addmm", f32(4, 5), f32(4, 8), f32(8, 5), number("1"), number("1")), 320+20, 4*(20+32+40+20))
	wants(t, call("aten::addmm", f32(5), f32(4, 8), f32(8, 5), number("0"), number("1")), 320, 4*(32+40+20))
	wants(t, call("aten::linear", f32(2, 3, 8), f32(5, 8), f32(5)), 480+30, 4*(48+40+5+30))
	wants(t, call("vllm::rocm_unquantized_gemm", f32(2, 3, 8), f32(5, 8), absent), 480, 4*(48+40+30))
	wants(t, call("aten::bmm", f32(3, 4, 8), strided(f32(3, 8, 5), 0, 5, 1)), 960, 4*(96+40+60))
	wants(t, call("aten::baddbmm", f32(4, 5), f32(3, 4, 8), f32(3, 8, 5), number("1"), number("1")), 960+60,
		4*(20+96+120+60))
	wants(t, call("aten::_addmm_activation", f32(5), f32(4, 8), f32(8, 5), number("1"), number("1"), number("True")),
		320+20+160, 4*(5+32+40+20))
	wants(t, call("aten::_addmm_activation", f32(5), f32(4, 8), f32(8, 5), number("1"), number("1"), number("False")),
		320+20+20, 4*(5+32+40+20))
	half := func(dims ...int64) trace.Arg { return tensor("c10::Half", dims...) }
	wants(t, call("aten::mm", half(4, 8), half(8, 5), number("6")), 320, 2*(32+40)+4*20)
	wants(t, call("aten::addmm", half(5), half(4, 8), half(8, 5), number("6"), number("1"), number("1")), 320+20, 2*(5+32+40)+4*20)
	wants(t, call("aten::addmm", half(5), half(4, 8), half(8, 5), number("6"), number("0"), number("1"), f32(4, 5)), 320,
		2*(32+40)+4*20)
	refused(t, call("aten::mm", f32(4, 8), f32(7, 5)), "inner")
	refused(t, call("aten::mm", f32(4), f32(4, 5)), "dimensions")
	refused(t, call("aten::matmul", f32(2, 4, 8), f32(3, 8, 5)), "broadcast")
	refused(t, call("aten::bmm", f32(2, 4, 8), f32(3, 8, 5)), "batch")
}

// The many ways of libraries to pass a product.
func TestMatmulOfLibraries(t *testing.T) {
	for _, row := range libraryRows() {
		w := wants(t, row.call, row.flops, row.bytes)
		if moe := strings.Contains(row.call.Name, "moe") || strings.Contains(row.call.Name, "grouped"); moe != (w.Certainty == perfmodel.Estimated) {
			t.Errorf("%s: %v (%s)", row.call.Name, w.Certainty, w.Why)
		}
		if row.call.Name == "tex_ts::te_gemm_ts" && w.Compute[0].Type != hw.FP8 {
			t.Errorf("8-bit floats recorded as bytes: %v", w.Compute[0].Type)
		}
	}
}

func libraryRows() (rows []worked) {
	wants := func(c *perfmodel.Call, flops, bytes int64) {
		rows = append(rows, worked{call: c, flops: flops, bytes: bytes})
	}
	const f = 2 * 16 * 64 * 32 // M, K, N
	wants(call("bitsandbytes::int8_linear_matmul", i8(16, 64), i8(32, 64)), f, 16*64+32*64+4*16*32)
	rows = append(rows, aiterRows()...)
	rows = append(rows, expertRows()...)
	wants(call("mylib::fp8_blockscale_gemm", bf16(16, 64), fp8(32, 64), f32(1, 2)), f, 2*16*64+32*64+8+2*16*32)
	wants(call("mylib::fp8_blockscale_gemm", fp8(16, 64), f32(16, 1), fp8(32, 64), f32(1, 2)), f,
		16*64+64+32*64+8+2*16*32)
	wants(call("mylib::mxfp4_gemm", bf16(16, 64), tensor("unsigned char", 32, 32), tensor("unsigned char", 32, 2),
		bf16(32)),
		f+16*32, 2*16*64+32*32+64+64+2*16*32)
	te := make([]trace.Arg, 22)
	te[0], te[3], te[4], te[5], te[9], te[10], te[14] = tensor("unsigned char", 32, 64), number("6"), number("1"),
		tensor("unsigned char", 16, 64),
		number("0"), bf16(16, 32), bf16(0)
	wants(call("tex_ts::te_gemm_ts", te...), f, 16*64+32*64+2*16*32)
	flags := func(a, b, c string) []trace.Arg {
		return []trace.Arg{number("15"), number(a), number(b), number(c), number("1")}
	}
	primus := func(a, b trace.Arg, rest []trace.Arg) *perfmodel.Call {
		return call("primus_turbo_cpp_extension::hipblaslt_gemm_fp8",
			append([]trace.Arg{a, f32(1), b, f32(1)}, rest...)...)
	}
	wants(primus(fp8(16, 64), fp8(32, 64), flags("False", "True", "False")), f, 16*64+32*64+2*16*32)
	wants(primus(fp8(64, 16), fp8(64, 32), flags("True", "False", "False")), f, 16*64+32*64+2*16*32)
	onto := append(flags("False", "True", "False")[:4], text("TENSORWISE"), number("1."), bf16(16, 32))
	wants(primus(fp8(16, 64), fp8(32, 64), onto), f+16*32, 16*64+32*64+2*2*16*32)
	wants(primus(fp8(16, 64), fp8(32, 64), flags("False", "True", "True")), f, 16*64+32*64+2*16*32)
	wants(call("aten::_weight_int8pack_mm", bf16(16, 64), i8(32, 64), bf16(32)), f, 2*16*64+32*64+64+2*16*32)
	biased := slices.Clone(te)
	biased[14] = bf16(32)
	wants(call("tex_ts::te_gemm_ts", biased...), f+16*32, 16*64+32*64+2*16*32+64)
	int4 := 2*16*64 + 32*64/2 + 2*2*32*2 + 2*16*32
	groups := number("32")
	wants(call("aten::_weight_int4pack_mm", bf16(16, 64), tensor("int", 4, 1, 32, 2), groups, bf16(2, 32, 2)), f, int64(int4))
	wants(call("aten::_weight_int4pack_mm_for_cpu", bf16(16, 64), tensor("unsigned char", 32, 32), groups, bf16(2, 32, 2)), f, int64(int4))
	wants(call("aten::_weight_int4pack_mm_with_scales_and_zeros", bf16(16, 64), tensor("int", 32, 8), groups, bf16(2, 32), i8(2, 32)), f,
		int64(int4-2*32))
	wants(call("bitsandbytes::gemm_4bit", bf16(16, 64), tensor("unsigned char", 1024, 1), list("[32, 64]"), f32(16), number("64"),
		text("nf4"), bf16(32), absent, absent, absent), f+16*32, 2*16*64+1024+64+64+2*16*32)
	wants(call("bitsandbytes::gemv_4bit", bf16(1, 64), tensor("unsigned char", 1024, 1), list("[32, 64]"), f32(32), f32(16), number("64"),
		bf16(1, 32)), 2*64*32, 128+1024+128+64)
	wants(call("aten::_grouped_mm", bf16(16, 64), bf16(8, 64, 32), tensor("int", 8)), f, 2*(16*64+8*64*32+16*32))
	wants(call("aten::_grouped_mm", bf16(4, 64), bf16(8, 64, 32), tensor("int", 8), absent, number("6")), f/4, 2*(4*64+4*64*32)+4*4*32)
	wants(call("aten::_scaled_grouped_mm", fp8(16, 64), fp8(8, 64, 32), f32(16), f32(8, 32), tensor("int", 8), absent, absent, number("15"),
		number("False")), f, 16*64+8*64*32+4*16+4*8*32+2*16*32)
	wants(call("_C::cutlass_scaled_mm", bf16(16, 32), fp8(16, 64), fp8(64, 32), f32(16, 1), f32(1, 32), bf16(32)), f+16*32,
		16*64+64*32+4*48+64+2*16*32)
	wants(call("_C::cutlass_scaled_fp4_mm", bf16(16, 32), tensor("unsigned char", 16, 32), tensor("unsigned char", 32, 32), fp8(128, 4),
		fp8(128, 4), f32(1)), f, 16*32+32*32+2*512+2*16*32)
	wants(call("sgl_kernel::fp8_scaled_mm", fp8(16, 64), fp8(64, 32), f32(16, 1), f32(32, 1), number("15"), bf16(32)), f+16*32,
		16*64+64*32+4*48+64+2*16*32)
	wants(call("aten::_scaled_mm_v2", fp8(16, 64), fp8(64, 32), tensors(f32(1)), list("[0]"), list("[0]"), tensors(f32(1)), list("[0]"), list("[0]"),
		bf16(32), number("15"), list("[]"), number("False")), f+16*32, 16*64+64*32+64+2*16*32)
	wants(call("aten::_int_mm", i8(16, 64), i8(64, 32)), f, 16*64+64*32+4*16*32)
	return rows
}

// aiterRows have the arguments in the orders of variants and releases of aiter.
func aiterRows() (rows []worked) {
	wants := func(c *perfmodel.Call, flops, bytes int64) {
		rows = append(rows, worked{call: c, flops: flops, bytes: bytes})
	}
	const (
		f       = 2 * 16 * 64 * 32 // M, K, N
		mn      = 16 * 32
		wide    = 2 * (16*64 + 32*64 + mn)
		narrow  = 16*64 + 32*64 + 2*mn
		packed  = 16*32 + 32*32 + 2*mn
		scales  = 4 * (16 + 32)
		blocks  = 4 * (16*2 + 1*2)
		smaller = 16*2 + 32*2
	)
	no, zero, none := number("False"), number("0"), absent
	x, w, y := bf16(16, 64), bf16(32, 64), bf16(16, 32)
	wants(call("aiter::gemm_a16w16", x, w, bf16(32)), f+mn, wide+64)
	wants(call("aiter::gemm_a16w16", x, w, none, number("6"), none, none, none), f, wide+2*mn)
	wants(call("aiter::gemm_a16w16", fp8(16, 64), fp8(32, 64), none, number("15"), f32(16, 1), f32(32, 1), none), f, narrow+scales)
	wants(call("aiter::gemm_a16w16_atomic_", x, w, number("15"), f32(16, 32), none), f, wide+2*mn)
	wants(call("aiter::gemm_a16w16_atomic_", x, w, number("15"), none, none), f, wide)
	semaphores := tensor("unsigned int", 16, 64)
	wants(call("aiter::_gemm_a16w16_asm", x, w, f32(16, 32), semaphores, f32(1, 32), zero, none, no), f+mn, wide+2*mn+128)
	wants(call("aiter::gemm_a16w16_asm", x, w, y, f32(32), zero, none), f+mn, wide+128)

	q, qw, byRow, byColumn := i8(16, 64), i8(32, 64), f32(16, 1), f32(1, 32)
	wants(call("aiter::gemm_a8w8", q, qw, byRow, byColumn, bf16(32), number("15"), none), f+mn, narrow+scales+64)
	wants(call("aiter::gemm_a8w8_bpreshuffle", fp8(16, 64), fp8(32, 64), byRow, byColumn, none, number("5"), no), f, narrow+scales)
	wants(call("aiter::gemm_a8w8_ck", q, qw, byRow, byColumn, y, bf16(32), zero), f+mn, narrow+scales+64)
	wants(call("aiter::gemm_a8w8_asm", q, qw, byRow, byColumn, y, text("kernel"), f32(1, 32), no, zero), f+mn, narrow+scales+128)
	wants(call("aiter::gemm_a8w8_blockscale", fp8(16, 64), fp8(32, 64), f32(16, 2), f32(1, 2), number("15"), no), f, narrow+blocks)
	wants(call("aiter::gemm_a8w8_blockscale_ck", fp8(16, 64), fp8(32, 64), f32(16, 2), f32(1, 2), y, zero), f, narrow+blocks)
	wants(call("aiter::gemm_a8w8_blockscale_bpreshuffle_asm", fp8(16, 64), fp8(32, 64), y, f32(16, 2), f32(1, 2), none, none, none,
		number("True"), f32(1, 32)), f+mn, narrow+blocks+128)
	wants(call("aiter::flatmm_a8w8_blockscale_asm", fp8(16, 64), fp8(32, 64), f32(2, 16), f32(2, 1), tensor("c10::Half", 16, 32)), f,
		narrow+blocks)
	p, pw := tensor("c10::Float4_e2m1fn_x2", 16, 32), tensor("unsigned char", 32, 32)
	pa, pb := tensor("c10::Float8_e8m0fnu", 16, 2), tensor("unsigned char", 32, 2)
	wants(call("aiter::gemm_a4w4", p, pw, pa, pb, none, number("15"), number("1."), number("0."), no), f, packed+smaller)
	wants(call("aiter::gemm_a4w4", p, pw, pa, pb, bf16(32, 32), f32(1, 32), number("1.")), f+mn, packed+smaller+128)
	wants(call("aiter::gemm_a4w4_asm", p, pw, pa, pb, y, text("kernel"), f32(1, 32)), f+mn, packed+smaller+128)
	wants(call("aiter::gemm_afp4wfp4_", p, pw, pa, pb, number("15"), y, none, no), f, packed+smaller)

	wants(call("aiter::batched_gemm_a8w8", i8(3, 16, 64), i8(3, 32, 64), f32(3, 16, 1), f32(3, 1, 32), bf16(3, 16, 32), bf16(3, 1, 32), zero),
		3*(f+mn), 3*(narrow+scales+64))
	wants(call("aiter::batched_gemm_bf16", bf16(3, 16, 64), bf16(3, 32, 64), bf16(3, 16, 32), none, zero), 3*f, 3*wide)
	wants(call("aiter::hipb_mm", x, bf16(64, 32), zero, bf16(32), number("6"), none, none, none, no), f+mn, wide+2*mn+64)
	wants(call("aiter::hipb_mm", fp8(16, 64), fp8(64, 32), zero, none, number("15"), f32(1), f32(1), none), f, narrow)
	wants(call("aiter::rocb_mm", x, bf16(64, 32), zero), f, wide)
	wants(call("aiter::wvSpltK", w, x, y, number("16"), number("304")), f, wide)
	wants(call("aiter::wvSplitKQ", fp8(32, 64), fp8(16, 64), y, f32(1), f32(1), number("304")), f, narrow)
	return rows
}

// expertRows are the products of experts of aiter: 16 tokens of 64, two of 8 experts each, 48 wide.
func expertRows() (rows []worked) {
	wants := func(c *perfmodel.Call, flops, bytes int64) {
		rows = append(rows, worked{call: c, flops: flops, bytes: bytes})
	}
	ints := func(dims ...int64) trace.Arg { return tensor("int", dims...) }
	const (
		routed    = 16 * 2
		plain     = 2 * routed * 64 * (48 + 48)
		gated     = 2 * routed * 64 * (96 + 48)
		upWeights = 8 * 96 * 64
		weights   = 8 * 64 * (96 + 48)
	)
	out, two := bf16(16, 64), number("2")
	ids := []trace.Arg{ints(272), f32(272), ints(17), ints(1), two}
	fmoe := func(name string, operands []trace.Arg, more ...trace.Arg) *perfmodel.Call {
		return call("aiter::"+name, slices.Concat([]trace.Arg{out}, operands, ids, more)...)
	}
	up, down := fp8(8, 96, 64), fp8(8, 64, 48)
	wants(fmoe("fmoe", []trace.Arg{bf16(16, 64), bf16(8, 48, 64), bf16(8, 64, 48)}, number("0")), plain,
		2*(2*16*64+8*64*(48+48)))
	wants(fmoe("fmoe_g1u1", []trace.Arg{fp8(16, 64), up, down}, f32(16, 1), f32(8, 96), f32(8, 64), absent, number("0")), gated,
		16*64+2*16*64+weights+4*(16+8*96+8*64))
	wants(fmoe("fmoe_g1u1_tkw1", []trace.Arg{fp8(16, 64), up, down}, f32(16, 1), f32(8, 96), f32(8, 64), absent, number("0")), gated,
		16*64+2*16*64+weights+4*(16+8*96+8*64))
	wants(fmoe("fmoe_fp8_blockscale_g1u1", []trace.Arg{fp8(16, 64), up, down}, f32(1, 16), f32(8, 1), f32(8, 1), text(""), number("128"),
		number("128"), absent, number("0")), gated, 16*64+2*16*64+weights+4*(16+8+8))
	wants(fmoe("fmoe_int8_g1u0", []trace.Arg{i8(32, 64), i8(8, 48, 64), i8(8, 64, 48)}, f32(32, 1), f32(8, 48), f32(8, 64), f32(8, 48)),
		plain, 32*64+2*16*64+8*64*(48+48)+4*(32+8*48+8*64+8*48))
	wants(fmoe("fmoe_g1u1_a16", []trace.Arg{bf16(16, 64), i8(8, 96, 64), i8(8, 64, 48)}, f32(8, 96), f32(8, 64), f32(8, 64), f32(8, 48)),
		gated, 2*2*16*64+weights+4*(8*96+8*64+8*64+8*48))
	sorted := []trace.Arg{ints(272), ints(17), ints(1)}
	stage := func(name string, operands []trace.Arg, more ...trace.Arg) *perfmodel.Call {
		return call("aiter::"+name, slices.Concat(operands, sorted, more)...)
	}
	wants(stage("ck_moe_stage1", []trace.Arg{fp8(16, 64), up, down}, bf16(16, 2, 48), two, text(""), f32(8, 96), f32(16, 1), number("32"),
		absent), 2*routed*64*96, 16*64+upWeights+4*(8*96+16)+2*routed*48)
	wants(stage("moe_stage1_g1u1", []trace.Arg{fp8(16, 64), up, down}, bf16(16, 2, 48), number("48"), text(""), number("32"), number("0"),
		number("0"), number("0"), f32(16, 1), f32(8, 96), absent), 2*routed*64*96, 16*64+upWeights+4*(8*96+16)+2*routed*48)
	wants(stage("ck_moe_stage2", []trace.Arg{fp8(16, 2, 48), up, down}, out, two, text(""), f32(8, 64), f32(32, 1), number("32"), f32(272)),
		2*routed*48*64, routed*48+8*64*48+4*(8*64+32+272)+2*16*64)
	return rows
}
