package hw

import (
	"errors"
	"fmt"
	"math"
	"slices"
)

// ErrNegativeWork is returned by [Roofline] for a Demand with negative FLOPs or Bytes.
var ErrNegativeWork = errors.New("hw: negative work")

// Roofline returns the least time that d can take on a GPU under ceiling c:
//
//	ComputeTime = sum over units and types of FLOPs / Peak
//	MemoryTime  = Bytes / Bandwidth of Level
//	Time        = max(ComputeTime, MemoryTime)
//
// Units and types are summed since the parts of one kernel follow each other (INT8 scores, then FP8 values). Work without
// arithmetic is legal and memory bound. Stand-ins for missing figures are named in Roof.Notes. The error is a
// *[MissingError] when a needed figure is not there, or [ErrNegativeWork].
func Roofline(spec HardwareSpec, c Ceiling, d Demand) (Roof, error) {
	var r Roof
	for _, w := range d.Compute {
		if w.FLOPs == 0 {
			continue
		}
		f, ok := spec.Peak(c, w.Unit, w.Type)
		if !ok || !usable(f) {
			return Roof{}, &MissingError{spec.Name(), c, fmt.Sprintf("%s %s peak", w.Type, w.Unit)}
		}
		r.ComputeTime += float64(w.FLOPs) / f.Value
		r.note(f)
		if w.FLOPs < 0 {
			return Roof{}, ErrNegativeWork
		}
	}
	if d.Bytes < 0 {
		return Roof{}, ErrNegativeWork
	}
	if d.Bytes > 0 {
		f, ok := spec.Bandwidth(c, d.Level)
		if !ok || !usable(f) {
			return Roof{}, &MissingError{spec.Name(), c, d.Level.String() + " bandwidth"}
		}
		r.MemoryTime = float64(d.Bytes) / f.Value
		r.note(f)
	}
	r.Time, r.Bound = r.MemoryTime, MemoryBound
	if r.ComputeTime >= r.MemoryTime && r.ComputeTime > 0 {
		r.Time, r.Bound = r.ComputeTime, ComputeBound
	}
	return r, nil
}

// usable guards against figures of outside implementations that would give infinite or negative times.
func usable(f Figure) bool { return f.Value > 0 && !math.IsInf(f.Value, 0) }

func (r *Roof) note(f Figure) {
	if f.Substitute != "" && !slices.Contains(r.Notes, f.Substitute) {
		r.Notes = append(r.Notes, f.Substitute)
	}
}

// Intensity returns the arithmetic intensity in FLOP per byte, +Inf for arithmetic without traffic and 0 for no work.
func (d *Demand) Intensity() float64 {
	n := d.FLOPs()
	if n == 0 {
		return 0
	}
	return float64(n) / float64(d.Bytes)
}

// Knee returns the arithmetic intensity, in FLOP per byte of device memory, at which arithmetic and memory take equally
// long: below it work is memory bound. ok is false when a figure is missing.
func Knee(spec HardwareSpec, c Ceiling, u Unit, t DType) (flopPerByte float64, ok bool) {
	p, ok := spec.Peak(c, u, t)
	b, okb := spec.Bandwidth(c, DeviceMemory)
	if !ok || !okb || !usable(p) || !usable(b) {
		return 0, false
	}
	return p.Value / b.Value, true
}
