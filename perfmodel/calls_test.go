package perfmodel_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/ditlens/ditlens/perfmodel"
	"github.com/ditlens/ditlens/perfmodel/perfmodeltest"
	"github.com/ditlens/ditlens/trace"
)

// Arguments as profilers record them.

func tensor(typ string, dims ...int64) trace.Arg {
	strides := make([]int64, len(dims))
	n := int64(1)
	for i := len(dims) - 1; i >= 0; i-- {
		strides[i] = n
		n *= max(1, dims[i])
	}
	return trace.Arg{Type: typ, Dims: dims, Strides: strides}
}

func bf16(dims ...int64) trace.Arg  { return tensor("c10::BFloat16", dims...) }
func f32(dims ...int64) trace.Arg   { return tensor("float", dims...) }
func i64(dims ...int64) trace.Arg   { return tensor("long int", dims...) }
func i8(dims ...int64) trace.Arg    { return tensor("signed char", dims...) }
func fp8(dims ...int64) trace.Arg   { return tensor("c10::Float8_e4m3fnuz", dims...) }
func truth(dims ...int64) trace.Arg { return tensor("bool", dims...) }

func strided(a trace.Arg, strides ...int64) trace.Arg {
	a.Strides = strides
	return a
}

func number(text string) trace.Arg { return trace.Arg{Type: "Scalar", Value: text} }
func list(text string) trace.Arg   { return trace.Arg{Type: "ScalarList", Value: text} }
func text(s string) trace.Arg      { return trace.Arg{Value: s} }

func tensors(members ...trace.Arg) trace.Arg {
	for i := range members {
		members[i].Type = ""
	}
	return trace.Arg{Type: "TensorList", List: members}
}

var absent trace.Arg

func call(name string, args ...trace.Arg) *perfmodel.Call {
	return &perfmodel.Call{Name: name, Inputs: &trace.Inputs{Args: args}}
}

func fused(name, blocks string, args ...trace.Arg) *perfmodel.Call {
	c := call(name, args...)
	c.Inputs.Extra = map[string]string{"kernel_kwargs": blocks, "kernel_backend": "triton"}
	return c
}

func with(c *perfmodel.Call, change func(*perfmodel.Call)) *perfmodel.Call {
	change(c)
	return c
}

var models = perfmodel.Default()

func work(t *testing.T, c *perfmodel.Call) perfmodel.Work {
	t.Helper()
	m := models.Lookup(c)
	if m == nil {
		t.Fatalf("no model for %s", c.Name)
	}
	w, err := m.Work(c)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// Each case is a fault that tools of the field have had.

func wants(t *testing.T, c *perfmodel.Call, flops, bytes int64) perfmodel.Work {
	t.Helper()
	w := work(t, c)
	if w.FLOPs() != flops {
		t.Errorf("%s: FLOPs = %d, want %d", c.Name, w.FLOPs(), flops)
	}
	if w.Bytes != bytes {
		t.Errorf("%s: Bytes = %d, want %d", c.Name, w.Bytes, bytes)
	}
	perfmodeltest.Run(t, models.Lookup(c), c)
	return w
}

// refused asserts that a call has no work for want of something that is named.
func refused(t *testing.T, c *perfmodel.Call, what string) {
	t.Helper()
	m := models.Lookup(c)
	if m == nil {
		t.Fatalf("no model for %s", c.Name)
	}
	_, err := m.Work(c)
	var e *perfmodel.MissingError
	if !errors.As(err, &e) || !strings.Contains(e.What, what) || e.Op != c.Name {
		t.Errorf("%s: error %v, want one that names %q", c.Name, err, what)
	}
}
