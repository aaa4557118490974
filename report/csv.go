package report

import (
	"encoding/csv"
	"io"
	"strconv"
	"strings"
)

// The CSV files carry the columns of AMD TraceLens' tables in their order, so that scripts written for those run unchanged;
// columns for which a report has nothing stay empty. Shapes and lists are written as Python literals.
//
// A text cell that begins with = + - @ or an apostrophe gets one apostrophe in front, so that no spreadsheet takes a name for
// a formula; strip one leading apostrophe to have the text back. Control characters are written as \xNN.

// perfColumns are the columns of unified_perf_summary.csv; those from "Roofline Time" on are added to the reference's.
var perfColumns = []string{
	"name", "op category", "process_name", "process_label", "thread_name", "Input Dims", "Input type", "Input Strides", "Concrete Inputs",
	"ex_UID", "operation_count", "total_duration_us", "mean_duration_us", "std_duration_us", "GFLOPS", "Data Moved (MB)", "FLOPS/Byte",
	"Compute Spec", "TB/s_mean", "TB/s_std", "TFLOPS/s_mean", "TFLOPS/s_std", "Kernel Time (µs)_mean", "Kernel Time (µs)_std",
	"Kernel Time (µs)_sum", "duration_us_median", "duration_us_min", "duration_us_max", "TB/s_median", "TB/s_min", "TB/s_max",
	"TFLOPS/s_median", "TFLOPS/s_min", "TFLOPS/s_max", "Kernel Time (µs)_median", "Kernel Time (µs)_min", "Kernel Time (µs)_max",
	"kernel_details_summary", "trunc_kernel_details", "perf_params", "has_perf_model", "entry_point", "call_stack_full",
	"Percentage (%)", "Cumulative Percentage (%)",
	"Roofline Time (µs)_first", "Roofline Bound", "Pct Roofline_mean", "Pct Roofline_median", "Pct Roofline_std", "Pct Roofline_min",
	"Pct Roofline_max",
}

// WritePerfSummary writes unified_perf_summary.csv: one row an operator with equal arguments. The kernel times of all rows add
// up to the GPU time of the trace. "Data Moved (MB)" is in MiB there, as in the reference.
func (r *Report) WritePerfSummary(w io.Writer) error {
	ops := r.signatures()
	rows := make([][]string, 0, len(ops))
	for i := range ops {
		rows = append(rows, ops[i].perfRow())
	}
	return writeCSV(w, perfColumns, rows)
}

// perfRow is the operator in the order of perfColumns.
func (o *Operator) perfRow() []string {
	host, tbs, tflops, time, pct := o.HostTime.known(), o.TBsEach.known(), o.TFLOPSEach.known(), o.Time.known(), o.EfficiencyEach.known()
	return []string{
		csvText(o.Name), csvText(string(o.Category)), "", "", "", csvText(pyShapes(o.InputDims, o.InputLists)), csvText(pyStrings(o.InputTypes)),
		csvText(pyDims(o.InputStrides)), csvText(pyStrings(o.ConcreteInputs)),
		"", strconv.Itoa(o.Count), csvNumber(host.Sum), csvNumber(host.Mean), csvNumber(host.Std), csvNumber(o.FLOPs / 1e9),
		csvNumber(o.Bytes / (1 << 20)), csvNumber(o.Intensity),
		csvText(o.computeSpec()), csvNumber(tbs.Mean), csvNumber(tbs.Std), csvNumber(tflops.Mean), csvNumber(tflops.Std),
		csvNumber(time.Mean), csvNumber(time.Std),
		o.KernelTime.String(), csvNumber(host.Median), csvNumber(host.Min), csvNumber(host.Max), csvNumber(tbs.Median), csvNumber(tbs.Min),
		csvNumber(tbs.Max),
		csvNumber(tflops.Median), csvNumber(tflops.Min), csvNumber(tflops.Max), csvNumber(time.Median), csvNumber(time.Min), csvNumber(time.Max),
		csvText(pyKernels(o.Kernels)), csvText(pyKernelsShort(o.Kernels)), csvText(o.perfParams()), pyBool(o.Model != ""), "", "",
		csvNumber(o.Percent), csvNumber(o.Cumulative),
		csvNumber(o.RooflineTime), o.boundWord(), csvNumber(pct.Mean), csvNumber(pct.Median), csvNumber(pct.Std), csvNumber(pct.Min),
		csvNumber(pct.Max),
	}
}

// known returns the figures, all unknown for an empty sample and without deviation for a sample of one.
func (s Stats) known() Stats {
	switch s.N {
	case 0:
		return Stats{Mean: unknown, Median: unknown, Std: unknown, Min: unknown, Max: unknown, Sum: unknown}
	case 1:
		s.Std = unknown
	}
	return s
}

// computeSpec names the unit that does most of the arithmetic, as in "matrix_bf16".
func (o *Operator) computeSpec() string {
	spec := ""
	for unit, flops := range o.FLOPsBy {
		if spec == "" || flops > o.FLOPsBy[spec] || flops == o.FLOPsBy[spec] && unit < spec {
			spec = unit
		}
	}
	return spec
}

// perfParams says which model spoke and how sure it is.
func (o *Operator) perfParams() string {
	if o.Model == "" {
		return ""
	}
	return "{'model': " + pyString(o.Model) + ", 'certainty': " + pyString(o.Certainty) + "}"
}

// boundWord is the roof above the operator in the reference's words.
func (o *Operator) boundWord() string {
	roof := o.Roof
	if roof == "" {
		roof = o.Bound
	}
	switch roof {
	case "compute":
		return "COMPUTE_BOUND"
	case "memory":
		return "MEMORY_BOUND"
	default:
		return ""
	}
}

var opsColumns = []string{
	"name", "parent_module", "total_direct_kernel_time_sum", "total_subtree_kernel_time_sum", "total_subtree_kernel_time_count",
	"total_direct_kernel_time_ms", "Count", "Categories", "call_stack_first", "Percentage (%)", "Cumulative Percentage (%)",
}

// WriteOpsSummary writes ops_summary.csv: one row an operator name and module, times in microseconds.
func (r *Report) WriteOpsSummary(w io.Writer) error {
	var rows [][]string
	for _, t := range r.OperatorTotals {
		module := "NA"
		if t.Module != "" {
			module = "nn.Module: " + t.Module
		}
		categories := make([]string, len(t.Categories))
		for i, c := range t.Categories {
			categories[i] = string(c)
		}
		rows = append(rows, []string{
			csvText(t.Name), csvText(module), t.Time.String(), t.Inclusive.String(), strconv.Itoa(t.Count), csvMillis(t.Time),
			strconv.Itoa(t.Count), csvText(pyList(categories)), "", csvNumber(t.Percent), csvNumber(t.Cumulative),
		})
	}
	return writeCSV(w, opsColumns, rows)
}

// WriteTimeline writes gpu_timeline.csv: what the GPU did, in milliseconds and percent of the whole.
func (r *Report) WriteTimeline(w io.Writer) error {
	var rows [][]string
	for _, row := range r.Timeline.rows() {
		rows = append(rows, []string{row.key, csvMillis(row.time), csvNumber(share(row.time, r.Timeline.Total))})
	}
	return writeCSV(w, []string{"type", "time ms", "percent"}, rows)
}

var stepColumns = []string{
	"index", "image", "class", "class_name", "complete", "outlier", "kernels", "gpu_time_us", "busy_us", "span_us", "start_us", "end_us",
	"forwards", "roofline_time_us",
}

// WriteSteps writes steps.csv: one row a denoising step, times in microseconds since the first GPU event.
func (r *Report) WriteSteps(w io.Writer) error {
	var rows [][]string
	for _, s := range r.Split.Steps {
		rows = append(rows, []string{
			strconv.Itoa(s.Index), strconv.Itoa(s.Image), strconv.Itoa(s.Class), csvText(r.Split.className(s.Class)), strconv.FormatBool(s.Complete),
			csvText(s.Outlier), strconv.Itoa(s.Kernels), s.GPUTime.String(), s.Busy.String(), s.Span.String(), s.Start.String(), s.End.String(),
			strconv.Itoa(s.Forwards), csvNumber(s.Roofline),
		})
	}
	return writeCSV(w, stepColumns, rows)
}

// className returns the name of a class, "" for one that is not listed.
func (s *Split) className(id int) string {
	for _, c := range s.Classes {
		if c.ID == id {
			return c.Name
		}
	}
	return ""
}

func writeCSV(w io.Writer, header []string, rows [][]string) error {
	c := csv.NewWriter(w)
	if err := c.Write(header); err != nil {
		return err
	}
	return c.WriteAll(rows)
}

// csvText makes a cell of text that is one line and no formula.
func csvText(s string) string {
	s = printable(s)
	if s != "" && strings.ContainsRune("=+-@'", rune(s[0])) {
		return "'" + s
	}
	return s
}

// csvNumber makes a cell of a number, empty when it is unknown.
func csvNumber(n Number) string {
	if !n.Known() {
		return ""
	}
	return strconv.FormatFloat(float64(n), 'f', -1, 64)
}

// csvMillis makes a cell of a time in milliseconds, to the nanosecond.
func csvMillis(m Micros) string {
	return strconv.FormatFloat(float64(m)/1e6, 'f', 6, 64)
}
