package synth

import (
	"fmt"
	"strconv"
	"strings"
)

// An Arg is one recorded argument of an operator.
type Arg struct {
	dims, strides, typ, value string
	shape                     []int64
}

// BF16 is an element type as the profiler names it.
const BF16 = "c10::BFloat16"

// Tensor is a contiguous tensor.
func Tensor(typ string, dims ...int64) Arg {
	strides := make([]int64, len(dims))
	n := int64(1)
	for i := len(dims) - 1; i >= 0; i-- {
		strides[i] = n
		n *= dims[i]
	}
	return Arg{dims: ints(dims), strides: ints(strides), typ: typ, shape: dims}
}

// Weight is a transposed view of a contiguous (n, k) weight, as linear layers use it: dims (k, n), strides (1, k).
func Weight(typ string, k, n int64) Arg {
	return Arg{dims: ints([]int64{k, n}), strides: ints([]int64{1, k}), typ: typ, shape: []int64{k, n}}
}

// Scalar is a number or bool.
func Scalar(v string) Arg { return Arg{dims: "[]", strides: "[]", typ: "Scalar", value: v} }

// Ints is a list of integers.
func Ints(v ...int64) Arg { return Arg{dims: "[]", strides: "[]", typ: "ScalarList", value: ints(v)} }

// Absent is an optional argument that was not given.
func Absent() Arg { return Arg{dims: "[]", strides: "[]"} }

// Tensors is a list of contiguous tensors of the given shapes.
func Tensors(shapes ...[]int64) Arg {
	var dims, strides []string
	for _, s := range shapes {
		t := Tensor("", s...)
		dims, strides = append(dims, t.dims), append(strides, t.strides)
	}
	return Arg{dims: "[" + strings.Join(dims, ", ") + "]", strides: "[" + strings.Join(strides, ", ") + "]", typ: "TensorList"}
}

func (a Arg) elements() int64 {
	n := int64(1)
	for _, d := range a.shape {
		n *= d
	}
	return n
}

func argsJSON(args []Arg) string {
	var dims, strides, types, values []string
	for _, a := range args {
		dims, strides = append(dims, a.dims), append(strides, a.strides)
		types, values = append(types, strconv.Quote(a.typ)), append(values, strconv.Quote(a.value))
	}
	list := func(key string, v []string) string { return fmt.Sprintf("%q: [%s]", key, strings.Join(v, ", ")) }
	return strings.Join([]string{list("Concrete Inputs", values), list("Input type", types),
		list("Input Strides", strides), list("Input Dims", dims)}, ", ")
}

func ints(v []int64) string {
	s := make([]string, len(v))
	for i, n := range v {
		s[i] = strconv.FormatInt(n, 10)
	}
	return "[" + strings.Join(s, ", ") + "]"
}
