package perfmodel_test

import (
	"slices"
	"testing"

	"github.com/ditlens/ditlens/perfmodel"
	"github.com/ditlens/ditlens/trace"
)

// Releases of a library add arguments in the middle. The rows have them as each schema orders them: 77 queries and 100
// keys, 20 heads of 64, causal from the bottom right.
func TestAttentionOfReleases(t *testing.T) {
	const (
		pairs   = 77*100 - 77*76/2
		flops   = 4 * 20 * 64 * pairs
		tensors = 2 * 20 * 64 * (77 + 100 + 100 + 77)
		lse     = 4 * 20 * 77
		bias    = 2 * 77 * 100
	)
	no, yes, zero, none := number("False"), number("True"), number("0"), number("-1")
	half, one := number("0."), number("0.125")
	lengths := tensor("int", 2)
	dense := []trace.Arg{bf16(1, 77, 20, 64), bf16(1, 100, 20, 64), bf16(1, 100, 20, 64)}
	ragged := []trace.Arg{bf16(77, 20, 64), bf16(100, 20, 64), bf16(100, 20, 64), lengths, lengths}
	args := func(lists ...[]trace.Arg) []trace.Arg { return slices.Concat(lists...) }
	list := func(args ...trace.Arg) []trace.Arg { return args }
	longest := list(number("77"), number("100"))
	for _, tt := range []struct {
		name  string
		call  *perfmodel.Call
		bytes int64
		want  perfmodel.Certainty
	}{
		{"aiter, first", call("aiter::mha_fwd", args(dense, list(half, one, yes, none, zero, yes, no, absent, bf16(77, 100),
			absent, absent))...), tensors + lse + bias, perfmodel.Exact},
		{"aiter, sink size", call("aiter::mha_fwd", args(dense, list(half, one, yes, none, zero, zero, yes, no, absent, absent,
			absent, bf16(77, 100), absent))...), tensors + lse + bias, perfmodel.Exact},
		{"aiter, lengths of padded sequences", call("aiter::mha_fwd", args(dense, list(half, one, yes, none, zero, zero, no, no,
			lengths, lengths, absent))...), tensors, perfmodel.UpperBound},
		{"aiter, assembly", call("aiter::fmha_v3_fwd", args(dense, list(half, one, yes, none, zero, yes, no, number("1"), absent,
			absent))...), tensors + lse, perfmodel.Exact},
		{"aiter, Python", call("aiter::_flash_attn_forward", args(dense, list(half, one, yes, none, zero, bf16(77, 100), absent, yes,
			no))...), tensors + lse + bias, perfmodel.Exact},
		{"aiter, a tensor to dispatch by", call("aiter::wrapper_fmha_v3_fwd", args(list(f32(1)), dense, list(half, one, yes, none, zero,
			yes, no, number("1")))...), tensors + lse, perfmodel.Exact},
		{"aiter ragged, first", call("aiter::mha_varlen_fwd", args(ragged, longest, list(half, one, no, yes, none, zero, yes,
			no))...), tensors + lse, perfmodel.Exact},
		{"aiter ragged, soft cap", call("aiter::mha_varlen_fwd", args(ragged, longest, list(half, one, half, no, yes, none, zero, yes,
			no))...), tensors + lse, perfmodel.Exact},
		{"aiter ragged, shortest", call("aiter::fmha_v3_varlen_fwd", args(ragged, longest, list(zero, half, one, half, no, yes, none,
			none, yes, no, number("1")))...), tensors + lse, perfmodel.Exact},
		{"aiter ragged, sink size", call("aiter::mha_varlen_fwd", args(ragged, longest, list(zero, half, one, half, no, yes, none,
			none, zero, yes, no))...), tensors + lse, perfmodel.Exact},
		{"xformers flash, first", call("xformers_flash::flash_fwd", args(ragged, longest, list(half, one, yes, no))...), tensors,
			perfmodel.Exact},
		{"xformers flash, windows", call("xformers_flash::flash_fwd", args(ragged, list(absent), longest, list(half, one, yes, none, none,
			no))...), tensors, perfmodel.Exact},
		{"xformers, type of mask", call("xformers::efficient_attention_forward_cutlass", args(dense, list(absent, absent, absent, absent,
			half, no, number("2"), one))...), tensors, perfmodel.Exact},
		{"flash-attention 3, ragged", call("flash_attn_3::fwd", args(ragged[:3], list(absent, absent, absent, absent, lengths, lengths,
			absent, absent, absent), longest, make([]trace.Arg, 9), list(one, yes, none, none))...), tensors, perfmodel.Exact},
		{"flash-attention 3 of SGLang", call("sgl_kernel::fwd", args(dense, make([]trace.Arg, 20), list(one, yes, none, none, half, no))...),
			tensors, perfmodel.Exact},
	} {
		if w := wants(t, tt.call, flops, tt.bytes); w.Certainty != tt.want {
			t.Errorf("%s: %v (%s)", tt.name, w.Certainty, w.Why)
		}
	}
	w := work(t, call("xformers::efficient_attention_forward_cutlass", args(dense, list(absent, absent, absent, absent, half, no, yes))...))
	if want := int64(4 * 20 * 64 * 77 * 78 / 2); w.FLOPs() != want {
		t.Errorf("xformers, causal from the top left: %d FLOPs, want %d", w.FLOPs(), want)
	}
	w = work(t, call("flash_attn_3::_flash_attn_forward", dense...))
	if want := int64(4 * 20 * 64 * 77 * 100); w.FLOPs() != want || w.Certainty != perfmodel.Exact {
		t.Errorf("diffusers: %d FLOPs, %v; want %d", w.FLOPs(), w.Certainty, want)
	}
	paged := args(dense, make([]trace.Arg, 11), list(tensor("int", 1, 4)), make([]trace.Arg, 9), list(yes, none, none))
	refused(t, call("flash_attn_3::fwd", paged...), "pages")
}

// A mask of the CPU's flash attention comes behind what the others have.
func TestAttentionMaskOfCPU(t *testing.T) {
	q := f32(1, 8, 16, 64)
	wants(t, call("aten::_scaled_dot_product_flash_attention_for_cpu", q, q, q, number("0."), number("False"), f32(16, 16)),
		4*8*64*16*16, 4*(4*8*16*64+16*16))
}

// The operators of SageAttention tell their layout by a number; some have a scale or a mean of v before it.
func TestSageOperators(t *testing.T) {
	for _, row := range sageRows() {
		wants(t, row.call, row.flops, row.bytes)
	}
	q := i8(1, 24, 77, 128)
	refused(t, call("sageattention::qk_int8_sv_f16_accum_f32_attn", q, i8(1, 24, 100, 128), bf16(1, 24, 100, 128), bf16(1, 24, 77, 128),
		f32(1, 24, 3), f32(1, 24, 2), number("1"), number("1"), number("2"), number("0.1"), number("0")), "corner")
}

func sageRows() []worked {
	half := func(dims ...int64) trace.Arg { return tensor("c10::Half", dims...) }
	heads, tokens := []int64{1, 24, 768, 128}, []int64{1, 768, 24, 128}
	const (
		pairs = 4 * 24 * 128 * 768 * 768
		n     = 24 * 768 * 128
	)
	scales := []trace.Arg{f32(1, 24, 24), f32(1, 24, 12)}
	rest := func(layout, causal, lse string) []trace.Arg {
		return []trace.Arg{number(layout), number(causal), number("2"), number("0.1"), number(lse)}
	}
	sage := func(name string, lists ...[]trace.Arg) *perfmodel.Call {
		return call("sageattention"+name, slices.Concat(lists...)...)
	}
	v8 := fp8(1, 24, 128, 768)
	return []worked{
		{call: sage("::qk_int8_sv_f16_accum_f32_attn", []trace.Arg{i8(tokens...), i8(tokens...), half(tokens...), half(tokens...)}, scales,
			rest("0", "0", "0")), flops: pairs, bytes: (1+1+2+2)*n + 4*24*36},
		{call: sage("_sm89::qk_int8_sv_f8_accum_f32_fuse_v_scale_attn", []trace.Arg{i8(heads...), i8(heads...), v8, bf16(heads...)}, scales,
			[]trace.Arg{f32(1, 24, 128)}, rest("1", "0", "1")), flops: pairs, bytes: (1+1+1+2)*n + 4*24*36 + 4*24*128 + 4*24*768},
		{call: sage("_sm89::qk_int8_sv_f8_accum_f32_fuse_v_scale_fuse_v_mean_attn", []trace.Arg{i8(heads...), i8(heads...), v8,
			bf16(heads...)}, scales, []trace.Arg{f32(1, 24, 128), f32(1, 24, 128)}, rest("1", "1", "0")),
			flops: 4 * 24 * 128 * 768 * 769 / 2, bytes: (1+1+1+2)*n + 4*24*36 + 2*4*24*128},
	}
}
