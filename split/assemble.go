package split

import (
	"time"

	"github.com/ditlens/ditlens/internal/interval"
	"github.com/ditlens/ditlens/trace"
)

// A Cut is what a Splitter found: the step of each GPU event, and what else it knows. [Assemble] makes a Result of it.
// Fields that a Splitter knows nothing of may stay zero.
type Cut struct {
	Method string // what the steps rest on: "marker", "autocorrelation", "graph", or a word of one's own
	Mode   string // the Splitter's name

	StepOf   []int32     // for each event of Trace.GPU its step, -1 for none; steps are numbered from 0 in launch order
	ImageOf  []int       // for each step its image, in order; nil when all are of one
	Partial  []bool      // for each step whether an end of it lies outside the trace; nil when none
	Forwards []int       // for each step its forward passes; nil to tell them from the work
	PhaseOf  []PhaseName // for each event its phase as a marker says, "" where none does; nil when none does
	Images   []Image     // what markers say about images; nil when they say nothing

	SubPeriods  []SubPeriod
	Confidence  float64 // 0..1
	Reasons     []string
	Marked      int
	Detected    int
	Diagnostics []trace.Diagnostic
}

// Assemble completes a cut to a Result: steps with their times, classes by what they launch, outliers, phases that hold
// every GPU event once, images and the steady state. It neither changes the trace nor keeps the cut's slices, except those
// of Images, SubPeriods, Reasons and Diagnostics. A cut without steps gives a Result of method "none".
func Assemble(in *Input, c Cut) *Result { return assemble(in, c, newOrder(in.Trace)) }

func assemble(in *Input, c Cut, o *order) *Result {
	t := in.Trace
	r := &Result{
		Method: c.Method, Mode: c.Mode,
		StepOf: make([]int32, len(t.GPU)), PhaseOf: make([]PhaseName, len(t.GPU)),
		SubPeriods: c.SubPeriods, Confidence: c.Confidence, Reasons: c.Reasons,
		Marked: c.Marked, Detected: c.Detected, Requested: in.Requested, Diagnostics: c.Diagnostics,
	}
	n := 0
	for i := range r.StepOf {
		r.StepOf[i] = -1
		if i < len(c.StepOf) && c.StepOf[i] >= 0 {
			r.StepOf[i] = c.StepOf[i]
			n = max(n, int(c.StepOf[i])+1)
		}
	}
	if n == 0 {
		r.Method = "none"
	}
	imageOf := measureSteps(t, r, &c, o, n)
	measurePhases(t, r, &c, o, imageOf)
	classify(r, o)
	markLost(t, r, o)
	markOutliers(r)
	r.Steady = steadyState(r)
	if n == 1 {
		r.Diagnostics = append(r.Diagnostics, singleStep("one denoising step was recorded; to tell whether it is as others are"))
	}
	return r
}

// singleStep says that a trace holds one step, and what to do.
func singleStep(message string) trace.Diagnostic {
	return trace.Diagnostic{Code: "single_step", Severity: trace.Warning, Count: 1, Message: message + ", record two or more"}
}

// extent accumulates what a step or phase needs of its events.
type extent struct {
	kernels int
	gpu     time.Duration
	spans   []interval.Interval
	start   time.Duration
	end     time.Duration
}

func (x *extent) add(g *trace.GPUEvent) {
	if x.kernels == 0 {
		x.start, x.end = g.Start, g.End()
	}
	x.start, x.end = min(x.start, g.Start), max(x.end, g.End())
	x.kernels++
	x.gpu += g.Dur
	x.spans = append(x.spans, interval.Interval{Start: g.Start, End: g.End()})
}

func (x *extent) busy() time.Duration { return interval.Union(x.spans).Len() }

// measureSteps fills r.Steps and r.Images and returns the image of each GPU event.
func measureSteps(t *trace.Trace, r *Result, c *Cut, o *order, n int) []int32 {
	ext := make([]extent, n)
	r.Steps = make([]Step, n)
	for _, id := range o.ids {
		if s := r.StepOf[id]; s >= 0 {
			if ext[s].kernels == 0 {
				r.Steps[s].First = id
			}
			ext[s].add(&t.GPU[id])
		}
	}
	images := max(1, len(c.Images))
	for i := range r.Steps {
		s, x := &r.Steps[i], &ext[i]
		s.Index, s.Kernels, s.GPUTime, s.Busy, s.Start, s.End = i, x.kernels, x.gpu, x.busy(), x.start, x.end
		s.Complete = i >= len(c.Partial) || !c.Partial[i]
		if i < len(c.ImageOf) {
			s.Image = c.ImageOf[i]
		}
		if i < len(c.Forwards) {
			s.Forwards = c.Forwards[i]
		}
		images = max(images, s.Image+1)
	}
	r.Images = make([]Image, images)
	copy(r.Images, c.Images)
	for i := range r.Images {
		r.Images[i].Index, r.Images[i].Steps = i, 0
	}
	for _, s := range r.Steps {
		r.Images[s.Image].Steps++
	}
	return make([]int32, len(t.GPU))
}

// measurePhases decides the phase and image of each event and sums them up.
func measurePhases(t *trace.Trace, r *Result, c *Cut, o *order, imageOf []int32) {
	for _, part := range o.apart() {
		newPhaser(t, r, part, imageOf).decide()
	}
	for i, name := range c.PhaseOf {
		if name != "" && r.StepOf[i] < 0 {
			r.PhaseOf[i] = name
		}
	}
	for i := range preamble(t) {
		if r.StepOf[i] < 0 {
			r.PhaseOf[i] = Preamble
		}
	}
	type key struct {
		image int32
		name  PhaseName
	}
	at := map[key]int{}
	var ext []extent
	whole := make([]extent, len(r.Images))
	for _, id := range o.ids {
		k := key{imageOf[id], r.PhaseOf[id]}
		i, ok := at[k]
		if !ok {
			i = len(r.Phases)
			at[k] = i
			r.Phases = append(r.Phases, Phase{Name: k.name, Image: int(k.image)})
			ext = append(ext, extent{})
		}
		ext[i].add(&t.GPU[id])
		if k.name != Preamble {
			whole[k.image].add(&t.GPU[id])
		}
	}
	for i := range r.Phases {
		f, x := &r.Phases[i], &ext[i]
		f.Kernels, f.GPUTime, f.Busy, f.Start, f.End = x.kernels, x.gpu, x.busy(), x.start, x.end
	}
	for i := range r.Images {
		r.Images[i].Start, r.Images[i].End = whole[i].start, whole[i].end
	}
}
