package report_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/ditlens/ditlens/internal/synth"
	"github.com/ditlens/ditlens/report"
	"github.com/ditlens/ditlens/split"
)

// A splitter of one's own is a function here.
type splitter func(*split.Input) (*split.Result, error)

func (splitter) Name() string { return "own" }

func (s splitter) Split(_ context.Context, in *split.Input) (*split.Result, error) { return s(in) }

func TestSplitterOfOnesOwn(t *testing.T) {
	tr := read(t, synth.Flux(synth.FluxConfig{}).JSON())
	halves := func(in *split.Input) (*split.Result, error) {
		c := split.Cut{Method: "halves", Mode: "own", StepOf: make([]int32, len(in.Trace.GPU))}
		for i := range c.StepOf {
			c.StepOf[i] = int32(2 * i / len(c.StepOf))
		}
		return split.Assemble(in, c), nil
	}
	r := analyze(t, report.Analyzer{Split: splitter(halves)}, tr)
	if r.Split.StepCount != 2 || r.Split.Method != "halves" || r.Split.Mode != "own" {
		t.Errorf("%d steps by %q of mode %q", r.Split.StepCount, r.Split.Method, r.Split.Mode)
	}

	boom := errors.New("boom")
	for _, tt := range []struct {
		name   string
		result *split.Result
		err    error
		want   string
	}{
		{"nothing", nil, nil, "no result"},
		{"an empty result", &split.Result{}, nil, "placed 0 steps"},
		{"no steps and no result", nil, &split.NoSteadyStateError{}, "neither steps nor phases"},
		{"an error", nil, boom, "boom"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := splitter(func(*split.Input) (*split.Result, error) { return tt.result, tt.err })
			if r, err := (&report.Analyzer{Split: s}).Analyze(t.Context(), tr); r != nil || err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), "own") {
				t.Errorf("report %v, error %v; want one of %q", r != nil, err, tt.want)
			} else if tt.err != nil && !errors.Is(err, tt.err) {
				t.Errorf("%v does not wrap %v", err, tt.err)
			}
		})
	}
}
