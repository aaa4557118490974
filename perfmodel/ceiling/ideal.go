package ceiling

import (
	"fmt"
	"slices"

	"github.com/ditlens/ditlens/hw"
)

// Ideal is the least time that a request takes on a GPU: each operator at its roof, one after the other.
type Ideal struct {
	Step            float64            // seconds of one denoising step
	Image           float64            // seconds for each image or video of the batch
	ImagesPerSecond float64            // 1 / Image
	Parts           map[string]float64 // seconds of each part, all its calls
	Notes           []string           // stand-ins for missing figures of the GPU
}

// Ideal places each term under the roofline of a GPU. Errors are those of [hw.Roofline].
func (w *Work) Ideal(spec hw.HardwareSpec, c hw.Ceiling) (Ideal, error) {
	out := Ideal{Parts: map[string]float64{}}
	var total float64
	for i := range w.Parts {
		p := &w.Parts[i]
		var call float64
		for j := range p.Terms {
			t := &p.Terms[j]
			r, err := hw.Roofline(spec, c, p.demand(t))
			if err != nil {
				return Ideal{}, fmt.Errorf("ceiling: %s of the %s: %w", t.Name, p.Name, err)
			}
			call += float64(t.Count) * r.Time
			for _, n := range r.Notes {
				if !slices.Contains(out.Notes, n) {
					out.Notes = append(out.Notes, n)
				}
			}
		}
		if i == 0 {
			out.Step = call
		}
		out.Parts[p.Name] = float64(p.Calls) * call
		total += float64(p.Calls) * call
	}
	out.Image = total / float64(w.Batch)
	out.ImagesPerSecond = 1 / out.Image
	return out, nil
}

func (p *Part) demand(t *Term) hw.Demand {
	typ := p.Type
	if t.Kind == Attention {
		typ = p.Attention
	}
	d := hw.Demand{Bytes: t.Bytes}
	d.Compute[0] = hw.Compute{Unit: t.unit, Type: typ, FLOPs: t.FLOPs}
	return d
}

// tolerance is the difference between analysis and trace that goes without a warning.
const tolerance = 0.10

// Reconcile compares FLOPs that were worked out with those found in a trace. ratio is analytic / traced. warning is not
// empty when they differ by more than 10 %: then the model, the request or the trace is not what it is taken for.
func Reconcile(analytic, traced int64) (ratio float64, warning string) {
	if analytic <= 0 || traced <= 0 {
		return 0, "nothing to compare: no FLOPs on one side"
	}
	ratio = float64(analytic) / float64(traced)
	if ratio > 1+tolerance || ratio < 1-tolerance {
		warning = fmt.Sprintf("analytic FLOPs are %.2f times those of the trace: model, size, guidance or trace differ from what was said", ratio)
	}
	return ratio, warning
}
