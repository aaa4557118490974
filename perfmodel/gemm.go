package perfmodel

import "github.com/ditlens/ditlens/hw"

// Matrix products: 2 M N K floating-point operations a batch entry, one more an output for a bias; each operand is
// read once and the result written once. The peak is that of the matrix unit for the type of A.

// A gemm says where an operator keeps the parts of A x B. Positions are of schema arguments; none for what it lacks.
type gemm struct {
	a, b       int
	transposed bool                // B is stored as (N, K)
	batched    bool                // A and B have three dimensions
	packed     bool                // both hold two FP4 values a byte, whatever their type says
	bias       int                 // broadcast to the result
	beta       int                 // factor of the bias; at 0 it is not read
	out        int                 // an out= argument, which tells the result's type
	scales     [2]int              // scale tensors; single values travel as kernel arguments
	result     storage             // the result's type when no argument tells; that of A when zero
	code       int                 // argument with the result's type as number
	overload   int                 // where an overload has such a number, before what follows; 0 for no such overload
	epilogue   func(c *Call) int64 // operations an output after the product
}

// plain is a gemm on two matrices and nothing else.
var plain = gemm{a: 0, b: 1, bias: none, beta: none, out: none, scales: [2]int{none, none}, code: none}

func (g gemm) with(change func(*gemm)) gemm {
	change(&g)
	return g
}

func (g gemm) entry(name, doc string, ops ...string) Entry {
	return forOps(Info{Name: name, Doc: doc, Category: GEMM}, g.work, ops...)
}

// gemmModels are those of aten (native_functions.yaml), bitsandbytes (bitsandbytes/_ops.py), vLLM
// (csrc/torch_bindings.cpp, vllm/model_executor/layers/utils.py) and SGLang (sgl-kernel/csrc/common_extension.cc).
func gemmModels() []Entry {
	mm := plain.with(func(g *gemm) { g.out, g.overload = 2, 2 })
	addmm := plain.with(func(g *gemm) { g.a, g.b, g.bias, g.beta, g.out, g.overload = 1, 2, 0, 3, 5, 3 })
	activation := addmm.with(func(g *gemm) { g.out, g.overload, g.epilogue = 6, 0, geluOrReLU })
	bmm := mm.with(func(g *gemm) { g.batched = true })
	baddbmm := addmm.with(func(g *gemm) { g.batched = true })
	scaled := plain.with(func(g *gemm) { g.bias, g.scales, g.code, g.out = 4, [2]int{2, 3}, 6, 8 })
	int8 := plain.with(func(g *gemm) { g.result, g.out = int32s, 2 })
	weight8 := plain.with(func(g *gemm) { g.transposed, g.scales[0] = true, 2 })
	bnb := plain.with(func(g *gemm) { g.transposed, g.result, g.out = true, int32s, 2 })
	cutlass := plain.with(func(g *gemm) { g.out, g.a, g.b, g.scales, g.bias = 0, 1, 2, [2]int{3, 4}, 5 })
	return []Entry{
		mm.entry("gemm.mm",
			"2MNK; A, B read and the result written once",
			"aten::mm"),
		addmm.entry("gemm.addmm",
			"2MNK + MN for the bias, which may be of any shape that broadcasts; none when beta is 0",
			"aten::addmm", "aten::addmm_"),
		activation.entry("gemm.addmm_activation",
			"addmm and its epilogue: 8 operations an output for GELU, 1 for ReLU",
			"aten::_addmm_activation"),
		bmm.entry("gemm.bmm",
			"2BMNK; operands expanded over the batch are read once",
			"aten::bmm"),
		baddbmm.entry("gemm.baddbmm",
			"2BMNK + BMN for the added batch",
			"aten::baddbmm", "aten::baddbmm_"),
		forOps(Info{Name: "gemm.linear", Doc: "2MNK + MN with bias, M over all leading dimensions", Category: GEMM, Wrapper: true},
			linear, "aten::linear", "vllm::rocm_unquantized_gemm", "vllm::rocm_unquantized_gemm_impl"),
		forOps(Info{Name: "gemm.matmul", Doc: "2MNK a batch entry after broadcasting; vectors count as one row or column", Category: GEMM,
			Wrapper: true},
			matmul, "aten::matmul", "aten::mv", "aten::dot", "aten::vdot"),
		scaled.entry("gemm.scaled_mm",
			"2MNK + MN for the bias; scales that are tensors are read; the result's type is out_dtype",
			"aten::_scaled_mm"),
		int8.entry("gemm.int_mm",
			"2MNK integer operations, the result is int32",
			"aten::_int_mm"),
		weight8.entry("gemm.weight_int8",
			"2MNK at the type of A; the weight (N,K) has one byte an element and a scale a row",
			"aten::_weight_int8pack_mm"),
		bnb.entry("gemm.bitsandbytes_int8",
			"2MNK integer operations, the weight is (N,K) and the result int32",
			"bitsandbytes::int8_linear_matmul"),
		cutlass.entry("gemm.cutlass",
			"2MNK + MN for the bias; scales that are tensors are read; the result is argument 0",
			"_C::cutlass_scaled_mm"),
		cutlass.with(func(g *gemm) { g.transposed, g.packed, g.bias = true, true, none }).entry("gemm.cutlass_fp4",
			"2MNK with K twice the stored one, block scales are read; the result is argument 0",
			"_C::cutlass_scaled_fp4_mm", "sgl_kernel::cutlass_scaled_fp4_mm"),
		scaled.with(func(g *gemm) { g.bias, g.code, g.out = 5, 4, none }).entry("gemm.sgl_scaled",
			"2MNK + MN for the bias; scales that are tensors are read; the result's type is out_dtype",
			"sgl_kernel::fp8_scaled_mm", "sgl_kernel::int8_scaled_mm", "sgl_kernel::fp8_blockwise_scaled_mm"),
		scaled.with(func(g *gemm) { g.bias, g.code, g.scales, g.out = 8, 9, plain.scales, none }).entry(
			"gemm.scaled_mm_v2",
			"2MNK + MN for the bias; scales, which come in lists without types, are not counted",
			"aten::_scaled_mm_v2"),
	}
}

func geluOrReLU(c *Call) int64 {
	if gelu, _ := c.Bool(5); gelu {
		return 8
	}
	return 1
}

func (g gemm) work(c *Call) (Work, error) {
	in := reading{call: c}
	g.findCode(c)
	rank, batch := 2, int64(1)
	if g.batched {
		rank = 3
	}
	a, b := in.matrix(g.a, rank), in.matrix(g.b, rank)
	if in.err != nil {
		return Work{}, in.err
	}
	if g.batched {
		batch = a.Dims[0]
		in.require(b.last(2) == batch, "agreeing batch sizes")
	}
	k, n := b.last(1), b.last(0)
	if g.transposed {
		k, n = n, k
	}
	m := a.last(1)
	if len(a.Dims) > rank && k > 0 && batch > 0 {
		m = ratio(a.Elements(), product(batch, k))
	}
	in.require(a.last(0) == k, "agreeing inner dimensions")
	p := matmulSizes{batch, m, n, g.values(&a, k)}
	if g.packed {
		a.Type = hw.FP4
	}
	w := p.work(a.Type)
	w.Read = sum(a.Bytes(), b.Bytes(), in.scales(g.scales))
	w.Written = product(batch, m, n, g.resultOf(&in, &a, &w).bytes)
	if beta, ok := c.Int(g.beta); !ok || beta != 0 {
		w.addBias(&in, g.bias, p, a.Type)
	}
	if g.epilogue != nil {
		w.charge(hw.Vector, a.Type, product(batch, m, n, g.epilogue(c)))
	}
	return in.done(w)
}

// findCode tells the overload that takes the result's type, which moves all behind it by one: then the last argument
// of the others, the result, is a number.
func (g *gemm) findCode(c *Call) {
	a := c.arg(g.out)
	if g.overload == 0 || a == nil || a.Value == "" {
		return
	}
	g.code, g.out = g.overload, g.out+1
	if g.beta >= g.overload {
		g.beta++
	}
}

// values turns a stored inner dimension into the number of values in it.
func (g *gemm) values(a *Tensor, k int64) int64 {
	if g.packed || a.Type == hw.FP4 {
		return product(k, 2)
	}
	return k
}

// resultOf finds the type of the result: an out= argument, a dtype argument, the operator's own, that of A.
func (g *gemm) resultOf(in *reading, a *Tensor, w *Work) storage {
	if out, ok := in.optional(g.out); ok {
		return out.storage()
	}
	if g.code != none {
		return in.resultCode(g.code, a, w)
	}
	if g.result.bytes != 0 {
		return g.result
	}
	return a.storage()
}

// resultCode reads an out_dtype argument. None means the type of A, but None and "not recorded" look alike unless a
// later argument shows that values were recorded.
func (r *reading) resultCode(i int, a *Tensor, w *Work) storage {
	if code, ok := r.call.Int(i); ok {
		s, known := storageOfCode(code)
		r.require(known, "result type")
		return s
	}
	if _, recorded := r.call.Bool(i + 1); recorded || a.store > 1 {
		return a.storage()
	}
	w.doubt(Estimated, "the result's type is not recorded: bf16 assumed")
	return bf16
}

// scales returns the bytes of scale tensors. A single scale is passed by value or stays in cache.
func (r *reading) scales(positions [2]int) int64 {
	var n int64
	for _, i := range positions {
		if s, ok := r.optional(i); ok && s.Elements() > 1 {
			n = sum(n, s.Bytes())
		}
	}
	return n
}

// matmulSizes are the sizes of a batched matrix product.
type matmulSizes struct{ batch, m, n, k int64 }

func (p matmulSizes) work(t hw.DType) Work {
	w := Work{Category: GEMM}
	w.charge(hw.Matrix, t, product(2, p.batch, p.m, p.n, p.k))
	return w
}

func (w *Work) addBias(in *reading, i int, p matmulSizes, t hw.DType) {
	if bias, ok := in.optional(i); ok && bias.Elements() > 0 {
		w.Read = sum(w.Read, bias.Bytes())
		w.charge(hw.Matrix, t, product(p.batch, p.m, p.n))
	}
}

func linear(c *Call) (Work, error) {
	in := reading{call: c}
	a, b := in.matrix(0, 1), in.matrix(1, 1)
	if in.err != nil {
		return Work{}, in.err
	}
	k, n := b.last(0), b.last(1)
	in.require(a.last(0) == k, "agreeing inner dimensions")
	p := matmulSizes{1, ratio(a.Elements(), max(1, a.last(0))), n, k}
	w := p.work(a.Type)
	w.Read, w.Written = sum(a.Bytes(), b.Bytes()), product(p.m, n, a.store)
	w.addBias(&in, 2, p, a.Type)
	return in.done(w)
}

func matmul(c *Call) (Work, error) {
	in := reading{call: c}
	a, b := in.matrix(0, 1), in.matrix(1, 1)
	if in.err != nil {
		return Work{}, in.err
	}
	p := matmulSizes{batch: 1, m: a.last(1), n: b.last(0), k: a.last(0)}
	inner := b.last(1)
	if len(b.Dims) == 1 {
		inner, p.n = b.Dims[0], 1
	}
	in.require(inner == p.k, "agreeing inner dimensions")
	for i := 2; i < max(len(a.Dims), len(b.Dims)); i++ {
		d, ok := broadcast(a.last(i), b.last(i))
		in.require(ok, "batch dimensions that broadcast")
		p.batch = product(p.batch, d)
	}
	w := p.work(a.Type)
	w.Read, w.Written = sum(a.Bytes(), b.Bytes()), product(p.batch, p.m, p.n, a.store)
	return in.done(w)
}

// broadcast returns the size of a dimension that two operands share.
func broadcast(a, b int64) (int64, bool) {
	switch {
	case a == b || b == 1:
		return a, true
	case a == 1:
		return b, true
	}
	return 0, false
}
