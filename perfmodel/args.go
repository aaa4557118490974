package perfmodel

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/ditlens/ditlens/hw"
	"github.com/ditlens/ditlens/trace"
)

// A Tensor is a tensor argument whose shape and element type are recorded and make sense. It shares its slices with
// the call.
type Tensor struct {
	Dims    []int64
	Strides []int64 // nil when not recorded
	Type    hw.DType
	store   int64 // bytes of a stored element
	count   int64
}

// Elements returns the number of elements that the shape spans, 1 for a 0-dimensional tensor. It counts elements as
// stored: two FP4 values are one.
func (t *Tensor) Elements() int64 { return t.count }

// Unique returns the number of different elements: dimensions of stride 0 repeat the same ones.
func (t *Tensor) Unique() int64 {
	if len(t.Strides) != len(t.Dims) {
		return t.count
	}
	n := int64(1)
	for i, d := range t.Dims {
		if d == 0 {
			return 0
		}
		if t.Strides[i] != 0 {
			n *= d // a part of count, which fits
		}
	}
	return n
}

// Bytes returns what reading the tensor once moves: its unique elements.
func (t *Tensor) Bytes() int64 { return product(t.Unique(), t.store) }

// BytesWritten returns what writing the whole tensor moves: all its elements.
func (t *Tensor) BytesWritten() int64 { return product(t.count, t.store) }

func (t *Tensor) storage() storage { return storage{t.Type, t.store} }

// last returns dimension i from the end, 1 when there are not so many.
func (t *Tensor) last(i int) int64 {
	if i = len(t.Dims) - 1 - i; i < 0 {
		return 1
	}
	return t.Dims[i]
}

// Tensor returns argument i of the call. The error is a *[MissingError] when it is no tensor, was not given, or lacks
// a known element type or a sane shape, and a *[RangeError] when its elements cannot be counted.
func (c *Call) Tensor(i int) (Tensor, error) {
	var t Tensor
	err := c.read(i, &t)
	return t, err
}

// read fills t, which is left alone when the argument cannot be read.
func (c *Call) read(i int, t *Tensor) error {
	a := c.arg(i)
	switch {
	case c.args() == 0:
		return c.missing("arguments: none are recorded")
	case a == nil:
		return c.missing("argument %d", i)
	}
	if !isTensor(a) {
		return c.missing("shape of argument %d", i)
	}
	s, ok := storageOf(a.Type)
	if !ok {
		return c.missing("element type %q of argument %d", a.Type, i)
	}
	return c.shape(a, s, i, t)
}

// shape fills t with the shape of argument i, or of a member of its list, and the element type s.
func (c *Call) shape(a *trace.Arg, s storage, i int, t *Tensor) error {
	for _, d := range a.Dims {
		if d < 0 {
			return c.missing("sane shape of argument %d", i)
		}
	}
	count := product(a.Dims...)
	if product(count, s.bytes) == tooMuch {
		return &RangeError{c.Name, "the shape of argument " + strconv.Itoa(i)}
	}
	*t = Tensor{Dims: a.Dims, Strides: a.Strides, Type: s.typ, store: s.bytes, count: count}
	return nil
}

// Int returns the whole number that was recorded for argument i, ok = false when there is none.
func (c *Call) Int(i int) (n int64, ok bool) {
	a := c.arg(i)
	if a == nil || a.Value == "" {
		return 0, false
	}
	n, err := strconv.ParseInt(strings.TrimSuffix(a.Value, "."), 10, 64)
	return n, err == nil
}

// Bool returns the truth value that was recorded for argument i, ok = false when there is none.
func (c *Call) Bool(i int) (value, ok bool) {
	if a := c.arg(i); a != nil {
		switch a.Value {
		case "True", "true", "1":
			return true, true
		case "False", "false", "0":
			return false, true
		}
	}
	return false, false
}

// Ints returns the list of whole numbers that was recorded for argument i ("[1, 1]", or a single number), appended to
// buf. Ok is false when there is none.
func (c *Call) Ints(i int, buf []int64) (list []int64, ok bool) {
	a := c.arg(i)
	if a == nil || a.Value == "" {
		return buf, false
	}
	return parseInts(a.Value, buf)
}

func parseInts(text string, buf []int64) (list []int64, ok bool) {
	inner, bracketed := strings.CutPrefix(text, "[")
	if bracketed {
		inner, ok = strings.CutSuffix(inner, "]")
		if !ok {
			return buf, false
		}
		if strings.TrimSpace(inner) == "" {
			return buf, true
		}
	}
	list = buf
	for more := true; more; {
		var item string
		item, inner, more = strings.Cut(inner, ",")
		n, err := strconv.ParseInt(strings.TrimSpace(item), 10, 64)
		if err != nil {
			return buf, false
		}
		list = append(list, n)
	}
	return list, true
}

// Given reports whether argument i is a tensor that was passed. An optional tensor that was not has no element type.
func (c *Call) Given(i int) bool {
	a := c.arg(i)
	return a != nil && isTensor(a)
}

// op is the name of the operator without its overload.
func (c *Call) op() string { return withoutOverload(c.Name) }

func (c *Call) arg(i int) *trace.Arg {
	if c.Inputs == nil || i < 0 || i >= len(c.Inputs.Args) {
		return nil
	}
	return &c.Inputs.Args[i]
}

// args returns the number of recorded arguments.
func (c *Call) args() int {
	if c.Inputs == nil {
		return 0
	}
	return len(c.Inputs.Args)
}

func (c *Call) missing(format string, a ...any) error {
	return &MissingError{c.Name, fmt.Sprintf(format, a...)}
}

// isTensor reports whether an argument is a tensor by its type word. 0-dimensional tensors have no dims.
func isTensor(a *trace.Arg) bool {
	switch a.Type {
	case "", "Scalar", "ScalarList", "TensorList", "GenericList", "Device", "Generator", "String", "None":
		return false
	}
	if len(a.Dims) > 0 {
		return true
	}
	_, known := storageOf(a.Type)
	return known
}

// A reading gathers the arguments of one call and keeps the first error, so that a model can read on and check once.
type reading struct {
	call *Call
	err  error
}

// none stands for an argument that an operator does not have.
const none = -1

func (r *reading) tensor(i int) (t Tensor) {
	if err := r.call.read(i, &t); err != nil {
		r.fail(err)
	}
	return t
}

// matrix reads argument i and demands at least so many dimensions.
func (r *reading) matrix(i, rank int) Tensor {
	t := r.tensor(i)
	if r.err == nil && len(t.Dims) < rank {
		r.fail(r.call.missing("%d dimensions of argument %d", rank, i))
	}
	return t
}

// optional reads argument i if it was given; ok tells.
func (r *reading) optional(i int) (t Tensor, ok bool) {
	if i == none || !r.call.Given(i) {
		return Tensor{}, false
	}
	return r.tensor(i), r.err == nil
}

// bytes returns what reading the optional argument i moves, 0 when it was not given.
func (r *reading) bytes(i int) int64 {
	if t, ok := r.optional(i); ok {
		return t.Bytes()
	}
	return 0
}

// everyTensor returns what reading the tensor arguments from the given one on moves, but for one. Single values count
// nothing.
func (r *reading) everyTensor(from, but int) int64 {
	var n int64
	for i := from; i < r.call.args(); i++ {
		if t, ok := r.optional(i); ok && t.Elements() > 1 && i != but {
			n = sum(n, t.Bytes())
		}
	}
	return n
}

func (r *reading) require(ok bool, what string) {
	if !ok {
		r.fail(r.call.missing("%s", what))
	}
}

func (r *reading) fail(err error) {
	if r.err == nil {
		r.err = err
	}
}

// done is the end of every shipped model: the error of the reading, or the work if it can be counted.
func (r *reading) done(w Work) (Work, error) {
	if r.err != nil {
		return Work{}, r.err
	}
	w.Bytes = sum(w.Bytes, w.Read, w.Written)
	total := w.Bytes
	for _, c := range w.Compute {
		total = sum(total, c.FLOPs)
	}
	if total == tooMuch {
		return Work{}, &RangeError{r.call.Name, "the work"}
	}
	return w, nil
}

// charge adds arithmetic to the work. Wide integers have no matrix unit on any GPU: their products run on the vector
// unit.
func (w *Work) charge(u hw.Unit, t hw.DType, flops int64) {
	if flops == 0 {
		return
	}
	switch t {
	case hw.Bool, hw.Int16, hw.Int32, hw.Int64:
		u = hw.Vector
	}
	for i := range w.Compute {
		c := &w.Compute[i]
		if c.FLOPs == 0 || c.Unit == u && c.Type == t {
			*c = hw.Compute{Unit: u, Type: t, FLOPs: sum(c.FLOPs, flops)}
			return
		}
	}
}

// doubt lowers the certainty of the work and says why, unless it was in doubt already.
func (w *Work) doubt(c Certainty, why string) {
	if w.Certainty == Exact {
		w.Certainty, w.Why = c, why
	}
}
