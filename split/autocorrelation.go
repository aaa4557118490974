package split

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ditlens/ditlens/trace"
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
	f, err := findLoops(in.Trace, o, ctx.Err)
	if err != nil {
		return nil, err
	}
	if f == nil || len(f.pieces) < 2 {
		return nil, withoutLoop(in, o, a.Name(), CodeNoSteadyState, "nothing in the launched work repeats as steps do")
	}
	c := f.cut(in.Trace, o)
	c.Mode = a.Name()
	r := assemble(in, c, o)
	f.frayed = f.frays()
	f.judge(in.Trace, r, o)
	r.NonEmptyModes = []string{a.Name()}
	r.Attempts = []Attempt{{Mode: a.Name(), Code: CodeOK, Message: f.describe(), Steps: len(r.Steps)}}
	if r.Confidence < minConfidence {
		no := withoutLoop(in, o, a.Name(), CodeLowQuality, f.describe()+": "+f.doubt)
		no.Attempts[0].Steps = len(r.Steps)
		return nil, no
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

// withoutLoop makes the error of a trace in which no step was seen to repeat. When blocks do that hold half of the time, it says that these may be those of one
// pass.
func withoutLoop(in *Input, o *order, mode, code, message string) *NoSteadyStateError {
	no := noSteps(in, o, mode, code, message)
	if b := blocks(in.Trace, o, o.lane); b != "" {
		d := singleStep("no step was seen to repeat, though blocks do (" + b + "), as in a single pass of the model; if a single step is what the trace holds")
		no.Attempts[0].Message += "; " + d.Message
		no.Result.Diagnostics = append(no.Result.Diagnostics, d)
	}
	return no
}

// blocks describes the loops of a single pass, in order: those that lie in one place each among events in launch order, if together they hold half of
// the GPU time. It is empty if they do not.
func blocks(t *trace.Trace, o *order, ids []trace.GPUID) string {
	n := newNest(t, ids, o.signatures(ids), indices(len(ids)))
	if err := n.findLevels(func() error { return nil }, o.distinct); err != nil {
		return ""
	}
	var all []region
	for i := range n.levels {
		if l := &n.levels[i]; l.lag > 1 && !l.loops {
			all = append(all, l.regions...)
		}
	}
	total := n.before[len(n.tok)]
	all = slices.DeleteFunc(all, func(r region) bool {
		var conv time.Duration
		for k := r.from; k < r.to; k++ {
			if convolution(t.GPU[ids[k]].Name) {
				conv += t.GPU[ids[k]].Dur
			}
		}
		held := n.before[r.to] - n.before[r.from]
		return r.iterations() < 2.5 || 20*held < total || 2*conv > held
	})
	slices.SortFunc(all, func(a, b region) int { return cmp.Compare(n.matched(b), n.matched(a)) })
	var apart []region // without those that overlap a stronger one
	for _, r := range all {
		if !slices.ContainsFunc(apart, func(k region) bool { return k.from < r.to && r.from < k.to }) {
			apart = append(apart, r)
		}
	}
	var held time.Duration
	var parts []string
	slices.SortFunc(apart, func(a, b region) int { return cmp.Compare(a.from, b.from) })
	for _, r := range apart {
		like := 0 // itself, and what other passes repeat
		for _, k := range apart {
			like += rank(n.alike(r, k))
		}
		if like == 1 {
			held += n.before[r.to] - n.before[r.from]
			parts = append(parts, fmt.Sprintf("%.0f of %d kernels each", r.iterations(), r.lag))
		}
	}
	if 2*held < total {
		return ""
	}
	return strings.Join(parts, ", ")
}

// alike reports whether two regions repeat the same: at least half of what an iteration of the one holds is in one of the other.
func (n *nest) alike(a, b region) bool {
	x, y := distinct(n.tok[a.from:a.from+a.lag]), distinct(n.tok[b.from:b.from+b.lag])
	same := 0
	for _, s := range x {
		if _, found := slices.BinarySearch(y, s); found {
			same++
		}
	}
	return 2*same >= len(x)
}

func indices(n int) []int32 {
	at := make([]int32, n)
	for i := range at {
		at[i] = int32(i)
	}
	return at
}
