package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/ditlens/ditlens/trace"
)

// blind is the share of GPU time from which operators without a model are a finding of their own.
const blind = 0.05

// unmodelled tells where the roofline is blind. Replayed kernels without operators are told of by bareGraphs.
func (in *analysis) unmodelled() []Finding {
	took, why := map[string]time.Duration{}, map[string]string{}
	var all time.Duration
	for i := range in.instances {
		inst := &in.instances[i]
		if inst.Missing == nil || in.replayed(inst.GPU) {
			continue
		}
		all += in.roofs[i].sum
		took[inst.Call.Name] += in.roofs[i].sum
		why[inst.Call.Name] = reason(inst.Missing)
	}
	share := ratio(float64(all), float64(in.Trace.GPUTime))
	if !(share >= blind) {
		return nil
	}
	names := slices.SortedFunc(maps.Keys(took), func(a, b string) int { return cmp.Or(cmp.Compare(took[b], took[a]), cmp.Compare(a, b)) })
	var worst []string
	for _, n := range names[:min(3, len(names))] {
		worst = append(worst, fmt.Sprintf("%s (%s, %s)", n, duration(Micros(took[n])), why[n]))
	}
	if more := len(names) - len(worst); more > 0 {
		worst = append(worst, fmt.Sprintf("and %s more", count(more)))
	}
	return []Finding{{Code: "unmodelled", Time: Micros(all), Title: fmt.Sprintf("%s of GPU time has no model", percent(100*share)),
		Detail: fmt.Sprintf("By time: %s. Shapes recorded with the trace (record_shapes=True) or a model of one's own give them a roof.",
			strings.Join(worst, ", "))}}
}

// replayed reports whether GPU events come from a graph.
func (in *analysis) replayed(ids []trace.GPUID) bool {
	for _, id := range ids {
		if g := &in.trace.GPU[id]; g.Launch != trace.None && in.trace.Launches[g.Launch].Kind == trace.LaunchGraph {
			return true
		}
	}
	return false
}
