package perfmodel

import "github.com/ditlens/ditlens/hw"

// SageAttention multiplies q by k in 8 bits, and the result by v in 8 or 16. It comes as a Triton kernel on AMD's GPUs and as
// operators on NVIDIA's.

// sageCaptured is SageAttention as a captured Triton kernel of aiter (fav3_sage_attention): 8-bit q and k, 8-bit v, a bias, scales
// for each, log-sum-exp as argument 15 and the result, in 16 bits, as argument 16, and blocks to keep as argument 52. The
// Inductor appends a number to the kernel's name.
func sageCaptured() Entry {
	doc := "QK at the type of q, PV at that of v; q, k, v, their scales and the 16-bit result once"
	return Entry{Model: &attentionModel{Info{Name: "attention.sage", Doc: doc, Category: Attention}, sage, sageSizes},
		Patterns: []string{"sage_fwd*"}}
}

// sageHeads reads q, k and v. Their scales come by batch and head, whatever the order of q, and tell it.
func sageHeads(in *reading) (q, k, v Tensor, h heads) {
	q, k, v = in.matrix(0, 4), in.matrix(1, 4), in.matrix(2, 4)
	in.require(q.store == 1 && q.Type != hw.UInt8 && q.Type != hw.FP4, "query and key in 8 bits, unpacked")
	if in.err != nil {
		return q, k, v, h
	}
	order := headsFirst
	if s, ok := in.optional(4); ok && len(s.Dims) >= 2 && s.Dims[1] == q.Dims[2] && s.Dims[1] != q.Dims[1] {
		order = tokensFirst
	}
	return q, k, v, headsOf(in, order, &q, &k, &v)
}

func sageSizes(c *Call) (h heads, ok bool) {
	in := reading{call: c}
	_, _, _, h = sageHeads(&in)
	return h, in.err == nil
}

func sage(c *Call) (Work, error) {
	in := reading{call: c}
	q, k, v, h := sageHeads(&in)
	if in.err != nil {
		return Work{}, in.err
	}
	w := Work{}
	chargeHeads(&w, h, product(h.batch, h.nq, h.nk), q.Type, v.Type)
	w.Read = sum(q.Bytes(), k.Bytes(), v.Bytes(), in.bytes(3), in.bytes(4), in.bytes(5), in.bytes(6))
	w.Written = product(h.batch, h.query, h.nq, h.e, 2)
	if out, ok := in.optional(16); ok && len(out.Dims) == 4 {
		w.Written = out.BytesWritten()
	}
	w.Written = sum(w.Written, in.bytes(15))
	if blocks, ok := in.optional(52); ok && blocks.Elements() > 1 {
		w.doubt(UpperBound, "block-sparse: the kept blocks are not recorded, dense work counted")
	}
	w.Category, w.Kind = kindOf(h, false)
	return in.done(w)
}

// sageOperators are those of sageattention/sm80_compile.py, sm89_compile.py and sm90_compile.py: (q, k, v, result, scale q,
// scale k, [scale v, [mean v]], layout, causal, granularity, scale, log-sum-exp). In 8 bits v is transposed and padded.
func sageOperators() Entry {
	doc := "QK at the type of q, PV at that of v; q, k, v, their scales and the result once"
	return Entry{Model: &attentionModel{Info{Name: "attention.sage_operator", Doc: doc, Category: Attention}, sageOperator,
		sageOperatorSizes}, Patterns: []string{"sageattention*::qk_int8_sv_*"}}
}

// sageOperands returns the sizes and the position of the layout, which is 0 for tokens before heads, 1 for heads before tokens.
func sageOperands(in *reading) (h heads, layout int) {
	q, k, out := in.matrix(0, 4), in.matrix(1, 4), in.matrix(3, 4)
	for layout = 6; in.call.Given(layout); layout++ {
	}
	order, ok := in.call.Int(layout)
	causal, known := in.call.Int(layout + 1)
	in.require(ok && known, "layout and whether the mask is causal")
	if in.err != nil {
		return h, layout
	}
	h = heads{batch: q.Dims[0], d: q.last(0), e: out.last(0), causal: causal != 0}
	if order == 1 {
		h.query, h.nq, h.shared, h.nk = q.last(2), q.last(1), k.last(2), k.last(1)
	} else {
		h.query, h.nq, h.shared, h.nk = q.last(1), q.last(2), k.last(1), k.last(2)
	}
	in.require(k.last(0) == h.d, "agreeing shapes of query and key")
	in.require(!h.causal || h.nq == h.nk, "corner of the causal mask")
	return h, layout
}

func sageOperatorSizes(c *Call) (h heads, ok bool) {
	in := reading{call: c}
	h, _ = sageOperands(&in)
	return h, in.err == nil
}

func sageOperator(c *Call) (Work, error) {
	in := reading{call: c}
	h, layout := sageOperands(&in)
	q, k, v, out := in.tensor(0), in.tensor(1), in.tensor(2), in.tensor(3)
	if in.err != nil {
		return Work{}, in.err
	}
	b := everyKey
	if h.causal {
		b.right = 0
	}
	w := Work{}
	chargeHeads(&w, h, product(h.batch, b.pairs(h.nq, h.nk)), q.Type, v.Type)
	w.Read = sum(q.Bytes(), k.Bytes(), v.Bytes(), in.everyTensor(4, none))
	w.Written = out.BytesWritten()
	if lse, _ := c.Int(layout + 4); lse != 0 {
		w.Written = sum(w.Written, product(4, h.batch, h.query, h.nq))
	}
	w.Category, w.Kind = kindOf(h, h.causal)
	return in.done(w)
}
