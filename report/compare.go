package report

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
)

// ErrIdentical is returned by [Compare] for two reports on the same files.
var ErrIdentical = errors.New("report: both reports are of the same files")

// States of a [Change]. Times within sameWithin percent of each other, or below a ten-thousandth of GPU time, are the same.
const (
	ChangeNew    = "new"
	ChangeGone   = "gone"
	ChangeFaster = "faster"
	ChangeSlower = "slower"
	ChangeSame   = "same"
)

// sameWithin is the change, in percent, that is taken for noise.
const sameWithin = 2

// A Comparison tells what changed from one report to another.
type Comparison struct {
	SchemaVersion string   `json:"schema_version"`
	Before        Side     `json:"before"`
	After         Side     `json:"after"`
	Notes         []string `json:"notes"`      // why the two may not be comparable
	Figures       []Figure `json:"figures"`    // throughput, latency, times of the whole run
	Phases        []Change `json:"phases"`     // in order of the run
	Steps         []Change `json:"steps"`      // GPU time by index
	Categories    []Change `json:"categories"` // as below
	Operators     []Change `json:"operators"`  // equal name, shapes, types and phase; greatest change first
	OtherShapes   int      `json:"same_operator_other_shapes"`
}

// A Side is one of the reports that are compared.
type Side struct {
	Files   []File `json:"files"`
	GPU     string `json:"gpu"`
	Ceiling string `json:"ceiling"`
	Kernels int    `json:"kernels"`
	GPUTime Micros `json:"gpu_time_us"`
}

// A Figure is one number of both reports. Percent is the change relative to Before, unknown when that is 0 or unknown.
type Figure struct {
	Name    string `json:"name"`
	Unit    string `json:"unit"`
	Before  Number `json:"before"`
	After   Number `json:"after"`
	Percent Number `json:"change_percent"`
}

// A Change is one row of both reports. Difference is After - Before.
type Change struct {
	Name       string   `json:"name"`
	Phase      string   `json:"phase"`
	Shape      string   `json:"shape"`
	State      string   `json:"state"`
	Before     Micros   `json:"before_us"`
	After      Micros   `json:"after_us"`
	Difference Micros   `json:"difference_us"`
	Percent    Number   `json:"change_percent"`
	CallsFrom  int      `json:"calls_before"`
	CallsTo    int      `json:"calls_after"`
	EffFrom    Number   `json:"efficiency_percent_before"`
	EffTo      Number   `json:"efficiency_percent_after"`
	NewKernels []string `json:"new_kernels"` // that only the second report has for this operator
}

// Compare returns what changed from a to b. It returns [ErrIdentical] when both are of the same files, and does not judge
// whether two runs should be compared: Notes names different GPUs, ceilings and workloads.
func Compare(a, b *Report) (*Comparison, error) {
	if sameFiles(a, b) {
		return nil, ErrIdentical
	}
	c := &Comparison{SchemaVersion: SchemaVersion, Before: side(a), After: side(b), Notes: differences(a, b), Figures: figures(a, b)}
	noise := max(a.Trace.GPUTime, b.Trace.GPUTime) / 10000
	c.Phases = changes(phaseEntries(a), phaseEntries(b), noise)
	c.Steps = changes(stepEntries(a), stepEntries(b), noise)
	c.Categories = byDifference(changes(categoryEntries(a), categoryEntries(b), noise))
	c.Operators = byDifference(changes(operatorEntries(a), operatorEntries(b), noise))
	if c.OtherShapes = otherShapes(c.Operators); c.OtherShapes > 0 {
		c.Notes = append(c.Notes, fmt.Sprintf("%d operators of the second report have other shapes or types than in the first", c.OtherShapes))
	}
	return c, nil
}

// sameFiles reports whether both reports name files with the same contents.
func sameFiles(a, b *Report) bool {
	hashes := func(r *Report) []string {
		var h []string
		for _, f := range r.Trace.Files {
			if f.SHA256 != "" {
				h = append(h, f.SHA256)
			}
		}
		slices.Sort(h)
		return h
	}
	x, y := hashes(a), hashes(b)
	return len(x) > 0 && slices.Equal(x, y)
}

func side(r *Report) Side {
	return Side{r.Trace.Files, r.Hardware.Name, r.Hardware.Ceiling, r.Trace.Kernels, r.Trace.GPUTime}
}

// differences names what sets two runs apart besides speed.
func differences(a, b *Report) []string {
	var notes []string
	note := func(what string, x, y any) {
		if x != y {
			notes = append(notes, fmt.Sprintf("%s: %v before, %v after", what, x, y))
		}
	}
	note("GPU", cmp.Or(a.Hardware.Name, "unknown"), cmp.Or(b.Hardware.Name, "unknown"))
	note("ceiling", a.Hardware.Ceiling, b.Hardware.Ceiling)
	note("workload_type", a.WorkloadType, b.WorkloadType)
	note("throughput_unit", a.ThroughputUnit, b.ThroughputUnit)
	note("batch", a.Workload.Batch, b.Workload.Batch)
	note("height", a.Workload.Height, b.Workload.Height)
	note("width", a.Workload.Width, b.Workload.Width)
	note("frames", a.Workload.Frames, b.Workload.Frames)
	note("steps", a.Split.StepCount, b.Split.StepCount)
	note("images", a.Split.Images, b.Split.Images)
	note("Python stacks recorded", a.Trace.ProfilerStacks, b.Trace.ProfilerStacks)
	note("status", a.Status, b.Status)
	return notes
}

// figures compares the numbers of the whole run.
func figures(a, b *Report) []Figure {
	us := func(m Micros) Number { return Number(m) / 1000 }
	var out []Figure
	add := func(name, unit string, x, y Number) {
		f := Figure{Name: name, Unit: unit, Before: x, After: y, Percent: unknown}
		if x.Known() && y.Known() && x != 0 {
			f.Percent = 100 * (y - x) / x
		}
		if x.Known() || y.Known() {
			out = append(out, f)
		}
	}
	add("throughput", b.ThroughputUnit, a.Throughput.Value, b.Throughput.Value)
	add("latency", "s", a.Throughput.LatencySeconds, b.Throughput.LatencySeconds)
	add("step, GPU time (median)", "µs", a.Split.ofStep(a.Split.MedianGPUTime), b.Split.ofStep(b.Split.MedianGPUTime))
	add("step, span (median)", "µs", a.Split.ofStep(a.Split.MedianSpan), b.Split.ofStep(b.Split.MedianSpan))
	add("GPU time", "µs", us(a.Trace.GPUTime), us(b.Trace.GPUTime))
	add("total", "µs", us(a.Timeline.Total), us(b.Timeline.Total))
	add("busy", "µs", us(a.Timeline.Busy), us(b.Timeline.Busy))
	add("idle", "µs", us(a.Timeline.Idle), us(b.Timeline.Idle))
	add("roofline", "µs", a.Roofline.Ideal, b.Roofline.Ideal)
	add("kernel efficiency", "", a.Roofline.Efficiency, b.Roofline.Efficiency)
	return out
}

// An entry is one row of one report in a comparable form. Rows with equal keys are summed.
type entry struct {
	key, name, phase, shape string
	time                    Micros
	calls                   int
	efficiency              Number
	kernels                 []string
}

func phaseEntries(r *Report) []entry {
	var list []entry
	for _, p := range r.Split.PhaseTotals {
		list = append(list, entry{key: p.Name, name: p.Name, time: p.GPUTime, calls: p.Kernels, efficiency: unknown})
	}
	return list
}

func stepEntries(r *Report) []entry {
	var list []entry
	for _, s := range r.Split.Steps {
		name := fmt.Sprintf("step %d", s.Index)
		list = append(list, entry{key: name, name: name, time: s.GPUTime, calls: s.Kernels, efficiency: unknown})
	}
	return list
}

func categoryEntries(r *Report) []entry {
	var list []entry
	for _, c := range r.Coverage.ByCategory {
		list = append(list, entry{key: string(c.Category), name: string(c.Category), time: c.Time, calls: c.Count, efficiency: c.Efficiency})
	}
	return list
}

func operatorEntries(r *Report) []entry {
	var list []entry
	for i := range r.Operators {
		o := &r.Operators[i]
		e := entry{key: strings.Join([]string{o.Name, o.Phase, pyDims(o.InputDims), pyStrings(o.InputTypes)}, "\x00"), name: o.Name, phase: o.Phase,
			shape: o.shape(), time: o.KernelTime, calls: o.Count, efficiency: o.Efficiency}
		for _, k := range o.Kernels {
			e.kernels = append(e.kernels, k.Name)
		}
		list = append(list, e)
	}
	return list
}

// merged sums entries with equal keys, in order of their first occurrence. Efficiencies are weighed by time.
func merged(list []entry) (order []string, byKey map[string]*entry) {
	byKey = map[string]*entry{}
	for i := range list {
		e := &list[i]
		have := byKey[e.key]
		if have == nil {
			byKey[e.key] = e
			order = append(order, e.key)
			continue
		}
		if total := have.time + e.time; total > 0 {
			have.efficiency = (have.efficiency*Number(have.time) + e.efficiency*Number(e.time)) / Number(total)
		}
		have.time, have.calls, have.kernels = have.time+e.time, have.calls+e.calls, append(have.kernels, e.kernels...)
	}
	return order, byKey
}

// changes pairs the rows of two reports by key: those of the first in their order, then those that are new.
func changes(before, after []entry, noise Micros) []Change {
	out := []Change{}
	order, from := merged(before)
	later, to := merged(after)
	for _, k := range later {
		if from[k] == nil {
			order = append(order, k)
		}
	}
	for _, k := range order {
		out = append(out, change(from[k], to[k], noise))
	}
	return out
}

// change compares two rows of one key, of which one may be nil.
func change(from, to *entry, noise Micros) Change {
	either := cmp.Or(from, to)
	c := Change{Name: either.name, Phase: either.phase, Shape: either.shape, Percent: unknown, EffFrom: unknown, EffTo: unknown, NewKernels: []string{}}
	if from != nil {
		c.Before, c.CallsFrom, c.EffFrom = from.time, from.calls, from.efficiency
	}
	if to != nil {
		c.After, c.CallsTo, c.EffTo = to.time, to.calls, to.efficiency
	}
	c.Difference = c.After - c.Before
	if c.Before > 0 && to != nil {
		c.Percent = Number(100 * float64(c.Difference) / float64(c.Before))
	}
	switch small := c.Difference < noise && c.Difference > -noise; {
	case from == nil:
		c.State = ChangeNew
	case to == nil:
		c.State = ChangeGone
	case small || math.Abs(float64(c.Percent)) < sameWithin:
		c.State = ChangeSame
	case c.Difference < 0:
		c.State = ChangeFaster
	default:
		c.State = ChangeSlower
	}
	if from != nil && to != nil {
		for _, k := range to.kernels {
			if !slices.Contains(from.kernels, k) && !slices.Contains(c.NewKernels, k) {
				c.NewKernels = append(c.NewKernels, k)
			}
		}
	}
	return c
}

// byDifference puts the greatest change first.
func byDifference(c []Change) []Change {
	size := func(m Micros) Micros { return max(m, -m) }
	slices.SortStableFunc(c, func(x, y Change) int { return cmp.Compare(size(y.Difference), size(x.Difference)) })
	return c
}

// otherShapes counts new operators whose name is gone with other arguments.
func otherShapes(ops []Change) int {
	gone := map[[2]string]bool{}
	for _, c := range ops {
		if c.State == ChangeGone {
			gone[[2]string{c.Name, c.Phase}] = true
		}
	}
	n := 0
	for _, c := range ops {
		if c.State == ChangeNew && gone[[2]string{c.Name, c.Phase}] {
			n++
		}
	}
	return n
}
