package perfmodel_test

import (
	"slices"
	"testing"

	"github.com/ditlens/ditlens/perfmodel"
	"github.com/ditlens/ditlens/trace"
)

func TestCallReadsLists(t *testing.T) {
	for _, tt := range []struct {
		text string
		want []int64
		ok   bool
	}{
		{"[1, 2]", []int64{1, 2}, true}, {"[-1]", []int64{-1}, true}, {"7", []int64{7}, true}, {"[]", nil, true}, {"[ ]", nil, true},
		{"", nil, false}, {"[1, 2", nil, false}, {"[a]", nil, false}, {"[1.5]", nil, false}, {"[99999999999999999999]", nil, false}, {"True", nil, false},
	} {
		got, ok := call("op", list(tt.text)).Ints(0, nil)
		if !slices.Equal(got, tt.want) || ok != tt.ok {
			t.Errorf("%q: %v, %v; want %v, %v", tt.text, got, ok, tt.want, tt.ok)
		}
	}
}

func TestCallReadsScalars(t *testing.T) {
	c := call("op", number("3"), number("-4."), number("True"), number("0.5"), absent, number("False"))
	if n, ok := c.Int(0); n != 3 || !ok {
		t.Errorf("Int(0) = %d, %v", n, ok)
	}
	if n, ok := c.Int(1); n != -4 || !ok {
		t.Errorf("Int(1) = %d, %v", n, ok)
	}
	for _, i := range []int{2, 3, 4, 6, -1} {
		if n, ok := c.Int(i); ok {
			t.Errorf("Int(%d) = %d", i, n)
		}
	}
	if v, ok := c.Bool(2); !v || !ok {
		t.Errorf("Bool(2) = %v, %v", v, ok)
	}
	if v, ok := c.Bool(5); v || !ok {
		t.Errorf("Bool(5) = %v, %v", v, ok)
	}
	for _, i := range []int{0, 3, 4, 6} {
		if v, ok := c.Bool(i); ok {
			t.Errorf("Bool(%d) = %v", i, v)
		}
	}
}

func TestTensorCountsWhatIsThere(t *testing.T) {
	for _, tt := range []struct {
		arg                     trace.Arg
		elements, unique, bytes int64
	}{
		{bf16(4, 8), 32, 32, 64},
		{strided(bf16(4, 8), 0, 1), 32, 8, 16},
		{strided(bf16(4, 8), 0, 0), 32, 1, 2},
		{strided(bf16(0, 8), 0, 1), 0, 0, 0},
		{strided(bf16(4, 8), 1), 32, 32, 64}, // strides of another shape tell nothing
		{f32(), 1, 1, 4},
	} {
		x, err := call("op", tt.arg).Tensor(0)
		if err != nil {
			t.Fatal(err)
		}
		if x.Elements() != tt.elements || x.Unique() != tt.unique || x.Bytes() != tt.bytes {
			t.Errorf("%v: %d elements, %d unique, %d bytes; want %+v", tt.arg, x.Elements(), x.Unique(), x.Bytes(), tt)
		}
	}
	var c perfmodel.Call
	if c.Given(0) {
		t.Error("a call without arguments has one")
	}
}
