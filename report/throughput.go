package report

import (
	"fmt"
	"slices"
	"time"

	"github.com/ditlens/ditlens/split"
	"github.com/ditlens/ditlens/trace"
)

// measureThroughput says how fast the run was. A whole pipeline call in the trace gives the latency directly, from its first to its
// last GPU event. When the caller asked for more steps than were recorded, the missing ones are taken to be like the
// steady ones. Otherwise there is no number, and Basis says why.
func (in *analysis) measureThroughput() {
	t := &in.Throughput
	*t = Throughput{Value: unknown, Unit: in.ThroughputUnit, LatencySeconds: unknown, SecondsPerItem: unknown, FramesPerSec: unknown}
	latency, basis := in.latency()
	t.Basis, t.UpperBound = basis, basis == recordedSteps
	if latency <= 0 {
		return
	}
	batch := float64(max(in.Workload.Batch, 1))
	t.LatencySeconds = Number(latency.Seconds())
	t.SecondsPerItem = Number(latency.Seconds() / batch)
	t.Value = Number(batch / latency.Seconds())
	if in.Workload.Frames > 1 {
		t.FramesPerSec = t.Value * Number(in.Workload.Frames)
	}
	if in.Workload.Batch == 0 {
		t.Basis += "; batch unknown, taken as 1"
	} else {
		t.Basis += fmt.Sprintf("; batch %d", in.Workload.Batch)
	}
	if in.Trace.ProfilerStacks {
		t.Basis += "; Python stacks were recorded, which slows the host"
	}
}

// recordedSteps is the basis of a throughput that may leave out a part of the pipeline call.
const recordedSteps = "first to last GPU event of the recorded steps, an upper bound: no marker of the pipeline call, no decoder and " +
	"no requested number of steps shows that the call was recorded whole"

// latency is the time of one pipeline call, 0 when it cannot be derived.
func (in *analysis) latency() (time.Duration, string) {
	res := in.steps
	if len(res.Steps) == 0 || in.WorkloadType != "diffusion" {
		return 0, "not derivable: no denoising steps of a diffusion run in the trace"
	}
	if slices.ContainsFunc(in.trace.Diagnostics, func(d trace.Diagnostic) bool { return d.Code == trace.TimesApart }) {
		return 0, "not derivable: GPU events lie so far apart that their times are damaged or of several recordings"
	}
	if want := in.Workload.NumInferenceSteps; want > in.mostSteps() {
		return in.extrapolate(want)
	}
	var spans []time.Duration
	witnessed := true
	for _, m := range res.Images {
		if in.whole(m) {
			spans = append(spans, m.End-m.Start)
			witnessed = witnessed && in.witnessed(m)
		}
	}
	if len(spans) == 0 {
		return 0, "not derivable: no pipeline call is recorded whole, and the number of steps it should have is not known"
	}
	if !witnessed {
		return medianTime(spans), recordedSteps
	}
	if n := len(spans); n > 1 {
		return medianTime(spans), fmt.Sprintf("end to end: first to last GPU event of a pipeline call, median of %d calls", n)
	}
	return spans[0], "end to end: first to last GPU event of the pipeline call"
}

// whole reports whether all steps of an image are complete and the file did not end inside it.
func (in *analysis) whole(m split.Image) bool {
	if m.Index == len(in.steps.Images)-1 {
		for _, f := range in.Trace.Files {
			if f.Truncated {
				return false
			}
		}
	}
	n := 0
	for i := range in.steps.Steps {
		s := &in.steps.Steps[i]
		if s.Image != m.Index {
			continue
		}
		if !s.Complete {
			return false
		}
		n++
	}
	return n > 0
}

// witnessed reports whether anything but its steps shows that the call of an image is in the trace from end to end.
func (in *analysis) witnessed(m split.Image) bool {
	if m.Marker != "" || in.steps.Requested > 0 {
		return true
	}
	for _, p := range in.steps.Phases {
		if p.Image == m.Index && p.Name == split.VAEDecode {
			return true
		}
	}
	return false
}

func (in *analysis) mostSteps() int {
	n := 0
	for _, m := range in.steps.Images {
		n = max(n, m.Steps)
	}
	return n
}

// extrapolate is the latency of a call of which only a part was recorded.
func (in *analysis) extrapolate(want int) (time.Duration, string) {
	if in.Split.Steady == nil || in.Split.MedianSpan <= 0 {
		return 0, fmt.Sprintf("not derivable: %d steps asked for, %d recorded, none of them steady", want, in.mostSteps())
	}
	other := in.otherPhases()
	d := time.Duration(want)*in.Split.MedianSpan.Duration() + other
	return d, fmt.Sprintf("%d steps of %s (median span of the steady steps) and %s of other phases; only %d steps were recorded",
		want, dur(in.Split.MedianSpan.Duration()), dur(other), in.mostSteps())
}

// otherPhases is the span of one image's phases outside the denoising loop.
func (in *analysis) otherPhases() time.Duration {
	var d time.Duration
	for _, p := range in.steps.Phases {
		if p.Image == 0 && (p.Name == split.TextEncode || p.Name == split.VAEDecode) {
			d += p.End - p.Start
		}
	}
	return d
}
