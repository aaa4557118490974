package perfmodel_test

import (
	"testing"

	"github.com/ditlens/ditlens/hw"
	"github.com/ditlens/ditlens/perfmodel"
	"github.com/ditlens/ditlens/trace"
)

// BL-60: the outer of nested operators can leave its work to the inner ones.
func TestBL60WrappersSayThatTheyAre(t *testing.T) {
	for op, want := range map[string]bool{
		"aten::scaled_dot_product_attention": true, "aten::_scaled_dot_product_flash_attention": false,
		"aten::_flash_attention_forward": false,
		"aten::linear":                   true, "aten::addmm": false, "aten::matmul": true, "aten::conv2d": true,
		"aten::convolution": false, "mylib::mxfp4_gemm": true, "mylib::fp8_blockscale_gemm": true, "aiter::gemm_a4w4": false,
		"aten::_grouped_mm": true, "bitsandbytes::gemm_4bit": true, "aiter::per_token_quant_hip": true,
	} {
		if got := models.Lookup(&perfmodel.Call{Name: op}).Info().Wrapper; got != want {
			t.Errorf("%s: Wrapper = %v, want %v", op, got, want)
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
