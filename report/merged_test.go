package report

import (
	"bytes"
	"strconv"
	"testing"

	"github.com/ditlens/ditlens/internal/synth"
	"github.com/ditlens/ditlens/trace"
)

// TestMergedRowsAreTheirParts checks the rows that unified_perf_summary.csv puts in place of operators that differ only in
// phase or kind: they are in the table once, hold the calls and the time of their parts, and no part stands beside them.
func TestMergedRowsAreTheirParts(t *testing.T) {
	all := samples(t)
	tr, err := trace.Read(t.Context(), trace.LoadOptions{}, "synthetic", bytes.NewReader(synth.Flux(synth.FluxConfig{}).JSON()))
	if err != nil {
		t.Fatal(err)
	}
	if all["synthetic"], err = (&Analyzer{}).Analyze(t.Context(), tr); err != nil {
		t.Fatal(err)
	}
	if len(all["synthetic"].Merged) == 0 {
		t.Error("the joint and the plain attention of equal shape were not merged")
	}
	for name, r := range all {
		rows := readCSV(t, rendered(t, r.WritePerfSummary))
		want := len(r.Operators)
		for i := range r.Merged {
			m := &r.Merged[i]
			want -= len(m.Parts) - 1
			calls, time := 0, Micros(0)
			for _, p := range m.Parts {
				calls, time = calls+r.Operators[p].Count, time+r.Operators[p].KernelTime
			}
			if m.Count != calls || m.KernelTime != time {
				t.Errorf("%s: %s: %d calls of %v us, its parts %d of %v", name, m.Name, m.Count, m.KernelTime, calls, time)
			}
			found := 0
			for _, row := range rows {
				if row["name"] == csvText(m.Name) && row["Input Dims"] == csvText(pyShapes(m.InputDims, m.InputLists)) &&
					row["Input Strides"] == csvText(pyDims(m.InputStrides)) && row["Concrete Inputs"] == csvText(pyStrings(m.ConcreteInputs)) {
					found++
					if row["operation_count"] != strconv.Itoa(calls) || row["Kernel Time (µs)_sum"] != time.String() {
						t.Errorf("%s: %s: the table has %s calls of %s us, want %d of %v", name, m.Name, row["operation_count"],
							row["Kernel Time (µs)_sum"], calls, time)
					}
				}
			}
			if found != 1 {
				t.Errorf("%s: %s stands %d times in the table", name, m.Name, found)
			}
		}
		if len(rows) != want {
			t.Errorf("%s: %d rows, want %d", name, len(rows), want)
		}
	}
}
