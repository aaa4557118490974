package perfmodel_test

import (
	"testing"

	"github.com/ditlens/ditlens/perfmodel"
	"github.com/ditlens/ditlens/trace"
)

func tensor(typ string, dims ...int64) trace.Arg {
	strides := make([]int64, len(dims))
	n := int64(1)
	for i := len(dims) - 1; i >= 0; i-- {
		strides[i] = n
		n *= dims[i]
	}
	return trace.Arg{Type: typ, Dims: dims, Strides: strides}
}

func TestDefault(t *testing.T) {
	r := perfmodel.Default()
	c := &perfmodel.Call{Name: "aten::mm", Inputs: &trace.Inputs{Args: []trace.Arg{tensor("c10::BFloat16", 8192, 2432), tensor("c10::BFloat16", 2432, 9728)}}}
	m := r.Lookup(c)
	w, err := m.Work(c)
	if err != nil || w.FLOPs() != 387620798464 || w.Bytes != 246546432 {
		t.Fatal(w, err)
	}
}
