package report

import (
	"errors"
	"time"

	"github.com/ditlens/ditlens/hw"
	"github.com/ditlens/ditlens/internal/interval"
	"github.com/ditlens/ditlens/perfmodel"
	"github.com/ditlens/ditlens/trace"
)

// roofed is the measured time of one operator call and the least time its work could take.
type roofed struct {
	sum   time.Duration // of its GPU events
	busy  time.Duration // the same, overlaps counted once: what rates and efficiencies refer to
	core  time.Duration // busy time of its core kernels
	roof  hw.Roof
	rated bool  // roof holds
	why   error // why not, nil when rated
}

// drawRoofs measures every instance and draws its roof. Equal demands are computed once.
func (in *analysis) drawRoofs() {
	type drawn struct {
		roof hw.Roof
		err  error
	}
	memo := map[hw.Demand]drawn{}
	in.roofs = make([]roofed, len(in.instances))
	for i := range in.instances {
		inst, r := &in.instances[i], &in.roofs[i]
		r.sum, r.busy = in.measure(inst.GPU)
		_, r.core = in.measure(inst.Core)
		if inst.Missing != nil {
			r.why = inst.Missing
			continue
		}
		if inst.Work.Category == perfmodel.Communication {
			r.why = errWaits
			continue
		}
		if in.spec == nil {
			r.why = errNoSpec
			continue
		}
		d, ok := memo[inst.Work.Demand]
		if !ok {
			d.roof, d.err = hw.Roofline(in.spec, in.ceiling, inst.Work.Demand)
			memo[inst.Work.Demand] = d
		}
		r.roof, r.why = d.roof, d.err
		r.rated = d.err == nil && r.busy > 0 && d.roof.Time > 0
		if d.err == nil && !r.rated {
			r.why = errNothingToDo
		}
	}
}

var (
	errNoSpec      = errors.New("no ceiling of the GPU is known")
	errWaits       = errors.New("its time includes waiting for other ranks, so it has no roof")
	errNothingToDo = errors.New("no work or no time: nothing to compare")
)

// reason is what keeps an operator from its roof, for people: without the names of packages and of the operator, which stand beside it.
func reason(err error) string {
	var missing *perfmodel.MissingError
	var great *perfmodel.RangeError
	switch {
	case errors.As(err, &missing) && missing.What == "a model":
		return "no model"
	case errors.As(err, &missing):
		return "missing " + missing.What
	case errors.As(err, &great):
		return great.What + " beyond 63 bits"
	}
	return err.Error()
}

// measure returns the sum and the union of the durations of GPU events.
func (in *analysis) measure(ids []trace.GPUID) (sum, busy time.Duration) {
	if len(ids) == 1 {
		d := in.trace.GPU[ids[0]].Dur
		return d, d
	}
	v := make([]interval.Interval, len(ids))
	for i, id := range ids {
		g := &in.trace.GPU[id]
		v[i] = interval.Interval{Start: g.Start, End: g.End()}
		sum += g.Dur
	}
	return sum, interval.Union(v).Len()
}
