package perfmodel

// Argument positions of aten operators are those of native_functions.yaml of PyTorch 2.4 to 2.9.

func attentionModels() []Entry {
	const (
		square = "2BH(d+e) a visible pair of query and key; causal masks begin at the first query and key"
		chunk  = "2BH(d+e) a visible pair of query and key; causal masks end at the last query and key"
		varlen = "2H(d+e) a visible pair of each sequence, exact for one sequence or equal ones"
	)
	return []Entry{
		attention{causal: 5, mask: 3, wrapper: true}.
			entry("attention.sdpa", square, "aten::scaled_dot_product_attention"),
		attention{causal: 5, mask: 3}.
			entry("attention.sdpa_overrideable", square, "aten::_scaled_dot_product_fused_attention_overrideable"),
		attention{causal: 5, mask: 3, unfused: true}.
			entry("attention.sdpa_math", square+"; scores are written and read twice",
				"aten::_scaled_dot_product_attention_math"),
		// Where the others return their mask the CPU takes one.
		attention{causal: 4, mask: 5}.
			entry("attention.sdpa_flash", square, "aten::_scaled_dot_product_flash_attention",
				"aten::_scaled_dot_product_flash_attention_for_cpu"),
		attention{causal: 6, mask: 3, lse: 4}.
			entry("attention.sdpa_masked", square, "aten::_scaled_dot_product_efficient_attention",
				"aten::_scaled_dot_product_cudnn_attention"),
		attention{order: tokensFirst, causal: 8, lengths: 3, longest: 5, window: 11}.
			entry("attention.flash", square+"; ragged: "+varlen, "aten::_flash_attention_forward"),
		attention{order: tokensFirst, causal: 9, typed: true, mask: 3, lse: 10, lengths: 4, longest: 6}.
			entry("attention.efficient", square+" by the type of the mask", "aten::_efficient_attention_forward"),
		attention{causal: 10, mask: 3, lse: 8, lengths: 4, longest: 6}.
			entry("attention.cudnn", square, "aten::_cudnn_attention_forward"),

		// The schemas of aiter are the signatures in aiter/ops/mha.py. From release to release they gained min_seqlen_q,
		// logits_soft_cap, sink_size and cu_seqlens among the arguments, but none but zero_tensors and causal is a truth
		// value before the windows, and none between them and return_lse. Releases that name the operators wrapper_* may
		// pass a tensor of one element first, by which the dispatcher finds the device.
		attention{order: tokensFirst, truth: 1, lseNext: true, corner: bottomRight, maskFrom: 8, padding: 9, handle: true}.
			entry("attention.aiter", chunk, "aiter::fmha_v3_fwd", "aiter::mha_fwd", "aiter::_flash_attn_forward"),
		attention{order: ragged, truth: 2, lseNext: true, corner: bottomRight, lengths: 3, longest: 5, handle: true}.
			entry("attention.aiter_varlen", varlen, "aiter::mha_varlen_fwd", "aiter::fmha_v3_varlen_fwd"),

		// flash_attn/flash_attn_interface.py and hopper/flash_api.cpp of flash-attention.
		attention{order: tokensFirst, causal: 5, corner: bottomRight, window: 6}.
			entry("attention.flash_attn", chunk, "flash_attn::_flash_attn_forward"),
		attention{order: ragged, causal: 9, corner: bottomRight, window: 10, lengths: 3, longest: 5}.
			entry("attention.flash_attn_varlen", varlen, "flash_attn::_flash_attn_varlen_forward"),
		// SGLang (sgl-kernel/csrc/flash_extension.cc) and vLLM have the latter under names of their own; diffusers registers
		// its wrapper, of q, k and v alone, under the name that hopper/flash_attn_interface.py has for the whole.
		attention{order: tokensFirst, truth: 1, corner: bottomRight, lengths: 7, longest: 12, pages: 14}.
			entry("attention.flash_attn_3", chunk+"; ragged: "+varlen, "flash_attn_3::fwd", "flash_attn_3::_flash_attn_forward",
				"sgl_kernel::fwd", "_vllm_fa3_C::fwd"),

		// xformers/ops/fmha/flash.py, with and without seqused_k, windows and pages, and
		// xformers/csrc/attention/attention.cpp, with a truth value or a type of the mask as argument 9.
		attention{order: tokensFirst, truth: 1, corner: bottomRight, lengths: 3, longest: -4}.
			entry("attention.xformers_flash", chunk+"; ragged: "+varlen, "xformers_flash::flash_fwd"),
		attention{order: tokensFirst, causal: 9, typed: true, mask: 3, lengths: 4}.
			entry("attention.xformers", square+" by the type of the mask",
				"xformers::efficient_attention_forward_cutlass"),

		// xfuser/core/distributed/attention_backend.py of xDiT.
		attention{order: tokensFirst, causal: 3, corner: bottomRight}.
			entry("attention.flydsl", chunk, "xfuser::flydsl_attn_kernel"),
		attention{mask: 5, sparse: "block-sparse: the kept blocks are not recorded, dense work counted"}.
			entry("attention.block_sparse", "2BH(d+e) a pair of query and key, all pairs counted",
				"xfuser::flex_block_attn"),
		sageCaptured(),
		sageOperators(),
	}
}
