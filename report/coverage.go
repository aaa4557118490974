package report

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/ditlens/ditlens/hw"
	"github.com/ditlens/ditlens/perfmodel"
	"github.com/ditlens/ditlens/trace"
)

// aboveRoofs is the efficiency of all kernels together from which caches and clocks are no longer an explanation.
const aboveRoofs = 1.2

// sumUp adds the roofline over all calls: in total, by category and by step.
func (in *analysis) sumUp() {
	t := &in.Roofline
	t.Ideal, t.FLOPs, t.Bytes, t.StepIdeal = 0, 0, 0, unknown
	cats := map[perfmodel.Category]*CategoryCoverage{}
	modelled := map[perfmodel.Category]time.Duration{}
	stepIdeal := make([]float64, len(in.Split.Steps))
	for i := range in.instances {
		inst, r := &in.instances[i], &in.roofs[i]
		c := cats[inst.Work.Category]
		if c == nil {
			c = &CategoryCoverage{Category: inst.Work.Category}
			cats[c.Category] = c
		}
		c.Time += Micros(r.sum)
		c.Count++
		t.Actual += Micros(r.sum)
		in.Coverage.Kernels += len(inst.GPU)
		if inst.Missing == nil {
			t.FLOPs += Number(inst.Work.FLOPs())
			t.Bytes += Number(inst.Work.Bytes)
		}
		if !r.rated {
			t.NoModel += Micros(r.sum)
			continue
		}
		in.Coverage.ModelledKernels += len(inst.GPU)
		us := Number(r.roof.Time * 1e6)
		modelled[c.Category] += r.sum
		c.Ideal += us
		t.Ideal += us
		t.ModelledActual += Micros(r.sum)
		if inst.Work.Certainty != perfmodel.Exact {
			t.UncertainActual += Micros(r.sum)
		}
		place, _ := hw.Place(in.spec, inst.Work.Demand, r.roof, r.busy, false)
		switch place.Bound {
		case hw.ComputeBound:
			t.ComputeBound += Micros(r.sum)
		case hw.MemoryBound:
			t.MemoryBound += Micros(r.sum)
		default:
			t.LatencyBound += Micros(r.sum)
		}
		if s := in.steps.StepOf[inst.GPU[0]]; s >= 0 {
			stepIdeal[s] += float64(us)
		}
	}
	t.Efficiency = ratio(float64(t.Ideal)*1e3, float64(t.ModelledActual))
	if t.Efficiency > aboveRoofs {
		in.diagnose(trace.Diagnostic{Code: "above_roofline", Severity: trace.Warning, Count: int64(in.Coverage.ModelledKernels), Message: fmt.Sprintf(
			"the modelled kernels took %s and need %s at the roofline: the times, the shapes or the GPU are not those of the run", duration(t.ModelledActual), micros(t.Ideal))})
	}
	t.EndToEnd = t.Efficiency * in.Timeline.BusyRatio
	in.coverCategories(cats, modelled)
	in.sumSteps(stepIdeal)
}

func (in *analysis) coverCategories(cats map[perfmodel.Category]*CategoryCoverage, modelled map[perfmodel.Category]time.Duration) {
	total := float64(in.Roofline.Actual)
	in.Coverage.ModelledPercent = ratio(100*float64(in.Roofline.ModelledActual), total)
	in.Coverage.GraphPercent = ratio(100*float64(in.bareGraphTime()), total)
	for name, c := range cats {
		c.Percent = ratio(100*float64(c.Time), total)
		c.ModelledPercent = ratio(100*float64(modelled[name]), float64(c.Time))
		c.Efficiency = ratio(100*float64(c.Ideal)*1e3, float64(modelled[name]))
		if modelled[name] == 0 {
			c.Ideal = unknown
		}
		in.Coverage.ByCategory = append(in.Coverage.ByCategory, *c)
	}
	slices.SortFunc(in.Coverage.ByCategory, func(a, b CategoryCoverage) int {
		return cmp.Or(cmp.Compare(b.Time, a.Time), cmp.Compare(a.Category, b.Category))
	})
}

// bareGraphTime is the GPU time of replayed kernels that no captured operator explains.
func (in *analysis) bareGraphTime() time.Duration {
	var n time.Duration
	for i := range in.instances {
		inst := &in.instances[i]
		if inst.Missing == nil {
			continue
		}
		for _, id := range inst.GPU {
			if g := &in.trace.GPU[id]; g.Launch != trace.None && in.trace.Launches[g.Launch].Kind == trace.LaunchGraph {
				n += g.Dur
			}
		}
	}
	return n
}

// sumSteps gives each step its least time, and the report those of a steady step.
func (in *analysis) sumSteps(ideal []float64) {
	rated := in.Roofline.ModelledActual > 0
	for i := range in.Split.Steps {
		if rated {
			in.Split.Steps[i].Roofline = Number(ideal[i])
		}
	}
	if s := in.Split.Steady; s != nil {
		in.Roofline.StepActual = in.Split.MedianGPUTime
		if rated {
			in.Roofline.StepIdeal = describe(slices.Clone(ideal[s.First : s.Last+1])).Median
		}
	}
}
