package split

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/ditlens/ditlens/trace"
)

// Auto tries all modes and compares them. Markers win when they agree with the launched work or are the only evidence; the
// attempts, what each found and where they differ are in the Result.
type Auto struct {
	Grammar Grammar    // of markers; nil means DefaultGrammar
	Modes   []Splitter // tried in this order; nil means Marker, Autocorrelation and Graph
}

// Name returns "auto".
func (Auto) Name() string { return "auto" }

// Modes returns the modes that a command offers: auto, marker, autocorrelation and graph.
func Modes() []Splitter { return []Splitter{Auto{}, Marker{}, Autocorrelation{}, Graph{}} }

// ByName returns the mode of that name among [Modes], ok false if there is none.
func ByName(name string) (s Splitter, ok bool) {
	for _, s := range Modes() {
		if s.Name() == name {
			return s, true
		}
	}
	return nil, false
}

// Split implements [Splitter].
func (a Auto) Split(ctx context.Context, in *Input) (*Result, error) {
	modes := a.Modes
	if modes == nil {
		modes = []Splitter{Marker{a.Grammar}, Autocorrelation{}, Graph{}}
	}
	var found []*Result
	var attempts []Attempt
	var none *Result
	for _, m := range modes {
		r, err := m.Split(ctx, in)
		var no *NoSteadyStateError
		switch {
		case err == nil:
			found = append(found, r)
			attempts = append(attempts, r.Attempts...)
		case errors.As(err, &no):
			attempts = append(attempts, no.Attempts...)
			if none == nil { // the first mode's, which is the one that reads image markers
				none = no.Result
			} else {
				none.Diagnostics = append(none.Diagnostics, no.Result.Diagnostics...)
			}
		default:
			return nil, fmt.Errorf("split mode %s: %w", m.Name(), err)
		}
	}
	if len(found) == 0 {
		return nil, a.nothing(in, none, attempts)
	}
	best := choose(found)
	a.compare(in, best, found)
	if other := a.otherWork(in, best); other != "" {
		message := fmt.Sprintf("%d repeats, but %s marks another kind of work", len(best.Steps), other)
		attempts = append(attempts, Attempt{Mode: a.Name(), Code: CodeLowQuality, Message: message, Steps: len(best.Steps)})
		if none != nil {
			none.Diagnostics = slices.DeleteFunc(none.Diagnostics, func(d trace.Diagnostic) bool { return d.Code == "single_step" })
		}
		return nil, a.nothing(in, none, attempts)
	}
	if best.Images[0].Marker == "" && none != nil && none.Images != nil && none.Images[0].Marker != "" {
		claim(best, none.Images)
	}
	best.Mode, best.Attempts = a.Name(), attempts
	return best, nil
}

// otherWork returns the annotation that says that the trace is of a language model or of training, "" if there is none or markers of
// diffusion found the steps.
func (a Auto) otherWork(in *Input, best *Result) string {
	g := a.Grammar
	if g == nil {
		g = DefaultGrammar()
	}
	if best.Method == "marker" && best.Confidence >= explicitMarkers {
		return ""
	}
	for i := range in.Trace.Annotations {
		name := in.Trace.Annotations[i].Name
		if m, ok := g.read(name); ok && m.Meaning == OtherWork {
			return name
		}
	}
	return ""
}

func (a Auto) nothing(in *Input, none *Result, attempts []Attempt) error {
	if none == nil {
		none = Assemble(in, Cut{})
	}
	none.Mode, none.Attempts = a.Name(), attempts
	return &NoSteadyStateError{Attempts: attempts, Result: none}
}

// choose returns the result to keep: that of explicit markers, else the most confident.
func choose(found []*Result) *Result {
	best := found[0]
	for _, r := range found[1:] {
		explicit := best.Method == "marker" && best.Confidence >= explicitMarkers
		if r.Confidence > best.Confidence && !explicit && !(best.Method == "marker" && len(r.Steps) == len(best.Steps)) {
			best = r
		}
	}
	return best
}

// explicitMarkers is the confidence from which on markers are taken for what they say: nearly all of them hold work, and they mark steps,
// not windows of the profiler.
const explicitMarkers = 0.7

// compare notes in best what the other modes found and where they differ.
func (a Auto) compare(in *Input, best *Result, found []*Result) {
	best.NonEmptyModes = nil
	for _, r := range found {
		best.NonEmptyModes = append(best.NonEmptyModes, r.Method)
		best.Marked = max(best.Marked, r.Marked)
		best.Detected = max(best.Detected, r.Detected)
		if r == best {
			continue
		}
		if len(r.Steps) == len(best.Steps) {
			best.Confidence = min(1, best.Confidence+0.1)
			if best.SubPeriods == nil {
				best.SubPeriods = r.SubPeriods
			}
			best.Reasons = append(best.Reasons, fmt.Sprintf("%s finds the same number of steps", r.Method))
			continue
		}
		best.Confidence *= 0.7
		best.Diagnostics = append(best.Diagnostics, trace.Diagnostic{
			Code: "steps_disagree", Severity: trace.Warning, Count: 1,
			Message: fmt.Sprintf("%s finds %d steps, %s finds %d; %s is used", r.Method, len(r.Steps), best.Method, len(best.Steps), best.Method),
		})
	}
	perImage := len(best.Steps) / max(1, len(best.Images))
	if in.Requested > 0 && in.Requested != perImage {
		best.Diagnostics = append(best.Diagnostics, trace.Diagnostic{
			Code: "steps_not_as_requested", Severity: trace.Warning, Count: 1,
			Message: fmt.Sprintf("%d steps requested, %d found an image (%d marked, %d detected in the trace)", in.Requested, perImage, best.Marked, best.Detected),
		})
	}
}

// claim adds what image markers say to the images that were found, if they are as many.
func claim(r *Result, claims []Image) {
	if len(claims) != len(r.Images) {
		r.Diagnostics = append(r.Diagnostics, trace.Diagnostic{
			Code: "images_disagree", Severity: trace.Warning, Count: 1,
			Message: fmt.Sprintf("%d images marked, %d found", len(claims), len(r.Images)),
		})
		return
	}
	for i := range claims {
		x, c := &r.Images[i], &claims[i]
		x.Batch, x.Height, x.Width, x.HostStart, x.HostEnd, x.Marker = c.Batch, c.Height, c.Width, c.HostStart, c.HostEnd, c.Marker
	}
}
