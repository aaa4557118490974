package perfmodel_test

import (
	"testing"
	"time"

	"github.com/ditlens/ditlens/internal/realtraces"
	"github.com/ditlens/ditlens/perfmodel"
	"github.com/ditlens/ditlens/trace"
)

func TestClassifyKernels(t *testing.T) {
	for _, test := range []struct {
		kernel   string
		category perfmodel.Category
		kind     string
	}{
		{"Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT256x224x64_MI16x16x1_SN", perfmodel.GEMM, ""},
		{"Custom_Cijk_Alik_Bljk_HHS", perfmodel.GEMM, ""},
		{"sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_warpgroupsize1x1x1", perfmodel.GEMM, ""},
		{"nvjet_tst_64x64_64x16_2x1_2cta_v_bz_bias_TNT", perfmodel.GEMM, ""},
		{"void cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_128x64_64x6_tn_align8>", perfmodel.GEMM, ""},
		{"void cublasLt::splitKreduce_kernel<32, 16, int, float>", perfmodel.GEMM, "split-K"},
		{"attn_fwd", perfmodel.Attention, ""},
		{"aiter::fmha_fwd_hd128_bf16_rtz", perfmodel.Attention, ""},
		{"sage_fwd", perfmodel.Attention, ""},
		{"void pytorch_flash::flash_fwd_kernel<pytorch_flash::Flash_fwd_kernel_traits<64, 128, 128, 4>>", perfmodel.Attention, ""},
		{"fmhaSm100aKernel_QkvE4m3OBfloat16H64", perfmodel.Attention, ""},
		{"fmha_cutlassF_bf16_aligned_64x64_rf_sm80", perfmodel.Attention, ""},
		{"cudnn_generated_fort_native_sdpa_sm90_flash_fprop_wgmma_f16", perfmodel.Attention, ""},
		{"void paged_attention_ll4mi_QKV_mfma16_kernel<0, __hip_bfloat16>", perfmodel.Attention, ""},
		{"sage_quant_kernel", perfmodel.Quantize, ""},
		{"igemm_fwd_gtcx3_nhwc_bf16_bx0_ex1_bt128x128x32_wt32x32x8_gkgs", perfmodel.Conv, ""},
		{"_ZN2ck16tensor_operation6device12_GLOBAL__N_139kernel_grouped_conv_fwd_xdl_cshuffle_v3", perfmodel.Conv, ""},
		{"void cutlass__5x_cudnn::Kernel<cutlass_tensorop_bf16_s16816fprop_optimized_bf16_256x64_32x4_nhwc>", perfmodel.Conv, ""},
		{"sm80_xmma_fprop_implicit_gemm_bf16bf16_bf16f32", perfmodel.Conv, ""},
		{"batched_transpose_32x32_half", perfmodel.Conv, "layout conversion"},
		{"void cudnn::engines_precompiled::nchwToNhwcKernel<__nv_bfloat16>", perfmodel.Conv, "layout conversion"},
		{"Im2d2Col_v2", perfmodel.Conv, "im2col"},
		{"SubTensorOpWithCastTensor1d", perfmodel.Conv, "split-K"},
		{"void (anonymous namespace)::groupnorm_kernel_dispatch_up<__hip_bfloat16, 1024u>", perfmodel.Norm, ""},
		{"void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<c10::BFloat16, float, false>", perfmodel.Norm, ""},
		{"_ZN5aiter24add_rmsnorm_quant_kernelIDF16bDF16bLi256ELi16ELb1E", perfmodel.Norm, ""},
		{"rms_norm_fwd_kernel", perfmodel.Norm, ""},
		{"void (anonymous namespace)::softmax_warp_forward<float, float, float, 8, false, false>", perfmodel.Softmax, ""},
		{"void at::native::(anonymous namespace)::CatArrayBatchedCopy_contig<OpaqueType<2u>, unsigned int, 3>", perfmodel.Copy, "concatenation"},
		{"void at::native::(anonymous namespace)::replication_pad_forward_kernel3d<c10::BFloat16>", perfmodel.Copy, "padding"},
		{"void at::native::(anonymous namespace)::upsample_nearest2d_out_frame<c10::BFloat16>", perfmodel.Copy, "upsampling"},
		{"void at::native::vectorized_gather_kernel<16, long>(char*, char*)", perfmodel.Gather, ""},
		{"void rotary_embedding_kernel<c10::BFloat16, true>(long const*)", perfmodel.Rope, ""},
		{"void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float>>", perfmodel.Reduction, ""},
		{"void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float>>", perfmodel.Fill, ""},
		{"void at::native::elementwise_kernel_manual_unroll<128, 8, at::native::direct_copy_kernel_cuda>", perfmodel.Copy, ""},
		{"void at::native::vectorized_elementwise_kernel<8, at::native::CUDAFunctor_add<c10::BFloat16>>", perfmodel.Elementwise, ""},
		{"Memcpy HtoD (Host -> Device)", perfmodel.Memcpy, ""},
		{"__amd_rocclr_copyBuffer", perfmodel.Memcpy, ""},
		{"Memset (Device)", perfmodel.Fill, ""},
		{"ncclDevKernel_Generic_4", perfmodel.Communication, ""},
		{"void multimem_all_reduce_kernel<c10::BFloat16>", perfmodel.Communication, ""},
		{"aiter::allgather_lastdim", perfmodel.Communication, ""},
		{"some_kernel_of_mine", perfmodel.Other, ""},
		{"", perfmodel.Other, ""},
	} {
		c, kind := perfmodel.Classify("", test.kernel)
		if c != test.category || kind != test.kind {
			t.Errorf("%s: %s %q, want %s %q", test.kernel, c, kind, test.category, test.kind)
		}
	}
}

func TestClassifyCompiledKernels(t *testing.T) {
	for _, test := range []struct {
		tokens   string // between "triton_" and the number
		category perfmodel.Category
		kind     string
	}{
		{"poi_fused_arange_cat_cos_div_exp_mul_sin_unsqueeze_0", perfmodel.Elementwise, "sine and cosine table"},
		{"red_fused__unsafe_view_add_clone_convolution_native_layer_norm_slice_transpose_view_4", perfmodel.Elementwise, "patch-embedding epilogue"},
		{"red_fused_add_addmm_mul_native_layer_norm_split_unsqueeze_view_16", perfmodel.Modulation, "adaLN: gated residual, layer norm, modulate"},
		{"red_fused_add_mul_native_layer_norm_3", perfmodel.Modulation, "adaLN: layer norm, modulate"},
		{"red_fused_native_layer_norm_1", perfmodel.Norm, "layer-norm statistics"},
		{"red_fused_abs_amax_transpose_view_32", perfmodel.Quantize, "quantisation range"},
		{"per_fused__to_copy_abs_add_addmm_amax_div_mean_mul_pow_rsqrt_33", perfmodel.Quantize, "quantisation range"},
		{"poi_fused__to_copy_add_addmm_mean_mul_neg_pow_rsqrt_slice_stack_transpose_unbind_view_22", perfmodel.Rope, "q/k RMS norm and RoPE"},
		{"per_fused__to_copy_add_addmm_mean_mul_pow_rsqrt_transpose_view_8", perfmodel.Norm, "q/k RMS norm"},
		{"per_fused__to_copy_addmm_mean_pow_view_7", perfmodel.Norm, "RMS-norm statistics"},
		{"poi_fused__to_copy_add_cat_fmha_v3_fwd_mul_neg_stack_unbind_unsqueeze_view_13", perfmodel.Rope, "RoPE"},
		{"poi_fused_addmm_gelu_view_15", perfmodel.Elementwise, "bias and GELU of the MLP"},
		{"poi_fused_silu_29", perfmodel.Elementwise, "SiLU of the conditioning"},
		{"poi_fused__to_copy_div_empty_like_zeros_20", perfmodel.Quantize, "fill or quantisation buffers"},
		{"poi_fused_add_addmm_mul_split_unsqueeze_view_26", perfmodel.Modulation, "gated residual, modulate"},
		{"poi_fused_cat_clone_fmha_v3_fwd_permute_transpose_view_8", perfmodel.Copy, "layout copy"},
		{"poi_fused__scaled_dot_product_flash_attention_cat_transpose_view_10", perfmodel.Copy, "layout copy"},
		{"poi_fused__unsafe_view_clone_slice_transpose_11", perfmodel.Copy, "layout copy"},
		{"poi_fused_addmm_clone_permute_view_25", perfmodel.Triton, ""},
		{"tem_fused_addmm_3", perfmodel.GEMM, "compiled template"},
		{"tem_fused_flex_attention_0", perfmodel.Attention, "compiled template"},
		{"12", perfmodel.Triton, ""},
		{"", perfmodel.Triton, ""},
	} {
		name := "triton_" + test.tokens
		c, kind := perfmodel.Classify("", name)
		if c != test.category || kind != test.kind {
			t.Errorf("%s: %s %q, want %s %q", name, c, kind, test.category, test.kind)
		}
		if oc, ok := perfmodel.Classify(name, name); oc != c || ok != kind {
			t.Errorf("%s: differs as operator: %s %q", name, oc, ok)
		}
	}
}

func TestClassifyOperatorDecides(t *testing.T) {
	for _, test := range []struct {
		name, op, kernel string
		category         perfmodel.Category
	}{
		{"BL-74: the inner operator of an attention", "aten::_flash_attention_forward", "attn_fwd", perfmodel.Attention},
		{"a convolution by a GEMM kernel", "aten::miopen_convolution", "Cijk_Ailk_Bljk_BBS", perfmodel.Conv},
		{"an in-place operator with overload", "aten::add_.Tensor", "", perfmodel.Elementwise},
		{"a captured user kernel with its number", "sage_fwd_1", "sage_fwd", perfmodel.Attention},
		{"another namespace", "aiter::fmha_v3_fwd", "unknown", perfmodel.Attention},
		{"another namespace, GEMM", "aiter::gemm_a8w8_blockscale_ck", "unknown", perfmodel.GEMM},
		{"a group norm by its own name", "aiter::_groupnorm_run", "direct_copy_kernel_cuda", perfmodel.Norm},
		{"a region leaves it to the kernel", "Torch-Compiled Region: 0/0", "attn_fwd", perfmodel.Attention},
		{"an unknown operator leaves it to the kernel", "my::op", "Cijk_Ailk", perfmodel.GEMM},
		{"a collective", "c10d::allreduce_", "ncclDevKernel_Generic", perfmodel.Communication},
		{"its wrapper", "record_param_comms", "", perfmodel.Communication},
		{"nothing known", "my::op", "mystery", perfmodel.Other},
	} {
		t.Run(test.name, func(t *testing.T) {
			if c, _ := perfmodel.Classify(test.op, test.kernel); c != test.category {
				t.Errorf("Classify(%q, %q) = %s, want %s", test.op, test.kernel, c, test.category)
			}
		})
	}
}

// The categories of the models and of the classification are one: for each operator that a model names, and for each call of
// the real traces but those whose category depends on the arguments.
func TestClassifyAgreesWithModels(t *testing.T) {
	for _, e := range perfmodel.Default().All() {
		for _, op := range e.Ops {
			if c, _ := perfmodel.Classify(op, ""); c != e.Info.Category {
				t.Errorf("%s: %s, but model %s says %s", op, c, e.Info.Name, e.Info.Category)
			}
		}
	}
	for _, files := range [][2]string{{realtraces.SD35, ""}, {realtraces.Flux, realtraces.FluxCapture}} {
		for _, in := range perfmodel.Attribute(loadReal(t, files[0], files[1]), perfmodel.Default()) {
			if in.Call.Kind == trace.Memcpy || in.Call.Name == "aten::min" {
				continue
			}
			if c, _ := perfmodel.Classify(in.Call.Name, in.Call.Kernel); c != in.Work.Category {
				t.Errorf("%s: %s, but model %s says %s", in.Call.Name, c, in.Model, in.Work.Category)
			}
		}
	}
}

// Without operators, by the names of the kernels alone, next to nothing of the real traces is Other.
func TestClassifyKernelsOfRealTraces(t *testing.T) {
	for _, name := range []string{realtraces.SD35, realtraces.Flux, "other/h100_vit_classifier.json.gz", "other/llm_sglang_decode.json.gz"} {
		tr := loadReal(t, name, "")
		var total, other time.Duration
		for i := range tr.GPU {
			g := &tr.GPU[i]
			total += g.Dur
			if c, _ := perfmodel.Classify("", g.Name); c == perfmodel.Other {
				other += g.Dur
			}
		}
		if other*1000 > total*5 {
			t.Errorf("%s: %v of %v is %s", name, other, total, perfmodel.Other)
		}
	}
}

func TestKernelPart(t *testing.T) {
	for _, test := range []struct {
		op     perfmodel.Category
		kernel string
		want   perfmodel.Part
	}{
		{perfmodel.Conv, "igemm_fwd_gtcx3_nhwc_bf16", perfmodel.CorePart},
		{perfmodel.Conv, "Cijk_Ailk_Bljk_BBS", perfmodel.CorePart},
		{perfmodel.Conv, "batched_transpose_32x32_half", perfmodel.LayoutPart},
		{perfmodel.Conv, "at::native::elementwise_kernel_manual_unroll CUDAFunctor_add", perfmodel.BiasPart},
		{perfmodel.Conv, "Im2d2Col_v2", perfmodel.Im2colPart},
		{perfmodel.Conv, "SubTensorOpWithScalar1d", perfmodel.SplitKPart},
		{perfmodel.Conv, "Memset (Device)", perfmodel.SplitKPart},
		{perfmodel.Conv, "unknown", perfmodel.CorePart},
		{perfmodel.GEMM, "Cijk_Alik", perfmodel.CorePart},
		{perfmodel.GEMM, "splitKreduce_kernel", perfmodel.SplitKPart},
		{perfmodel.GEMM, "at::native::elementwise_kernel direct_copy_kernel_cuda", perfmodel.LayoutPart},
		{perfmodel.Attention, "attn_fwd", perfmodel.CorePart},
		{perfmodel.Attention, "vectorized_elementwise_kernel FillFunctor", perfmodel.FillPart},
		{perfmodel.Norm, "groupnorm_kernel_dispatch_up", perfmodel.CorePart},
		{perfmodel.Norm, "direct_copy_kernel_cuda", perfmodel.LayoutPart},
		{perfmodel.Copy, "direct_copy_kernel_cuda", perfmodel.CorePart},
		{perfmodel.Fill, "FillFunctor", perfmodel.CorePart},
	} {
		if got := perfmodel.KernelPart(test.op, test.kernel); got != test.want {
			t.Errorf("KernelPart(%s, %s) = %v, want %v", test.op, test.kernel, got, test.want)
		}
	}
}

// No name is too odd to classify, and a verdict is never empty.
func FuzzClassify(f *testing.F) {
	for _, name := range []string{"", "_", "::", "aten::", "aten::add_.Tensor", "triton_", "triton_poi_fused_", "triton_tem_fused__", "a_1", "_1", "sage_fwd_12"} {
		f.Add(name, name)
	}
	f.Fuzz(func(t *testing.T, op, kernel string) {
		if c, _ := perfmodel.Classify(op, kernel); c == "" {
			t.Errorf("Classify(%q, %q) is empty", op, kernel)
		}
		perfmodel.KernelPart(perfmodel.Conv, kernel)
	})
}

func BenchmarkClassify(b *testing.B) {
	name := "void at::native::elementwise_kernel_manual_unroll<128, 8, at::native::gpu_kernel_impl_nocast<at::native::CUDAFunctor_add<c10::BFloat16>>"
	b.ReportAllocs()
	for b.Loop() {
		perfmodel.Classify("", name)
	}
}
