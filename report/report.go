package report

import (
	"github.com/ditlens/ditlens/perfmodel"
	"github.com/ditlens/ditlens/split"
	"github.com/ditlens/ditlens/trace/record"
)

// SchemaVersion is the version of report.json. Fields are added under the same version; a changed meaning raises it.
const SchemaVersion = "1.0"

// Status of a Report.
const (
	StatusOK            = "ok"              // steps found, file whole
	StatusPartial       = "partial"         // the file was cut, no step is complete, or a Diagnostic is an error
	StatusNoSteadyState = "no_steady_state" // no denoising steps; the whole trace is reported
	StatusEmpty         = "empty"           // no GPU events
)

// A Report is everything that is known of one run. It is made by [Analyzer.Analyze] and read-only from then on. Times are
// [Micros] and written in microseconds; rates and bytes are base units unless the name says otherwise.
type Report struct {
	SchemaVersion    string          `json:"schema_version"`
	Generator        string          `json:"generator"`
	Status           string          `json:"status"`
	WorkloadType     string          `json:"workload_type"` // "diffusion", "llm" or "unknown"
	WorkloadEvidence []string        `json:"workload_evidence"`
	ThroughputUnit   string          `json:"throughput_unit"` // "images/sec" or "videos/sec"
	Throughput       Throughput      `json:"throughput"`
	Workload         record.Workload `json:"workload"`
	Hardware         Hardware        `json:"hardware"`
	Trace            Input           `json:"trace"`
	Split            Split           `json:"split"`
	Timeline         Timeline        `json:"gpu_timeline"`
	Ranks            *Ranks          `json:"ranks"` // nil when the traces of other ranks were not given
	Roofline         Totals          `json:"roofline_totals"`
	Operators        []Operator      `json:"operators"` // by kernel time, greatest first
	// Merged are operators with equal name and arguments that differ in phase or kind, taken together, as the tables of other
	// tools have them.
	Merged []Merged `json:"merged_operators"`
	// OperatorTotals and KernelTotals are the same GPU time by operator name and by kernel name, greatest first.
	OperatorTotals []OperatorTotal `json:"operator_totals"`
	KernelTotals   []KernelTotal   `json:"kernel_totals"`
	Modulation     []Modulation    `json:"modulation_groups"`
	Coverage       Coverage        `json:"coverage"`
	Findings       []Finding       `json:"findings"` // by time at stake, or by time where nothing can be said of it
	Diagnostics    []Diagnostic    `json:"diagnostics"`
	// Result is the splitter's own result, which places each GPU event; nil in a Report that was read from JSON.
	Result *split.Result `json:"-"`
}

// Throughput is the speed of the run. Value is in Unit; all are unknown when Basis says why they cannot be derived.
type Throughput struct {
	Value          Number `json:"value"`
	Unit           string `json:"unit"`
	LatencySeconds Number `json:"latency_seconds"`  // of one pipeline call
	SecondsPerItem Number `json:"seconds_per_item"` // latency / batch
	FramesPerSec   Number `json:"frames_per_second"`
	Basis          string `json:"basis"`
	// UpperBound says that a part of the pipeline call may be missing: Value is then an upper bound and LatencySeconds a lower one.
	UpperBound bool `json:"upper_bound"`
}

// Hardware is the GPU and the ceiling that percentages refer to. Peaks is empty and Name is the trace's own word when the
// GPU is unknown.
type Hardware struct {
	Name      string          `json:"name"`
	Ceiling   string          `json:"ceiling"`
	Bandwidth Number          `json:"memory_bandwidth_bytes_per_second"`
	HostLink  Number          `json:"host_link_bytes_per_second"`
	Cache     int64           `json:"last_level_cache_bytes"`
	Peaks     map[string]Peak `json:"peaks"`  // "matrix_bf16": …
	Source    string          `json:"source"` // of Bandwidth
	// HostSource is the source of HostLink, with the figure that stands in for it if one does; empty without a host link.
	HostSource string `json:"host_link_source,omitempty"`
	Detected   string `json:"detected"` // what the trace says, and how it was matched
	// Other is the other ceiling of the same GPU, for plots; nil when it has none.
	Other *Ceiling `json:"other_ceiling"`
}

// A Ceiling is a second set of figures of the same GPU.
type Ceiling struct {
	Name      string          `json:"name"`
	Bandwidth Number          `json:"memory_bandwidth_bytes_per_second"`
	Peaks     map[string]Peak `json:"peaks"`
}

// A Peak is one arithmetic rate in FLOP/s with its origin.
type Peak struct {
	Value      Number `json:"value"`
	Source     string `json:"source"`
	Substitute string `json:"substitute,omitempty"`
}

// Input is what was read.
type Input struct {
	Files          []File `json:"files"`
	Kernels        int    `json:"kernels"`
	Memcpys        int    `json:"memcpys"`
	Memsets        int    `json:"memsets"`
	LinkedKernels  int    `json:"linked_kernels"`
	Unlinked       int    `json:"unlinked_kernels"`
	GraphKernels   int    `json:"graph_kernels"`
	GPUTime        Micros `json:"gpu_time_us"`
	RawGPUTime     Micros `json:"raw_gpu_time_us"` // as recorded, before durations that cannot be were cut
	WorldSize      int    `json:"world_size"`
	Rank           *int   `json:"rank"`
	ProfilerStacks bool   `json:"with_stack"`
	RecordedShapes bool   `json:"record_shapes"`
}

// A File is one input file. Bytes are those on disk, Events those of the whole file, Skipped and Repaired the damaged ones among
// them; Truncated says that the file ends too early.
type File struct {
	Path      string `json:"path"`
	SHA256    string `json:"sha256"`
	Format    string `json:"format"`
	Bytes     int64  `json:"bytes"`
	Events    int64  `json:"events"`
	Skipped   int64  `json:"skipped_events"`
	Repaired  int64  `json:"repaired_events"`
	Truncated bool   `json:"truncated"`
	Role      string `json:"role"` // "trace" or "capture"
}

// Split is the division of the run into phases and steps.
type Split struct {
	Method          string            `json:"method"` // "marker", "autocorrelation", "graph", "none", or the word of a splitter of one's own
	Mode            string            `json:"mode"`
	StepCount       int               `json:"step_count"`
	Images          int               `json:"images"`
	ForwardsPerStep int               `json:"forwards_per_step"`
	PeriodKernels   int               `json:"period_kernels"`
	Confidence      Number            `json:"confidence"`
	Reasons         []string          `json:"confidence_reasons"`
	Marked          int               `json:"marked_steps"`
	Detected        int               `json:"detected_steps"`
	Requested       int               `json:"requested_steps"`
	MedianGPUTime   Micros            `json:"median_step_gpu_time_us"` // of the steady state, 0 without
	MedianSpan      Micros            `json:"median_step_span_us"`
	MeanGPUTime     Number            `json:"mean_step_gpu_time_us"` // of all steps, a mix of their classes; null without
	CacheHitRatio   Number            `json:"cache_hit_ratio"`       // share of the steps that a cache cut short; null without such
	Classes         []Class           `json:"classes"`
	Steps           []Step            `json:"steps"`
	Phases          []Phase           `json:"phases"`
	PhaseTotals     []Phase           `json:"phase_totals"` // phases of one name summed over images
	SubPeriods      []split.SubPeriod `json:"sub_periods"`
	Steady          *Steady           `json:"steady_state"`
	NonEmptyModes   []string          `json:"non_empty_modes"`
	Attempts        []Attempt         `json:"attempts"`
}

// A Class is a set of steps that launch the same work. Kernels is the median of their GPU events.
type Class struct {
	ID            int    `json:"id"`
	Name          string `json:"name"`
	Steps         int    `json:"steps"`
	MedianGPUTime Micros `json:"median_gpu_time_us"`
	MedianSpan    Micros `json:"median_span_us"`
	Kernels       int    `json:"kernels"`
}

// A Step is one denoising step.
type Step struct {
	Index    int    `json:"index"`
	Image    int    `json:"image"`
	Class    int    `json:"class"`
	Complete bool   `json:"complete"`
	Outlier  string `json:"outlier"`
	Kernels  int    `json:"kernels"`
	GPUTime  Micros `json:"gpu_time_us"`
	Busy     Micros `json:"busy_us"`
	Span     Micros `json:"span_us"`
	Start    Micros `json:"start_us"` // since the first GPU event
	End      Micros `json:"end_us"`
	Forwards int    `json:"forwards"`
	Roofline Number `json:"roofline_time_us"` // least time of the step's modelled work
}

// A Phase is the GPU events of one phase; Kernels is how many they are. GPUTime sums their durations, Busy counts overlaps once.
type Phase struct {
	Name    string `json:"name"`
	Image   int    `json:"image"`
	Kernels int    `json:"kernels"`
	GPUTime Micros `json:"gpu_time_us"`
	Busy    Micros `json:"busy_us"`
	Start   Micros `json:"start_us"` // since the first GPU event
	End     Micros `json:"end_us"`
}

// Steady is the run of steps that stands for the others.
type Steady struct {
	First int `json:"first_step"`
	Last  int `json:"last_step"`
	Class int `json:"class"`
}

// An Attempt tells how one way of splitting fared.
type Attempt struct {
	Mode    string `json:"mode"`
	Code    string `json:"code"`
	Message string `json:"message"`
	Steps   int    `json:"steps"`
}

// Timeline says what the GPUs did between the first and the last GPU event. With several devices it is their sum.
// Computation + ExposedComm + ExposedMemcpy + Idle = Total, to the nanosecond.
type Timeline struct {
	Total         Micros `json:"total_us"`
	Busy          Micros `json:"busy_us"`
	Idle          Micros `json:"idle_us"`
	Computation   Micros `json:"computation_us"`
	ExposedComm   Micros `json:"exposed_comm_us"`
	ExposedMemcpy Micros `json:"exposed_memcpy_us"`
	TotalComm     Micros `json:"total_comm_us"`
	TotalMemcpy   Micros `json:"total_memcpy_us"`
	// BusyRatio is Busy / Total, 0..1.
	BusyRatio Number           `json:"busy_ratio"`
	PerDevice []DeviceTimeline `json:"per_device"`
}

// DeviceTimeline is the Timeline of one device.
type DeviceTimeline struct {
	Device int `json:"device"`
	Timeline
}

// Totals sums the roofline over all operators.
type Totals struct {
	Actual          Micros `json:"sigma_actual_kernel_us"`
	Ideal           Number `json:"sigma_ideal_roofline_us"` // of modelled operators
	ModelledActual  Micros `json:"sigma_modelled_kernel_us"`
	Efficiency      Number `json:"kernel_roofline_efficiency"` // Ideal / ModelledActual, 0..1
	ComputeBound    Micros `json:"compute_bound_us"`
	MemoryBound     Micros `json:"memory_bound_us"`
	LatencyBound    Micros `json:"latency_bound_us"`
	NoModel         Micros `json:"no_perf_model_us"`
	FLOPs           Number `json:"flops"`
	Bytes           Number `json:"bytes"`
	EndToEnd        Number `json:"end_to_end_efficiency_estimate"` // Efficiency x busy ratio
	StepActual      Micros `json:"per_step_actual_kernel_us"`      // median steady step
	StepIdeal       Number `json:"per_step_ideal_roofline_us"`
	UncertainActual Micros `json:"uncertain_kernel_us"` // time of operators whose work is a bound or an estimate
}

// An Operator is all calls of one operator with equal arguments in one phase. FLOPs, Bytes and roofline are per call, the
// rates are total work / total time.
type Operator struct {
	Name           string             `json:"name"`
	Leaf           string             `json:"leaf"` // innermost operator that launched the kernels
	Category       perfmodel.Category `json:"category"`
	Kind           string             `json:"kind"`
	Model          string             `json:"model"`
	Phase          string             `json:"phase"`
	Module         string             `json:"module"` // nn.Module path, when stacks were read
	Count          int                `json:"count"`
	Kernels        []OperatorKernel   `json:"kernels"`
	KernelTime     Micros             `json:"kernel_time_us"`
	Percent        Number             `json:"gpu_percent"`            // of the sum over all GPU events
	Cumulative     Number             `json:"cumulative_gpu_percent"` // of this operator and all before it
	Time           Stats              `json:"kernel_time_stats_us"`
	HostTime       Stats              `json:"host_time_stats_us"`
	InputDims      [][]int64          `json:"input_dims"`  // one per argument
	InputLists     [][][]int64        `json:"input_lists"` // dims of the members of arguments that are lists of tensors
	InputTypes     []string           `json:"input_types"`
	InputStrides   [][]int64          `json:"input_strides"`
	ConcreteInputs []string           `json:"concrete_inputs"`
	FLOPs          Number             `json:"flops"`
	FLOPsBy        map[string]int64   `json:"flops_by_unit"` // "matrix_bf16": …
	Bytes          Number             `json:"bytes"`
	BytesRead      Number             `json:"bytes_read"`
	BytesWritten   Number             `json:"bytes_written"`
	Level          string             `json:"memory_level"` // "device", "host link", "peer link"
	Intensity      Number             `json:"arithmetic_intensity"`
	TFLOPS         Number             `json:"tflops_per_second"`
	TBs            Number             `json:"tb_per_second"`
	TFLOPSEach     Stats              `json:"tflops_stats"` // of the single calls; TFLOPS is not their mean
	TBsEach        Stats              `json:"tb_per_second_stats"`
	Bound          string             `json:"bound"` // "compute", "memory", "latency", "unmodelled"
	Roof           string             `json:"roof"`  // the roof above the operator, "compute" or "memory", also when Bound is "latency"; "" without
	RooflineTime   Number             `json:"roofline_time_us"`
	Efficiency     Number             `json:"efficiency_percent"`      // total roofline time / total kernel time
	CoreEfficiency Number             `json:"core_efficiency_percent"` // the same over the core kernels alone
	EfficiencyEach Stats              `json:"efficiency_stats_percent"`
	AtStake        Micros             `json:"at_stake_us"` // kernel time - roofline time, over all calls; 0 without a roof
	Certainty      string             `json:"certainty"`
	Notes          []string           `json:"notes"`
}

// Merged is several Operators taken together.
type Merged struct {
	Parts []int `json:"operators"` // indices into Report.Operators
	Operator
}

// An OperatorKernel is one kernel name below an operator.
type OperatorKernel struct {
	Name     string             `json:"name"`
	Count    int                `json:"count"`
	Time     Micros             `json:"time_us"`
	Percent  Number             `json:"gpu_percent"`   // of the sum over all GPU events
	Each     Stats              `json:"time_stats_us"` // of its single events
	Category perfmodel.Category `json:"category"`      // by the kernel's name
	Core     bool               `json:"core"`          // does the operator's own work; false: layout, bias, fill …
}

// Stats describes a sample of N values. Unknown for an empty sample; Std is the sample standard deviation.
type Stats struct {
	N      int    `json:"n"`
	Mean   Number `json:"mean"`
	Median Number `json:"median"`
	Std    Number `json:"std"`
	Min    Number `json:"min"`
	Max    Number `json:"max"`
	Sum    Number `json:"sum"`
}

// A Modulation is the adaLN traffic of one form in one phase: what it moves against what a fused kernel would.
type Modulation struct {
	Form       string `json:"form"` // "eager" or "compiled"
	Phase      string `json:"phase"`
	Shape      string `json:"shape"`
	Count      int    `json:"count"`
	Time       Micros `json:"kernel_time_us"`
	Bytes      Number `json:"bytes"`       // per group, as launched
	IdealBytes Number `json:"ideal_bytes"` // per group, fused
	Streams    Number `json:"streams"`     // Bytes in units of the modulated tensor
	Ideal      Number `json:"ideal_streams"`
	AtStake    Micros `json:"at_stake_us"`
}

// Coverage says how much of the GPU time has a roofline.
type Coverage struct {
	ModelledPercent Number             `json:"modelled_percent"`
	ModelledKernels int                `json:"modelled_kernels"` // GPU events, copies and fills included
	Kernels         int                `json:"kernels"`          // all GPU events
	ByCategory      []CategoryCoverage `json:"by_category"`
	// GraphPercent is the share of GPU time in graph replays without operators, which a capture trace would model.
	GraphPercent Number `json:"graph_unmodelled_percent"`
}

// CategoryCoverage is one category's share.
type CategoryCoverage struct {
	Category        perfmodel.Category `json:"category"`
	Time            Micros             `json:"time_us"`
	Percent         Number             `json:"percent"`
	ModelledPercent Number             `json:"modelled_percent"`
	Count           int                `json:"count"` // operator calls
	Ideal           Number             `json:"roofline_time_us"`
	Efficiency      Number             `json:"efficiency_percent"`
}

// A Finding is something to act on: what, the number behind it, and what mending it would give.
type Finding struct {
	Code   string `json:"code"`
	Title  string `json:"title"`
	Detail string `json:"detail"`
	// Time is the GPU time that the finding is about, AtStake the part of it (or of the idle time) that could be saved, per
	// run. AtStake is 0 when nothing can be said, as of kernels without a model.
	Time    Micros `json:"time_us"`
	AtStake Micros `json:"at_stake_us"`
	// NewThroughput is the throughput if the time at stake were gone; unknown when throughput is.
	NewThroughput Number `json:"throughput_if_fixed"`
}

// A Diagnostic is a doubt about the input or the analysis.
type Diagnostic struct {
	Code     string `json:"code"`
	Severity string `json:"severity"` // "info", "warning" or "error"
	Count    int64  `json:"count"`
	Message  string `json:"message"`
}
