package report

import (
	"io"

	"github.com/ditlens/ditlens/perfmodel"
)

// hotKernels is how many kernels kernel_candidates.json and diffusion_roofline.json name.
const hotKernels = 50

type candidates struct {
	WorkloadType   string      `json:"workload_type"`
	ThroughputUnit string      `json:"throughput_unit"`
	HotKernels     []hotKernel `json:"hot_kernels"`
}

// A hotKernel is a kernel worth a look. Times are in microseconds.
type hotKernel struct {
	Name       string             `json:"name"`
	Category   perfmodel.Category `json:"kernel_category"`
	Time       Micros             `json:"duration_us"`
	Percent    Number             `json:"gpu_pct"`
	Count      int                `json:"call_count"`
	Bound      string             `json:"bound_type"`
	Intensity  Number             `json:"arithmetic_intensity"`
	Efficiency Number             `json:"efficiency_percent"`
	Source     *string            `json:"roofline_source"` // model and ceiling, null without a roofline
	Operators  []string           `json:"operators"`
	Shapes     [][][]int64        `json:"op_shapes"` // of each operator, each argument
	DTypes     [][]string         `json:"op_dtypes"`
}

// WriteCandidates writes kernel_candidates.json: the kernels with the most GPU time, with and without a roofline.
func (r *Report) WriteCandidates(w io.Writer) error {
	return writeJSON(w, candidates{r.WorkloadType, r.ThroughputUnit, r.hotKernels()})
}

func (r *Report) hotKernels() []hotKernel {
	var out []hotKernel
	for i := range r.KernelTotals[:min(hotKernels, len(r.KernelTotals))] {
		k := &r.KernelTotals[i]
		h := hotKernel{
			Name: k.Name, Category: k.Category, Time: k.Time, Percent: k.Percent, Count: k.Count, Bound: k.Bound, Intensity: k.Intensity,
			Efficiency: k.Efficiency,
		}
		for _, at := range k.Operators {
			op := &r.Operators[at]
			h.Operators = append(h.Operators, op.Name)
			h.Shapes = append(h.Shapes, op.InputDims)
			h.DTypes = append(h.DTypes, op.InputTypes)
		}
		if k.Efficiency.Known() {
			h.Source = r.rooflineSource(&r.Operators[k.Operators[0]])
		}
		out = append(out, h)
	}
	return out
}

// rooflineSource names the model and the ceiling behind an operator's roofline, nil without one.
func (r *Report) rooflineSource(o *Operator) *string {
	if o.Model == "" || !o.RooflineTime.Known() {
		return nil
	}
	s := o.Model + " on " + r.Hardware.Name + ", " + r.Hardware.Ceiling
	return &s
}

// A kernelRow is one kernel under one operator with equal arguments. Efficiency is that of the operator's core kernels, null
// for a kernel that only helps.
type kernelRow struct {
	Name       string             `json:"name"`
	Category   perfmodel.Category `json:"kernel_category"`
	Operator   string             `json:"operator"`
	OpCategory perfmodel.Category `json:"op_category"`
	Kind       string             `json:"kind"`
	Phase      string             `json:"phase"`
	Shapes     [][]int64          `json:"op_shapes"`
	DTypes     []string           `json:"op_dtypes"`
	Count      int                `json:"call_count"`
	Time       Micros             `json:"duration_us"`
	Mean       Number             `json:"mean_duration_us"`
	Percent    Number             `json:"gpu_pct"`
	Core       bool               `json:"core"`
	FLOPs      Number             `json:"op_flops"`
	Bytes      Number             `json:"op_bytes"`
	Intensity  Number             `json:"arithmetic_intensity"`
	Bound      string             `json:"bound_type"`
	Roofline   Number             `json:"op_roofline_time_us"`
	Efficiency Number             `json:"efficiency_percent"`
	Certainty  string             `json:"certainty"`
	Source     *string            `json:"roofline_source"`
}

// WriteKernelRoofline writes kernel_roofline.json: one row a kernel name and operator shape. FLOPs, bytes and roofline time are
// those of one call of the operator.
func (r *Report) WriteKernelRoofline(w io.Writer) error {
	var rows []kernelRow
	for i := range r.Operators {
		o := &r.Operators[i]
		for _, k := range o.Kernels {
			row := kernelRow{
				Name: k.Name, Category: k.Category, Operator: o.Name, OpCategory: o.Category, Kind: o.Kind, Phase: o.Phase,
				Shapes: o.InputDims, DTypes: o.InputTypes, Count: k.Count, Time: k.Time, Mean: k.Each.known().Mean, Percent: k.Percent,
				Core: k.Core, FLOPs: o.FLOPs, Bytes: o.Bytes, Intensity: o.Intensity, Bound: o.Bound, Roofline: o.RooflineTime,
				Efficiency: unknown, Certainty: o.Certainty, Source: r.rooflineSource(o),
			}
			if k.Core {
				row.Efficiency = o.CoreEfficiency
			}
			rows = append(rows, row)
		}
	}
	return writeJSON(w, struct {
		WorkloadType   string      `json:"workload_type"`
		ThroughputUnit string      `json:"throughput_unit"`
		Hardware       string      `json:"hardware"`
		Ceiling        string      `json:"ceiling"`
		Kernels        []kernelRow `json:"kernels"`
	}{r.WorkloadType, r.ThroughputUnit, r.Hardware.Name, r.Hardware.Ceiling, rows})
}

// diffusionRoofline is diffusion_roofline.json. Ratios are 0..1, percentages 0..100.
type diffusionRoofline struct {
	Source         string            `json:"source"`
	WorkloadType   string            `json:"workload_type"`
	ThroughputUnit string            `json:"throughput_unit"`
	Throughput     Throughput        `json:"throughput"`
	Hardware       string            `json:"hardware"`
	Ceiling        string            `json:"ceiling"`
	Totals         Totals            `json:"totals"`
	Timeline       map[string]Number `json:"gpu_timeline_pct"`
	BusyRatio      Number            `json:"gpu_busy_ratio"`
	EndToEnd       Number            `json:"end_to_end_efficiency_estimate"`
	TopKernels     []hotKernel       `json:"top_kernels"`
	Steps          int               `json:"num_denoise_steps"`
	PerStep        perStep           `json:"per_step"`
}

type perStep struct {
	Actual Number `json:"actual_kernel_us"` // null without a steady step
	Ideal  Number `json:"ideal_roofline_us"`
}

// WriteDiffusionRoofline writes diffusion_roofline.json: the roofline of the run and of one denoising step.
func (r *Report) WriteDiffusionRoofline(w io.Writer) error {
	d := diffusionRoofline{
		Source: r.Generator, WorkloadType: r.WorkloadType, ThroughputUnit: r.ThroughputUnit, Throughput: r.Throughput,
		Hardware: r.Hardware.Name, Ceiling: r.Hardware.Ceiling, Totals: r.Roofline, Timeline: map[string]Number{},
		BusyRatio: r.Timeline.BusyRatio, EndToEnd: r.Roofline.EndToEnd, TopKernels: r.hotKernels(), Steps: r.Split.StepCount,
		PerStep: perStep{unknown, r.Roofline.StepIdeal},
	}
	if r.Roofline.StepActual > 0 {
		d.PerStep.Actual = Number(r.Roofline.StepActual) / 1000
	}
	for _, row := range r.Timeline.rows() {
		d.Timeline[row.key] = share(row.time, r.Timeline.Total)
	}
	return writeJSON(w, d)
}
