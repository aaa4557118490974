package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ditlens/ditlens/hw"
	"github.com/ditlens/ditlens/trace"
)

// chooseHardware takes the given spec or the one that the trace names, and a ceiling that it has. Without either the report
// has absolute rates only.
func (in *analysis) chooseHardware(given hw.HardwareSpec) {
	h := &in.Hardware
	h.Bandwidth, h.HostLink, h.Peaks = unknown, unknown, map[string]Peak{}
	h.Ceiling = in.ceiling.String()
	devices := in.usedDevices()
	h.Detected = deviceNames(devices)
	spec := given
	found, err := hw.Detect(devices)
	switch {
	case given == nil && err != nil:
		in.doubt("unknown_gpu", "%s; rates are absolute, without percentages", strings.TrimPrefix(err.Error(), "hw: "))
		h.Name = h.Detected
		return
	case given == nil:
		spec = found
	case err == nil && found.Name() != given.Name():
		in.doubt("other_gpu", "the trace was recorded on %s; the roofline is that of %s, as asked", found.Name(), given.Name())
	}
	ceiling, note, ok := hw.Choose(spec, in.ceiling)
	h.Name = spec.Name()
	if note != "" {
		in.doubt("ceiling", "%s", note)
	}
	if !ok {
		return
	}
	in.spec, in.ceiling = spec, ceiling
	in.describeHardware()
}

func (in *analysis) describeHardware() {
	h := &in.Hardware
	h.Ceiling, h.Cache = in.ceiling.String(), in.spec.CacheBytes()
	c := ceilingOf(in.spec, in.ceiling)
	h.Bandwidth, h.Peaks = c.Bandwidth, c.Peaks
	if f, ok := in.spec.Bandwidth(in.ceiling, hw.DeviceMemory); ok {
		h.Source = f.Source
	}
	if f, ok := in.spec.Bandwidth(in.ceiling, hw.HostLink); ok {
		h.HostLink, h.HostSource = Number(f.Value), joined(f.Source, f.Substitute)
	}
	other := hw.Achievable + hw.Datasheet - in.ceiling
	if o := ceilingOf(in.spec, other); len(o.Peaks) > 0 {
		h.Other = &o
	}
}

// doubt adds a warning.
func (in *analysis) doubt(code, format string, args ...any) {
	in.diagnose(trace.Diagnostic{Code: code, Severity: trace.Warning, Count: 1, Message: fmt.Sprintf(format, args...)})
}

// usedDevices returns the device properties of the GPUs that did the work. Device ids of events and of properties may count
// differently (by host, by process); where they do not match, all properties count.
func (in *analysis) usedDevices() []hw.DeviceInfo {
	used := map[int32]bool{}
	for i := range in.trace.GPU {
		used[in.trace.GPU[i].Device] = true
	}
	var all, matched []hw.DeviceInfo
	for _, d := range in.trace.Header.Devices {
		info := hw.DeviceInfo{Name: d.Name, ComputeUnits: d.ComputeUnits, Memory: d.Memory, Major: d.Major, Minor: d.Minor, Arch: d.Arch}
		all = append(all, info)
		if used[d.ID] {
			matched = append(matched, info)
		}
	}
	if len(matched) == len(used) {
		return matched
	}
	return all
}

func deviceNames(devices []hw.DeviceInfo) string {
	var names []string
	for _, d := range devices {
		if !slices.Contains(names, d.Name) {
			names = append(names, d.Name)
		}
	}
	return strings.Join(names, ", ")
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
