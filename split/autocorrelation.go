package split

import (
	"context"
)

// Autocorrelation finds steps by the periodicity of what is launched. It needs no annotation, no operator and no launch: GPU
// events suffice. The zero value is ready.
//
// It reads the events in launch order as a sequence of signatures, finds the loops in it (see candidateLags and repeats),
// picks the one whose iterations are steps (nest.step), and places the boundaries by the ends of the loop (cut). The time
// it takes grows as n log n.
type Autocorrelation struct{}

// Name returns "autocorrelation".
func (Autocorrelation) Name() string { return "autocorrelation" }

// Split implements [Splitter].
func (a Autocorrelation) Split(ctx context.Context, in *Input) (*Result, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	o := newOrder(in.Trace)
	f, err := findLoop(in.Trace, o, ctx.Err)
	if err != nil {
		return nil, err
	}
	if f == nil || len(f.pieces) < 2 {
		return nil, noSteps(in, o, a.Name(), CodeNoSteadyState, "nothing in the launched work repeats as steps do")
	}
	c := f.cut(in.Trace, o)
	c.Mode = a.Name()
	r := assemble(in, c, o)
	f.judge(in.Trace, r, o)
	r.NonEmptyModes = []string{a.Name()}
	r.Attempts = []Attempt{{Mode: a.Name(), Code: CodeOK, Message: f.describe(), Steps: len(r.Steps)}}
	if r.Confidence < minConfidence {
		return nil, &NoSteadyStateError{
			Attempts: []Attempt{{Mode: a.Name(), Code: CodeLowQuality, Steps: len(r.Steps), Message: f.describe() + ": " + f.doubt}},
			Result:   wholeTrace(in, o, a.Name()),
		}
	}
	return r, nil
}

// minConfidence is what a division into steps needs to be given out as one.
const minConfidence = 0.5

// noSteps makes the error of a mode that found none.
func noSteps(in *Input, o *order, mode, code, message string) *NoSteadyStateError {
	return &NoSteadyStateError{Attempts: []Attempt{{Mode: mode, Code: code, Message: message}}, Result: wholeTrace(in, o, mode)}
}

// wholeTrace is the Result of a trace without steps.
func wholeTrace(in *Input, o *order, mode string) *Result {
	return assemble(in, Cut{Method: "none", Mode: mode}, o)
}
