package perfmodel

import (
	"strings"
	"sync"
)

// Classify returns the category of a call and, where the names tell, its finer kind. It is the one classification that
// every output uses. The operator's name decides; the kernel's name is asked when the operator is unknown or says
// nothing, so that a convolution that runs as a GEMM kernel stays a convolution. Either name may be empty. Names of both
// vendors, of PyTorch, and of Inductor's fused kernels are known; an unknown pair is Other.
func Classify(op, kernel string) (c Category, kind string) {
	if c, kind = classifyOp(op); c != "" {
		return c, kind
	}
	if c, kind = classifyKernel(kernel); c != "" {
		return c, kind
	}
	return Other, ""
}

// classifyOp returns "" when the operator's name does not tell what it does.
func classifyOp(op string) (Category, string) {
	if op == "" {
		return "", ""
	}
	if strings.HasPrefix(op, "triton_") {
		return classifyCompiled(op)
	}
	space, base := splitOpName(op)
	if communicates(space, base) {
		return Communication, ""
	}
	if c, ok := modelCategories()[op]; ok {
		return c, opKinds[base]
	}
	if c, ok := opCategories[base]; ok {
		return c, opKinds[base]
	}
	switch space {
	case "aten", "prim", "autograd", "torch":
		return "", ""
	}
	if c, kind := matchKernelRules(strings.ToLower(base)); c != "" {
		return c, kind
	}
	return matchKernelRules(strings.ToLower(op))
}

// splitOpName cuts "aten::add_.Tensor" into "aten" and "add": without overload, in-place mark, and the running number that
// Inductor appends to the names of captured user kernels ("sage_fwd_1").
func splitOpName(op string) (space, base string) {
	base = op
	if i := strings.LastIndex(op, "::"); i >= 0 {
		space, base = op[:i], op[i+2:]
		if i := strings.IndexByte(base, '.'); i > 0 {
			base = base[:i]
		}
	} else {
		base = trimNumber(base)
	}
	if n := len(base) - 1; n > 0 && base[n] == '_' && base[n-1] != '_' {
		base = base[:n]
	}
	return space, base
}

// trimNumber removes a trailing "_12".
func trimNumber(s string) string {
	t := strings.TrimRight(s, "0123456789")
	if len(t) < len(s) && len(t) > 1 && strings.HasSuffix(t, "_") {
		return t[:len(t)-1]
	}
	return s
}

func communicates(space, base string) bool {
	switch space {
	case "c10d", "_c10d_functional", "c10d_functional", "symm_mem":
		return base != "wait_tensor"
	case "":
		return base == "record_param_comms" || strings.HasPrefix(base, "nccl:") || strings.HasPrefix(base, "gloo:")
	}
	return false
}

// modelCategories holds the operators that the shipped models name, so that a call has one category whether or not its
// arguments can be read.
var modelCategories = sync.OnceValue(func() map[string]Category {
	m := make(map[string]Category, 512)
	for _, e := range Default().All() {
		for _, op := range e.Ops {
			if m[op] = e.Info.Category; e.Info.Category == "" {
				m[op] = Other
			}
		}
	}
	return m
})

// opCategories holds operators by the name without namespace, overload and in-place mark: those that enclose modelled ones or
// have no model, and modelled ones under other namespaces.
var opCategories = func() map[string]Category {
	m := make(map[string]Category, 256)
	for c, names := range map[Category]string{
		GEMM: `mm addmm bmm baddbmm addbmm linear matmul einsum dot mv addmv _addmm_activation _scaled_mm _scaled_mm_v2 fp8_scaled_mm int8_scaled_mm _scaled_grouped_mm
			_grouped_mm _int_mm _weight_int8pack_mm _weight_int4pack_mm int8_linear_matmul hipb_mm rocb_mm wvSpltK mxfp4_gemm
			fp8_blockscale_gemm te_gemm_ts _sparse_mm _sparse_addmm vdot`,
		Attention: `scaled_dot_product_attention _scaled_dot_product_flash_attention _scaled_dot_product_efficient_attention
			_scaled_dot_product_cudnn_attention _scaled_dot_product_fused_attention_overrideable
			_scaled_dot_product_attention_math _scaled_dot_product_flash_attention_for_cpu _flash_attention_forward
			_efficient_attention_forward _cudnn_attention_forward flex_attention flex_block_attn flydsl_attn_kernel`,
		Norm: `layer_norm native_layer_norm rms_norm _fused_rms_norm group_norm native_group_norm batch_norm native_batch_norm
			_native_batch_norm_legit _native_batch_norm_legit_no_training cudnn_batch_norm miopen_batch_norm instance_norm
			_groupnorm_run _batch_norm_impl_index`,
		Modulation: `fused_ln_modulate`,
		Conv: `convolution _convolution conv1d conv2d conv3d conv_transpose1d conv_transpose2d conv_transpose3d
			miopen_convolution miopen_depthwise_convolution miopen_convolution_transpose miopen_convolution_relu
			cudnn_convolution cudnn_convolution_transpose cudnn_convolution_relu convolution_overrideable slow_conv2d_forward
			_slow_conv2d_forward slow_conv3d_forward slow_conv3d thnn_conv2d _conv_depthwise2d conv_depthwise3d
			slow_conv_transpose2d slow_conv_transpose3d slow_conv_dilated2d slow_conv_dilated3d convolution_backward`,
		Elementwise: `add sub rsub mul div true_divide floor_divide remainder fmod neg abs pow square sqrt rsqrt reciprocal exp
			exp2 expm1 log log2 log10 log1p sin cos tan tanh sinh cosh asin acos atan atan2 erf erfc erfinv sigmoid silu gelu
			relu relu6 leaky_relu elu selu mish hardswish hardsigmoid hardtanh softplus threshold clamp clamp_min clamp_max clip
			minimum maximum fmin fmax where lerp addcmul addcdiv eq ne lt le gt ge bitwise_and bitwise_or bitwise_xor
			bitwise_not bitwise_left_shift bitwise_right_shift logical_and logical_or logical_xor logical_not sign ceil floor
			round trunc frac isnan isinf isfinite nan_to_num masked_fill dropout native_dropout glu complex polar real imag conj
			view_as_real conj_physical resolve_conj silu_and_mul gelu_and_mul gelu_tanh_and_mul swiglu
			angle sgn logit heaviside hypot
			__and__ __iand__ __or__ __ior__ __xor__ __ixor__ __lshift__ __ilshift__ __rshift__ __irshift__`,
		Reduction: `sum mean std var var_mean std_mean norm linalg_vector_norm prod amax amin max min argmax argmin all any
			logsumexp nansum count_nonzero aminmax median cumsum cumprod logcumsumexp adaptive_avg_pool2d _adaptive_avg_pool2d avg_pool1d avg_pool2d avg_pool3d
			max_pool3d_with_indices max_pool2d max_pool2d_with_indices mean_dim sort topk unique _unique2 searchsorted bucketize`,
		Softmax: `softmax _softmax log_softmax _log_softmax _safe_softmax _softmax_backward_data`,
		Copy: `copy _to_copy to clone contiguous cat _cat concat concatenate stack repeat repeat_interleave pad constant_pad_nd _pad_circular tril triu
			replication_pad1d replication_pad2d replication_pad3d reflection_pad1d reflection_pad2d reflection_pad3d roll flip
			type_as reshape upsample_nearest1d upsample_nearest2d upsample_nearest3d _upsample_nearest_exact1d
			_upsample_nearest_exact2d _upsample_nearest_exact3d upsample_bilinear2d upsample_trilinear3d upsample_linear1d
			upsample_bicubic2d _upsample_bilinear2d_aa _upsample_bicubic2d_aa interpolate pixel_shuffle pixel_unshuffle
			grid_sampler_2d grid_sampler_3d im2col col2im split_with_sizes_copy unfold_copy channel_shuffle`,
		Memcpy: `_local_scalar_dense item pin_memory`,
		Fill: `fill zero zeros ones full zeros_like ones_like full_like new_zeros new_ones new_full arange linspace normal
			uniform randn rand randint random bernoulli eye scalar_tensor randperm exponential
			log_normal cauchy geometric`,
		Gather: `gather scatter scatter_add index index_select index_put _index_put_impl index_add index_copy index_fill
			embedding embedding_bag take take_along_dim nonzero masked_select masked_scatter _unsafe_index one_hot
			embedding_dense_backward`,
		Rope: `rope rope_fwd rotary_embedding apply_rotary _rotary`,
	} {
		for _, n := range strings.Fields(names) {
			m[n] = c
		}
	}
	return m
}()

// opKinds names what the category leaves open.
var opKinds = map[string]string{
	"cat": "concatenation", "_cat": "concatenation", "concat": "concatenation", "stack": "concatenation",
	"pad": "padding", "constant_pad_nd": "padding",
	"replication_pad1d": "padding", "replication_pad2d": "padding", "replication_pad3d": "padding",
	"reflection_pad1d": "padding", "reflection_pad2d": "padding", "reflection_pad3d": "padding",
	"upsample_nearest1d": "upsampling", "upsample_nearest2d": "upsampling", "upsample_nearest3d": "upsampling",
	"_upsample_nearest_exact1d": "upsampling", "_upsample_nearest_exact2d": "upsampling",
	"_upsample_nearest_exact3d": "upsampling", "upsample_bilinear2d": "upsampling", "upsample_trilinear3d": "upsampling",
	"upsample_bicubic2d": "upsampling", "interpolate": "upsampling",
	"normal": "random numbers", "uniform": "random numbers", "randn": "random numbers", "rand": "random numbers",
	"sort": "sort", "topk": "sort", "cumsum": "scan", "cumprod": "scan",
}
