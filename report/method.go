package report

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ditlens/ditlens/trace/record"
)

// methodSection says on what the figures rest: ceilings with their sources, conventions, evidence and inputs.
func (r *Report) methodSection() section {
	s := section{ID: "method", Title: "How It Was Computed"}
	s.Lead = append(s.Lead,
		"Operators: each GPU event belongs to exactly one operator. FLOPs count a multiply-add as two; bytes are the least traffic, every input read once and every output written once. "+
			"Causal attention counts the pairs that are visible, N (N + 1) / 2 of a square mask; whether a mask is causal is read from the recorded arguments.",
		"Roofline time of a call is the greater of FLOPs / peak and bytes / bandwidth. Rates are total work / total time, never a mean of rates. Times are integer nanoseconds, shown rounded.",
	)
	if len(r.WorkloadEvidence) > 0 {
		s.Lead = append(s.Lead, "Evidence for workload_type "+r.WorkloadType+": "+strings.Join(printables(r.WorkloadEvidence), "; ")+".")
	}
	if len(r.Split.Reasons) > 0 {
		s.Lead = append(s.Lead, "Evidence for the steps: "+strings.Join(printables(r.Split.Reasons), "; ")+".")
	}
	if len(r.Workload.Source) > 0 {
		s.Lead = append(s.Lead, "Sources of the workload's figures: "+r.workloadSources()+".")
	}
	if r.Roofline.UncertainActual > 0 {
		s.Lead = append(s.Lead, fmt.Sprintf("Work that is a bound or an estimate concerns %s of GPU time.", duration(r.Roofline.UncertainActual)))
	}
	if r.Hardware.Detected != "" {
		s.Lead = append(s.Lead, "The trace names the GPU: "+printable(r.Hardware.Detected)+".")
	}
	if len(r.Hardware.Peaks) > 0 {
		s.Tables = append(s.Tables, r.ceilingTable())
	}
	s.Tables = append(s.Tables, r.filesTable())
	s.Notes = []string{fmt.Sprintf("Written by %s, report schema %s.", printable(r.Generator), r.SchemaVersion)}
	return s
}

func printables(list []string) []string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = printable(s)
	}
	return out
}

func (r *Report) workloadSources() string {
	fields := map[string][]string{} // by source
	for _, k := range slices.Sorted(maps.Keys(r.Workload.Source)) {
		source := r.Workload.Source[k]
		fields[source] = append(fields[source], k)
	}
	var parts []string
	for _, source := range slices.Sorted(maps.Keys(fields)) {
		what := printable(source)
		if found, ok := strings.CutPrefix(what, record.FromTrace); ok {
			what = found + " (in the trace)"
		}
		parts = append(parts, strings.Join(fields[source], ", ")+": "+what)
	}
	return strings.Join(parts, "; ")
}

// ceilingTable lists the figures of the GPU that percentages refer to.
func (r *Report) ceilingTable() table {
	h := &r.Hardware
	t := table{ID: "ceilings", Title: "Ceilings", Caption: "Figures of the GPU that percentages refer to",
		Columns: columns("figure", ">value", "source")}
	t.Rows = append(t.Rows, []cell{text("memory bandwidth"), number(h.Bandwidth, scaled(h.Bandwidth, "B/s")), text(h.Source)})
	if h.HostLink.Known() {
		t.Rows = append(t.Rows, []cell{text("host link"), number(h.HostLink, scaled(h.HostLink, "B/s")), text(h.HostSource)})
	}
	for _, unit := range slices.Sorted(maps.Keys(h.Peaks)) {
		p := h.Peaks[unit]
		source := p.Source
		if p.Substitute != "" {
			source = joined(source, p.Substitute)
		}
		t.Rows = append(t.Rows, []cell{text(unit), number(p.Value, scaled(p.Value, "FLOP/s")), text(source)})
	}
	return t
}

func (r *Report) filesTable() table {
	t := table{ID: "files", Title: "Inputs", Caption: "Files that were read",
		Columns: columns("file", "role", "format", ">bytes", ">events", ">skipped", ">repaired", "whole", "SHA-256")}
	for _, f := range r.Trace.Files {
		whole := "yes"
		if f.Truncated {
			whole = "cut off"
		}
		n := func(v int64) cell { return number(Number(v), count(v)) }
		t.Rows = append(t.Rows, []cell{{Text: shortened(printable(f.Path), longestName), Full: printable(f.Path), Code: true, Value: unknown},
			text(f.Role), text(f.Format), n(f.Bytes), n(f.Events), n(f.Skipped), n(f.Repaired), text(whole), {Text: f.SHA256, Code: true, Value: unknown}})
	}
	return t
}
