package report

import (
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// changed is a second run of the nasty report: another file, one operator faster, one gone, one new, one of another shape.
func changed() *Report {
	r := nasty()
	r.Trace.Files[0].SHA256 = strings.Repeat("cd", 32)
	ops := r.Operators
	ops[1].KernelTime /= 2
	ops[1].Kernels[0].Name = "better <kernel>"
	ops[2].Name = "brand::new"
	ops[3].InputDims = [][]int64{{1, 2, 3}}
	ops[4].KernelTime += 90_000 // 1 %: noise
	return r
}

func TestCompare(t *testing.T) {
	a, b := nasty(), changed()
	b.Hardware.Name, b.Workload.Batch, b.Throughput.Value = "Other GPU", 8, 1
	c, err := Compare(a, b)
	if err != nil {
		t.Fatal(err)
	}
	states := map[string]int{}
	for _, op := range c.Operators {
		states[op.State]++
		if op.Name == nastyNames[1] && (op.State != ChangeFaster || math.Abs(float64(op.Percent)+50) > 0.001 || !cmp.Equal(op.NewKernels, []string{"better <kernel>"})) {
			t.Errorf("halved operator: %+v", op)
		}
	}
	if diff := cmp.Diff(map[string]int{ChangeFaster: 1, ChangeGone: 2, ChangeNew: 2, ChangeSame: len(nastyNames) - 3}, states); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"GPU: Test GPU before, Other GPU after", "batch: 4 before, 8 after",
		"1 operators of the second report have other shapes or types than in the first"}, c.Notes); diff != "" {
		t.Error(diff)
	}
	if f := c.Figures[0]; f.Name != "throughput" || f.Before != 0.5 || f.After != 1 || f.Percent != 100 {
		t.Errorf("throughput: %+v", f)
	}
	golden(t, "compare.md", rendered(t, c.WriteMarkdown))
	if !json.Valid([]byte(rendered(t, c.WriteJSON))) {
		t.Error("JSON is not valid")
	}
}

// TestCompareIdentical is BL-99: the same file twice is a mistake of the caller.
func TestCompareIdentical(t *testing.T) {
	if _, err := Compare(nasty(), nasty()); !errors.Is(err, ErrIdentical) {
		t.Errorf("error %v, want ErrIdentical", err)
	}
	if _, err := Compare(empty(), empty()); err != nil {
		t.Errorf("reports without files: %v", err)
	}
}

func TestCompareWithItselfChangesNothing(t *testing.T) {
	a, b := nasty(), nasty()
	b.Trace.Files[0].SHA256 = "other"
	c, err := Compare(a, b)
	if err != nil {
		t.Fatal(err)
	}
	for _, list := range [][]Change{c.Operators, c.Categories, c.Phases, c.Steps} {
		for _, x := range list {
			if x.State != ChangeSame || x.Difference != 0 {
				t.Errorf("%s: %s by %v", x.Name, x.State, x.Difference)
			}
		}
	}
	if len(c.Notes) != 0 {
		t.Errorf("notes: %q", c.Notes)
	}
}
