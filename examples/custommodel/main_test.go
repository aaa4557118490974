package main

import (
	"strings"
	"testing"

	"github.com/ditlens/ditlens/perfmodel"
	"github.com/ditlens/ditlens/perfmodel/perfmodeltest"
	"github.com/ditlens/ditlens/trace"
)

func TestRun(t *testing.T) {
	var out strings.Builder
	if err := run(&out); err != nil {
		t.Fatal(err)
	}
	// 3 x 4096 x 3072 x 2 bytes and a gate of 3072 x 2 bytes at 5.3 TB/s take 14.2 of 24 us.
	want := "mylib::gated_residual by model \"mylib.gated_residual\": 3 calls, 75503616 bytes each, memory bound, 59.4 % of the roof\n"
	if out.String() != want {
		t.Errorf("got  %swant %s", out.String(), want)
	}
}

// The model keeps what the interface asks of it.
func TestModel(t *testing.T) {
	x := trace.Arg{Type: "c10::BFloat16", Dims: []int64{2, 64, 128}}
	gate := trace.Arg{Type: "c10::BFloat16", Dims: []int64{2, 1, 128}}
	c := &perfmodel.Call{Name: "mylib::gated_residual", Inputs: &trace.Inputs{Args: []trace.Arg{x, gate, x}}}
	perfmodeltest.Run(t, gatedResidual{}, c)
}
