package report

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/ditlens/ditlens/hw"
	"github.com/ditlens/ditlens/internal/interval"
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
	errNoSpec      = errors.New("the GPU is unknown: no ceiling")
	errNothingToDo = errors.New("no work or no time: nothing to compare")
)

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

// chooseHardware takes the given spec or the one that the trace names.
func (in *analysis) chooseHardware(given hw.HardwareSpec) {
	h := &in.Hardware
	h.Ceiling, h.Bandwidth, h.HostLink, h.Peaks = in.ceiling.String(), unknown, unknown, map[string]Peak{}
	found, detected, err := detect(in.trace.Header.Devices, in.usedDevices())
	h.Detected = detected
	if given == nil && err != nil {
		in.diagnose(trace.Diagnostic{Code: "unknown_gpu", Severity: trace.Warning, Count: 1, Message: err.Error()})
		h.Name = detected
		return
	}
	in.spec = given
	if given == nil {
		in.spec = found
	} else if found != nil && found.Name() != given.Name() {
		in.diagnose(trace.Diagnostic{Code: "other_gpu", Severity: trace.Warning, Count: 1,
			Message: fmt.Sprintf("the trace was recorded on %s; the roofline is that of %s, as asked", found.Name(), given.Name())})
	}
	h.Name, h.Cache = in.spec.Name(), in.spec.CacheBytes()
	c := ceilingOf(in.spec, in.ceiling)
	h.Bandwidth, h.Peaks = c.Bandwidth, c.Peaks
	if f, ok := in.spec.Bandwidth(in.ceiling, hw.DeviceMemory); ok {
		h.Source = f.Source
	}
	if f, ok := in.spec.Bandwidth(in.ceiling, hw.HostLink); ok {
		h.HostLink = Number(f.Value)
	}
	other := hw.Achievable + hw.Datasheet - in.ceiling
	if o := ceilingOf(in.spec, other); len(o.Peaks) > 0 {
		h.Other = &o
	}
}

// usedDevices lists the devices that have GPU events.
func (in *analysis) usedDevices() []int32 {
	var ids []int32
	for i := range in.trace.GPU {
		if d := in.trace.GPU[i].Device; !slices.Contains(ids, d) {
			ids = append(ids, d)
		}
	}
	return ids
}

// detect finds the spec of the devices of a trace. detected says what the trace told.
func detect(devices []trace.Device, _ []int32) (found hw.HardwareSpec, detected string, err error) {
	if len(devices) > 0 {
		detected = devices[0].Name
	}
	spec, err := hw.Lookup(detected)
	if err != nil {
		return nil, detected, err
	}
	return spec, detected, nil
}

// ceilingOf lists the figures of one set of a GPU.
func ceilingOf(spec hw.HardwareSpec, c hw.Ceiling) Ceiling {
	out := Ceiling{Name: c.String(), Bandwidth: unknown, Peaks: map[string]Peak{}}
	if f, ok := spec.Bandwidth(c, hw.DeviceMemory); ok {
		out.Bandwidth = Number(f.Value)
	}
	for _, u := range []hw.Unit{hw.Matrix, hw.Vector} {
		for _, t := range []hw.DType{hw.FP64, hw.FP32, hw.TF32, hw.FP16, hw.BF16, hw.FP8, hw.Int8, hw.FP6, hw.FP4} {
			if f, ok := spec.Peak(c, u, t); ok {
				out.Peaks[unitName(u, t)] = Peak{Number(f.Value), f.Source, f.Substitute}
			}
		}
	}
	return out
}

// unitName names a unit at a precision, as in "matrix_bf16".
func unitName(u hw.Unit, t hw.DType) string { return u.String() + "_" + t.String() }
