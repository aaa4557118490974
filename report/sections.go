package report

import (
	"fmt"
	"slices"
	"strings"
)

// Rows of long tables that are shown; the CSV and JSON files hold all of them.
const (
	topOperators   = 20
	categoryRows   = 10
	phaseRows      = 40
	stepRows       = 60
	modulationRows = 20
)

// signalsSection says what the GPUs did between the first and the last event, and what was recorded.
func (r *Report) signalsSection() section {
	s := section{ID: "signals", Title: "System Signals"}
	if n := len(r.Timeline.PerDevice); n > 1 {
		s.Lead = []string{fmt.Sprintf("Times are sums over %d devices.", n)}
	}
	if r.Timeline.Total > 0 {
		t := table{ID: "timeline", Title: "GPU timeline", Caption: "What the GPU did between its first and last event",
			Columns: columns("signal", ">time", ">share of total")}
		for _, row := range r.Timeline.rows() {
			t.Rows = append(t.Rows, []cell{text(row.label), took(row.time), percentCell(share(row.time, r.Timeline.Total))})
		}
		s.Tables = append(s.Tables, t)
	}
	if len(r.Timeline.PerDevice) > 1 {
		s.Tables = append(s.Tables, r.devicesTable())
	}
	s.Tables = append(s.Tables, r.recordTable())
	return s
}

// A timelineRow is one line of the GPU timeline. Key is its name in gpu_timeline.csv.
type timelineRow struct {
	key, label string
	time       Micros
}

func (t *Timeline) rows() []timelineRow {
	return []timelineRow{
		{"computation_time", "computation", t.Computation},
		{"exposed_comm_time", "exposed communication", t.ExposedComm},
		{"exposed_memcpy_time", "exposed copies", t.ExposedMemcpy},
		{"busy_time", "busy", t.Busy},
		{"idle_time", "idle", t.Idle},
		{"total_time", "total", t.Total},
		{"total_comm_time", "all communication", t.TotalComm},
		{"total_memcpy_time", "all copies", t.TotalMemcpy},
	}
}

func percentCell(p Number) cell { return number(p, percentFine(p)) }

func (r *Report) devicesTable() table {
	t := table{ID: "devices", Title: "Devices", Caption: "The timeline of each device",
		Columns: columns(">device", ">total", ">busy", ">idle", ">busy share", ">exposed communication", ">exposed copies")}
	for _, d := range r.Timeline.PerDevice {
		t.Rows = append(t.Rows, []cell{whole(d.Device), took(d.Total), took(d.Busy), took(d.Idle),
			percentCell(share(d.Busy, d.Total)), took(d.ExposedComm), took(d.ExposedMemcpy)})
	}
	return t
}

func (r *Report) recordTable() table {
	in := &r.Trace
	t := table{ID: "record", Title: "What was recorded", Caption: "Counts of recorded events", Columns: columns("record", ">value")}
	add := func(label string, c cell) { t.Rows = append(t.Rows, []cell{text(label), c}) }
	add("kernels", whole(in.Kernels))
	add("copies", whole(in.Memcpys))
	add("fills", whole(in.Memsets))
	add("GPU time (sum of all GPU events)", took(in.GPUTime))
	add("kernels linked to an operator", whole(in.LinkedKernels))
	add("kernels without operator", whole(in.Unlinked))
	if in.GraphKernels > 0 {
		add("kernels replayed from graphs", whole(in.GraphKernels))
	}
	if in.WorldSize > 0 {
		add("ranks", whole(in.WorldSize))
	}
	if in.Rank != nil {
		add("this rank", whole(*in.Rank))
	}
	return t
}

// phasesSection divides the run into phases and steps.
func (r *Report) phasesSection() section {
	s := section{ID: "phases", Title: "Phases and Steps"}
	if len(r.Split.PhaseTotals) > 0 && r.Split.Images > 1 {
		s.Tables = append(s.Tables, r.phaseTotalsTable())
	}
	if len(r.Split.Phases) > 0 {
		s.Tables = append(s.Tables, r.phaseTable())
		s.more(len(r.Split.Phases), phaseRows, "phases", "report.json")
	}
	if len(r.Split.Classes) > 0 {
		s.Tables = append(s.Tables, r.classTable())
	}
	if len(r.Split.Steps) > 0 {
		s.Tables = append(s.Tables, r.stepTable())
		s.more(len(r.Split.Steps), stepRows, "steps", "steps.csv")
		if t := r.Split.mixText(); t != "" {
			s.Notes = append(s.Notes, t)
		}
	}
	return s
}

// mixText says what steps that differ cost on average, "" when they do not.
func (s *Split) mixText() string {
	if len(s.Classes) < 2 && !slices.ContainsFunc(s.Steps, func(p Step) bool { return p.remark() != "" }) {
		return ""
	}
	t := fmt.Sprintf("Mean of all %s steps, a mix of their classes and outliers: %s of GPU time.", count(len(s.Steps)), micros(s.MeanGPUTime))
	if s.CacheHitRatio > 0 {
		t += fmt.Sprintf(" A cache cut %s of them short.", percent(100*s.CacheHitRatio))
	}
	return t
}

// more notes where the rest of a shortened table is.
func (s *section) more(n, shown int, what, file string) {
	if n > shown {
		s.Notes = append(s.Notes, fmt.Sprintf("The first %s of %s %s are shown; %s has all.", count(shown), count(n), what, file))
	}
}

func (r *Report) phaseTotalsTable() table {
	t := table{ID: "phase-totals", Title: "Phases of all images", Caption: "GPU time by phase, summed over images",
		Columns: columns("phase", ">GPU events", ">GPU time", ">of GPU time")}
	for _, p := range r.Split.PhaseTotals {
		t.Rows = append(t.Rows, []cell{text(p.Name), whole(p.Kernels), took(p.GPUTime), sharedCell(share(p.GPUTime, r.Trace.GPUTime))})
	}
	return t
}

func sharedCell(p Number) cell { return number(p, percent(p)) }

func (r *Report) phaseTable() table {
	t := table{ID: "phase-table", Title: "Phases", Caption: "Phases in order of time",
		Columns: columns("phase", ">image", ">GPU events", ">GPU time", ">of GPU time", ">start", ">span", ">busy in span")}
	for _, p := range r.Split.Phases[:min(phaseRows, len(r.Split.Phases))] {
		t.Rows = append(t.Rows, []cell{text(p.Name), whole(p.Image), whole(p.Kernels), took(p.GPUTime),
			sharedCell(share(p.GPUTime, r.Trace.GPUTime)), took(p.Start), took(p.End - p.Start), sharedCell(share(p.Busy, p.End-p.Start))})
	}
	return t
}

func (r *Report) classTable() table {
	t := table{ID: "classes", Title: "Step classes", Caption: "Steps that launch the same work",
		Columns: columns(">class", "name", ">steps", ">GPU events", ">GPU time (median)", ">span (median)")}
	for _, c := range r.Split.Classes {
		t.Rows = append(t.Rows, []cell{whole(c.ID), text(c.Name), whole(c.Steps), whole(c.Kernels), took(c.MedianGPUTime), took(c.MedianSpan)})
	}
	return t
}

func (r *Report) stepTable() table {
	t := table{ID: "steps", Title: "Steps", Caption: "Denoising steps in order of time",
		Columns: columns(">step", ">image", ">class", ">GPU events", ">GPU time", ">busy", ">span", ">busy in span", ">roofline", "remark")}
	for _, s := range r.Split.Steps[:min(stepRows, len(r.Split.Steps))] {
		t.Rows = append(t.Rows, []cell{whole(s.Index), whole(s.Image), whole(s.Class), whole(s.Kernels), took(s.GPUTime), took(s.Busy),
			took(s.Span), sharedCell(share(s.Busy, s.Span)), number(s.Roofline, micros(s.Roofline)), text(s.remark())})
	}
	return t
}

// remark tells what sets a step apart.
func (s *Step) remark() string {
	var parts []string
	if !s.Complete {
		parts = append(parts, "incomplete")
	}
	if s.Outlier != "" {
		parts = append(parts, s.Outlier)
	}
	return strings.Join(parts, "; ")
}

// findingsSection lists what to act on.
func (r *Report) findingsSection() section {
	s := section{ID: "findings", Title: "Findings"}
	for i := range r.Findings {
		f := &r.Findings[i]
		s.List = append(s.List, item{Title: f.Title, Detail: f.Detail, Numbers: f.numbers(r)})
	}
	return s
}

// numbers says what a finding is worth, "" when that is not known.
func (f *Finding) numbers(r *Report) string {
	var parts []string
	if f.AtStake > 0 {
		parts = append(parts, duration(f.AtStake)+" at stake")
	}
	if f.NewThroughput.Known() {
		parts = append(parts, significant(f.NewThroughput)+" "+r.ThroughputUnit+" without it")
	}
	return strings.Join(parts, ", ")
}

// modulationSection compares what adaLN moves with what one fused kernel would.
func (r *Report) modulationSection() section {
	s := section{ID: "modulation", Title: "Modulation Headroom"}
	if len(r.Modulation) == 0 {
		return s
	}
	t := table{ID: "modulation-table", Caption: "Memory traffic of adaptive layer norms",
		Columns: columns("form", "phase", "shape", ">groups", ">time", ">bytes", ">fused", ">streams", ">fused streams", ">at stake")}
	for _, m := range r.Modulation[:min(modulationRows, len(r.Modulation))] {
		t.Rows = append(t.Rows, []cell{text(m.Form), text(m.Phase), text(m.Shape), whole(m.Count), took(m.Time),
			number(m.Bytes, scaled(m.Bytes, "B")), number(m.IdealBytes, scaled(m.IdealBytes, "B")),
			number(m.Streams, significant(m.Streams)), number(m.Ideal, significant(m.Ideal)), took(m.AtStake)})
	}
	s.Tables = []table{t}
	s.Notes = []string{"Bytes are per group: as launched, and as one fused kernel would move. A stream is one pass over the modulated tensor."}
	s.more(len(r.Modulation), modulationRows, "groups", "report.json")
	return s
}

// diagnosticsSection lists doubts about the input and how the search for steps went.
func (r *Report) diagnosticsSection() section {
	s := section{ID: "diagnostics", Title: "Diagnostics"}
	if len(r.Diagnostics) > 0 {
		t := table{ID: "diagnostic-table", Title: "Doubts", Caption: "Doubts about the input and the analysis",
			Columns: columns("severity", "code", ">count", "message")}
		for _, d := range r.Diagnostics {
			t.Rows = append(t.Rows, []cell{text(d.Severity), {Text: printable(d.Code), Code: true}, number(Number(d.Count), count(d.Count)), text(d.Message)})
		}
		s.Tables = append(s.Tables, t)
	}
	if len(r.Split.Attempts) > 0 {
		t := table{ID: "attempts", Title: "How the steps were looked for", Caption: "Ways of finding steps that were tried",
			Columns: columns("mode", "code", ">steps", "message")}
		for _, a := range r.Split.Attempts {
			t.Rows = append(t.Rows, []cell{text(a.Mode), {Text: printable(a.Code), Code: true}, whole(a.Steps), text(a.Message)})
		}
		s.Tables = append(s.Tables, t)
	}
	return s
}
