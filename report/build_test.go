package report

import (
	"math"
	"strings"

	"github.com/ditlens/ditlens/perfmodel"
	"github.com/ditlens/ditlens/trace/record"
)

// Names that have broken writers elsewhere.
var nastyNames = []string{
	`=1+1`, `+cmd|' /C calc'!A0`, `-2+3`, `@SUM(A1)`, `'quoted'`, "tab\tnew\nline\rreturn", "nul\x00bell\x07", `a "quoted", name`,
	`<script>alert("x")</script>`, `a|b`, "tick`s``", `back\slash`, `_emphasis_ *bold* [link](x)`, `&lt;`, `äöü 名前 🙂`, "bad\xffutf8",
	strings.Repeat("void long::", 400) + `kernel<int, float>(int)`, ``,
}

// nasty is a report by hand with every kind of row and all nasty names, in the order that an Analyzer would give.
func nasty() *Report {
	r := &Report{
		SchemaVersion: SchemaVersion, Generator: "ditlens test", Status: StatusOK, WorkloadType: "diffusion", ThroughputUnit: "images/sec",
		WorkloadEvidence: []string{`marker "<b>"`},
		Throughput:       Throughput{Value: 0.5, Unit: "images/sec", LatencySeconds: 8, SecondsPerItem: 2, FramesPerSec: unknown, Basis: "first to last GPU event"},
		Workload:         record.Workload{Model: "model | <i>", Batch: 4, Height: 512, Width: 768, NumInferenceSteps: 2, Images: 4, Source: map[string]string{"batch": "caller"}},
		Hardware: Hardware{Name: "Test GPU", Ceiling: "achievable", Bandwidth: 5e12, HostLink: unknown, Source: "by hand",
			Peaks: map[string]Peak{"matrix_bf16": {Value: 7e14, Source: "by hand"}},
			Other: &Ceiling{Name: "datasheet", Bandwidth: 5.3e12, Peaks: map[string]Peak{"matrix_bf16": {Value: 1.3e15, Source: "by hand"}}}},
		Split: Split{Method: "marker", Mode: "auto", StepCount: 2, Images: 1, Confidence: 0.9, Marked: 2, Detected: 2, MedianGPUTime: 3e6, MedianSpan: 4e6,
			Classes: []Class{{ID: 0, Name: "full", Steps: 2, MedianGPUTime: 3e6, MedianSpan: 4e6, Kernels: 20}},
			Steps: []Step{
				{Index: 0, Complete: true, Kernels: 20, GPUTime: 3e6, Busy: 3e6, Span: 4e6, Start: 1e6, End: 5e6, Forwards: 1, Roofline: 2000},
				{Index: 1, Outlier: "=slow <b>", Kernels: 21, GPUTime: 3e6, Busy: 3e6, Span: 5e6, Start: 5e6, End: 10e6, Forwards: 1, Roofline: unknown}},
			Phases:      []Phase{{Name: "text_encode", Kernels: 3, GPUTime: 5e5, Busy: 5e5, End: 1e6}, {Name: "denoise", Kernels: 41, GPUTime: 6e6, Busy: 6e6, Start: 1e6, End: 10e6}},
			PhaseTotals: []Phase{{Name: "text_encode", Kernels: 3, GPUTime: 5e5, Busy: 5e5, End: 1e6}, {Name: "denoise", Kernels: 41, GPUTime: 6e6, Busy: 6e6, Start: 1e6, End: 10e6}},
			Steady:      &Steady{First: 0, Last: 0}, Attempts: []Attempt{{Mode: "marker", Code: "ok", Message: `2 steps by "x|y"`, Steps: 2}}},
		Trace: Input{Files: []File{{Path: `dir/<trace> "1".json`, SHA256: strings.Repeat("ab", 32), Format: "json", Bytes: 1000, Events: 100, Role: "trace"}},
			WorldSize: 1},
		Modulation: []Modulation{{Form: "eager", Phase: "denoise", Shape: "2x4096x2432", Count: 8, Time: 1e6, Bytes: 1e8, IdealBytes: 4e7, Streams: 5, Ideal: 2, AtStake: 6e5}},
		Findings: []Finding{{Code: "low_efficiency", Title: "`x` is <slow> | 40 %", Detail: "1 of 2 *calls*", AtStake: 2e6, NewThroughput: 0.6},
			{Code: "plain", Title: "no number", NewThroughput: unknown}},
		Ranks: &Ranks{Matched: 3, Unmatched: 1, Doubts: []string{"1 collectives of group <b>|\x1b are not matched: ..."},
			Ranks: []Rank{{Rank: 0, File: "a|<b>", Steps: 2, StepSpan: 4e6, Busy: 9e6, Idle: 1e6, Exposed: 1e5, Transfer: 3e5, Calls: 3, Last: 3, ClockShift: 0, Drift: 0, Spread: 0},
				{Rank: 1, File: "b", Steps: 2, Busy: 9e6, Idle: 1e6, Exposed: 2e5, Wait: 1e5, Transfer: 3e5, Calls: 3, ClockShift: -12.5, Drift: 3.25, Spread: 1}},
			Collectives: []Collective{{Name: "all|<reduce>\x00", Group: "0 |<script>", Ranks: []int{0, 1}, Calls: 3, Transfer: 3e5, Wait: 1e5, Arrival: unknown,
				Bytes: 1000, Bandwidth: 3e9, Efficiency: 6}}},
		Diagnostics: []Diagnostic{{Code: "events_skipped", Severity: "warning", Count: 3, Message: "near \"{\x00\""}},
	}
	for i, name := range nastyNames {
		r.Operators = append(r.Operators, nastyOperator(i, name))
	}
	for i := range r.Operators {
		o := &r.Operators[i]
		r.Trace.GPUTime += o.KernelTime
		r.Trace.Kernels += o.Count
		r.OperatorTotals = append(r.OperatorTotals, OperatorTotal{Name: o.Name, Module: "Block", Categories: []perfmodel.Category{o.Category}, Count: o.Count,
			Time: o.KernelTime, Inclusive: o.KernelTime})
	}
	r.addShares()
	for i := range r.OperatorTotals {
		r.OperatorTotals[i].Percent, r.OperatorTotals[i].Cumulative = r.Operators[i].Percent, r.Operators[i].Cumulative
	}
	r.Trace.LinkedKernels = r.Trace.Kernels
	r.Timeline = Timeline{Total: 2 * r.Trace.GPUTime, Busy: r.Trace.GPUTime, Idle: r.Trace.GPUTime, Computation: r.Trace.GPUTime, BusyRatio: 0.5}
	r.Roofline = Totals{Actual: r.Trace.GPUTime, Ideal: 5000, ModelledActual: r.Trace.GPUTime - 9e6, Efficiency: 0.5, FLOPs: 1e12, Bytes: 1e9, EndToEnd: 0.25,
		StepActual: 3e6, StepIdeal: 2000, UncertainActual: 1e6}
	r.Coverage = Coverage{ModelledPercent: 80, ModelledKernels: 16, Kernels: r.Trace.Kernels, GraphPercent: 0, ByCategory: []CategoryCoverage{
		{Category: "other", Time: 9e6, Percent: share(9e6, r.Trace.GPUTime), ModelledPercent: 0, Count: 1, Ideal: unknown, Efficiency: unknown},
		{Category: "gemm", Time: r.Trace.GPUTime - 9e6, Percent: share(r.Trace.GPUTime-9e6, r.Trace.GPUTime), ModelledPercent: 100, Count: 20, Ideal: 5000, Efficiency: 60}}}
	return r
}

// nastyOperator makes the i-th operator, of falling time; the first has no model.
func nastyOperator(i int, name string) Operator {
	t := Micros(9e6 - 100_001*i)
	half := Number(t) / 2000
	each := Stats{N: 2, Mean: half, Median: half, Std: 1.5, Min: half - 1, Max: half + 1, Sum: 2 * half}
	none := Stats{Mean: unknown, Median: unknown, Std: unknown, Min: unknown, Max: unknown, Sum: unknown}
	o := Operator{
		Name: name, Leaf: name, Category: "gemm", Kind: "=kind", Model: "gemm.mm", Phase: "denoise", Module: "Block", Count: 2, KernelTime: t, Time: each, HostTime: each,
		InputDims: [][]int64{{8192, 2432}, {2432}, {}}, InputTypes: []string{"c10::BFloat16", "it's", `"`}, InputStrides: [][]int64{{2432, 1}, {1}, {}},
		ConcreteInputs: []string{"", "=2", "a\\b"}, FLOPs: 1e9, FLOPsBy: map[string]int64{"matrix_bf16": 1e9}, Bytes: 3 << 20, BytesRead: 2 << 20, BytesWritten: 1 << 20,
		Level: "device", Intensity: Number(1e9 / float64(3<<20)), TFLOPS: 100 + Number(i), TBs: 0.25, TFLOPSEach: each, TBsEach: each, Bound: "compute", Roof: "compute",
		RooflineTime: half / 2, Efficiency: 50, CoreEfficiency: 60, EfficiencyEach: each, AtStake: t / 2, Certainty: "lower bound", Notes: []string{"a <note>"},
		Kernels: []OperatorKernel{{Name: name, Count: 2, Time: t - 1000, Category: "gemm", Core: true, Each: each},
			{Name: "helper, all of \"them\"", Count: 1, Time: 1000, Category: "copy", Each: Stats{N: 1, Mean: 1, Median: 1, Std: unknown, Min: 1, Max: 1, Sum: 1}}},
	}
	switch i {
	case 0:
		o.Model, o.Category, o.Kind, o.FLOPs, o.FLOPsBy, o.Bytes, o.BytesRead, o.BytesWritten = "", "other", "", unknown, nil, unknown, unknown, unknown
		o.Intensity, o.TFLOPS, o.TBs, o.TFLOPSEach, o.TBsEach, o.EfficiencyEach = unknown, unknown, unknown, none, none, none
		o.Bound, o.Roof, o.RooflineTime, o.Efficiency, o.CoreEfficiency, o.AtStake, o.Certainty = "unmodelled", "", unknown, unknown, unknown, 0, ""
		o.InputDims, o.InputTypes, o.InputStrides, o.ConcreteInputs = nil, nil, nil, nil
	case 1:
		o.Efficiency, o.AtStake, o.Notes = 140, 0, []string{"served from the last-level cache"}
	case 2:
		o.Certainty, o.Intensity = "exact", Number(math.Inf(1))
	}
	return o
}

// empty is the report of a trace without GPU events.
func empty() *Report {
	return &Report{
		SchemaVersion: SchemaVersion, Generator: "ditlens test", Status: StatusEmpty, WorkloadType: "unknown", ThroughputUnit: "images/sec",
		Throughput: Throughput{Value: unknown, Unit: "images/sec", LatencySeconds: unknown, SecondsPerItem: unknown, FramesPerSec: unknown, Basis: "no GPU events"},
		Hardware:   Hardware{Bandwidth: unknown, HostLink: unknown},
		Split:      Split{Method: "none", Mode: "auto", Confidence: unknown},
		Timeline:   Timeline{BusyRatio: unknown},
		Roofline:   Totals{Ideal: unknown, Efficiency: unknown, FLOPs: unknown, Bytes: unknown, EndToEnd: unknown, StepIdeal: unknown},
		Coverage:   Coverage{ModelledPercent: unknown, GraphPercent: unknown},
	}
}

// unmodelled is the report of a trace whose kernels no model knows.
func unmodelled() *Report {
	r := empty()
	r.Status = StatusNoSteadyState
	r.Operators = []Operator{nastyOperator(0, "mystery")}
	r.Trace.GPUTime, r.Trace.Kernels, r.Coverage.Kernels = r.Operators[0].KernelTime, 2, 2
	r.Coverage.ModelledPercent = 0
	r.Coverage.ByCategory = []CategoryCoverage{{Category: "other", Time: r.Trace.GPUTime, Percent: 100, Count: 2, Ideal: unknown, Efficiency: unknown}}
	r.Timeline = Timeline{Total: r.Trace.GPUTime, Busy: r.Trace.GPUTime, Computation: r.Trace.GPUTime, BusyRatio: 1}
	r.addShares()
	return r
}
