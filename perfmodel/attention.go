package perfmodel

import (
	"fmt"

	"github.com/ditlens/ditlens/hw"
)

// Attention does 2 (d+e) operations a head and a visible pair of query and key: the product with the keys at the type
// of q, that with the values at the type of v. Softmax is not counted. q, k, v and the mask are read once, the result
// is written once, two bytes an element when the inputs have one. Query heads may share the heads of k and v.

// A headOrder is the order of dimensions of q, k and v.
type headOrder uint8

const (
	headsFirst  headOrder = iota // batch, heads, tokens, size
	tokensFirst                  // batch, tokens, heads, size
	ragged                       // tokens of all sequences, heads, size
)

// A corner says where the diagonal of a causal mask begins when queries and keys differ in number.
type corner uint8

const (
	topLeft corner = iota
	bottomRight
)

// An attention says where an operator keeps its arguments. Positions are of schema arguments, 0 for what it lacks:
// that is always a query or an output before it.
type attention struct {
	handle   bool // a tensor of no use may come before q and shift all arguments by one
	order    headOrder
	causal   int
	truth    int // causal is the argument that is the so-manieth recorded as True or False, windows follow; 0: by position
	corner   corner
	typed    bool // the causal argument may be a mask type: 0 none, 1 top left, 2 bottom right
	mask     int
	maskFrom int  // a mask is the first matrix from here on that has a row a query and a column a key; 0 for none
	lse      int  // whether the log of the sum of exponentials is returned too
	lseNext  bool // lse is the next argument after causal that is recorded as True or False
	lengths  int  // cumulative sequence lengths of q, those of k follow; given only for ragged batches
	longest  int  // longest sequence of q, that of k follows; negative counts from causal
	padding  int  // lengths of padded sequences in a batch of equal shapes: a vector of whole numbers from here on
	pages    int  // table of pages that key and value lie in; they are then in no shape that tells their number
	window   int  // window to the left, that to the right follows; negative is without limit
	sparse   string
	unfused  bool
	wrapper  bool // dispatches to one of the others
}

func (a attention) entry(name, doc string, ops ...string) Entry {
	info := Info{Name: name, Doc: doc, Category: Attention, Wrapper: a.wrapper}
	return Entry{Model: &attentionModel{info, a.work, a.sizes}, Ops: ops}
}

// An attentionModel can tell the sizes of a call beside its work, for those that look at the calls around it.
type attentionModel struct {
	info  Info
	work  func(*Call) (Work, error)
	sizes func(*Call) (heads, bool)
}

func (m *attentionModel) Info() Info                 { return m.info }
func (m *attentionModel) Work(c *Call) (Work, error) { return m.work(c) }

// heads are the sizes of an attention.
type heads struct {
	batch, query, shared int64 // heads of q; of k and v
	nq, nk, d, e         int64
	causal, masked       bool // masked: by a tensor
}

// operands reads q, k and v, and finds the arguments whose place has changed from release to release. A tensor before q
// shifts the positions of all others.
func (a *attention) operands(in *reading) (q, k, v Tensor, order headOrder) {
	c := in.call
	order = a.order
	if a.lengths > 0 && a.order != ragged && c.Given(a.lengths) {
		order = ragged
	}
	rank := 4
	if order == ragged {
		rank = 3
	}
	first := 0
	if v := c.arg(3); a.handle && v != nil && len(v.Dims) == rank {
		first = 1
		*a = a.shifted()
	}
	a.find(c, first+3)
	in.require(a.pages == 0 || !c.Given(a.pages), "number of keys, which lie in pages")
	q, k, v = in.tensor(first), in.tensor(first+1), in.tensor(first+2)
	in.require(len(q.Dims) == rank && len(k.Dims) == rank && len(v.Dims) == rank, "shapes of query, key and value")
	return q, k, v, order
}

// find sets the positions of arguments that are told by their values, from argument i on.
func (a *attention) find(c *Call, i int) {
	if a.truth == 0 {
		return
	}
	for n := 0; i < c.args(); i++ {
		if v := c.arg(i).Value; v != "True" && v != "False" {
			continue
		}
		switch n++; n {
		case a.truth:
			a.causal, a.window = i, i+1
			if a.longest < 0 {
				a.longest += i
			}
		case a.truth + 1:
			if a.lseNext {
				a.lse = i
			}
			return
		}
	}
}

// sizes returns the sizes of a call, ok = false when they are not recorded.
func (a attention) sizes(c *Call) (h heads, ok bool) {
	in := reading{call: c}
	q, k, v, order := a.operands(&in)
	if in.err != nil {
		return h, false
	}
	h = headsOf(&in, order, &q, &k, &v)
	_, h.causal = a.reach(c, new(Work), h)
	h.masked = a.maskBytes(&in, h) > 0
	return h, in.err == nil
}

func (a attention) work(c *Call) (Work, error) {
	in := reading{call: c}
	q, k, v, order := a.operands(&in)
	if in.err != nil {
		return Work{}, in.err
	}
	h := headsOf(&in, order, &q, &k, &v)
	w := Work{Category: Attention}
	reach, causal := a.reach(c, &w, h)
	pairs := product(h.batch, reach.pairs(h.nq, h.nk))
	if order == ragged && in.err == nil {
		pairs = a.raggedPairs(&in, &w, reach, h)
	}
	chargeHeads(&w, h, pairs, q.Type, v.Type)
	w.Read = sum(q.Bytes(), k.Bytes(), v.Bytes(), a.maskBytes(&in, h))
	w.Written = product(h.batch, h.query, h.nq, h.e, max(2, q.store))
	if a.padded(&in) {
		w.doubt(UpperBound, "the lengths of padded sequences are not recorded: all positions counted")
	}
	if lse, _ := c.Bool(a.lse); lse {
		w.Written = sum(w.Written, product(4, h.batch, h.query, h.nq))
	}
	if a.unfused {
		scores := product(h.batch, h.query, h.nq, h.nk, q.store)
		w.Read, w.Written = sum(w.Read, scores, scores), sum(w.Written, scores, scores)
		w.doubt(LowerBound, "unfused: the score matrix is counted as written and read twice")
	}
	if a.sparse != "" {
		w.doubt(UpperBound, a.sparse)
	}
	w.Category, w.Kind = kindOf(h, causal)
	return in.done(w)
}

// maskBytes returns the bytes of the mask or bias. Some operators keep it among the last arguments, whose order has
// changed from release to release.
func (a attention) maskBytes(in *reading, h heads) int64 {
	if a.mask > 0 {
		return in.bytes(a.mask)
	}
	for i := a.maskFrom; i > 0 && i < in.call.args(); i++ {
		if m, ok := in.optional(i); ok && len(m.Dims) == 2 && m.last(1) == h.nq && m.last(0) == h.nk {
			return m.Bytes()
		}
	}
	return 0
}

func (a attention) padded(in *reading) bool {
	for i := a.padding; i > 0 && i < in.call.args(); i++ {
		if t, ok := in.optional(i); ok && len(t.Dims) == 1 && t.Type == hw.Int32 {
			return true
		}
	}
	return false
}

// shifted moves every argument by one.
func (a attention) shifted() attention {
	for _, i := range [...]*int{&a.causal, &a.mask, &a.maskFrom, &a.lse, &a.lengths, &a.longest, &a.padding, &a.pages,
		&a.window} {
		if *i > 0 {
			*i++
		}
	}
	return a
}

func headsOf(in *reading, order headOrder, q, k, v *Tensor) heads {
	h := heads{batch: 1, d: q.last(0), e: v.last(0)}
	if order != ragged {
		h.batch = q.Dims[0]
	}
	var vTokens int64
	if order == headsFirst {
		h.query, h.nq, h.shared, h.nk, vTokens = q.last(2), q.last(1), k.last(2), k.last(1), v.last(1)
	} else {
		h.query, h.nq, h.shared, h.nk, vTokens = q.last(1), q.last(2), k.last(1), k.last(2), v.last(2)
	}
	in.require(k.last(0) == h.d && vTokens == h.nk, "agreeing shapes of query, key and value")
	return h
}

// reach returns which keys each query sees. When that is not recorded all are counted.
func (a attention) reach(c *Call, w *Work, h heads) (b band, causal bool) {
	b, at := everyKey, a.corner
	known := a.causal == 0 && (a.truth == 0 || c.args() == 3) // q, k and v alone have no mask
	if !known {
		causal, known = c.Bool(a.causal)
	}
	if a.typed && !known {
		var kind int64
		if kind, known = c.Int(a.causal); kind == 2 {
			causal, at = true, bottomRight
		}
	}
	if !known {
		w.doubt(UpperBound, "whether the mask is causal is not recorded: all pairs counted")
	}
	if a.window > 0 {
		if left, ok := c.Int(a.window); ok && left >= 0 {
			b.left = min(left, unbounded)
		}
		if right, ok := c.Int(a.window + 1); ok && right >= 0 {
			b.right = min(right, unbounded)
		}
	}
	if causal {
		b.right = 0
	}
	if at == bottomRight {
		b.shift = h.nk - h.nq
	}
	return b, causal
}

// raggedPairs counts visible pairs of a batch of sequences laid end to end, of which the number, the totals and at
// best the longest are recorded. One sequence, or equal ones, are exact; else the rest is taken to be of equal
// length.
func (a attention) raggedPairs(in *reading, w *Work, b band, h heads) int64 {
	n := int64(1)
	if lengths, ok := in.optional(a.lengths); ok {
		n = max(1, lengths.last(0)-1)
	}
	align := func(nq, nk int64) int64 {
		r := b
		if b.shift != 0 || a.corner == bottomRight {
			r.shift = nk - nq
		}
		return r.pairs(nq, nk)
	}
	if n == 1 {
		return align(h.nq, h.nk)
	}
	longQ, okQ := in.call.Int(a.longest)
	longK, okK := in.call.Int(a.longest + 1)
	even := h.nq%n == 0 && h.nk%n == 0
	if even && okQ && okK && longQ == h.nq/n && longK == h.nk/n {
		return product(n, align(longQ, longK))
	}
	each := product(2, h.query, sum(h.d, h.e))
	w.doubt(Estimated, fmt.Sprintf("the lengths of the %d sequences are not recorded, all but the longest taken as equal: "+
		"between %d operations, if all are, and %d for a single one", n,
		product(each, n, align(h.nq/n, h.nk/n)), product(each, align(h.nq, h.nk))))
	if !okQ || !okK || longQ < 0 || longK < 0 || longQ > h.nq || longK > h.nk {
		longQ, longK = h.nq/n, h.nk/n
	}
	rest := align((h.nq-longQ)/(n-1), (h.nk-longK)/(n-1))
	return sum(align(longQ, longK), product(n-1, rest))
}

func chargeHeads(w *Work, h heads, pairs int64, qk, pv hw.DType) {
	w.charge(hw.Matrix, qk, product(2, h.query, pairs, h.d))
	w.charge(hw.Matrix, pv, product(2, h.query, pairs, h.e))
}

// kindOf names an attention by its sizes alone. What surrounds it can tell more.
func kindOf(h heads, causal bool) (Category, string) {
	switch {
	case causal && h.nq == h.nk:
		return Attention, kindCausal
	case causal:
		return Attention, "causal attention"
	case h.nq != h.nk:
		return CrossAttention, kindCross
	case h.query == 1 && h.d >= 256:
		return Attention, kindVAE
	}
	return Attention, kindSelf
}
