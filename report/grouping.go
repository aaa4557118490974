package report

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/ditlens/ditlens/hw"
	"github.com/ditlens/ditlens/perfmodel"
	"github.com/ditlens/ditlens/split"
	"github.com/ditlens/ditlens/trace"
)

// buildOperators groups the calls of the trace into rows.
func (in *analysis) buildOperators(ctx context.Context) error {
	fine, fineOf, err := in.group(ctx, func(*rowKey) {})
	if err != nil {
		return err
	}
	coarse, coarseOf, err := in.group(ctx, func(k *rowKey) { k.phase, k.kind, k.leaf, k.category = "", "", "", "" })
	if err != nil {
		return err
	}
	in.Operators = fine
	in.Merged = takenTogether(coarse, fineOf, coarseOf)
	in.addShares()
	in.OperatorTotals = operatorTotals(in.trace, in.categoryOfEvents())
	return nil
}

// group makes a row of the calls whose keys are equal after blur, the longest first. of gives the row of each instance.
func (in *analysis) group(ctx context.Context, blur func(*rowKey)) (ops []Operator, of []int, err error) {
	g := grouping{analysis: in, blur: blur, index: map[rowKey]int{}, args: map[*trace.Inputs]string{}, kinds: kernelKinds{}}
	for i := range in.instances {
		if i%stride == 0 && ctx.Err() != nil {
			return nil, nil, ctx.Err()
		}
		g.add(i)
	}
	for i := range g.rows {
		g.rows[i].finish(in)
	}
	slices.SortStableFunc(g.rows, func(a, b row) int {
		return cmp.Or(cmp.Compare(b.KernelTime, a.KernelTime), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Phase, b.Phase),
			slices.CompareFunc(a.InputDims, b.InputDims, slices.Compare), slices.Compare(a.ConcreteInputs, b.ConcreteInputs))
	})
	ops, of = make([]Operator, 0, len(g.rows)), make([]int, len(in.instances))
	for i := range g.rows {
		ops = append(ops, g.rows[i].Operator)
		for _, inst := range g.rows[i].instances {
			of[inst] = i
		}
	}
	return ops, of, nil
}

// stride is how many calls are grouped between two looks at the context.
const stride = 1 << 12

// takenTogether returns the coarse rows that hold several fine ones.
func takenTogether(coarse []Operator, fineOf, coarseOf []int) []Merged {
	parts := make([][]int, len(coarse))
	for inst, c := range coarseOf {
		if f := fineOf[inst]; !slices.Contains(parts[c], f) {
			parts[c] = append(parts[c], f)
		}
	}
	var out []Merged
	for c, p := range parts {
		if len(p) > 1 {
			slices.Sort(p)
			out = append(out, Merged{Parts: p, Operator: coarse[c]})
		}
	}
	return out
}

// categoryOfEvents returns the category of the instance that owns a GPU event.
func (in *analysis) categoryOfEvents() func(trace.GPUID) perfmodel.Category {
	of := make([]perfmodel.Category, len(in.trace.GPU))
	for i := range in.instances {
		for _, id := range in.instances[i].GPU {
			of[id] = in.instances[i].Work.Category
		}
	}
	return func(id trace.GPUID) perfmodel.Category { return of[id] }
}

// rowKey is what the calls of one row share.
type rowKey struct {
	name, leaf, args string
	phase            split.PhaseName
	category         perfmodel.Category
	kind, model      string
	demand           hw.Demand
}

type grouping struct {
	*analysis
	blur  func(*rowKey) // forgets what rows need not agree in
	index map[rowKey]int
	rows  []row
	args  map[*trace.Inputs]string // canonical text of arguments
	kinds kernelKinds
}

// row is an Operator in the making, with its samples.
type row struct {
	Operator
	instances []int
	times     []time.Duration
	hosts     []time.Duration
	kernels   map[string]*kernelSamples
}

type kernelSamples struct {
	OperatorKernel
	times []time.Duration
}

func (g *grouping) add(i int) {
	inst := &g.instances[i]
	w := &inst.Work
	k := rowKey{name: inst.Call.Name, leaf: inst.Leaf, args: g.canonical(inst.Call.Inputs), phase: g.phase(inst), category: w.Category,
		kind: w.Kind, model: inst.Model, demand: w.Demand}
	described := k
	g.blur(&k)
	at, ok := g.index[k]
	if !ok {
		at = len(g.rows)
		g.index[k] = at
		g.rows = append(g.rows, row{Operator: g.newOperator(inst, described), kernels: map[string]*kernelSamples{}})
	}
	r := &g.rows[at]
	r.instances = append(r.instances, i)
	r.times = append(r.times, g.roofs[i].sum)
	if inst.Op != trace.None {
		r.hosts = append(r.hosts, g.trace.Ops[inst.Op].Dur)
	}
	left := inst.Core // in the order of inst.GPU
	for _, id := range inst.GPU {
		core := len(left) > 0 && left[0] == id
		if core {
			left = left[1:]
		}
		r.addKernel(&g.trace.GPU[id], core, g.kinds)
	}
}

func (r *row) addKernel(e *trace.GPUEvent, core bool, kinds kernelKinds) {
	s := r.kernels[e.Name]
	if s == nil {
		s = &kernelSamples{OperatorKernel: OperatorKernel{Name: e.Name, Category: kinds.of(e.Name)}}
		r.kernels[e.Name] = s
	}
	s.Count++
	s.Time += Micros(e.Dur)
	s.Core = s.Core || core
	s.times = append(s.times, e.Dur)
}

// phase is that of the first event: a call belongs to one phase, since events belong where they were launched.
func (in *analysis) phase(inst *perfmodel.Instance) split.PhaseName {
	if len(inst.GPU) == 0 {
		return split.OtherPhase
	}
	return in.steps.PhaseOf[inst.GPU[0]]
}

func (g *grouping) newOperator(inst *perfmodel.Instance, k rowKey) Operator {
	w := &inst.Work
	op := Operator{Name: k.name, Leaf: k.leaf, Category: k.category, Kind: k.kind, Model: k.model, Phase: string(k.phase),
		FLOPs: unknown, Bytes: unknown, BytesRead: unknown, BytesWritten: unknown, Intensity: unknown, TFLOPS: unknown, TBs: unknown,
		RooflineTime: unknown, Efficiency: unknown, CoreEfficiency: unknown, Bound: hw.Unmodelled.String()}
	if inst.Op != trace.None {
		op.Module = module(g.trace, inst.Op)
	}
	op.describeInputs(inst.Call.Inputs)
	if inst.Missing != nil {
		op.Notes = append(op.Notes, reason(inst.Missing))
		return op
	}
	op.describeWork(w)
	return op
}

func (op *Operator) describeInputs(in *trace.Inputs) {
	if in == nil {
		return
	}
	for _, a := range in.Args {
		op.InputDims = append(op.InputDims, a.Dims)
		op.InputStrides = append(op.InputStrides, a.Strides)
		op.InputTypes = append(op.InputTypes, a.Type)
		op.ConcreteInputs = append(op.ConcreteInputs, a.Value)
		var list [][]int64
		for _, m := range a.List {
			list = append(list, m.Dims)
		}
		op.InputLists = append(op.InputLists, list)
	}
}

func (op *Operator) describeWork(w *perfmodel.Work) {
	op.FLOPs, op.Bytes, op.Level = Number(w.FLOPs()), Number(w.Bytes), w.Level.String()
	if w.Read != 0 || w.Written != 0 {
		op.BytesRead, op.BytesWritten = Number(w.Read), Number(w.Written)
	}
	for _, c := range w.Compute {
		if c.FLOPs != 0 {
			if op.FLOPsBy == nil {
				op.FLOPsBy = map[string]int64{}
			}
			op.FLOPsBy[unitName(c.Unit, c.Type)] += c.FLOPs
		}
	}
	op.Intensity = ratio(float64(w.FLOPs()), float64(w.Bytes))
	op.Certainty = w.Certainty.String()
	if w.Why != "" {
		op.Notes = append(op.Notes, w.Why)
	}
}

// finish sums the row's samples and draws its roof.
func (r *row) finish(in *analysis) {
	r.Count = len(r.instances)
	r.HostTime = describeTimes(r.hosts)
	for _, d := range r.times {
		r.KernelTime += Micros(d)
	}
	r.finishKernels()
	r.rate(in)
	r.Time = describeTimes(r.times)
}

func (r *row) finishKernels() {
	for _, name := range slices.Sorted(maps.Keys(r.kernels)) {
		k := r.kernels[name]
		k.Each = describeTimes(k.times)
		r.Kernels = append(r.Kernels, k.OperatorKernel)
	}
	slices.SortStableFunc(r.Kernels, func(a, b OperatorKernel) int { return cmp.Compare(b.Time, a.Time) })
}

// rate compares the row's work with its time: rates are total work / total time, efficiency total roof / total time.
func (r *row) rate(in *analysis) {
	first := &in.instances[r.instances[0]]
	if first.Missing != nil {
		r.TFLOPSEach, r.TBsEach, r.EfficiencyEach = describe(nil), describe(nil), describe(nil)
		return
	}
	w := &first.Work
	var busy, core time.Duration
	var tflops, tbs, percents []float64
	for _, i := range r.instances {
		p := &in.roofs[i]
		busy += p.busy
		core += p.core
		if s := p.busy.Seconds(); s > 0 {
			tflops, tbs = append(tflops, float64(w.FLOPs())/s/1e12), append(tbs, float64(w.Bytes)/s/1e12)
			if p.rated {
				percents = append(percents, 100*p.roof.Time/s)
			}
		}
	}
	n := float64(r.Count)
	r.TFLOPS = ratio(n*float64(w.FLOPs())/1e12, busy.Seconds())
	r.TBs = ratio(n*float64(w.Bytes)/1e12, busy.Seconds())
	r.TFLOPSEach, r.TBsEach, r.EfficiencyEach = describe(tflops), describe(tbs), describe(percents)
	r.drawRoof(in, w, busy, core)
}

func (r *row) drawRoof(in *analysis, w *perfmodel.Work, busy, core time.Duration) {
	p := in.roofs[r.instances[0]]
	for _, i := range r.instances {
		if in.roofs[i].rated { // the first may be without recorded time
			p = in.roofs[i]
			break
		}
	}
	if !p.rated {
		r.Notes = append(r.Notes, reason(p.why))
		return
	}
	n := float64(r.Count)
	mean := busy / time.Duration(r.Count)
	place, _ := hw.Place(in.spec, w.Demand, p.roof, mean, w.Certainty == perfmodel.UpperBound)
	r.RooflineTime = Number(p.roof.Time * 1e6)
	r.Roof, r.Bound = p.roof.Bound.String(), place.Bound.String()
	r.Efficiency = ratio(100*n*p.roof.Time, busy.Seconds())
	r.CoreEfficiency = ratio(100*n*p.roof.Time, core.Seconds())
	r.AtStake = Micros(max(0, busy-time.Duration(n*p.roof.Time*1e9)))
	r.Notes = append(append(r.Notes, p.roof.Notes...), place.Reasons...)
}

// canonical returns a text that is equal for equal arguments.
func (g *grouping) canonical(in *trace.Inputs) string {
	if in == nil {
		return ""
	}
	s, ok := g.args[in]
	if !ok {
		var b strings.Builder
		for _, a := range in.Args {
			fmt.Fprintf(&b, "%s%v%v%q", a.Type, a.Dims, a.Strides, a.Value)
			for _, m := range a.List {
				fmt.Fprintf(&b, "%v%v", m.Dims, m.Strides)
			}
			b.WriteByte(';')
		}
		s = b.String()
		g.args[in] = s
	}
	return s
}
