package split

import (
	"context"
	"time"

	"github.com/ditlens/ditlens/trace"
)

// A Splitter cuts a trace into steps. Implementations must not change the trace and must give the same result each time.
// When no steps can be found Split returns a *[NoSteadyStateError] with the Result that [Assemble] makes of a Cut without steps.
type Splitter interface {
	// Name is the mode's name, as in "marker".
	Name() string
	// Split returns the steps of the trace. Most implementations find the boundaries and leave the rest to [Assemble].
	Split(ctx context.Context, in *Input) (*Result, error)
}

// Input is what a Splitter gets. Further fields may be added.
type Input struct {
	Trace     *trace.Trace
	Requested int // num_inference_steps as the caller knows it, 0 when not known
}

// A Result is the division of a trace into phases and steps. Every GPU event is in exactly one phase.
type Result struct {
	Method          string // that of the Cut, or "none"
	Mode            string // name of the splitter that was asked
	Steps           []Step
	Phases          []Phase // in order of time: each a run of GPU events; a name may occur once per image
	Classes         []Class
	Images          []Image
	StepOf          []int32     // for each event of Trace.GPU its index in Steps, or -1
	PhaseOf         []PhaseName // for each event of Trace.GPU
	ForwardsPerStep int         // transformer calls a step, 0 when unknown
	PeriodKernels   int         // GPU events of a regular step
	SubPeriods      []SubPeriod // repeats below the step: blocks, tiles, layers
	Confidence      float64     // 0..1
	Reasons         []string    // what the confidence rests on
	Marked          int         // steps by markers, 0 when there are none
	Detected        int         // steps by kernel signatures, 0 when not found
	Requested       int
	Steady          *SteadyState // nil when there is none
	NonEmptyModes   []string     // modes that found steps
	Attempts        []Attempt    // what was tried, in order
	Diagnostics     []trace.Diagnostic
}

// A Step is one denoising step.
type Step struct {
	Index    int
	Image    int // index into Result.Images
	Class    int // index into Result.Classes
	Complete bool
	Outlier  string        // why it is not like the others of its class, "" when it is
	Kernels  int           // GPU events
	GPUTime  time.Duration // sum of durations
	Busy     time.Duration // union of intervals
	Start    time.Duration // first GPU event's start
	End      time.Duration // last GPU event's end
	Forwards int
	First    trace.GPUID // first event in launch order
}

// Span returns End - Start.
func (s *Step) Span() time.Duration { return s.End - s.Start }

// PhaseName names a part of a diffusion run.
type PhaseName string

// Phases.
const (
	TextEncode   PhaseName = "text_encode"
	Denoise      PhaseName = "denoise"
	VAEDecode    PhaseName = "vae_decode"
	BetweenSteps PhaseName = "between_steps" // inside the loop, of no step: offload copies, synchronisations
	Preamble     PhaseName = "preamble"      // before the profiler's window: of no image, no step and no measure of idleness
	OtherPhase   PhaseName = "other"
)

// A Phase is all GPU events of one phase of one image.
type Phase struct {
	Name    PhaseName
	Image   int
	Kernels int
	GPUTime time.Duration
	Busy    time.Duration
	Start   time.Duration
	End     time.Duration
}

// A Class is a set of steps that launch the same work, up to a few small kernels.
type Class struct {
	ID            int
	Name          string // "full", "cached", "1 forward" …
	Steps         []int
	Kernels       int // median
	MedianGPUTime time.Duration
	MedianSpan    time.Duration
}

// An Image is one pass of the pipeline: one call that makes Batch images (or videos).
type Image struct {
	Index         int
	Batch         int           // by markers, 0 when unknown
	Height, Width int           // by markers, 0 when unknown
	Start, End    time.Duration // of its GPU events
	HostStart     time.Duration // of its marker, 0 when there is none
	HostEnd       time.Duration
	Steps         int
	Marker        string // the annotation's name, "" when there is none
}

// SteadyState is a run of complete, regular steps of the commonest full class.
type SteadyState struct {
	First, Last int // step indices, inclusive
	Class       int
}

// A SubPeriod is a repeat below the step.
type SubPeriod struct {
	Kernels int    `json:"kernels"` // length in GPU events
	Repeats int    `json:"repeats"` // how often in a row
	Within  string `json:"within"`  // "step", "text_encode", "vae_decode"
}

// An Attempt tells how one mode fared.
type Attempt struct {
	Mode    string
	Code    string // [CodeOK] or another of the codes
	Message string
	Steps   int
}

// Codes of attempts: CodeOK of one that found steps, the others of those that did not.
const (
	CodeOK            = "ok"
	CodeNoSteadyState = "trace_split_no_steady_state"
	CodeEmpty         = "steady_state_chunk_empty"
	CodeMissing       = "steady_state_chunk_missing"
	CodeLowQuality    = "steady_state_chunk_low_quality"
)

// NoSteadyStateError is returned when no mode found steps. Result then still divides the trace into phases.
type NoSteadyStateError struct {
	Attempts      []Attempt
	NonEmptyModes []string
	Result        *Result // Method "none"; covers every GPU event
}

// Error implements error.
func (e *NoSteadyStateError) Error() string {
	s := "split: no denoising steps found"
	for _, a := range e.Attempts {
		s += "; " + a.Mode + ": " + a.Message
	}
	return s
}
