package perfmodel

import "github.com/ditlens/ditlens/hw"

// Products whose arguments follow no common order: those with flags for transposition, packed 4-bit weights, and
// products of many experts.

func groupedModels() []Entry {
	entry := func(name, doc string, work func(*Call) (Work, error), ops ...string) Entry {
		return forOps(Info{Name: name, Doc: doc, Category: GEMM}, work, ops...)
	}
	const experts = "2KN a row of a token and expert; the weights of at most as many experts as there are rows are read"
	return []Entry{
		forPatterns(Info{Name: "gemm.primus", Doc: "2MNK by the flags of transposition; operands, scales and the result once",
			Category: GEMM},
			primus, "primus_turbo*::hipblaslt_gemm_fp8", "primus_turbo*::hipblaslt_gemm_fp4"),
		entry("gemm.transformer_engine", "2MNK, K by the flag of A; operands, bias and the result once",
			transformerEngine, "tex_ts::te_gemm_ts"),
		entry("gemm.fp8_blockscale", "2MNK at the type of the weight (N,K); operands and block scales once, the "+
			"result in 16 bits", blockScaled,
			"mylib::fp8_blockscale_gemm"),
		entry("gemm.mxfp4", "2MNK with K twice the stored one of the weight, (N,K/2), with a scale for 32", mxfp4,
			"mylib::mxfp4_gemm"),
		entry("gemm.weight_int4", "2MNK at the type of A; packed 4-bit weight", weightInt4,
			"aten::_weight_int4pack_mm"),
		entry("gemm.bitsandbytes_4bit", "2MNK at the type of A; packed 4-bit weight with a scale a block", gemv4bit,
			"bitsandbytes::gemv_4bit"),
		entry("gemm.grouped", experts, func(c *Call) (Work, error) { return grouped(c, 1, 1, false) },
			"aten::_grouped_mm"),
		entry("gemm.scaled_grouped", experts, scaledGrouped, "aten::_scaled_grouped_mm"),
		entry("gemm.moe_stage1", experts+"; the weight is (E,N,K)", func(c *Call) (Work, error) { return moe(c, 1) },
			"aiter::ck_moe_stage1", "aiter::ck_moe_stage1_fwd"),
		entry("gemm.moe_stage2", experts+"; the weight is (E,N,K)", func(c *Call) (Work, error) { return moe(c, 2) },
			"aiter::ck_moe_stage2", "aiter::ck_moe_stage2_fwd"),
		forPatterns(Info{Name: "gemm.moe_fused", Doc: experts + "; both products in one kernel", Category: GEMM},
			fusedMoE, "aiter::fmoe*"),
	}
}

// primus is hipblaslt_gemm_fp8(A, scale A, B, scale B, dtype, trans A, trans B, trans C, …). A transposed result
// swaps the operands.
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
	return in.done(w)
}

// transformerEngine is te_gemm_ts(A, scale, index, type, [scaling mode,] trans A, B, scale, index, type, [scaling
// mode,] trans B, D, scale, type, amax, bias, …). 8-bit floats are recorded as bytes; the type argument tells them.
// Later releases have the scaling modes.
func transformerEngine(c *Call) (Work, error) {
	in := reading{call: c}
	mode := 0
	if !c.Given(5) && c.Given(6) {
		mode = 1
	}
	a, b, d := in.matrix(0, 2), in.matrix(5+mode, 2), in.matrix(10+2*mode, 2)
	transA, ok := c.Bool(4 + mode)
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
	if bias, ok := in.optional(14 + 2*mode); ok && bias.Elements() > 0 {
		w.Read = sum(w.Read, bias.Bytes())
		w.charge(hw.Matrix, typ, d.Elements())
	}
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
	w.Written = product(a.last(1), b.last(1), max(2, a.store))
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

// weightInt4 is _weight_int4pack_mm(A, weight (N/8, …) int32, group size, scales and zeros).
func weightInt4(c *Call) (Work, error) {
	in := reading{call: c}
	a, b := in.matrix(0, 2), in.matrix(1, 2)
	if in.err != nil {
		return Work{}, in.err
	}
	n := product(b.Dims[0], 8)
	w := matmulSizes{1, a.last(1), n, a.last(0)}.work(a.Type)
	w.Read, w.Written = sum(a.Bytes(), b.Bytes(), in.bytes(3)), product(a.last(1), n, a.store)
	return in.done(w)
}

// gemv4bit is gemv_4bit(A, B packed, shape of B, absmax, code, block size).
func gemv4bit(c *Call) (Work, error) {
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
	return in.done(w)
}

// scaledGrouped is _scaled_grouped_mm(A, B, scale A, scale B, offsets, bias, scale result, dtype, …).
func scaledGrouped(c *Call) (Work, error) {
	in := reading{call: c}
	w, err := grouped(c, 1, 1, false)
	if err != nil {
		return w, err
	}
	a, b := in.tensor(0), in.tensor(1)
	rows, n := ratio(a.Elements(), max(1, a.last(0))), b.last(0)
	out := in.resultCode(7, &a, &w)
	w.Bytes = 0
	w.Read, w.Written = sum(w.Read, in.scales([2]int{2, 3})), product(rows, n, out.bytes)
	return in.done(w)
}

// moe is ck_moe_stage1 or 2 (tokens, w1, w2, sorted ids, experts, count, out, topk, …).
func moe(c *Call, stage int) (Work, error) {
	topk, ok := c.Int(7)
	if !ok || topk <= 0 || topk > 1<<20 {
		return Work{}, c.missing("experts a token")
	}
	return grouped(c, stage, topk, true)
}

// fusedMoE is fmoe(out, tokens, gate (E,N,K), down (E,K,I), sorted ids, weights, experts, count, topk, …).
func fusedMoE(c *Call) (Work, error) {
	in := reading{call: c}
	out, x, gate, down := in.matrix(0, 2), in.matrix(1, 2), in.matrix(2, 3), in.matrix(3, 3)
	topk, ok := c.Int(8)
	in.require(ok && topk > 0 && topk < 1<<20, "experts a token")
	if in.err != nil {
		return Work{}, in.err
	}
	k := x.last(0)
	in.require(gate.last(0) == k && down.last(1) == k && gate.Dims[0] == down.Dims[0],
		"agreeing shapes of tokens and weights")
	rows := product(x.last(1), topk)
	used := min(gate.Dims[0], rows)
	w := Work{Category: GEMM}
	w.charge(hw.Matrix, x.Type, sum(product(2, rows, k, gate.last(1)), product(2, rows, k, down.last(0))))
	weights := ratio(sum(gate.Bytes(), down.Bytes()), max(1, gate.Dims[0]))
	w.Read = sum(x.Bytes(), product(used, weights))
	w.Written = out.BytesWritten()
	w.doubt(Estimated, "which experts are used is not recorded: as many as there are rows")
	return in.done(w)
}

// grouped is a product of rows with the weights of their experts. Rows that carry their experts as a dimension are
// not repeated.
func grouped(c *Call, weight int, topk int64, transposed bool) (Work, error) {
	in := reading{call: c}
	a, b := in.matrix(0, 2), in.matrix(weight, 3)
	if in.err != nil {
		return Work{}, in.err
	}
	k, n := b.last(1), b.last(0)
	if transposed {
		k, n = n, k
	}
	in.require(a.last(0) == k, "agreeing inner dimensions")
	rows := ratio(a.Elements(), max(1, k))
	if len(a.Dims) < 3 {
		rows = product(rows, topk)
	}
	experts := b.Dims[0]
	used := min(experts, rows)
	w := matmulSizes{1, rows, n, plain.values(&a, k)}.work(a.Type)
	w.Read = sum(a.Bytes(), product(used, ratio(b.Bytes(), max(1, experts))))
	w.Written = product(rows, n, max(2, a.store))
	w.doubt(Estimated, "which experts are used is not recorded: as many as there are rows")
	return in.done(w)
}
