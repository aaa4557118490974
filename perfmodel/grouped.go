package perfmodel

import (
	"strings"

	"github.com/ditlens/ditlens/hw"
)

// Products whose arguments follow no common order: those with flags for transposition, packed 4-bit weights, and
// products of many experts.

func groupedModels() []Entry {
	entry := func(name, doc string, work func(*Call) (Work, error), ops ...string) Entry {
		return forOps(Info{Name: name, Doc: doc, Category: GEMM}, work, ops...)
	}
	wrapper := func(name, doc string, work func(*Call) (Work, error), ops ...string) Entry {
		return forOps(Info{Name: name, Doc: doc, Category: GEMM, Wrapper: true}, work, ops...)
	}
	const (
		experts = "2KN a row of a token and expert; the weights of at most as many experts as there are rows are read"
		members = experts + "; dense where each expert has its own rows; the result of the type of out_dtype or of A"
		stage   = experts + "; the weight is (E,N,K), and the result is argument 6"
	)
	return []Entry{
		// csrc/pytorch/bindings_pytorch.cpp of Primus-Turbo.
		forPatterns(Info{Name: "gemm.primus", Doc: "2MNK by the flags of transposition + MN where beta adds to the result; operands, scales and the result once",
			Category: GEMM},
			primus, "primus_turbo*::hipblaslt_gemm_fp8", "primus_turbo*::hipblaslt_gemm_fp4"),
		// transformer_engine/pytorch/csrc/ts_fp8_op.cpp.
		entry("gemm.transformer_engine", "2MNK + MN for the bias, K by the flag of A; operands and the result once",
			transformerEngine, "tex_ts::te_gemm_ts"),
		// The linear layers of xDiT; they quantise A and call aiter.
		wrapper("gemm.fp8_blockscale", "2MNK at the type of the weight (N,K); operands and block scales once, the "+
			"result in 16 bits", blockScaled,
			"mylib::fp8_blockscale_gemm"),
		wrapper("gemm.mxfp4", "2MNK + MN for the bias, with K twice the stored one of the weight, (N,K/2), with a scale for 32", mxfp4,
			"mylib::mxfp4_gemm"),
		// native_functions.yaml, and bitsandbytes/_ops.py.
		entry("gemm.weight_int4", "2MNK at the type of A; N by the size of the packed 4-bit weight; its scales and zeros",
			weightInt4,
			"aten::_weight_int4pack_mm", "aten::_weight_int4pack_mm_for_cpu", "aten::_weight_int4pack_mm_with_scales_and_zeros"),
		wrapper("gemm.bitsandbytes_4bit", "2MNK at the type of A + MN for the bias; packed 4-bit weight with a scale a block",
			bitsandbytes4bit,
			"bitsandbytes::gemv_4bit", "bitsandbytes::gemm_4bit"),
		wrapper("gemm.grouped", members, func(c *Call) (Work, error) { return grouped(c, 3, none, 4) },
			"aten::_grouped_mm"),
		entry("gemm.scaled_grouped", members+"; scales once", func(c *Call) (Work, error) { return grouped(c, 5, 2, 7) },
			"aten::_scaled_grouped_mm"),
		// aiter/ops/moe_op.py. The variants of fmoe agree in their first nine arguments; scales follow.
		entry("gemm.moe_stage1", stage, func(c *Call) (Work, error) { return moe(c, 1) },
			"aiter::ck_moe_stage1", "aiter::moe_stage1_g1u1"),
		entry("gemm.moe_stage2", stage, func(c *Call) (Work, error) { return moe(c, 2) },
			"aiter::ck_moe_stage2"),
		forPatterns(Info{Name: "gemm.moe_fused", Doc: experts + "; both products in one kernel", Category: GEMM},
			fusedMoE, "aiter::fmoe", "aiter::fmoe_*"),
	}
}

// primus is hipblaslt_gemm_fp8(A, scale A, B, scale B, dtype, trans A, trans B, trans C, granularity, beta, out). A transposed
// result swaps the operands. With a beta that is not 0 it is added to what was in out.
func primus(c *Call) (Work, error) {
	in := reading{call: c}
	a, b := in.matrix(0, 2), in.matrix(2, 2)
	transA, okA := c.Bool(5)
	transB, okB := c.Bool(6)
	transC, _ := c.Bool(7)
	in.require(okA && okB, "flags of transposition")
	if in.err != nil {
		return Work{}, in.err
	}
	if transC {
		a, b, transA, transB = b, a, !transB, !transA
	}
	m, k := a.last(1), a.last(0)
	if transA {
		m, k = k, m
	}
	inner, n := b.last(1), b.last(0)
	if transB {
		inner, n = n, inner
	}
	in.require(inner == k, "agreeing inner dimensions")
	w := matmulSizes{1, m, n, plain.values(&a, k)}.work(a.Type)
	out := in.resultCode(4, &a, &w)
	w.Read, w.Written = sum(a.Bytes(), b.Bytes(), in.scales([2]int{1, 3})), product(m, n, out.bytes)
	if beta, ok := c.Int(9); !ok || beta != 0 {
		w.addBias(&in, 10, matmulSizes{1, m, n, k}, a.Type)
	}
	return in.done(w)
}

// transformerEngine is te_gemm_ts(A, scale, index, type, trans A, B, scale, index, type, trans B, D, scale, type, amax, bias,
// …). 8-bit floats are recorded as bytes; the type argument tells them. Releases without index have no matrix where B is here.
func transformerEngine(c *Call) (Work, error) {
	in := reading{call: c}
	a, b, d := in.matrix(0, 2), in.matrix(5, 2), in.matrix(10, 2)
	transA, ok := c.Bool(4)
	in.require(ok, "flag of transposition")
	if in.err != nil {
		return Work{}, in.err
	}
	k := a.last(1)
	if transA {
		k = a.last(0)
	}
	typ := a.Type
	if code, ok := c.Int(3); ok && a.store == 1 && (code == 6 || code == 7) {
		typ = hw.FP8
	}
	w := Work{Category: GEMM}
	w.charge(hw.Matrix, typ, product(2, d.Elements(), k))
	w.Read, w.Written = sum(a.Bytes(), b.Bytes()), d.BytesWritten()
	w.addBias(&in, 14, matmulSizes{1, d.Elements(), 1, k}, typ)
	return in.done(w)
}

// blockScaled is fp8_blockscale_gemm(A, weight (N,K), scale), which brings A to 8 bits itself, or
// fp8_blockscale_gemm(A, scale, weight, scale).
func blockScaled(c *Call) (Work, error) {
	in := reading{call: c}
	weight := 1
	if c.Given(3) {
		weight = 2
	}
	a, b := in.matrix(0, 2), in.matrix(weight, 2)
	if in.err != nil {
		return Work{}, in.err
	}
	in.require(a.last(0) == b.last(0), "agreeing inner dimensions")
	w := matmulSizes{1, a.last(1), b.last(1), b.last(0)}.work(b.Type)
	w.Read = sum(a.Bytes(), b.Bytes(), in.bytes(weight+1))
	if weight == 2 {
		w.Read = sum(w.Read, in.bytes(1))
	}
	w.Written = product(a.last(1), b.last(1), 2)
	return in.done(w)
}

// mxfp4 is mxfp4_gemm(A (M,K), B (N,K/2), scale, bias).
func mxfp4(c *Call) (Work, error) {
	in := reading{call: c}
	a, b := in.matrix(0, 2), in.matrix(1, 2)
	if in.err != nil {
		return Work{}, in.err
	}
	k, n := product(b.last(0), 2), b.last(1)
	in.require(a.last(0) == k, "agreeing inner dimensions")
	p := matmulSizes{1, a.last(1), n, k}
	w := p.work(hw.FP4)
	w.Read, w.Written = sum(a.Bytes(), b.Bytes(), in.bytes(2)), product(p.m, n, a.store)
	w.addBias(&in, 3, p, hw.FP4)
	return in.done(w)
}

// weightInt4 is _weight_int4pack_mm(A, weight, group size, scales and zeros), or with zeros apart. How the weight is packed
// depends on the device: as int32 in tiles (N/8, …) or rows (N,K/8), or as bytes (N,K/2). Its size does not.
func weightInt4(c *Call) (Work, error) {
	in := reading{call: c}
	a, b := in.matrix(0, 2), in.matrix(1, 2)
	if in.err != nil {
		return Work{}, in.err
	}
	k, values := a.last(0), product(b.BytesWritten(), 2)
	in.require(k > 0 && values%k == 0, "agreeing inner dimensions")
	if in.err != nil {
		return Work{}, in.err
	}
	p := matmulSizes{1, a.last(1), values / k, k}
	w := p.work(a.Type)
	w.Read, w.Written = sum(a.Bytes(), b.Bytes(), in.bytes(3), in.bytes(4)), product(p.m, p.n, a.store)
	return in.done(w)
}

// bitsandbytes4bit is gemv_4bit(A, B packed, shape of B, absmax, code, block size, out) or gemm_4bit(A, B packed, shape of B,
// absmax, block size, kind, bias, absmax in 8 bits, their code, their offset).
func bitsandbytes4bit(c *Call) (Work, error) {
	in := reading{call: c}
	a, b := in.matrix(0, 1), in.tensor(1)
	var buf [4]int64
	shape, ok := c.Ints(2, buf[:0])
	in.require(ok && len(shape) == 2 && shape[0] >= 0 && shape[1] >= 0, "shape of the weight")
	if in.err != nil {
		return Work{}, in.err
	}
	in.require(shape[1] == a.last(0), "agreeing inner dimensions")
	p := matmulSizes{1, ratio(a.Elements(), max(1, a.last(0))), shape[0], shape[1]}
	w := p.work(a.Type)
	w.Read, w.Written = sum(a.Bytes(), b.Bytes(), in.bytes(3)), product(p.m, p.n, a.store)
	if strings.HasSuffix(c.op(), "gemm_4bit") {
		w.Read = sum(w.Read, in.bytes(7))
		w.addBias(&in, 6, p, a.Type)
	}
	return in.done(w)
}

const whichExperts = "which experts are used is not recorded: as many as there are rows"

// grouped is _grouped_mm(A, B, offsets, bias, dtype) or _scaled_grouped_mm(A, B, scale A, scale B, offsets, bias, scale of
// the result, dtype, …). B is (E,K,N). The rows of A lie one expert after the other, or A is (E,M,K).
func grouped(c *Call, bias, scales, code int) (Work, error) {
	in := reading{call: c}
	a, b := in.matrix(0, 2), in.matrix(1, 3)
	if in.err != nil {
		return Work{}, in.err
	}
	k, n, experts := b.last(1), b.last(0), b.Dims[0]
	in.require(a.last(0) == k, "agreeing inner dimensions")
	rows, used := ratio(a.Elements(), max(1, k)), experts
	w := Work{Category: GEMM}
	if len(a.Dims) == 2 {
		used = min(experts, rows)
		w.doubt(Estimated, whichExperts)
	} else {
		in.require(a.last(2) == experts, "agreeing numbers of experts")
	}
	w.charge(hw.Matrix, a.Type, product(2, rows, n, plain.values(&a, k)))
	out := in.resultCode(code, &a, &w)
	w.Read = sum(a.Bytes(), product(used, ratio(b.Bytes(), max(1, experts))))
	if scales != none {
		w.Read = sum(w.Read, in.scales([2]int{scales, scales + 1}))
	}
	w.addBias(&in, bias, matmulSizes{1, rows, n, k}, a.Type)
	w.Written = product(rows, n, out.bytes)
	return in.done(w)
}

// moe is ck_moe_stage1 or 2 (tokens, w1 (E,N,K), w2 (E,K,I), sorted ids, experts, count, out, topk, …, scales, …) or
// moe_stage1_g1u1, which has no topk. The result of the first stage is (tokens, topk, I), gated or not, and the input of the
// second; the result of the second has a row a token.
func moe(c *Call, stage int) (Work, error) {
	in := reading{call: c}
	x, weight, out := in.matrix(0, 2), in.matrix(stage, 3), in.matrix(6, 2)
	if in.err != nil {
		return Work{}, in.err
	}
	n, k := weight.last(1), weight.last(0)
	in.require(x.last(0) == k, "agreeing inner dimensions")
	rows := ratio(x.Elements(), max(1, k))
	if stage == 1 {
		in.require(len(out.Dims) == 3, "experts a token")
		rows = product(rows, out.last(1))
	}
	w := Work{Category: GEMM}
	w.charge(hw.Matrix, x.Type, product(2, rows, n, plain.values(&x, k)))
	w.Read = sum(x.Bytes(), usedExperts(rows, &weight), in.everyTensor(7, none))
	w.Written = out.BytesWritten()
	w.doubt(Estimated, whichExperts)
	return in.done(w)
}

// usedExperts returns the bytes of the weights of as many experts as there are rows.
func usedExperts(rows int64, weights *Tensor) int64 {
	experts := max(1, weights.last(2))
	return product(min(experts, rows), ratio(weights.Bytes(), experts))
}

// fusedMoE is fmoe(out, tokens, gate (E,N,K), down (E,K,I), sorted ids, weights, experts, count, topk, …, scales, …). N is I,
// or 2I where a gate is fused. Variants that smooth have their tokens repeated for each expert, so that the result
// tells how many there are; those of 16-bit tokens bring them to the type of the weights themselves.
func fusedMoE(c *Call) (Work, error) {
	in := reading{call: c}
	out, x, gate, down := in.matrix(0, 2), in.matrix(1, 2), in.matrix(2, 3), in.matrix(3, 3)
	topk, ok := c.Int(8)
	in.require(ok && topk > 0 && topk < 1<<20, "experts a token")
	if in.err != nil {
		return Work{}, in.err
	}
	k, n, inner := gate.last(0), gate.last(1), down.last(0)
	in.require(x.last(0) == k && down.last(1) == k && out.last(0) == k && gate.Dims[0] == down.Dims[0] && (n == inner || n == 2*inner),
		"agreeing shapes of tokens and weights")
	rows := product(ratio(out.Elements(), max(1, k)), topk)
	w := Work{Category: GEMM}
	w.charge(hw.Matrix, gate.Type, sum(product(2, rows, k, n), product(2, rows, k, inner)))
	w.Read = sum(x.Bytes(), usedExperts(rows, &gate), usedExperts(rows, &down), in.everyTensor(9, none))
	w.Written = out.BytesWritten()
	w.doubt(Estimated, whichExperts)
	return in.done(w)
}
