package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/ditlens/ditlens/hw"
	"github.com/ditlens/ditlens/perfmodel"
)

// findModulation gives the adaLN traffic against what a fused kernel would move. Groups of one form, phase, shape and traffic
// make one row; the rows are in the order of the time they take.
func (in *analysis) findModulation() {
	type key struct {
		form, phase, shape string
		bytes, fused       int64
	}
	rows := map[key]int{}
	for _, g := range perfmodel.Modulations(in.instances) {
		k := key{"eager", string(in.phase(&in.instances[g.Members[0]])), shapeText(g.Dims), g.Bytes, g.Fused}
		if g.Compiled {
			k.form = "compiled"
		}
		i, ok := rows[k]
		if !ok {
			i = len(in.Modulation)
			rows[k] = i
			in.Modulation = append(in.Modulation, Modulation{Form: k.form, Phase: k.phase, Shape: k.shape, Bytes: Number(g.Bytes),
				IdealBytes: Number(g.Fused), Streams: Number(g.Streams()), Ideal: Number(g.FusedStreams())})
		}
		in.Modulation[i].Count++
		for _, m := range g.Members {
			for _, e := range in.instances[m].GPU {
				in.Modulation[i].Time += Micros(in.trace.GPU[e].Dur)
			}
		}
	}
	for i := range in.Modulation {
		in.rateModulation(&in.Modulation[i])
	}
	slices.SortStableFunc(in.Modulation, func(a, b Modulation) int { return cmp.Compare(b.Time, a.Time) })
}

// rateModulation says what fused kernels at the roof would save. Without hardware there is no roof and nothing at stake.
func (in *analysis) rateModulation(m *Modulation) {
	if in.spec == nil {
		return
	}
	roof, err := hw.Roofline(in.spec, in.ceiling, hw.Demand{Bytes: int64(m.IdealBytes)})
	if err != nil {
		return
	}
	m.AtStake = max(0, m.Time-Micros(float64(m.Count)*roof.Time*1e9))
}

func shapeText(dims []int64) string {
	parts := make([]string, len(dims))
	for i, d := range dims {
		parts[i] = fmt.Sprint(d)
	}
	return strings.Join(parts, "x")
}
