package perfmodel

import "strings"

// Inductor names its kernels triton_<kind>_fused_<tok>_<tok>_…_<n>: kind is poi (pointwise), red or per (reduction), tem
// (a GEMM or attention template), for (foreach) or spl (scan), and the tokens are the fused operators in alphabetical
// order, each once. A token can also name the extern operator that a kernel prepares or finishes (addmm, convolution, an
// attention), so these say nothing about the work. The names of unfused settings (triton_0) say nothing at all.

// Kinds of compiled kernels.
const (
	kindTable        = "sin/cos table"
	kindPatchEmbed   = "patch-embed epilogue"
	kindGatedNorm    = "gated residual + norm + modulate"
	kindNormModulate = "norm + modulate"
	kindNormStats    = "norm statistics"
	kindAmax         = "quantisation amax"
	kindQKNormRope   = "q/k norm + RoPE"
	kindQKNorm       = "q/k norm"
	kindRope         = "RoPE"
	kindBiasGELU     = "bias + GELU"
	kindCondSiLU     = "SiLU"
	kindBuffer       = "buffer preparation"
	kindGated        = "gated residual or modulate"
	kindMovement     = "layout copy"
	kindTemplate     = "template"
)

// classifyTriton returns the category and kind of an Inductor kernel by the operators fused into it.
func classifyTriton(name string) (Category, string) {
	kind, f := parseTriton(name)
	if kind == "tem" {
		return classifyTemplate(f)
	}
	norm := f.has("native_layer_norm") || f.has("var_mean") || f.has("_fused_rms_norm")
	rms := f.has("pow") && f.has("mean")
	rope := f.has("stack") && (f.has("neg") || f.has("unbind")) || f.has("view_as_complex")
	parts := f.has("split") || f.has("slice") || f.has("chunk") || f.has("unbind") || f.has("split_with_sizes")
	scaled := f.has("mul") && f.has("add")
	switch {
	case f == "":
		return Triton, ""
	case f.has("cos") && f.has("sin"):
		return Elementwise, kindTable
	case f.has("convolution"):
		return Elementwise, kindPatchEmbed
	case norm && scaled && parts:
		return Modulation, kindGatedNorm
	case norm && scaled:
		return Modulation, kindNormModulate
	case norm:
		return Norm, kindNormStats
	case f.has("abs") && f.has("amax"):
		return Quantize, kindAmax
	case rms && f.has("rsqrt") && rope:
		return Norm, kindQKNormRope
	case rms && f.has("rsqrt"):
		return Norm, kindQKNorm
	case rms:
		return Norm, kindNormStats
	case rope:
		return Rope, kindRope
	case f.has("gelu"):
		return Elementwise, kindBiasGELU
	case f.has("silu"):
		return Elementwise, kindCondSiLU
	case f.has("zeros") || f.has("full") || f.has("zeros_like"):
		return Fill, kindBuffer
	case scaled && parts:
		return Modulation, kindGated
	case f.onlyMoves():
		return Copy, kindMovement
	}
	return Triton, ""
}

func classifyTemplate(f fused) (Category, string) {
	switch {
	case strings.Contains(string(f), "attention"):
		return Attention, kindTemplate
	case f.has("convolution"):
		return Conv, kindTemplate
	}
	return GEMM, kindTemplate
}

// fused is the token list of an Inductor kernel between underscores: "_add_mul_".
type fused string

// parseTriton returns the kind and the tokens of a kernel's name; the tokens are "" when it carries none.
func parseTriton(name string) (kind string, f fused) {
	kind, rest, _ := strings.Cut(strings.TrimPrefix(name, "triton_"), "_")
	body, ok := strings.CutPrefix(rest, "fused_")
	if !ok {
		return kind, ""
	}
	return kind, fused("_" + trimNumber(body) + "_")
}

func (f fused) has(token string) bool {
	for s := string(f); ; {
		i := strings.Index(s, token)
		if i < 0 {
			return false
		}
		if end := i + len(token); i > 0 && s[i-1] == '_' && end < len(s) && s[end] == '_' {
			return true
		}
		s = s[i+1:]
	}
}

// movements are the tokens of operators that only move data, and of the extern operators that a copy prepares. Longer
// ones stand first where one begins with another.
var movements = strings.Fields(`_scaled_dot_product_flash_attention _scaled_dot_product_efficient_attention
	_scaled_dot_product_cudnn_attention fmha_v3_fwd flash_attn_varlen_func flash_attn_func _flash_attn_forward mha_fwd
	_unsafe_view _to_copy unsqueeze squeeze as_strided empty_like empty split_with_sizes split stack select slice clone
	transpose view permute cat copy_ copy expand unbind reshape constant_pad_nd repeat lift_fresh t`)

// onlyMoves reports whether every token is a movement.
func (f fused) onlyMoves() bool {
	s := string(f)
	for len(s) > 1 {
		n := 0
		for _, m := range movements {
			if t := s[1:]; strings.HasPrefix(t, m) && len(t) > len(m) && t[len(m)] == '_' {
				n = 1 + len(m)
				break
			}
		}
		if n == 0 {
			return false
		}
		s = s[n:]
	}
	return true
}
