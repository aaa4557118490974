package report

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ditlens/ditlens/hw"
	"github.com/ditlens/ditlens/internal/interval"
	"github.com/ditlens/ditlens/perfmodel"
	"github.com/ditlens/ditlens/split"
	"github.com/ditlens/ditlens/trace"
	"github.com/ditlens/ditlens/trace/record"
)

// An Analyzer turns traces into reports. The zero value analyses with everything that is shipped; each field replaces one
// part. An Analyzer may be used by several goroutines at a time.
type Analyzer struct {
	// Split cuts the trace into steps. nil means split.Auto{}.
	Split split.Splitter
	// Models says what operators do. nil means perfmodel.Default().
	Models *perfmodel.Registry
	// Hardware is the GPU whose roofline is drawn. nil means the one that the trace names; when that is unknown the
	// report has absolute rates and no percentages.
	Hardware hw.HardwareSpec
	// Ceiling is the set of figures that percentages refer to. The zero value is hw.Achievable.
	Ceiling hw.Ceiling
	// Workload is what the caller knows of the run. Zero fields are found in the trace where it tells.
	Workload record.Workload
	// WorkloadType states the type ("diffusion", "llm", "unknown") instead of finding it. "" or "auto" means to find it.
	WorkloadType string
	// CapturePaths are the files whose capture traces were merged into the trace; they are named in the report.
	CapturePaths []string
	// Others are the other ranks of the run, reduced by [Analyzer.Rank]; the report then compares them with the trace's own.
	Others []*RankTrace
}

// Analyze returns the report of a trace. A trace without GPU events gives a report with status "empty", one without
// denoising steps a report on the whole trace; neither is an error. Errors are those of ctx and of the splitter, ranks that
// cannot be compared, and a WorkloadType that is none. When ctx ends, Analyze
// returns after a few milliseconds; of a million GPU events, after a few seconds at most.
func (a *Analyzer) Analyze(ctx context.Context, t *trace.Trace) (*Report, error) {
	if err := checkWorkloadType(a.WorkloadType); err != nil {
		return nil, err
	}
	r := &Report{SchemaVersion: SchemaVersion, Generator: "ditlens", ThroughputUnit: "images/sec"}
	in := analysis{Report: r, trace: t, ceiling: a.Ceiling, origin: firstStart(t)}

	in.readInput(a.CapturePaths)
	in.chooseHardware(a.Hardware)
	if err := in.split(ctx, a.Split, a.Workload.NumInferenceSteps); err != nil {
		return nil, err
	}
	var err error
	for _, stage := range []func(){
		func() { in.attribute(a.Models) },
		in.measureTimeline,
		func() { err = in.compareRanks(a.Others) },
		in.drawRoofs,
		func() { err = in.buildOperators(ctx) },
		in.sumUp,
		func() { in.findWorkload(a.Workload) },
		in.findModulation,
		func() { in.findWorkloadType(a.WorkloadType) },
		in.measureThroughput,
		in.rankFindings,
		in.setStatus,
	} {
		if stage(); err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return nil, err
		}
	}
	r.fillLists()
	return r, nil
}

// fillLists makes absent lists empty ones, so that a program that reads report.json finds a list wherever one is promised.
func (r *Report) fillLists() {
	fill(&r.WorkloadEvidence)
	fill(&r.Trace.Files)
	fill(&r.Split.Reasons)
	fill(&r.Split.Classes)
	fill(&r.Split.Steps)
	fill(&r.Split.Phases)
	fill(&r.Split.PhaseTotals)
	fill(&r.Split.SubPeriods)
	fill(&r.Split.NonEmptyModes)
	fill(&r.Split.Attempts)
	fill(&r.Timeline.PerDevice)
	fill(&r.Operators)
	fill(&r.Merged)
	fill(&r.OperatorTotals)
	fill(&r.KernelTotals)
	fill(&r.Modulation)
	fill(&r.Coverage.ByCategory)
	fill(&r.Findings)
	fill(&r.Diagnostics)
	if r.Ranks != nil {
		fill(&r.Ranks.Collectives)
		fill(&r.Ranks.Doubts)
	}
	for i := range r.Operators {
		fill(&r.Operators[i].Kernels)
		fill(&r.Operators[i].Notes)
	}
}

func fill[T any](s *[]T) {
	if *s == nil {
		*s = []T{}
	}
}

// analysis is a Report in the making with what it is made of.
type analysis struct {
	*Report
	trace     *trace.Trace
	spec      hw.HardwareSpec // nil when unknown
	ceiling   hw.Ceiling
	steps     *split.Result
	instances []perfmodel.Instance
	roofs     []roofed      // by instance
	origin    time.Duration // of the times in the report
	busy      interval.Set  // of all devices, made when first asked for
}

// split cuts the trace; a trace without steps is no error.
func (in *analysis) split(ctx context.Context, s split.Splitter, requested int) error {
	if s == nil {
		s = split.Auto{}
	}
	res, err := s.Split(ctx, &split.Input{Trace: in.trace, Requested: requested})
	var none *split.NoSteadyStateError
	if errors.As(err, &none) {
		if res = none.Result; res == nil {
			return fmt.Errorf("report: splitter %q gave neither steps nor phases: %w", s.Name(), err)
		}
		res.Attempts, res.NonEmptyModes = none.Attempts, none.NonEmptyModes
	} else if err != nil {
		return fmt.Errorf("report: split by %s: %w", s.Name(), err)
	}
	if res == nil {
		return fmt.Errorf("report: splitter %q gave no result", s.Name())
	}
	if n := len(in.trace.GPU); len(res.StepOf) != n || len(res.PhaseOf) != n {
		return fmt.Errorf("report: splitter %q placed %d steps and %d phases of %d GPU events", s.Name(), len(res.StepOf), len(res.PhaseOf), n)
	}
	in.steps, in.Result = res, res
	in.describeSplit(res)
	for _, d := range res.Diagnostics {
		in.diagnose(d)
	}
	return nil
}

// attribute divides the GPU events among operators. nil models are those that are shipped.
func (in *analysis) attribute(models *perfmodel.Registry) {
	if models == nil {
		models = perfmodel.Default()
	}
	in.instances = perfmodel.Attribute(in.trace, models)
}

func (in *analysis) diagnose(d trace.Diagnostic) {
	in.Diagnostics = append(in.Diagnostics, Diagnostic{d.Code, d.Severity.String(), d.Count, d.Message})
}

// setStatus says in one word how far the report can be trusted.
func (in *analysis) setStatus() {
	switch {
	case len(in.trace.GPU) == 0:
		in.Status = StatusEmpty
	case len(in.Split.Steps) == 0:
		in.Status = StatusNoSteadyState
	case in.cut() || len(in.damage()) > 0:
		in.Status = StatusPartial
	default:
		in.Status = StatusOK
	}
}

// cut reports whether a file ended early, or no step is complete.
func (in *analysis) cut() bool {
	for _, f := range in.Trace.Files {
		if f.Truncated {
			return true
		}
	}
	for _, s := range in.Split.Steps {
		if s.Complete {
			return false
		}
	}
	return true
}

func firstStart(t *trace.Trace) time.Duration {
	if len(t.GPU) == 0 {
		return 0
	}
	return t.GPU[0].Start
}
