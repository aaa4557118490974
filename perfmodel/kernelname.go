package perfmodel

import "strings"

// classifyKernel returns the category of a device kernel or copy by its name, "" when the name does not tell.
func classifyKernel(name string) (Category, string) {
	if strings.HasPrefix(name, "triton_") {
		return classifyCompiled(name)
	}
	return matchKernelRules(strings.ToLower(name))
}

// matchKernelRules returns the verdict of the first rule that matches the lower-case name.
func matchKernelRules(lower string) (Category, string) {
	for i := range kernelRules {
		if r := &kernelRules[i]; r.matches(lower) {
			return r.category, r.kind
		}
	}
	return "", ""
}

// A kernelRule holds if any of its patterns does. A pattern is a lower-case substring; "^" ties it to the start of the
// name and "*" stands for anything in between.
type kernelRule struct {
	category Category
	kind     string
	patterns []string
}

func (r *kernelRule) matches(lower string) bool {
	for _, p := range r.patterns {
		if matchPattern(lower, p) {
			return true
		}
	}
	return false
}

func matchPattern(s, pattern string) bool {
	if pattern[0] == '^' {
		return strings.HasPrefix(s, pattern[1:])
	}
	for {
		head, tail, more := strings.Cut(pattern, "*")
		i := strings.Index(s, head)
		if i < 0 {
			return false
		}
		if !more {
			return true
		}
		s, pattern = s[i+len(head):], tail
	}
}

func rule(c Category, kind, patterns string) kernelRule {
	return kernelRule{c, kind, strings.Fields(patterns)}
}

// Kinds of helper kernels around convolutions and GEMMs, by which KernelPart tells them apart.
const (
	kindLayout   = "layout conversion"
	kindIm2col   = "im2col"
	kindSplitK   = "split-K"
	kindUserCopy = "cache write"
)

// kernelRules are tried in order; the first that matches decides. Libraries' families come before the generic words, and
// convolutions before GEMMs, because many convolution kernels are GEMMs by name.
var kernelRules = []kernelRule{
	rule(Memcpy, "", "^memcpy ^memory_copy_ __amd_rocclr_copybuffer"),
	rule(Fill, "", "^memset __amd_rocclr_fillbuffer"),
	rule(Communication, "", `nccl rccl cross_device_reduce multimem_all one_shot_all_reduce two_shot_all_reduce quickreduce
		all_reduce allreduce all_gather allgather reduce_scatter reducescatter all_to_all alltoall all_toall nvshmem`),
	rule(Conv, "", "deform_conv"),
	rule(Modulation, "", "modulate adaln scale_shift"),
	rule(Attention, "", `fmha flash_fwd flash_attn flashattn flash_bwd attn_fwd sage_fwd sageattn sage_attn sparge mha_fwd mha_varlen
		attention attn_kernel mla_decode mla_prefill mla_fwd mla_reduce pa_decode pa_fwd sdpa ^fav3`),
	rule(Norm, "", `layer_norm layernorm rmsnorm rms_norm groupnorm group_norm batchnorm batch_norm instancenorm instance_norm
		rowwisemoments computefusedparams l2norm`),
	rule(Quantize, "", `sage_quant per_tensor_quant per_token*quant dynamic*quant scaled_quant data_to_scale quantize
		_quant_kernel mxfp4_quant nvfp4_quant cvt_fp16_to_fp4 smooth_k`),
	rule(Conv, kindLayout, `batched_transpose_ nchwtonhwc nhwctonchw nchw2nhwc nhwc2nchw converttensor_kernel cudnn*transpose
		^transpose_nchw`),
	rule(Conv, kindIm2col, "^im2d2col ^im3d2col im2col vol2col col2im"),
	rule(Conv, kindSplitK, "^subtensorop ^op1dtensor ^op2dtensor ^op3dtensor ^op4dtensor ^op5dtensor casttensor"),
	rule(Conv, "", `^igemm_ grouped_conv implicit_convolve conv2d conv3d convolve dgrad fprop wgrad ^miopen*conv
		^gridwise_convolution naive_conv winograd miopenconv miopensp3asmconv conv_depthwise depthwiseconv cudnn*conv
		xdlops_nchw _conv_ implicit_gemm causal_conv`),
	rule(Attention, "", "_fwd_kernel"),
	rule(GEMM, kindSplitK, "splitkreduce splitk_reduce splitk*reduce"),
	rule(GEMM, "", `cijk_ nvjet gemm cutlass xmma ^ampere_ ^sm70_ ^sm75_ ^sm80_ ^sm86_ ^sm89_ ^sm90_ ^sm100_ ^sm103_ ^sm120_
		cublas hipblaslt rocblas splitk wvsplitk llmm1 flatmm matmul ^bmm_ gemv _mm_kernel dot_kernel fused_moe fmoe moe_stage`),
	rule(Quantize, "", "quant"),
	rule(Softmax, "", "softmax"),
	rule(Copy, "concatenation", "catarraybatchedcopy"),
	rule(Copy, "padding", "reflection_pad replication_pad constant_pad _pad_kernel _pad1d _pad2d _pad3d"),
	rule(Copy, "upsampling", "upsample interpolate nearest_neighbor"),
	rule(Reduction, "pooling", "avg_pool max_pool avgpool maxpool pooling"),
	rule(Rope, "", "rope rotary"),
	rule(Copy, kindUserCopy, "kvcache kv_cache reshape_and_cache concat_and_cache"),
	rule(Gather, "", "gather scatter index_elementwise indexselect index_kernel embedding indexkernel index_put kv_indices"),
	rule(Reduction, "sort, scan or select", `rocprim hipcub ^void*cub:: at_cuda_detail::cub thrust radix bitonic
		tensor_kernel_scan devicescan deviceselect topk`),
	rule(Reduction, "", "reduce_kernel reduceop reduce_1block reduction"),
	rule(Fill, "", "fillfunctor fill_kernel fillkernel"),
	rule(Copy, "", `direct_copy_kernel copy_kernel_cuda bfloat16_copy tofloat32_copy float16_copy copykernel loadwithcast*copy
		transpose_kernel copy_kernel`),
	rule(Fill, "random numbers", "distribution_elementwise normal_kernel uniform_kernel dropout philox"),
	rule(Fill, "range", "elementwise_kernel_with_index arange linspace"),
	rule(Elementwise, "", `elementwise_kernel vectorized_elementwise unrolled_elementwise multi_tensor_apply act_and_mul silu
		gelu swiglu binaryfunctor unaryfunctor`),
}
