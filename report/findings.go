package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ditlens/ditlens/perfmodel"
	"github.com/ditlens/ditlens/split"
)

// rankFindings collects what is worth acting on. The times at stake overlap (an operator of a modulation counts in both), so
// they must not be added.
func (in *analysis) rankFindings() {
	for _, find := range []func() []Finding{in.hostStalls, in.slowOperators, in.convLayouts, in.modulationTraffic, in.emptyPads,
		in.stepSyncs, in.readbacks, in.exposedTransfers, in.waitingRanks, in.bareGraphs, in.unmodelled, in.recordAgain} {
		in.Findings = append(in.Findings, find()...)
	}
	for i := range in.Findings {
		in.Findings[i].NewThroughput = in.without(in.Findings[i].AtStake)
	}
	slices.SortStableFunc(in.Findings, func(a, b Finding) int { return cmp.Compare(b.weight(), a.weight()) })
}

// weight ranks a finding: what has no model ranks by its whole time, so that it is not lost at the end.
func (f *Finding) weight() Micros {
	if f.AtStake == 0 {
		return f.Time
	}
	return f.AtStake
}

// without is the throughput if a time of the whole run were gone.
func (in *analysis) without(gone Micros) Number {
	t := &in.Throughput
	if gone == 0 || !t.LatencySeconds.Known() || len(in.steps.Images) == 0 {
		return unknown
	}
	left := float64(t.LatencySeconds) - gone.Seconds()/float64(len(in.steps.Images))
	return ratio(float64(t.Value)*float64(t.LatencySeconds), left)
}

// worth is the share of the GPU's span from which a finding is told.
const worth = 0.002

func (in *analysis) worthwhile(d time.Duration) bool {
	return d > 0 && float64(d) >= worth*float64(in.Timeline.Total)
}

// hostStalls is the time in which the GPU waited inside the denoising loop.
func (in *analysis) hostStalls() []Finding {
	var idle, span time.Duration
	kernels := 0
	for _, p := range in.steps.Phases {
		if p.Name == split.Denoise {
			span += p.End - p.Start
			idle += p.End - p.Start - in.busySet().Clip(p.Start, p.End).Len()
			kernels += p.Kernels
		}
	}
	if !in.worthwhile(idle) {
		return nil
	}
	f := Finding{Code: "host_bound_steps", Time: Micros(span), AtStake: Micros(idle),
		Title: "The GPU waits for the host in the denoising loop",
		Detail: fmt.Sprintf("%s of %s of the loop are idle (%.1f %%); %s GPU events in %d steps, %s.", dur(idle), dur(span),
			100*float64(idle)/float64(span), count(kernels), len(in.Split.Steps), in.launchStyle())}
	return []Finding{f}
}

func (in *analysis) launchStyle() string {
	if in.Trace.GraphKernels > 0 {
		return fmt.Sprintf("%s of them replayed by graphs, whose own gaps the profiler folds into the kernels", count(in.Trace.GraphKernels))
	}
	return "each launched on its own; replaying the step as a graph would close the gaps"
}

// slowOperators are the operators with most time above their roof.
func (in *analysis) slowOperators() []Finding {
	ops := make([]*Operator, 0, len(in.Operators))
	for i := range in.Operators {
		if op := &in.Operators[i]; in.worthwhile(op.AtStake.Duration()) {
			ops = append(ops, op)
		}
	}
	slices.SortStableFunc(ops, func(a, b *Operator) int { return cmp.Compare(b.AtStake, a.AtStake) })
	var out []Finding
	for _, op := range ops[:min(5, len(ops))] {
		out = append(out, Finding{Code: "below_roof", Time: op.KernelTime, AtStake: op.AtStake,
			Title: fmt.Sprintf("%s runs at %s of its %s roof", op.title(), hedged(certaintyWords[op.Certainty], op.Efficiency), op.Roof),
			Detail: fmt.Sprintf("%s %s, %.1f %% of GPU time; %s; %s at the roof.", calls(op.Count),
				duration(op.KernelTime), float64(op.Percent), op.rates(), duration(op.KernelTime-op.AtStake))})
	}
	return out
}

// certaintyWords are certaintySigns in a sentence.
var certaintyWords = map[string]string{"lower bound": "no less than ", "upper bound": "no more than ", "estimated": "about "}

// calls counts calls, to be followed by their time.
func calls(n int) string {
	if n == 1 {
		return "1 call takes"
	}
	return count(n) + " calls take"
}

// title names an operator with its kind and the shape of its first arguments.
func (op *Operator) title() string {
	var dims []string
	for _, d := range op.InputDims {
		if len(d) > 1 && len(dims) < 2 {
			dims = append(dims, strings.Trim(strings.ReplaceAll(fmt.Sprint(d), " ", "x"), "[]"))
		}
	}
	s := op.Name
	if op.Kind != "" {
		s = op.Kind + " (" + op.Name + ")"
	}
	if len(dims) > 0 {
		s += " " + strings.Join(dims, " · ")
	}
	return s
}

func (op *Operator) rates() string {
	if op.Roof == "compute" {
		return fmt.Sprintf("%.1f TFLOP/s", float64(op.TFLOPS))
	}
	return fmt.Sprintf("%.2f TB/s", float64(op.TBs))
}

// convLayouts is the time that convolutions spend on moving layouts and on biases of their own.
func (in *analysis) convLayouts() []Finding {
	var layout, bias, other, all time.Duration
	for i := range in.instances {
		inst := &in.instances[i]
		if inst.Work.Category != perfmodel.Conv {
			continue
		}
		for _, id := range inst.GPU {
			g := &in.trace.GPU[id]
			all += g.Dur
			switch perfmodel.KernelPart(perfmodel.Conv, g.Name) {
			case perfmodel.LayoutPart:
				layout += g.Dur
			case perfmodel.BiasPart:
				bias += g.Dur
			case perfmodel.CorePart:
			default:
				other += g.Dur
			}
		}
	}
	if !in.worthwhile(layout + bias) {
		return nil
	}
	parts := []string{fmt.Sprintf("%s are layout transposes (%.1f %%)", dur(layout), 100*float64(layout)/float64(all))}
	if bias > 0 {
		parts = append(parts, fmt.Sprintf("%s bias adds (%.1f %%)", dur(bias), 100*float64(bias)/float64(all)))
	}
	if other > 0 {
		parts = append(parts, fmt.Sprintf("%s other helpers", dur(other)))
	}
	return []Finding{{Code: "conv_layout", Time: Micros(all), AtStake: Micros(layout + bias),
		Title: "Convolutions move layouts and add biases in kernels of their own",
		Detail: fmt.Sprintf("Of %s of convolution %s; a channels-last model with fused bias needs neither.", dur(all),
			strings.Join(parts, ", "))}}
}

// modulationTraffic is what modulations take beyond the roof of one fused kernel each: by what they move too much, and by
// how slowly they move it.
func (in *analysis) modulationTraffic() []Finding {
	var stake, took Micros
	var moved, fused float64
	n := 0
	for _, m := range in.Modulation {
		stake += m.AtStake
		took += m.Time
		n += m.Count
		moved += float64(m.Bytes) * float64(m.Count)
		fused += float64(m.IdealBytes) * float64(m.Count)
	}
	if !in.worthwhile(stake.Duration()) || !(fused > 0) {
		return nil
	}
	return []Finding{{Code: "modulation_fusion", Time: took, AtStake: stake,
		Title: fmt.Sprintf("adaLN modulation takes %.1f times the roof of one fused kernel each", float64(took)/float64(took-stake)),
		Detail: fmt.Sprintf("%s modulations take %s and move %.1f GB; one fused kernel each (gate, residual, norm, scale-shift) would move "+
			"%.1f GB, in %s at the roof.", count(n), duration(took), moved/1e9, fused/1e9, duration(took-stake))}}
}

// emptyPads is the time of paddings that pad by nothing but still copy.
func (in *analysis) emptyPads() []Finding {
	var d time.Duration
	n := 0
	for i := range in.Operators {
		op := &in.Operators[i]
		if strings.Contains(op.Name, "_pad") && len(op.ConcreteInputs) > 1 && allZero(op.ConcreteInputs[1]) {
			d += op.KernelTime.Duration()
			n += op.Count
		}
	}
	if d == 0 {
		return nil
	}
	return []Finding{{Code: "empty_pads", Time: Micros(d), AtStake: Micros(d), Title: "Paddings of zero width still copy their tensor",
		Detail: fmt.Sprintf("%d calls, %s; skip the call when all widths are 0.", n, dur(d))}}
}

func allZero(s string) bool {
	return strings.ContainsRune(s, '0') && strings.Trim(s, "[]0, ") == ""
}

// exposedTransfers is communication and copying that nothing hides.
func (in *analysis) exposedTransfers() []Finding {
	var out []Finding
	t := &in.Timeline
	if in.worthwhile(t.ExposedComm.Duration()) {
		detail := fmt.Sprintf("%s of %s of communication are exposed; they include waiting for other ranks", dur(t.ExposedComm.Duration()),
			dur(t.TotalComm.Duration()))
		if in.Ranks == nil {
			detail += ", which the traces of all ranks together would tell"
		}
		out = append(out, Finding{Code: "exposed_communication", Time: t.TotalComm, AtStake: t.ExposedComm,
			Title: "Communication that no computation hides", Detail: detail + "."})
	}
	if in.worthwhile(t.ExposedMemcpy.Duration()) {
		out = append(out, Finding{Code: "exposed_memcpy", Time: t.TotalMemcpy, AtStake: t.ExposedMemcpy, Title: "Copies that no computation hides",
			Detail: fmt.Sprintf("%s of %s of copies are exposed.", dur(t.ExposedMemcpy.Duration()), dur(t.TotalMemcpy.Duration()))})
	}
	return out
}

// bareGraphs is what a capture trace would model.
func (in *analysis) bareGraphs() []Finding {
	d := in.bareGraphTime()
	if !in.worthwhile(d) {
		return nil
	}
	return []Finding{{Code: "graph_without_capture", Time: Micros(d), Title: "Graph replays hide their operators",
		Detail: fmt.Sprintf("%s of GPU time (%.1f %%) are replayed kernels without operators or shapes; a trace of the capture phase "+
			"(record while the graph is built, then give it with the main trace) would model them.", dur(d),
			float64(in.Coverage.GraphPercent))}}
}
