package perfmodel

import (
	"strconv"

	"github.com/ditlens/ditlens/hw"
)

// Reductions read the tensor once, one operation an element, and write what remains: all dimensions but those that
// are named, or one element.

// A reduction is one operator that reduces dimensions.
type reduction struct {
	op     string
	flops  int64
	dim    int // argument with the dimensions
	dtype  int // argument with the result's type, none if it has none
	result resultRule
	index  bool // an index is the result
	pair   bool // writes indices, or a second value, too
}

func reductionModels() []Entry {
	list := [...]reduction{
		{op: "sum", flops: 1, dim: 1, dtype: 3, result: asWhole},
		{op: "nansum", flops: 1, dim: 1, dtype: 3, result: asWhole},
		{op: "mean", flops: 1, dim: 1, dtype: 3}, {op: "prod", flops: 1, dim: 1, dtype: 3, result: asWhole},
		{op: "amax", flops: 1, dim: 1, dtype: none}, {op: "amin", flops: 1, dim: 1, dtype: none},
		{op: "argmax", flops: 1, dim: 1, dtype: none, index: true},
		{op: "argmin", flops: 1, dim: 1, dtype: none, index: true},
		{op: "all", flops: 1, dim: 1, dtype: none, result: asTruth},
		{op: "any", flops: 1, dim: 1, dtype: none, result: asTruth},
		{op: "var", flops: 3, dim: 1, dtype: none}, {op: "std", flops: 3, dim: 1, dtype: none},
		{op: "var_mean", flops: 4, dim: 1, dtype: none, pair: true},
		{op: "std_mean", flops: 4, dim: 1, dtype: none, pair: true},
		{op: "norm", flops: 2, dim: 2, dtype: none}, {op: "linalg_vector_norm", flops: 2, dim: 2, dtype: 4},
		{op: "logsumexp", flops: 5, dim: 1, dtype: none},
		{op: "count_nonzero", flops: 1, dim: 1, dtype: none, index: true},
		{op: "max", flops: 1, dim: 1, dtype: none, pair: true}, {op: "min", flops: 1, dim: 1, dtype: none, pair: true},
	}
	entries := make([]Entry, 0, len(list)+2)
	for _, r := range list {
		doc := "the tensor read and the reduced one written once, " + strconv.FormatInt(r.flops, 10) + " an element read"
		work := r.work
		if r.op == "max" || r.op == "min" {
			doc += "; between two tensors pointwise"
			work = r.extreme
		}
		entries = append(entries, forOps(Info{Name: "reduce." + r.op, Doc: doc, Category: Reduction}, work, "aten::"+r.op))
	}
	soft := func(name string, wrapper bool, ops ...string) Entry {
		return forOps(Info{Name: name, Doc: "5 an element; the tensor in and out, in fp32 with half_to_float",
			Category: Softmax, Wrapper: wrapper}, softmax, ops...)
	}
	return append(entries, soft("softmax.kernel", false, "aten::_softmax", "aten::_log_softmax", "aten::_safe_softmax"),
		soft("softmax.softmax", true, "aten::softmax", "aten::log_softmax"),
		forOps(Info{Name: "reduce.scan", Doc: "one an element; the tensor in and out", Category: Reduction},
			scan, "aten::cumsum", "aten::cumprod"),
		forOps(Info{Name: "loss.mse", Doc: "3 an element; both tensors read, one element written, or all without reduction",
			Category: Elementwise},
			mseLoss, "aten::mse_loss"))
}

func (r reduction) work(c *Call) (Work, error) {
	in := reading{call: c}
	x := in.tensor(0)
	if in.err != nil {
		return Work{}, in.err
	}
	n := r.remaining(&in, &x)
	out := r.resultOf(&in, &x)
	w := Work{Category: Reduction}
	w.charge(hw.Vector, x.Type, product(r.flops, x.Elements()))
	w.Read, w.Written = x.Bytes(), product(n, out.bytes)
	switch {
	case r.pair && (r.op == "max" || r.op == "min"):
		if a := c.arg(r.dim); a != nil && a.Value != "" {
			w.Written = sum(w.Written, product(8, n))
		}
	case r.pair:
		w.Written = product(2, w.Written)
	}
	return in.done(w)
}

// extreme is max or min, which with a second tensor are maximum and minimum.
func (r reduction) extreme(c *Call) (Work, error) {
	if c.Given(1) && c.Given(0) {
		return pointwise{op: r.op + "imum", flops: 1, operands: 2}.work(c)
	}
	return r.work(c)
}

// remaining counts the elements that are left.
func (r reduction) remaining(in *reading, x *Tensor) int64 {
	var buf [16]int64
	dims, ok := in.call.Ints(r.dim, buf[:0])
	if !ok || len(dims) == 0 || r.whole(in.call) {
		return 1
	}
	var gone uint64
	for _, d := range dims {
		if d < 0 {
			d += int64(len(x.Dims))
		}
		in.require(d >= 0 && d < int64(max(1, len(x.Dims))) && d < 64, "dimension that exists")
		gone |= 1 << uint64(max(0, d)&63)
	}
	n := int64(1)
	for i, d := range x.Dims {
		if gone>>i&1 == 0 {
			n = product(n, d)
		}
	}
	return n
}

// whole reports whether the call is of the overload that reduces everything and takes a type, where others take
// dimensions.
func (r reduction) whole(c *Call) bool { return r.dtype != none && c.args() <= r.dtype }

func (r reduction) resultOf(in *reading, x *Tensor) storage {
	for i := 1; i < in.call.args(); i++ {
		if out, ok := in.optional(i); ok {
			return out.storage()
		}
	}
	dtype := r.dtype
	if r.whole(in.call) {
		dtype = r.dim
	}
	var converted storage
	if r.dtype != none {
		converted = in.converted(dtype, converted)
	}
	switch s := x.storage(); {
	case converted.bytes > 0:
		return converted
	case r.index:
		return int64s
	case r.result == asTruth:
		return boolean
	case r.result == asWhole && rankOf(s.typ) <= intRank:
		return int64s
	case r.result == asFloat && rankOf(s.typ) <= intRank:
		return fp32
	default:
		return s
	}
}

// softmax is _softmax(self, dim, half_to_float), or softmax or _safe_softmax(self, dim, dtype).
func softmax(c *Call) (Work, error) {
	in := reading{call: c}
	x := in.tensor(0)
	out := x.storage()
	if wide, ok := c.Bool(2); ok && wide {
		out = fp32
	} else if !ok {
		out = in.converted(2, out)
	}
	w := Work{Category: Softmax}
	w.charge(hw.Vector, x.Type, product(5, x.Elements()))
	w.Read, w.Written = x.Bytes(), product(x.Elements(), out.bytes)
	return in.done(w)
}

// converted returns the type of a dtype argument, or the given one when there is none.
func (r *reading) converted(i int, s storage) storage {
	if code, ok := r.call.Int(i); ok {
		if known, ok := storageOfCode(code); ok {
			return known
		}
	}
	return s
}

func scan(c *Call) (Work, error) {
	in := reading{call: c}
	x := in.tensor(0)
	out := x.storage()
	if rankOf(x.Type) <= intRank {
		out = int64s
	}
	out = in.converted(2, out)
	w := Work{Category: Reduction, Kind: "scan"}
	w.charge(hw.Vector, x.Type, x.Elements())
	w.Read, w.Written = x.Bytes(), product(x.Elements(), out.bytes)
	return in.done(w)
}

// mseLoss is mse_loss(self, target, reduction), reduction 0 being none.
func mseLoss(c *Call) (Work, error) {
	in := reading{call: c}
	var e elementwise
	e.operand(&in, 0, false)
	e.operand(&in, 1, false)
	in.require(e.tensors == 2, "shapes of argument and target")
	reduction, ok := c.Int(2)
	in.require(ok, "kind of reduction")
	if in.err != nil {
		return Work{}, in.err
	}
	n := e.outputs(&in)
	w := Work{Category: Elementwise, Kind: "loss"}
	w.charge(hw.Vector, e.computeType(), product(3, n))
	if reduction != 0 {
		n = 1
	}
	w.Read, w.Written = e.bytes(), product(n, e.promoted().bytes)
	return in.done(w)
}
