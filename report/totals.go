package report

import (
	"cmp"
	"maps"
	"slices"

	"github.com/ditlens/ditlens/perfmodel"
	"github.com/ditlens/ditlens/trace"
)

// An OperatorTotal is the GPU time of all operators of one name in one module. Time counts the GPU events that the operator
// launched itself, so the totals add up to the GPU time of the trace; Inclusive also counts those of the operators it called.
type OperatorTotal struct {
	Name       string               `json:"name"`
	Module     string               `json:"module"`
	Categories []perfmodel.Category `json:"categories"`
	Count      int                  `json:"count"` // calls with GPU events of their own
	Time       Micros               `json:"direct_time_us"`
	Inclusive  Micros               `json:"inclusive_time_us"`
	Percent    Number               `json:"gpu_percent"` // Time of the sum over all GPU events
	Cumulative Number               `json:"cumulative_gpu_percent"`
}

// A KernelTotal is the GPU time of all events of one name. Bound and Intensity are those of the operator in which the kernel
// spends most of its time; Efficiency is roofline time / kernel time over all operators in which it does the modelled work.
type KernelTotal struct {
	Name       string             `json:"name"`
	Category   perfmodel.Category `json:"category"`
	Count      int                `json:"count"`
	Time       Micros             `json:"time_us"`
	Percent    Number             `json:"gpu_percent"`
	Bound      string             `json:"bound"`
	Intensity  Number             `json:"arithmetic_intensity"`
	Efficiency Number             `json:"efficiency_percent"`
	// Operators index Report.Operators, by the time of this kernel in them, greatest first.
	Operators []int `json:"operators"`
}

// addShares fills the shares of GPU time of operators and their kernels, and KernelTotals. It needs Operators in order.
func (r *Report) addShares() {
	r.shareOut(r.Operators)
	for i := range r.Merged {
		r.Merged[i].Percent = share(r.Merged[i].KernelTime, r.Trace.GPUTime)
		r.Merged[i].shareKernels(r.Trace.GPUTime)
	}
	r.KernelTotals = kernelTotals(r.Operators, r.Trace.GPUTime)
}

// share returns part of whole in percent, unknown for a whole of nothing.
func share(part, whole Micros) Number {
	if whole <= 0 {
		return unknown
	}
	return Number(100 * float64(part) / float64(whole))
}

// shareOut fills the shares of GPU time of operators in order.
func (r *Report) shareOut(ops []Operator) {
	var sum Micros
	for i := range ops {
		sum += ops[i].KernelTime
		ops[i].Percent, ops[i].Cumulative = share(ops[i].KernelTime, r.Trace.GPUTime), share(sum, r.Trace.GPUTime)
		ops[i].shareKernels(r.Trace.GPUTime)
	}
}

func (o *Operator) shareKernels(gpu Micros) {
	for k := range o.Kernels {
		o.Kernels[k].Percent = share(o.Kernels[k].Time, gpu)
	}
}

// signatures returns the operators with those of Merged in place of their parts, the longest first.
func (r *Report) signatures() []Operator {
	part := map[int]bool{}
	var ops []Operator
	for i := range r.Merged {
		ops = append(ops, r.Merged[i].Operator)
		for _, p := range r.Merged[i].Parts {
			part[p] = true
		}
	}
	for i := range r.Operators {
		if !part[i] {
			ops = append(ops, r.Operators[i])
		}
	}
	slices.SortStableFunc(ops, func(a, b Operator) int {
		return cmp.Or(cmp.Compare(b.KernelTime, a.KernelTime), cmp.Compare(a.Name, b.Name))
	})
	var sum Micros
	for i := range ops {
		sum += ops[i].KernelTime
		ops[i].Cumulative = share(sum, r.Trace.GPUTime)
	}
	return ops
}

// kernelTotals sums the kernels of all operators by name.
func kernelTotals(ops []Operator, gpu Micros) []KernelTotal {
	var totals []KernelTotal
	uses := map[string][]kernelUse{}
	index := map[string]int{}
	for i := range ops {
		for j := range ops[i].Kernels {
			k := &ops[i].Kernels[j]
			at, ok := index[k.Name]
			if !ok {
				at = len(totals)
				index[k.Name] = at
				totals = append(totals, KernelTotal{Name: k.Name, Category: k.Category})
			}
			totals[at].Count += k.Count
			totals[at].Time += k.Time
			uses[k.Name] = append(uses[k.Name], kernelUse{k, i})
		}
	}
	for i := range totals {
		t := &totals[i]
		u := uses[t.Name]
		slices.SortStableFunc(u, func(a, b kernelUse) int { return cmp.Compare(b.Time, a.Time) })
		for _, x := range u {
			t.Operators = append(t.Operators, x.op)
		}
		t.Percent = share(t.Time, gpu)
		t.addRoof(u, ops)
	}
	slices.SortStableFunc(totals, func(a, b KernelTotal) int {
		return cmp.Or(cmp.Compare(b.Time, a.Time), cmp.Compare(a.Name, b.Name))
	})
	return totals
}

// A kernelUse is a kernel below an operator.
type kernelUse struct {
	*OperatorKernel
	op int
}

// addRoof gives the kernel the bound of its main operator and the efficiency over all operators whose work it does.
func (t *KernelTotal) addRoof(uses []kernelUse, ops []Operator) {
	t.Bound, t.Intensity, t.Efficiency = "unmodelled", unknown, unknown
	var ideal, actual float64
	for _, u := range uses {
		op := &ops[u.op]
		if !u.Core || !op.CoreEfficiency.Known() {
			continue
		}
		if actual == 0 {
			t.Bound, t.Intensity = op.Bound, op.Intensity
		}
		actual += float64(u.Time)
		ideal += float64(u.Time) * float64(op.CoreEfficiency)
	}
	if actual > 0 {
		t.Efficiency = Number(ideal / actual)
	}
}

// operatorTotals sums GPU time by the operator that launched it. GPU events without operator count under their own name.
func operatorTotals(t *trace.Trace, category func(trace.GPUID) perfmodel.Category) []OperatorTotal {
	sums := operatorSums{trace: t, all: map[operatorKey]*operatorSum{}, below: make([]Micros, len(t.Ops))}
	for id := range t.GPU {
		sums.add(&t.GPU[id], category(trace.GPUID(id)))
	}
	sums.include()
	return sums.totals()
}

type operatorKey struct{ name, module string }

// operatorSums collects OperatorTotals.
type operatorSums struct {
	trace *trace.Trace
	all   map[operatorKey]*operatorSum
	below []Micros // by operator: GPU time of its own, with include also of those it called
	gpu   Micros
}

type operatorSum struct {
	OperatorTotal
	calls      map[trace.OpID]bool
	categories map[perfmodel.Category]bool
}

func (s *operatorSums) at(k operatorKey) *operatorSum {
	if s.all[k] == nil {
		s.all[k] = &operatorSum{
			OperatorTotal: OperatorTotal{Name: k.name, Module: k.module},
			calls:         map[trace.OpID]bool{}, categories: map[perfmodel.Category]bool{},
		}
	}
	return s.all[k]
}

// add counts a GPU event for its operator.
func (s *operatorSums) add(g *trace.GPUEvent, c perfmodel.Category) {
	dur := Micros(g.Dur)
	s.gpu += dur
	if g.Op == trace.None {
		sum := s.at(operatorKey{name: g.Name})
		sum.Time, sum.Inclusive, sum.Count = sum.Time+dur, sum.Inclusive+dur, sum.Count+1
		sum.categories[c] = true
		return
	}
	own := s.at(s.key(g.Op))
	own.Time += dur
	own.calls[g.Op], own.categories[c] = true, true
	s.below[g.Op] += dur
}

func (s *operatorSums) key(op trace.OpID) operatorKey {
	return operatorKey{s.trace.Ops[op].Name, module(s.trace, op)}
}

// totals returns the operators with GPU events of their own, by time.
func (s *operatorSums) totals() []OperatorTotal {
	var out []OperatorTotal
	for _, sum := range s.all {
		sum.Count += len(sum.calls)
		if sum.Count == 0 {
			continue // only its children launch
		}
		sum.Categories = slices.Sorted(maps.Keys(sum.categories))
		out = append(out, sum.OperatorTotal)
	}
	slices.SortFunc(out, func(a, b OperatorTotal) int {
		return cmp.Or(cmp.Compare(b.Time, a.Time), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Module, b.Module))
	})
	var sum Micros
	for i := range out {
		sum += out[i].Time
		out[i].Percent, out[i].Cumulative = share(out[i].Time, s.gpu), share(sum, s.gpu)
	}
	return out
}

// module returns the class of the innermost nn.Module around an operator, "" when stacks were not read.
func module(t *trace.Trace, op trace.OpID) string {
	if f := t.Ops[op].Frame; f != trace.None && int(f) < len(t.Frames) {
		return t.Frames[f].Name
	}
	return ""
}
