package report

import (
	"fmt"
	"strings"

	"github.com/ditlens/ditlens/trace"
)

// summarySection answers in ten rows what ran, how fast, how far from the roof and what to do first.
func (r *Report) summarySection() section {
	s := section{ID: "summary", Title: "Executive Summary", Lead: r.caveats()}
	t := table{ID: "summary-table", Caption: "Key figures of the run", Columns: columns("metric", "value")}
	for _, row := range r.summaryRows() {
		if row[1] != "" {
			t.Rows = append(t.Rows, []cell{text(row[0]), text(row[1])})
		}
	}
	s.Tables = []table{t}
	told := r.Status == StatusOK || r.Status == StatusNoSteadyState // of a single step, among the caveats
	for _, d := range r.Diagnostics {
		if d.Severity != "info" && !(told && d.Code == singleStep) && len(s.Notes) < summaryDoubts {
			s.Notes = append(s.Notes, "Doubt: "+d.Message+".")
		}
	}
	return s
}

// summaryDoubts is how many diagnostics stand below the summary; their own section has all.
const summaryDoubts = 4

// caveats are the sentences that a reader must see before any figure.
func (r *Report) caveats() []string {
	var c []string
	if r.Coverage.ModelledKernels == 0 {
		why := "."
		if r.Coverage.Kernels > 0 && len(r.Hardware.Peaks) == 0 {
			why = ": no ceiling of the GPU is known, so rates are absolute and nothing has an efficiency."
		}
		c = append(c, fmt.Sprintf("0 of %s kernels modelled%s", count(r.Coverage.Kernels), why))
	}
	switch r.Status {
	case StatusEmpty:
		c = append(c, "The trace holds 0 GPU events, so there is nothing to measure.")
	case StatusNoSteadyState:
		text := "0 denoising steps were found; the figures are of the whole trace."
		if d := r.diagnostic(singleStep); d != "" {
			text = "0 denoising steps were found: " + d + ". The figures are of the whole trace."
		}
		c = append(c, text)
	case StatusOK:
		if d := r.diagnostic(singleStep); d != "" {
			c = append(c, strings.ToUpper(d[:1])+d[1:]+".")
		}
	case StatusPartial:
		c = append(c, fmt.Sprintf("The record is incomplete or damaged (%s); figures are of what could be read.", r.incomplete()))
	}
	return c
}

// singleStep is the code of the diagnostic that a trace holds no more than one step.
const singleStep = "single_step"

// diagnostic returns the message of a diagnostic, "" if there is none of that code.
func (r *Report) diagnostic(code string) string {
	for _, d := range r.Diagnostics {
		if d.Code == code {
			return d.Message
		}
	}
	return ""
}

// incomplete counts what makes a report partial.
func (r *Report) incomplete() string {
	var cut, skipped int64
	for _, f := range r.Trace.Files {
		skipped += f.Skipped
		if f.Truncated {
			cut++
		}
	}
	steps := int64(0)
	for _, s := range r.Split.Steps {
		if !s.Complete {
			steps++
		}
	}
	var parts []string
	for _, p := range []struct {
		n    int64
		what string
	}{{cut, "files cut off"}, {skipped, "events skipped"}, {steps, "steps incomplete"}} {
		if p.n > 0 {
			parts = append(parts, count(p.n)+" "+p.what)
		}
	}
	parts = append(parts, r.damage()...)
	if len(parts) == 0 {
		return "see diagnostics"
	}
	return strings.Join(parts, ", ")
}

// damage returns the codes of the diagnostics that are errors.
func (r *Report) damage() (codes []string) {
	for _, d := range r.Diagnostics {
		if d.Severity == trace.Error.String() {
			codes = append(codes, d.Code)
		}
	}
	return codes
}

// summaryRows are the rows of the summary in order; a row with an empty value is left out.
func (r *Report) summaryRows() [][2]string {
	return [][2]string{
		{"workload_type", r.WorkloadType},
		{"throughput_unit", r.ThroughputUnit},
		{"throughput", r.throughputText()},
		{"latency", r.latencyText()},
		{"workload", r.workloadText()},
		{"steps (found / marked / requested)", r.stepsText()},
		{"step time (median)", r.stepTimeText()},
		{"GPU", r.gpuText()},
		{"GPU busy and idle", r.busyText()},
		{"coverage", r.coverageText()},
		{"roofline", r.rooflineText()},
		{"top bottleneck", r.bottleneckText()},
		{"status", r.Status},
	}
}

func (r *Report) throughputText() string {
	t := &r.Throughput
	if !t.Value.Known() {
		return based(notAvailable, t.Basis)
	}
	s := t.sign("≤ ") + significant(t.Value) + " " + t.Unit
	if t.FramesPerSec.Known() {
		s += ", " + t.sign("≤ ") + significant(t.FramesPerSec) + " frames/sec"
	}
	return based(s, t.Basis)
}

// sign is the given sign of a bound, "" when the figures are none.
func (t *Throughput) sign(bound string) string {
	if t.UpperBound {
		return bound
	}
	return ""
}

// based adds what a figure rests on.
func based(s, basis string) string {
	if basis == "" {
		return s
	}
	return s + "; basis: " + basis
}

func (r *Report) latencyText() string {
	t := &r.Throughput
	if !t.LatencySeconds.Known() {
		return notAvailable
	}
	s := t.sign("≥ ") + seconds(t.LatencySeconds) + " per pipeline call"
	if t.SecondsPerItem.Known() {
		s += ", " + t.sign("≥ ") + seconds(t.SecondsPerItem) + " per " + r.item()
	}
	return s
}

// item is what the throughput counts, in the singular.
func (r *Report) item() string {
	unit, _, _ := strings.Cut(r.ThroughputUnit, "/")
	return strings.TrimSuffix(unit, "s")
}

func (r *Report) workloadText() string {
	w := &r.Workload
	var parts []string
	add := func(known bool, format string, args ...any) {
		if known {
			parts = append(parts, fmt.Sprintf(format, args...))
		}
	}
	add(w.Model != "", "%s", w.Model)
	add(w.Width > 0 && w.Height > 0, "%dx%d", w.Height, w.Width)
	add(w.Frames > 0, "%d frames", w.Frames)
	add(w.Batch > 0, "batch %d", w.Batch)
	add(w.Precision != "", "%s", w.Precision)
	add(w.Ulysses > 1, "Ulysses degree %d", w.Ulysses)
	add(w.Ring > 1, "ring degree %d", w.Ring)
	add(w.CFG > 1, "CFG degree %d", w.CFG)
	add(w.NumInferenceSteps == 1, "1 inference step")
	add(w.NumInferenceSteps > 1, "%d inference steps", w.NumInferenceSteps)
	return strings.Join(parts, ", ")
}

func (r *Report) stepsText() string {
	s := &r.Split
	or := func(n int, none string) string {
		if n == 0 {
			return none
		}
		return count(n)
	}
	t := fmt.Sprintf("%s / %s / %s", count(s.StepCount), or(s.Marked, "none"), or(s.Requested, "not given"))
	if s.StepCount > 0 {
		t += ", by " + s.Method
		if s.Confidence.Known() {
			t += fmt.Sprintf(" (confidence %.2f)", float64(s.Confidence))
		}
	}
	return t
}

func (r *Report) stepTimeText() string {
	if r.Split.MedianGPUTime == 0 {
		return notAvailable
	}
	t := fmt.Sprintf("%s of GPU work in a span of %s", duration(r.Split.MedianGPUTime), duration(r.Split.MedianSpan))
	if s := r.Split.Steady; s != nil && s.First == s.Last {
		t += fmt.Sprintf(" (step %d)", s.First)
	} else if s != nil {
		t += fmt.Sprintf(" (steps %d to %d)", s.First, s.Last)
	}
	return t
}

func (r *Report) gpuText() string {
	switch h := &r.Hardware; {
	case h.Name == "":
		return "unknown: no efficiencies"
	case len(h.Peaks) == 0:
		return h.Name + ", no figures known: no efficiencies"
	default:
		return h.Name + ", " + h.Ceiling + " ceiling"
	}
}

func (r *Report) busyText() string {
	t := &r.Timeline
	if t.Total == 0 {
		return notAvailable
	}
	return fmt.Sprintf("%s busy (%s), %s idle (%s) of %s", percentFine(share(t.Busy, t.Total)), duration(t.Busy),
		percentFine(share(t.Idle, t.Total)), duration(t.Idle), duration(t.Total))
}

func (r *Report) coverageText() string {
	c := &r.Coverage
	s := fmt.Sprintf("%s of %s kernels modelled", count(c.ModelledKernels), count(c.Kernels))
	if r.Trace.Memcpys+r.Trace.Memsets > 0 {
		s += ", copies and fills included"
	}
	if c.ModelledPercent.Known() {
		s = fmt.Sprintf("%s of GPU time, %s", percentFine(c.ModelledPercent), s)
	}
	return s
}

func (r *Report) rooflineText() string {
	t := &r.Roofline
	if !t.Ideal.Known() || !t.Efficiency.Known() {
		return notAvailable
	}
	return fmt.Sprintf("the modelled %s of GPU time would take %s at the roofline: %s efficiency",
		duration(t.ModelledActual), micros(t.Ideal), percent(t.Efficiency*100))
}

func (r *Report) bottleneckText() string {
	if len(r.Findings) > 0 {
		f := &r.Findings[0]
		if numbers := f.numbers(r); numbers != "" {
			return joined(f.Title, numbers)
		}
		return f.Title + ". " + f.Detail
	}
	if len(r.Operators) > 0 {
		o := &r.Operators[0]
		return joined(strings.TrimSpace(readable(o.Name)+" "+o.shape()), percent(o.Percent)+" of GPU time")
	}
	return notAvailable
}

// joined adds a remark in brackets.
func joined(s, remark string) string {
	if remark == "" {
		return s
	}
	return s + " (" + remark + ")"
}
