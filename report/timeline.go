package report

import (
	"slices"
	"time"

	"github.com/ditlens/ditlens/internal/interval"
	"github.com/ditlens/ditlens/perfmodel"
	"github.com/ditlens/ditlens/split"
	"github.com/ditlens/ditlens/trace"
)

// measureTimeline sorts the time of each device into computation, communication, copies and idle. Communication is every
// collective kernel and every copy between GPUs; copies are those to and from the host and within a device, also when a
// kernel makes them; all else is computation. Events of the preamble ran outside of the recorded window and do not count.
func (in *analysis) measureTimeline() {
	devices := map[int32]*deviceIntervals{}
	kinds := kernelKinds{}
	for i := range in.trace.GPU {
		if in.steps.PhaseOf[i] == split.Preamble {
			continue
		}
		g := &in.trace.GPU[i]
		d := devices[g.Device]
		if d == nil {
			d = &deviceIntervals{start: g.Start, end: g.End()}
			devices[g.Device] = d
		}
		d.add(g, kinds)
	}
	var ids []int32
	for id := range devices {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	for _, id := range ids {
		dt := devices[id].timeline()
		in.Timeline.add(dt)
		in.Timeline.PerDevice = append(in.Timeline.PerDevice, DeviceTimeline{Device: int(id), Timeline: dt})
	}
	in.Timeline.BusyRatio = ratio(float64(in.Timeline.Busy), float64(in.Timeline.Total))
}

// deviceIntervals holds the intervals of one device by what it did.
type deviceIntervals struct {
	start, end         time.Duration
	compute, comm, cpy []interval.Interval
}

func (d *deviceIntervals) add(g *trace.GPUEvent, kinds kernelKinds) {
	v := interval.Interval{Start: g.Start, End: g.End()}
	d.start, d.end = min(d.start, v.Start), max(d.end, v.End)
	switch {
	case g.Kind == trace.Memcpy && g.Dir == trace.PeerToPeer:
		d.comm = append(d.comm, v)
	case g.Kind == trace.Memcpy:
		d.cpy = append(d.cpy, v)
	case g.Kind == trace.Memset:
		d.compute = append(d.compute, v)
	default:
		switch kinds.of(g.Name) {
		case perfmodel.Communication:
			d.comm = append(d.comm, v)
		case perfmodel.Memcpy:
			d.cpy = append(d.cpy, v)
		default:
			d.compute = append(d.compute, v)
		}
	}
}

func (d *deviceIntervals) timeline() Timeline {
	comp, comm, cpy := interval.Union(d.compute), interval.Union(d.comm), interval.Union(d.cpy)
	t := Timeline{
		Total:         Micros(d.end - d.start),
		Computation:   Micros(comp.Len()),
		ExposedComm:   Micros(comm.Minus(comp).Len()),
		ExposedMemcpy: Micros(cpy.Minus(comp).Minus(comm).Len()),
		TotalComm:     Micros(comm.Len()),
		TotalMemcpy:   Micros(cpy.Len()),
	}
	t.Busy = t.Computation + t.ExposedComm + t.ExposedMemcpy
	t.Idle = t.Total - t.Busy
	t.BusyRatio = ratio(float64(t.Busy), float64(t.Total))
	return t
}

func (t *Timeline) add(o Timeline) {
	t.Total += o.Total
	t.Busy += o.Busy
	t.Idle += o.Idle
	t.Computation += o.Computation
	t.ExposedComm += o.ExposedComm
	t.ExposedMemcpy += o.ExposedMemcpy
	t.TotalComm += o.TotalComm
	t.TotalMemcpy += o.TotalMemcpy
}
