package perfmodel_test

import (
	"strings"
	"testing"

	"github.com/ditlens/ditlens/perfmodel"
	"github.com/ditlens/ditlens/trace"
)

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
