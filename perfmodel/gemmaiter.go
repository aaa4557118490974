package perfmodel

import "github.com/ditlens/ditlens/hw"

// Products of aiter. The schema of an operator is the signature of its Python function: aiter/ops/gemm_op_*.py,
// batched_gemm_op_*.py, gradlib.py and custom.py, and aiter/tuned_gemm.py. All but hipb_mm and rocb_mm take the weight
// as (N,K). Some variants and releases return the result, some take it, before the scales or behind them, and the bias
// moves with it; so it is told by its shape. The 8-bit and 4-bit operators return 16 bits, whether bfloat16 or half.

func aiterModels() []Entry {
	nk := plain.with(func(g *gemm) { g.transposed = true })
	scaled := nk.with(func(g *gemm) { g.result = bf16 })
	hipblaslt := plain.with(func(g *gemm) { g.bias, g.code, g.scales = 3, 4, [2]int{5, 6} })
	skinny := nk.with(func(g *gemm) { g.a, g.b, g.out = 1, 0, 2 })
	entry := func(name, doc string, work func(*Call) (Work, error), ops ...string) Entry {
		return forOps(Info{Name: name, Doc: doc, Category: GEMM}, work, ops...)
	}
	pattern := func(name, doc string, work func(*Call) (Work, error), patterns ...string) Entry {
		return forPatterns(Info{Name: name, Doc: doc, Category: GEMM}, work, patterns...)
	}
	return []Entry{
		nk.with(func(g *gemm) { g.bias, g.code, g.scales = 2, 3, [2]int{4, 5} }).entry("gemm.aiter_a16w16",
			"2MNK + MN for the bias, the weight is (N,K), scales that are tensors are read",
			"aiter::gemm_a16w16"),
		nk.with(func(g *gemm) { g.code, g.out = 2, 3 }).entry("gemm.aiter_atomic",
			"2MNK, the weight is (N,K), the result is argument 3 or of the type of argument 2",
			"aiter::gemm_a16w16_atomic_"),
		entry("gemm.aiter_asm", "2MNK + MN for the bias, the weight is (N,K), the result is an argument", nk.told(0),
			"aiter::_gemm_a16w16_asm", "aiter::gemm_a16w16_asm"),
		pattern("gemm.aiter_a8w8",
			"2MNK at the 8-bit type of A + MN for the bias, the weight is (N,K), scales are read, the result has 16 bits",
			scaled.told(2), "aiter::gemm_a8w8*", "aiter::_gemm_a8w8*", "aiter::*_a8w8_blockscale_asm"),
		pattern("gemm.aiter_a4w4",
			"2MNK with K twice the stored one + MN for the bias, block scales are read, the result has 16 bits",
			scaled.with(func(g *gemm) { g.packed = true }).told(2), "aiter::gemm_a4w4*", "aiter::_gemm_a4w4*",
			"aiter::gemm_afp4wfp4_"),
		entry("gemm.aiter_batched_a8w8",
			"2BMNK at the 8-bit type of A + BMN for the bias, the weights are (B,N,K), scales are read, the result has 16 bits",
			scaled.with(func(g *gemm) { g.batched = true }).told(2), "aiter::batched_gemm_a8w8", "aiter::batched_gemm_a8w8_tune"),
		entry("gemm.aiter_batched_bf16", "2BMNK + BMN for the bias, the weights are (B,N,K)",
			nk.with(func(g *gemm) { g.batched = true }).told(0), "aiter::batched_gemm_bf16", "aiter::batched_gemm_bf16_tune"),
		skinny.entry("gemm.aiter_skinny", "2MNK, the weight (N,K) comes before A, the result is argument 2",
			"aiter::wvSpltK", "aiter::wv_splitk_small_fp16_bf16", "aiter::LLMM1"),
		skinny.with(func(g *gemm) { g.scales = [2]int{3, 4} }).entry("gemm.aiter_skinny_scaled",
			"2MNK, the weight (N,K) comes before A, the result is argument 2; scales that are tensors are read",
			"aiter::wvSplitKQ", "aiter::wvSplitKQ_pertoken"),
		hipblaslt.entry("gemm.hipblaslt",
			"2MNK + MN for the bias, B is (K,N); scales that are tensors are read; the result's type is out_dtype",
			"aiter::hipb_mm"),
		plain.entry("gemm.rocblas", "2MNK, B is (K,N)", "aiter::rocb_mm"),
	}
}

// told returns a model that tells the arguments behind A and B by their shapes and types: the result is the first of the
// size of A times B in 16 or, without scales, 32 bits, which may be padded to more rows. Of the others that
// are no semaphores the first are the scales, the next the bias.
func (g gemm) told(scales int) func(*Call) (Work, error) {
	return func(c *Call) (Work, error) {
		g, in := g, reading{call: c}
		rank := 2
		if g.batched {
			rank = 3
		}
		a, b := in.matrix(0, rank), in.matrix(1, rank)
		if in.err != nil {
			return Work{}, in.err
		}
		others := 0
		for i := 2; i < c.args(); i++ {
			t, ok := in.optional(i)
			switch {
			case !ok || t.Type == hw.Int32: // semaphores
			case g.out == none && t.isProduct(&a, &b, rank) && (t.store == 2 || scales == 0 && t.store == 4):
				g.out = i
			case others < scales:
				g.scales[others] = i
				others++
			case g.bias == none:
				g.bias = i
			}
		}
		if in.err != nil {
			return Work{}, in.err
		}
		return g.work(c)
	}
}

// isProduct reports whether a tensor can hold the product of A (M,K) and B (N,K).
func (t *Tensor) isProduct(a, b *Tensor, rank int) bool {
	return len(t.Dims) >= rank && t.last(0) == b.last(1) && t.last(1) >= a.last(1)
}
