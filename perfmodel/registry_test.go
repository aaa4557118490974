package perfmodel_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ditlens/ditlens/hw"
	"github.com/ditlens/ditlens/perfmodel"
	"github.com/ditlens/ditlens/trace"
)

func named(name string) perfmodel.OpModel {
	return perfmodel.Func(perfmodel.Info{Name: name, Doc: "counts nothing"},
		func(c *perfmodel.Call) (perfmodel.Work, error) {
			return perfmodel.Work{}, &perfmodel.MissingError{Op: c.Name, What: "everything"}
		})
}

func TestRegistryPrecedence(t *testing.T) {
	var r perfmodel.Registry
	if got := r.Lookup(&perfmodel.Call{Name: "aten::mm"}); got != nil {
		t.Fatalf("the empty registry answers %v", got)
	}
	add := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	found := func(op, want string) {
		t.Helper()
		got := ""
		if m := r.Lookup(&perfmodel.Call{Name: op}); m != nil {
			got = m.Info().Name
		}
		if got != want {
			t.Errorf("%s: model %q, want %q", op, got, want)
		}
	}
	add(r.Add(named("exact"), "aten::mm", "aten::bmm"))
	add(r.AddPattern(named("pattern"), "aten::*mm", "my::gemm_*_v*"))
	found("aten::mm", "pattern")
	found("aten::mm.out", "pattern") // an overload's suffix is not part of the name
	found("my::gemm_fp8_v2", "pattern")
	found("my::gemm_fp8", "")
	found("aten::mm_", "")
	add(r.Add(named("later"), "aten::mm"))
	found("aten::mm", "later")
	found("aten::mm.out", "later")
	found("aten::bmm", "pattern")
	add(r.AddFunc(named("predicate"), func(c *perfmodel.Call) bool { return strings.HasSuffix(c.Name, "bmm") }))
	found("aten::bmm", "predicate")
	found("aten::mm", "later")
	add(r.Add(named("latest"), "aten::bmm"))
	found("aten::bmm", "latest")
	var names []string
	for _, e := range r.All() {
		names = append(names, e.Info.Name)
	}
	if got := strings.Join(names, " "); got != "exact pattern later predicate latest" {
		t.Errorf("All() = %s", got)
	}
}

func TestRegistryRefuses(t *testing.T) {
	undocumented := perfmodel.Func(perfmodel.Info{Name: "a", Doc: " "}, nil)
	for want, add := range map[string]func(r *perfmodel.Registry) error{
		"without doc":         func(r *perfmodel.Registry) error { return r.Add(undocumented, "x") },
		"without name":        func(r *perfmodel.Registry) error { return r.Add(named(""), "x") },
		"is taken":            func(r *perfmodel.Registry) error { return r.Add(named("gemm.mm"), "x") },
		"no model":            func(r *perfmodel.Registry) error { return r.Add(nil, "x") },
		"name of an operator": func(r *perfmodel.Registry) error { return r.Add(named("a")) },
		"given twice":         func(r *perfmodel.Registry) error { return r.Add(named("a"), "x", "x") },
		"empty":               func(r *perfmodel.Registry) error { return r.AddPattern(named("a"), "") },
		"a pattern":           func(r *perfmodel.Registry) error { return r.AddPattern(named("a")) },
		"a predicate":         func(r *perfmodel.Registry) error { return r.AddFunc(named("a"), nil) },
	} {
		r := perfmodel.Default()
		before := len(r.All())
		if err := add(r); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
		if got := len(r.All()); got != before {
			t.Errorf("%s: a refused model was added", want)
		}
	}
}

// Registries are values: what one learns no other knows.
func TestDefaultIsFresh(t *testing.T) {
	a, b := perfmodel.Default(), perfmodel.Default()
	if err := a.Add(named("mine"), "aten::mm"); err != nil {
		t.Fatal(err)
	}
	if got := b.Lookup(&perfmodel.Call{Name: "aten::mm"}).Info().Name; got != "gemm.mm" {
		t.Errorf("a second registry answers %q", got)
	}
}

// Each shipped model has a category for calls that it cannot read, and no operator is claimed by two.
func TestShippedModels(t *testing.T) {
	seen := make(map[string]string)
	for _, e := range perfmodel.Default().All() {
		if e.Info.Category == "" {
			t.Errorf("%s: no category", e.Info.Name)
		}
		for _, op := range e.Ops {
			if by := seen[op]; by != "" {
				t.Errorf("%s: claimed by %s and %s", op, by, e.Info.Name)
			}
			seen[op] = e.Info.Name
		}
	}
	if len(seen) < 250 {
		t.Errorf("%d operators", len(seen))
	}
}

func ExampleDefault() {
	models := perfmodel.Default()
	call := &perfmodel.Call{Name: "aten::mm", Inputs: &trace.Inputs{Args: []trace.Arg{
		{Type: "c10::BFloat16", Dims: []int64{8192, 2432}},
		{Type: "c10::BFloat16", Dims: []int64{2432, 9728}},
	}}}
	model := models.Lookup(call)
	w, err := model.Work(call)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(model.Info().Name, w.Category, w.FLOPs(), "operations,", w.Bytes, "bytes,", w.Certainty)
	// Output: gemm.mm gemm 387620798464 operations, 246546432 bytes, exact
}

func ExampleRegistry_Add() {
	// my::scale(x, factor) reads x and writes as much.
	scale := func(c *perfmodel.Call) (perfmodel.Work, error) {
		x, err := c.Tensor(0)
		if err != nil {
			return perfmodel.Work{}, err
		}
		w := perfmodel.Work{Category: perfmodel.Elementwise, Read: x.Bytes(), Written: x.BytesWritten()}
		w.Bytes = w.Read + w.Written
		w.Compute[0] = hw.Compute{Unit: hw.Vector, Type: x.Type, FLOPs: x.Elements()}
		return w, nil
	}
	models := perfmodel.Default()
	info := perfmodel.Info{Name: "my.scale", Doc: "One operation an element; the tensor in and out."}
	if err := models.Add(perfmodel.Func(info, scale), "my::scale"); err != nil {
		fmt.Println(err)
	}
	c := &perfmodel.Call{Name: "my::scale"}
	_, err := models.Lookup(c).Work(c)
	fmt.Println(err)
	c.Inputs = &trace.Inputs{Args: []trace.Arg{{Type: "c10::Half", Dims: []int64{64, 64}}}}
	w, err := models.Lookup(c).Work(c)
	fmt.Println(w.Bytes, err)
	// Output:
	// perfmodel: my::scale: missing arguments: none are recorded
	// 16384 <nil>
}
