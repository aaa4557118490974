package perfmodel

import (
	"strconv"
	"strings"

	"github.com/ditlens/ditlens/hw"
)

// Pointwise operators read each operand once, counting repeated elements once, and write one element an output; the
// output's shape is what the operands broadcast to, its type what they promote to. Operation counts an output are
// nominal: 1 for simple arithmetic, 2 for roots and clamps, 4 for exponentials and trigonometry, more for compound
// activations.

// A pointwise is one elementwise operator.
type pointwise struct {
	op       string
	flops    int64
	operands int
	result   resultRule
}

type resultRule uint8

const (
	asOperands resultRule = iota // the promoted type
	asTruth                      // bool
	asFloat                      // whole numbers become float
	asComplex                    // two real numbers become one complex
	asWhole                      // whole numbers become int64, as sums do
)

var pointwiseOps = [...]pointwise{
	{"add", 1, 2, asOperands}, {"sub", 1, 2, asOperands}, {"rsub", 1, 2, asOperands}, {"mul", 1, 2, asOperands},
	{"div", 1, 2, asFloat},
	{"true_divide", 1, 2, asFloat}, {"floor_divide", 1, 2, asOperands}, {"remainder", 1, 2, asOperands},
	{"fmod", 1, 2, asOperands},
	{"neg", 1, 1, asOperands}, {"abs", 1, 1, asOperands}, {"sign", 1, 1, asOperands}, {"square", 1, 1, asOperands},
	{"maximum", 1, 2, asOperands}, {"minimum", 1, 2, asOperands}, {"fmax", 1, 2, asOperands},
	{"fmin", 1, 2, asOperands},
	{"eq", 1, 2, asTruth}, {"ne", 1, 2, asTruth}, {"lt", 1, 2, asTruth}, {"le", 1, 2, asTruth}, {"gt", 1, 2, asTruth},
	{"ge", 1, 2, asTruth},
	{"logical_and", 1, 2, asTruth}, {"logical_or", 1, 2, asTruth}, {"logical_xor", 1, 2, asTruth},
	{"logical_not", 1, 1, asTruth},
	{"isnan", 1, 1, asTruth}, {"isinf", 1, 1, asTruth}, {"isfinite", 1, 1, asTruth},
	{"bitwise_and", 1, 2, asOperands}, {"bitwise_or", 1, 2, asOperands}, {"bitwise_xor", 1, 2, asOperands},
	{"bitwise_not", 1, 1, asOperands},
	{"__and__", 1, 2, asOperands}, {"__or__", 1, 2, asOperands}, {"__lshift__", 1, 2, asOperands},
	{"__rshift__", 1, 2, asOperands},
	{"bitwise_left_shift", 1, 2, asOperands}, {"bitwise_right_shift", 1, 2, asOperands},
	{"where", 1, 3, asOperands}, {"masked_fill", 1, 2, asOperands}, {"nan_to_num", 1, 1, asOperands},
	{"relu", 1, 1, asOperands}, {"leaky_relu", 2, 1, asOperands}, {"hardtanh", 2, 1, asOperands},
	{"threshold", 1, 1, asOperands},
	{"floor", 1, 1, asOperands}, {"ceil", 1, 1, asOperands}, {"round", 1, 1, asOperands}, {"trunc", 1, 1, asOperands},
	{"frac", 1, 1, asOperands},
	{"clamp", 2, 3, asOperands}, {"clamp_min", 1, 2, asOperands}, {"clamp_max", 1, 2, asOperands},
	{"sqrt", 2, 1, asFloat}, {"rsqrt", 2, 1, asFloat}, {"reciprocal", 2, 1, asFloat}, {"pow", 2, 2, asOperands},
	{"exp", 4, 1, asFloat}, {"exp2", 4, 1, asFloat}, {"expm1", 4, 1, asFloat}, {"log", 4, 1, asFloat},
	{"log2", 4, 1, asFloat},
	{"log10", 4, 1, asFloat}, {"log1p", 4, 1, asFloat}, {"sin", 4, 1, asFloat}, {"cos", 4, 1, asFloat},
	{"tan", 4, 1, asFloat},
	{"tanh", 4, 1, asFloat}, {"sigmoid", 4, 1, asFloat}, {"erf", 4, 1, asFloat}, {"softplus", 4, 1, asFloat},
	{"elu", 4, 1, asFloat},
	{"atan2", 4, 2, asFloat}, {"silu", 5, 1, asFloat}, {"mish", 9, 1, asFloat}, {"hardswish", 4, 1, asFloat},
	{"hardsigmoid", 3, 1, asFloat},
	{"gelu", 8, 1, asFloat}, {"lerp", 3, 3, asOperands},
	{"complex", 0, 2, asComplex}, {"polar", 8, 2, asComplex}, {"addcmul", 3, 3, asOperands}, {"addcdiv", 3, 3, asOperands},
	{"threshold_backward", 1, 2, asOperands}, {"silu_backward", 8, 2, asOperands}, {"gelu_backward", 16, 2, asOperands},
	{"sigmoid_backward", 3, 2, asOperands}, {"tanh_backward", 3, 2, asOperands}, {"mse_loss_backward", 3, 3, asOperands},
}

func pointwiseModels() []Entry {
	entries := make([]Entry, 0, len(pointwiseOps))
	for _, p := range pointwiseOps {
		doc := "operands once and the result once, nominal operations an output: " + strconv.FormatInt(p.flops, 10)
		ops := []string{"aten::" + p.op}
		if !strings.HasSuffix(p.op, "_") {
			ops = append(ops, ops[0]+"_")
		}
		entries = append(entries, forOps(Info{Name: "pointwise." + p.op, Doc: doc, Category: Elementwise}, p.work, ops...))
	}
	return entries
}

func (p pointwise) work(c *Call) (Work, error) {
	in := reading{call: c}
	var e elementwise
	for i := range p.operands {
		e.operand(&in, i, p.op == "where" && i == 0 || p.op == "masked_fill" && i == 1)
	}
	in.require(e.tensors > 0, "shape of argument 0")
	if in.err != nil {
		return Work{}, in.err
	}
	out := p.resultOf(&in, &e)
	n := e.outputs(&in)
	w := Work{Category: Elementwise}
	flops := p.flops
	if a := c.arg(1); p.op == "gelu" && a != nil && strings.Contains(a.Value, "tanh") {
		flops = 10
	}
	typ, flops := realArithmetic(e.computeType(), flops)
	w.charge(hw.Vector, typ, product(flops, n))
	w.Read, w.Written = e.bytes(), product(n, out.bytes)
	return in.done(w)
}

// resultOf finds the type of the result: that of self in place, that of an out= argument, or what the operands give.
func (p pointwise) resultOf(in *reading, e *elementwise) storage {
	if op := in.call.op(); strings.HasSuffix(op, "_") && !strings.HasSuffix(op, "__") {
		self := in.tensor(0)
		return self.storage()
	}
	first := p.operands
	if p.op == "masked_fill" {
		first++ // the value, which has no say in the type
	}
	for i := first; i < in.call.args(); i++ {
		if out, ok := in.optional(i); ok {
			return out.storage()
		}
	}
	s := e.promoted()
	switch {
	case p.result == asTruth:
		return boolean
	case p.result == asComplex && s.typ == hw.FP64:
		return storage{hw.Complex128, 16}
	case p.result == asComplex:
		return storage{hw.Complex64, 8}
	case p.result == asFloat && rankOf(s.typ) <= intRank:
		return fp32
	}
	return s
}

// An elementwise gathers the operands of a pointwise operator.
type elementwise struct {
	dims    [8]int64 // broadcast shape, last dimension first
	rank    int
	tensors int
	wide    storage // promoted type of operands with dimensions
	narrow  storage // of those without
	scalar  rank    // category of Python numbers
	read    int64   // bytes of operands with dimensions
	single  int64   // bytes of those without
}

// operand takes argument i in, if it is a tensor or a number. A mask takes no part in type promotion.
func (e *elementwise) operand(in *reading, i int, mask bool) {
	a := in.call.arg(i)
	if a == nil || a.Type == "" {
		return
	}
	if a.Type == "Scalar" {
		e.scalar = max(e.scalar, numberRank(a.Value))
		return
	}
	t := in.tensor(i)
	if in.err != nil {
		return
	}
	e.tensors++
	e.broadcast(in, &t)
	if len(t.Dims) == 0 {
		e.single = sum(e.single, t.store)
		e.narrow = promoteKnown(e.narrow, t.storage(), mask)
		return
	}
	e.read = sum(e.read, t.Bytes())
	e.wide = promoteKnown(e.wide, t.storage(), mask)
}

func promoteKnown(a, b storage, skip bool) storage {
	switch {
	case skip:
		return a
	case a.bytes == 0:
		return b
	}
	return promote(a, b)
}

func (e *elementwise) broadcast(in *reading, t *Tensor) {
	in.require(len(t.Dims) <= len(e.dims), "at most 8 dimensions")
	if in.err != nil {
		return
	}
	for i := range t.Dims {
		d := t.last(i)
		if i >= e.rank {
			e.dims[i] = d
			continue
		}
		var ok bool
		e.dims[i], ok = broadcast(e.dims[i], d)
		in.require(ok, "operands that broadcast")
	}
	e.rank = max(e.rank, len(t.Dims))
}

func (e *elementwise) outputs(in *reading) int64 { return product(e.dims[:e.rank]...) }

// bytes is what the operands take to read. Single values beside a tensor are kernel arguments or stay in cache.
func (e *elementwise) bytes() int64 {
	if e.wide.bytes == 0 {
		return sum(e.read, e.single)
	}
	return e.read
}

// promoted returns the type that the operands give: those with dimensions decide, single values and Python numbers
// only when they are of a higher category.
func (e *elementwise) promoted() storage {
	s := e.wide
	if s.bytes == 0 || rankOf(e.narrow.typ) > rankOf(s.typ) {
		if s.bytes != 0 && e.narrow.typ == hw.FP64 {
			s = fp32 // a Python float, wrapped
		} else if e.narrow.bytes != 0 {
			s = e.narrow
		}
	}
	if e.scalar > rankOf(s.typ) {
		switch e.scalar {
		case intRank:
			return int64s
		case floatRank:
			return fp32
		}
	}
	return s
}

// computeType is the type in which operands meet.
func (e *elementwise) computeType() hw.DType {
	if t := e.promoted().typ; t != hw.UnknownType {
		return t
	}
	return hw.FP32
}

// realArithmetic turns an operation on complex numbers into those on their parts: the six of a product.
func realArithmetic(t hw.DType, flops int64) (hw.DType, int64) {
	switch t {
	case hw.Complex64:
		return hw.FP32, 6 * flops
	case hw.Complex128:
		return hw.FP64, 6 * flops
	}
	return t, flops
}

func numberRank(text string) rank {
	switch {
	case text == "":
		return noRank
	case text == "True" || text == "False":
		return boolRank
	case strings.ContainsAny(text, ".enEN"):
		return floatRank
	}
	return intRank
}
