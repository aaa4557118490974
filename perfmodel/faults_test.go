package perfmodel_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/ditlens/ditlens/hw"
	"github.com/ditlens/ditlens/perfmodel"
	"github.com/ditlens/ditlens/perfmodel/perfmodeltest"
	"github.com/ditlens/ditlens/trace"
)

// Each case is a fault that tools of the field have had.

func wants(t *testing.T, c *perfmodel.Call, flops, bytes int64) perfmodel.Work {
	t.Helper()
	w := work(t, c)
	if w.FLOPs() != flops {
		t.Errorf("%s: FLOPs = %d, want %d", c.Name, w.FLOPs(), flops)
	}
	if w.Bytes != bytes {
		t.Errorf("%s: Bytes = %d, want %d", c.Name, w.Bytes, bytes)
	}
	perfmodeltest.Run(t, models.Lookup(c), c)
	return w
}

// refused asserts that a call has no work for want of something that is named.
func refused(t *testing.T, c *perfmodel.Call, what string) {
	t.Helper()
	m := models.Lookup(c)
	if m == nil {
		t.Fatalf("no model for %s", c.Name)
	}
	_, err := m.Work(c)
	var e *perfmodel.MissingError
	if !errors.As(err, &e) || !strings.Contains(e.What, what) || e.Op != c.Name {
		t.Errorf("%s: error %v, want one that names %q", c.Name, err, what)
	}
}

// BL-60: the outer of nested operators can leave its work to the inner ones.
func TestBL60WrappersSayThatTheyAre(t *testing.T) {
	for op, want := range map[string]bool{
		"aten::scaled_dot_product_attention": true, "aten::_scaled_dot_product_flash_attention": false,
		"aten::_flash_attention_forward": false,
		"aten::linear":                   true, "aten::addmm": false, "aten::matmul": true, "aten::conv2d": true,
		"aten::convolution": false,
	} {
		if got := models.Lookup(&perfmodel.Call{Name: op}).Info().Wrapper; got != want {
			t.Errorf("%s: Wrapper = %v, want %v", op, got, want)
		}
	}
}

// BL-61: the order of heads and tokens differs between operators.
func TestBL61HeadOrder(t *testing.T) {
	tokensFirst := []trace.Arg{bf16(1, 4096, 24, 128), bf16(1, 4096, 24, 128), bf16(1, 4096, 24, 128)}
	headsFirst := []trace.Arg{bf16(1, 24, 4096, 128), bf16(1, 24, 4096, 128), bf16(1, 24, 4096, 128)}
	for op, args := range map[string][]trace.Arg{
		"aten::_flash_attention_forward": tokensFirst, "aten::_efficient_attention_forward": tokensFirst,
		"aiter::fmha_v3_fwd": tokensFirst,
		"aiter::mha_fwd":     tokensFirst, "flash_attn::_flash_attn_forward": tokensFirst, "flash_attn_3::fwd": tokensFirst,
		"xformers_flash::flash_fwd": tokensFirst, "xfuser::flydsl_attn_kernel": tokensFirst,
		"aten::scaled_dot_product_attention": headsFirst, "aten::_scaled_dot_product_flash_attention": headsFirst,
		"aten::_scaled_dot_product_efficient_attention": headsFirst,
		"aten::_scaled_dot_product_cudnn_attention":     headsFirst,
		"aten::_cudnn_attention_forward":                headsFirst, "xfuser::flex_block_attn": headsFirst,
	} {
		wants(t, call(op, args...), 206_158_430_208, 4*25_165_824)
	}
}

// BL-62: operations follow the heads of the query, traffic those of key and value.
func TestBL62GroupedQueries(t *testing.T) {
	wants(t, call("aten::_scaled_dot_product_flash_attention", bf16(1, 32, 1024, 128), bf16(1, 8, 1024, 128),
		bf16(1, 8, 1024, 128),
		number("0."), number("False")), 17_179_869_184, 20_971_520)
}

// BL-63: ragged batches have no batch dimension, and keys may be fewer than queries.
func TestBL63RaggedCrossAttention(t *testing.T) {
	lengths := tensor("int", 2)
	cu := func(n int64) trace.Arg { return tensor("int", n) }
	args := []trace.Arg{bf16(9419, 40, 128), bf16(257, 40, 128), bf16(257, 40, 128), lengths, lengths, number("9419"),
		number("257"),
		number("0"), number("0."), number("0.088"), number("0."), number("False"), number("False")}
	bytes := int64(2 * 40 * 128 * (2*9419 + 2*257))
	for _, op := range []string{"aiter::fmha_v3_varlen_fwd", "aiter::mha_varlen_fwd",
		"aiter::wrapper_fmha_v3_varlen_fwd"} {
		w := wants(t, call(op, args...), 49_575_587_840, bytes)
		if w.Category != perfmodel.CrossAttention || w.Certainty != perfmodel.Exact {
			t.Errorf("%s: %s, %v", op, w.Category, w.Certainty)
		}
	}
	shifted := append([]trace.Arg{bf16(9419, 40, 128)}, args...)
	wants(t, call("aiter::wrapper_fmha_v3_varlen_fwd", shifted...), 49_575_587_840, bytes)

	even := call("flash_attn::_flash_attn_varlen_forward", bf16(2000, 4, 64), bf16(1000, 4, 64), bf16(1000, 4, 64),
		cu(3), cu(3),
		number("1000"), number("500"), number("0."), number("0.125"), number("False"))
	if w := wants(t, even, 2*4*2*1000*500*128, 2*4*64*6000); w.Certainty != perfmodel.Exact {
		t.Errorf("equal sequences: %v (%s)", w.Certainty, w.Why)
	}
	uneven := call("flash_attn::_flash_attn_varlen_forward", bf16(2000, 4, 64), bf16(1000, 4, 64), bf16(1000, 4, 64),
		cu(4), cu(4),
		number("1200"), number("600"), number("0."), number("0.125"), number("False"))
	if w := wants(t, uneven, 2*4*(1200*600+2*400*200)*128, 2*4*64*6000); w.Certainty != perfmodel.Estimated {
		t.Errorf("unequal sequences: %v (%s)", w.Certainty, w.Why)
	} else if !strings.Contains(w.Why, "between 681302016 ") || !strings.Contains(w.Why, "and 2048000000 ") {
		t.Errorf("no range in %q", w.Why)
	}
}

// BL-64: a causal mask leaves the exact triangle; where that is not recorded all pairs count, and the work says so.
func TestBL64Causal(t *testing.T) {
	q := bf16(1, 20, 77, 64)
	sdpa := func(op string, q, k trace.Arg, more ...trace.Arg) *perfmodel.Call {
		return call(op, append([]trace.Arg{q, k, k}, more...)...)
	}
	const flash, efficient, aiter = "aten::_scaled_dot_product_flash_attention", "aten::_efficient_attention_forward",
		"aiter::mha_fwd"
	none7 := []trace.Arg{absent, absent, absent, absent, absent, number("0.")}
	rowsOf := func(q, k int64) int64 { return 4 * 20 * 64 * q * k }
	for _, tt := range []struct {
		name  string
		call  *perfmodel.Call
		flops int64
		want  perfmodel.Certainty
	}{
		{"triangle", sdpa(flash, q, q, number("0."), number("True")), 15_375_360, perfmodel.Exact},
		{"full", sdpa(flash, q, q, number("0."), number("False")), 30_356_480, perfmodel.Exact},
		{"not recorded", sdpa(flash, q, q, number(""), number("")), 30_356_480, perfmodel.UpperBound},
		{"top left, more keys", sdpa(flash, q, bf16(1, 20, 100, 64), number("0."), number("True")),
			rowsOf(1, 77*78/2), perfmodel.Exact},
		{"top left, fewer keys", sdpa(flash, q, bf16(1, 20, 10, 64), number("0."), number("True")),
			rowsOf(1, 55+67*10), perfmodel.Exact},
		{"mask type 0", sdpa(efficient, bf16(1, 77, 20, 64), bf16(1, 100, 20, 64), append(none7, number("0"))...),
			rowsOf(77, 100), perfmodel.Exact},
		{"mask type 1", sdpa(efficient, bf16(1, 77, 20, 64), bf16(1, 100, 20, 64), append(none7, number("1"))...),
			rowsOf(1, 77*78/2), perfmodel.Exact},
		{"mask type 2", sdpa(efficient, bf16(1, 77, 20, 64), bf16(1, 100, 20, 64), append(none7, number("2"))...),
			rowsOf(1, 77*100-77*76/2), perfmodel.Exact},
		{"bottom right", sdpa(aiter, bf16(1, 77, 20, 64), bf16(1, 100, 20, 64), number("0."), number("1."),
			number("True"), number("-1"), number("-1")),
			rowsOf(1, 77*100-77*76/2), perfmodel.Exact},
		{"decode", sdpa(aiter, bf16(1, 1, 20, 64), bf16(1, 100, 20, 64), number("0."), number("1."), number("True"),
			number("-1"), number("0")),
			rowsOf(1, 100), perfmodel.Exact},
		{"varlen, earlier order", call("aiter::mha_varlen_fwd", bf16(77, 20, 64), bf16(77, 20, 64), bf16(77, 20, 64),
			tensor("int", 2), tensor("int", 2),
			number("77"), number("77"), number("0."), number("1."), number("False"), number("True"), number("-1"),
			number("-1")), 15_375_360, perfmodel.Exact},
		{"window", sdpa(aiter, bf16(1, 100, 20, 64), bf16(1, 100, 20, 64), number("0."), number("1."),
			number("False"), number("2"), number("1")),
			rowsOf(1, 100*4-(2+1)-1), perfmodel.Exact},
	} {
		w := work(t, tt.call)
		if w.FLOPs() != tt.flops || w.Certainty != tt.want {
			t.Errorf("%s: %d FLOPs, %v; want %d, %v", tt.name, w.FLOPs(), w.Certainty, tt.flops, tt.want)
		}
	}
}

// BL-66: operands and result may differ in size.
func TestBL66MixedTypes(t *testing.T) {
	a, b := fp8(4096, 3072), strided(fp8(3072, 12288), 1, 3072)
	w := wants(t, call("aten::_scaled_mm", a, b, f32(1), f32(1)), 309_237_645_312, 150_994_944)
	if w.Certainty != perfmodel.Estimated || w.Compute[0].Type != hw.FP8 {
		t.Errorf("result type assumed: %v, %+v", w.Certainty, w.Compute[0])
	}
	full := func(code string, scales ...trace.Arg) *perfmodel.Call {
		return call("aten::_scaled_mm", a, b, scales[0], scales[1], bf16(12288), absent, number(code), number("False"))
	}
	const product, bias, n = 309_237_645_312, 4096 * 12288, 4096 * 12288
	wants(t, full("15", f32(1), f32(1)), product+bias, 50_331_648+2*12288+2*n)
	wants(t, full("6", f32(1), f32(1)), product+bias, 50_331_648+2*12288+4*n)
	wants(t, full("", f32(1), f32(1)), product+bias, 50_331_648+2*12288+n)
	wants(t, full("15", f32(4096, 1), f32(1, 12288)), product+bias, 50_331_648+2*12288+2*n+4*(4096+12288))
	wants(t, call("aten::_int_mm", i8(64, 128), i8(128, 32)), 2*64*128*32, 64*128+128*32+4*64*32)
	wants(t, call("aten::scaled_dot_product_attention", fp8(1, 2, 64, 32), fp8(1, 2, 64, 32), fp8(1, 2, 64, 32),
		absent, number("0."), number("False")),
		4*2*64*64*32, 2*64*32*(3+2))
}

// BL-67: the type of the multiplicands decides the peak; no model may lack it.
func TestBL67PeakType(t *testing.T) {
	for want, q := range map[hw.DType]trace.Arg{hw.BF16: bf16(1, 7431, 24, 128), hw.FP8: fp8(1, 7431, 24, 128),
		hw.FP16: tensor("c10::Half", 1, 7431, 24, 128), hw.FP32: f32(1, 7431, 24, 128)} {
		w := work(t, call("aiter::fmha_v3_fwd", q, q, q, absent, number("0.1"), number("False")))
		if c := w.Compute[0]; c.FLOPs != 678_540_423_168 || c.Type != want || c.Unit != hw.Matrix {
			t.Errorf("%v: %+v", want, c)
		}
	}
	odd := tensor("c10::Foo", 1, 64, 2, 8)
	refused(t, call("aiter::fmha_v3_fwd", odd, odd, odd), `element type "c10::Foo"`)
}

// BL-68: groups, transposition and the third dimension.
func TestBL68Convolutions(t *testing.T) {
	tail := func(stride, padding, transposed, outPadding, groups string) []trace.Arg {
		return []trace.Arg{absent, list(stride), list(padding), list("[1, 1]"), number(transposed), list(outPadding),
			number(groups)}
	}
	conv := func(x, w trace.Arg, rest []trace.Arg) *perfmodel.Call {
		return call("aten::convolution", append([]trace.Arg{x, w}, rest...)...)
	}
	three := conv(bf16(1, 128, 19, 242, 242), bf16(128, 128, 3, 3, 3),
		[]trace.Arg{absent, list("[1, 1, 1]"), list("[0, 0, 0]"), list("[1, 1, 1]"),
			number("False"), list("[0, 0, 0]"), number("1")})
	wants(t, three, 866_333_491_200, 536_415_232)
	deep := wants(t, conv(bf16(1, 256, 64, 64), bf16(256, 1, 3, 3),
		tail("[1, 1]", "[1, 1]", "False", "[0, 0]", "256")), 18_874_368, 2*(2*1_048_576+2304))
	if deep.Compute[0].Unit != hw.Vector {
		t.Errorf("depthwise convolution on unit %v", deep.Compute[0].Unit)
	}
	wants(t, conv(bf16(1, 512, 128, 128), bf16(512, 256, 3, 3), tail("[2, 2]", "[1, 1]", "True", "[1, 1]", "1")),
		38_654_705_664,
		2*(512*128*128+512*256*9+256*256*256))
	wants(t, call("aten::_conv_depthwise2d", bf16(1, 256, 64, 64), bf16(256, 1, 3, 3), list("[3, 3]"), absent, list("[1, 1]"), list("[1, 1]"),
		list("[1, 1]")), 18_874_368, 2*(2*1_048_576+2304))
	// Grouped and transposed: the weight holds the outputs of one group.
	wants(t, conv(bf16(1, 64, 8, 8), bf16(64, 16, 2, 2), tail("[2]", "[0]", "True", "[0]", "4")), 2*64*64*16*4,
		2*(64*64+64*16*4+64*256))
	// A stride beyond the kernel leaves half of each dimension unread.
	wants(t, conv(bf16(1, 8, 16, 16), bf16(8, 8, 1, 1), tail("[2, 2]", "[0, 0]", "False", "[0, 0]", "1")), 2*8*64*8,
		2*(8*64+64+8*64))
	// Padding in words, and orders of other backends.
	same := call("aten::conv2d", bf16(1, 8, 16, 16), bf16(8, 8, 3, 3), absent, list("[1, 1]"), text("same"),
		list("[1, 1]"), number("1"))
	wants(t, same, 2*8*256*8*9, 2*(2*8*256+8*8*9))
	cudnn := call("aten::cudnn_convolution", bf16(1, 8, 16, 16), bf16(8, 8, 3, 3), list("[1, 1]"), list("[1, 1]"),
		list("[1, 1]"), number("1"))
	wants(t, cudnn, 2*8*256*8*9, 2*(2*8*256+8*8*9))
	refused(t, conv(bf16(1, 8, 2, 2), bf16(8, 8, 3, 3), tail("[1, 1]", "[0, 0]", "False", "[0, 0]", "1")), "kernel")
	refused(t, conv(bf16(1, 9, 8, 8), bf16(8, 8, 3, 3), tail("[1, 1]", "[0, 0]", "False", "[0, 0]", "1")), "channels")
	refused(t, call("aten::convolution", bf16(1, 8, 8, 8), bf16(8, 8, 3, 3)), "stride")
}

// One convolution through every operator that can do it, and one transposed.
func convRows() (rows []worked) {
	x, w, b := bf16(1, 8, 16, 16), bf16(4, 8, 3, 3), bf16(4)
	one, zero, no, size := list("[1, 1]"), list("[0, 0]"), number("False"), list("[3, 3]")
	g := number("1")
	const taps, outs = 2 * 256 * 4 * 8 * 9, 256 * 4
	const moved = 2 * (8*256 + 4*8*9 + outs)
	add := func(flops, bytes int64, name string, args ...trace.Arg) {
		rows = append(rows, worked{call: call(name, args...), flops: flops, bytes: bytes})
	}
	add(taps+outs, moved+8, "aten::convolution", x, w, b, one, one, one, no, zero, g)
	add(taps+outs, moved+8, "aten::_convolution", x, w, b, one, one, one, no, zero, g, no, no, no, no)
	add(taps+outs, moved+8, "aten::conv2d", x, w, b, one, one, one, g)
	add(taps+outs, moved+8, "aten::miopen_convolution", x, w, b, one, one, one, g, no, no)
	add(taps, moved, "aten::cudnn_convolution", x, w, one, one, one, g, no, no, no)
	add(taps+outs, moved+8, "aten::cudnn_convolution_relu", x, w, b, one, one, one, g)
	add(taps+outs, moved+8, "aten::_slow_conv2d_forward", x, w, size, b, one, one)
	add(taps+outs, moved+8, "aten::_conv_depthwise2d", x, w, size, b, one, one, one)
	wT := bf16(8, 4, 3, 3)
	add(taps+outs, moved+8, "aten::convolution", x, wT, b, one, one, one, number("True"), zero, g)
	add(taps+outs, moved+8, "aten::conv_transpose2d", x, wT, b, one, one, zero, g, one)
	add(taps+outs, moved+8, "aten::miopen_convolution_transpose", x, wT, b, one, zero, one, one, g, no, no)
	add(taps, moved, "aten::cudnn_convolution_transpose", x, wT, one, zero, one, one, g, no, no, no)
	add(taps+outs, moved+8, "aten::slow_conv_transpose2d", x, wT, size, b, one, one, zero, one)
	return rows
}

func TestConvolutionOfBackends(t *testing.T) {
	for _, row := range convRows() {
		wants(t, row.call, row.flops, row.bytes)
	}
}

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
	wants(t, call("aten::bmm", f32(3, 4, 8), strided(f32(3, 8, 5), 0, 5, 1)), 960, 4*(96+40+60))
	wants(t, call("aten::baddbmm", f32(4, 5), f32(3, 4, 8), f32(3, 8, 5), number("1"), number("1")), 960+60,
		4*(20+96+120+60))
	wants(t, call("aten::_addmm_activation", f32(5), f32(4, 8), f32(8, 5), number("1"), number("1"), number("True")),
		320+20+160, 4*(5+32+40+20))
	wants(t, call("aten::_addmm_activation", f32(5), f32(4, 8), f32(8, 5), number("1"), number("1"), number("False")),
		320+20+20, 4*(5+32+40+20))
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
	wants(call("aiter::gemm_a16w16", bf16(16, 64), bf16(32, 64), bf16(32)), f+16*32, 2*(16*64+32*64+32+16*32))
	wants(call("aiter::_gemm_a16w16_asm", bf16(16, 64), bf16(32, 64), f32(16, 32)), f, 2*(16*64+32*64)+4*16*32)
	wants(call("aiter::gemm_a8w8_blockscale_ck", fp8(16, 64), fp8(32, 64), f32(16, 2), f32(2, 1)), f,
		16*64+32*64+4*(32+2)+2*16*32)
	wants(call("aiter::gemm_a8w8_ck", i8(16, 64), i8(32, 64), f32(16, 1), f32(1, 32), bf16(16, 32)), f, 16*64+32*64+4*48+2*16*32)
	wants(call("aiter::gemm_a8w8", i8(16, 64), i8(32, 64), f32(16, 1), f32(1, 32), bf16(32)), f+16*32, 16*64+32*64+4*48+64+2*16*32)
	wants(call("aiter::gemm_a4w4", tensor("c10::Float4_e2m1fn_x2", 16, 32), tensor("c10::Float4_e2m1fn_x2", 32, 32),
		tensor("c10::Float8_e8m0fnu", 16, 2), tensor("c10::Float8_e8m0fnu", 32, 2)), f, 16*32+32*32+32+64+2*16*32)
	wants(call("aiter::hipb_mm", bf16(16, 64), bf16(64, 32)), f, 2*(16*64+64*32+16*32))
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
	wants(primus(fp8(16, 64), fp8(32, 64), flags("False", "True", "True")), f, 16*64+32*64+2*16*32)
	wants(call("aten::_weight_int8pack_mm", bf16(16, 64), i8(32, 64), bf16(32)), f, 2*16*64+32*64+64+2*16*32)
	wants(call("bitsandbytes::gemv_4bit", bf16(1, 64), tensor("unsigned char", 1024, 1), list("[32, 64]"), f32(32),
		f32(16), number("64")),
		2*64*32, 128+1024+128+64)
	fmoe := call("aiter::fmoe", bf16(16, 64), bf16(16, 64), bf16(8, 32, 64), bf16(8, 64, 16), absent, absent, absent,
		absent, number("2"))
	wants(fmoe, 2*32*64*(32+16), 2*(16*64*2+8*(32*64+64*16)))
	moe := call("aiter::ck_moe_stage1", bf16(16, 64), bf16(8, 32, 64), bf16(8, 64, 16), tensor("int", 40),
		tensor("int", 8), tensor("int", 1),
		bf16(16, 2, 32), number("2"))
	wants(moe, 2*32*64*32, 2*(16*64+8*32*64+32*32))
	newer := make([]trace.Arg, 24)
	newer[0], newer[3], newer[5], newer[6], newer[11], newer[12] = te[0], te[3], te[4], te[5], te[9], te[10]
	wants(call("tex_ts::te_gemm_ts", newer...), f, 16*64+32*64+2*16*32)
	wants(call("aten::_weight_int4pack_mm", bf16(16, 64), tensor("int", 4, 1, 32, 4), number("32"), bf16(2, 32, 2)),
		f, 2*16*64+4*4*32*4+2*2*32*2+2*16*32)
	wants(call("aiter::gemm_a16w16_atomic_", bf16(16, 64), bf16(32, 64), absent, f32(16, 32)), f, 2*(16*64+32*64)+4*16*32)
	wants(call("aiter::batched_gemm_a8w8", i8(2, 16, 64), i8(2, 32, 64), f32(2, 16, 1), f32(2, 1, 32)), 2*f, 2*(16*64+32*64+4*48+2*16*32))
	wants(call("aiter::batched_gemm_bf16", bf16(2, 16, 64), bf16(2, 32, 64)), 2*f, 2*2*(16*64+32*64+16*32))
	wants(call("aiter::ck_moe_stage2", bf16(16, 2, 64), bf16(8, 128, 32), bf16(8, 32, 64), tensor("int", 40), tensor("int", 8), tensor("int", 1),
		bf16(16, 32), number("2")), 2*32*64*32, 2*(32*64+8*32*64+32*32))
	wants(call("aten::_grouped_mm", bf16(16, 64), bf16(8, 64, 32), tensor("int", 8)), f, 2*(16*64+8*64*32+16*32))
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

// BL-72: compiled kernels have a memory roof by their own arguments; without them they are named, never dropped.
func TestBL72CompiledKernels(t *testing.T) {
	x := []trace.Arg{bf16(1, 4096, 3072), bf16(3072), bf16(1, 4096, 3072), number("12582912")}
	w := work(t, fused("triton_poi_fused_add_mul_0", "XBLOCK=1024", x...))
	if w.Bytes != 50_337_792 || w.Certainty != perfmodel.LowerBound {
		t.Errorf("%d bytes, %v", w.Bytes, w.Certainty)
	}
	if w := wants(t, call("triton_poi_fused_add_mul_0", x[:3]...), 0, 50_337_792); w.Certainty != perfmodel.Estimated {
		t.Errorf("without iteration space: %v", w.Certainty)
	}
	older := call("triton_poi_fused_add_cos_sin_0", f32(10, 10), f32(10, 10), f32(10, 10), number("100"))
	older.Inputs.Extra = map[string]string{"grid": "grid(100,)", "kernel_backend": "triton"}
	wants(t, older, 900, 1200)
	wants(t, call("triton_tem_fused_mm_3", bf16(64, 128), bf16(128, 32), bf16(64, 32)), 2*64*128*32,
		2*(64*128+128*32+64*32))
	refused(t, call("triton_tem_fused_flex_attention_3", bf16(1, 8, 64, 64)), "operands")
	refused(t, &perfmodel.Call{Name: "triton_poi_fused_add_mul_0"}, "arguments")
	refused(t, fused("triton_poi_fused_add_mul_0", "XBLOCK=1024", bf16(8), absent), "sizes")
	unnamed := work(t, fused("triton_12", "XBLOCK=1024", x...))
	if unnamed.Bytes != 50_337_792 || unnamed.Category != perfmodel.Triton || unnamed.FLOPs() != 0 {
		t.Errorf("without a name: %+v", unnamed)
	}
}

// BL-74: what the biggest rows are.
func TestBL74Categories(t *testing.T) {
	for name, want := range map[string]perfmodel.Category{
		"triton_red_fused_add_addmm_mul_native_layer_norm_split_unsqueeze_view_16":                                                  perfmodel.Modulation,
		"triton_poi_fused_add_addmm_cat_mul_slice_split_unsqueeze_view_28":                                                          perfmodel.Modulation,
		"triton_red_fused__to_copy_add_addmm_as_strided_fmha_v3_fwd_mean_mul_neg_pow_rsqrt_stack_unbind_unsqueeze_view_24":          perfmodel.Rope,
		"triton_poi_fused__to_copy_add_cat_fmha_v3_fwd_mul_neg_stack_unbind_unsqueeze_view_13":                                      perfmodel.Rope,
		"triton_per_fused__to_copy_add_addmm_mean_mul_pow_rsqrt_transpose_view_8":                                                   perfmodel.Norm,
		"triton_per_fused__to_copy_addmm_mean_pow_view_7":                                                                           perfmodel.Norm,
		"triton_red_fused_native_layer_norm_1":                                                                                      perfmodel.Norm,
		"triton_per_fused__to_copy_abs_add_amax_cat_div_empty_like_mean_mul_neg_stack_sub_transpose_unbind_unsqueeze_view_zeros_16": perfmodel.Quantize,
		"triton_poi_fused__to_copy_div_empty_like_zeros_20":                                                                         perfmodel.Quantize,
		"triton_poi_fused_cat_clone_fmha_v3_fwd_permute_transpose_view_8":                                                           perfmodel.Copy,
		"triton_poi_fused__scaled_dot_product_flash_attention_cat_transpose_view_10":                                                perfmodel.Copy,
		"triton_poi_fused__unsafe_view_clone_slice_transpose_11":                                                                    perfmodel.Copy,
		"triton_poi_fused_addmm_gelu_view_15":                                                                                       perfmodel.Elementwise,
		"triton_poi_fused_addmm_silu_2":                                                                                             perfmodel.Elementwise,
		"triton_red_fused__unsafe_view_add_addmm_clone_convolution_mul_native_layer_norm_slice_split_transpose_unsqueeze_view_12":   perfmodel.Elementwise,
		"triton_poi_fused__to_copy_arange_cat_cos_div_exp_mul_sin_split_unsqueeze_0":                                                perfmodel.Elementwise,
		"triton_poi_fused_add_addmm_17":                                                                                             perfmodel.Triton,
		"triton_red_fused__to_copy_mul_sum_unsqueeze_5":                                                                             perfmodel.Triton,
		"triton_poi_fused_cat_clone_expand_sin_unsqueeze_view_16":                                                                   perfmodel.Triton,
	} {
		sizes := map[string][]trace.Arg{"poi": {number("64")}, "red": {number("8"), number("8")},
			"per": {number("8"), number("8")}}
		blocks := map[string]string{"poi": "XBLOCK=8", "red": "XBLOCK=8,R0_BLOCK=8", "per": "XBLOCK=8"}
		kind := name[len("triton_"):][:3]
		w := work(t, fused(name, blocks[kind], append([]trace.Arg{bf16(8, 8), bf16(8, 8)}, sizes[kind]...)...))
		if w.Category != want || (w.Kind == "") != (want == perfmodel.Triton) {
			t.Errorf("%s: %s (%s), want %s", name, w.Category, w.Kind, want)
		}
	}
	q := bf16(1, 4096, 24, 128)
	if w := work(t, call("aten::_flash_attention_forward", q, q, q)); w.Category != perfmodel.Attention {
		t.Errorf("_flash_attention_forward: %s", w.Category)
	}
}

// BL-75: what the profiler estimated is no argument of a model.
func TestBL75ProfilerFLOPs(t *testing.T) {
	c := call("aten::sub", f32(4, 8), f32(4, 8), number("1"))
	c.Inputs.Extra = map[string]string{"flops": "6"}
	wants(t, c, 32, 3*128)
}

// BL-77: element types in the profiler's words.
func TestBL77ElementTypes(t *testing.T) {
	for typ, size := range map[string]int64{
		"c10::BFloat16": 2, "c10::Half": 2, "float": 4, "double": 8, "int": 4, "long int": 8, "long": 8,
		"short int": 2, "bool": 1,
		"unsigned char": 1, "signed char": 1, "c10::Float8_e4m3fn": 1, "c10::Float8_e4m3fnuz": 1, "c10::Float8_e5m2": 1,
		"c10::Float8_e5m2fnuz": 1, "c10::Float8_e8m0fnu": 1, "c10::Float4_e2m1fn_x2": 1, "c10::complex<float>": 8,
		"c10::complex<double>": 16,
		"C10::BFLOAT16":        2, "unsigned int": 4, "unsigned long": 8, "unsigned short": 2,
	} {
		if w := work(t, call("aten::fill_", tensor(typ, 3, 5), number("0"))); w.Bytes != 15*size {
			t.Errorf("%s: %d bytes an element, want %d", typ, w.Bytes/15, size)
		}
	}
	for _, typ := range []string{"", "Scalar", "ScalarList", "c10::Foo", "TensorList", "c10::Float"} {
		refused(t, call("aten::fill_", tensor(typ, 3, 5), number("0")), "argument 0")
	}
}
