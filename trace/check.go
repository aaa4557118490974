package trace

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"
)

// validate refuses events that have no place: it is the guard of Build against its callers.
func (b *Builder) validate() error {
	n, files := ThreadID(len(b.threads)), int32(max(1, len(b.files)))
	for _, t := range b.threads {
		if t.File < 0 || t.File >= files {
			return fmt.Errorf("thread %d of process %d: file %d does not exist", t.TID, t.PID, t.File)
		}
	}
	inRange := func(start, dur time.Duration) bool { return dur >= 0 && start <= math.MaxInt64-dur }
	for i := range b.ops.n {
		o := b.ops.at(i)
		if o.Thread < 0 || o.Thread >= n || !inRange(o.Start, o.Dur) {
			return fmt.Errorf("operator %q: thread %d, start %d, duration %d is out of range", o.Name, o.Thread, o.Start, o.Dur)
		}
	}
	for i := range b.launches.n {
		l := b.launches.at(i)
		if l.Thread < 0 || l.Thread >= n || !inRange(l.Start, l.Dur) {
			return fmt.Errorf("launch %q: thread %d, start %d, duration %d is out of range", l.Name, l.Thread, l.Start, l.Dur)
		}
	}
	for i := range b.annotations.n {
		a := b.annotations.at(i)
		if !a.GPU && (a.Thread < 0 || a.Thread >= n) || !inRange(a.Start, a.Dur) {
			return fmt.Errorf("annotation %q: thread %d, start %d, duration %d is out of range", a.Name, a.Thread, a.Start, a.Dur)
		}
	}
	for i := range b.frames.n {
		f := b.frames.at(i)
		if f.Thread < 0 || f.Thread >= n || !inRange(f.Start, f.Dur) {
			return fmt.Errorf("frame %q: thread %d, start %d, duration %d is out of range", f.Name, f.Thread, f.Start, f.Dur)
		}
	}
	for i := range b.gpu.n {
		g := b.gpu.at(i)
		if g.File < 0 || g.File >= files || !inRange(g.Start, g.Dur) {
			return fmt.Errorf("GPU event %q: file %d, start %d, duration %d is out of range", g.Name, g.File, g.Start, g.Dur)
		}
	}
	return nil
}

// Check returns an error that names violated invariants of a Trace, nil if all hold: slices are sorted, IDs point to what is
// there, parents enclose the start of their children on the same thread, every launch counts its GPU events, and every
// GPU event is in one place.
func (t *Trace) Check() error {
	return errors.Join(t.checkOps(), t.checkLaunches(), t.checkGPU(), t.checkRest())
}

func (t *Trace) checkOps() error {
	if !slices.IsSortedFunc(t.Ops, compareOps) {
		return errors.New("operators are not sorted")
	}
	for i := range t.Ops {
		o := &t.Ops[i]
		switch {
		case int(o.Thread) >= len(t.Threads) || o.Thread < 0:
			return fmt.Errorf("operator %d: thread %d does not exist", i, o.Thread)
		case o.Parent < None || int(o.Parent) >= i:
			return fmt.Errorf("operator %d: parent %d does not come before it", i, o.Parent)
		case o.Parent != None && t.Ops[o.Parent].Thread != o.Thread:
			return fmt.Errorf("operator %d: parent %d is on another thread", i, o.Parent)
		case o.Parent != None && (o.Start < t.Ops[o.Parent].Start || o.Start > t.Ops[o.Parent].End()):
			return fmt.Errorf("operator %d: parent %d does not enclose its start", i, o.Parent)
		case o.Frame < None || int(o.Frame) >= len(t.Frames):
			return fmt.Errorf("operator %d: frame %d does not exist", i, o.Frame)
		case o.Dur < 0:
			return fmt.Errorf("operator %d: negative duration", i)
		}
	}
	return nil
}

func (t *Trace) checkLaunches() error {
	if !slices.IsSortedFunc(t.Launches, compareLaunches) {
		return errors.New("launches are not sorted")
	}
	work := make([]int32, len(t.Launches))
	for i := range t.GPU {
		if l := t.GPU[i].Launch; l >= 0 && int(l) < len(work) {
			work[l]++
		}
	}
	for i := range t.Launches {
		l := &t.Launches[i]
		switch {
		case int(l.Thread) >= len(t.Threads) || l.Thread < 0:
			return fmt.Errorf("launch %d: thread %d does not exist", i, l.Thread)
		case l.Op < None || int(l.Op) >= len(t.Ops):
			return fmt.Errorf("launch %d: operator %d does not exist", i, l.Op)
		case l.GPU != work[i]:
			return fmt.Errorf("launch %d: counts %d GPU events and owns %d", i, l.GPU, work[i])
		}
	}
	return nil
}

func (t *Trace) checkGPU() error {
	if !slices.IsSortedFunc(t.GPU, func(x, y GPUEvent) int { return cmp.Compare(x.Start, y.Start) }) {
		return errors.New("GPU events are not sorted")
	}
	for i := range t.GPU {
		g := &t.GPU[i]
		switch {
		case g.Launch < None || int(g.Launch) >= len(t.Launches):
			return fmt.Errorf("GPU event %d: launch %d does not exist", i, g.Launch)
		case g.Op < None || int(g.Op) >= len(t.Ops):
			return fmt.Errorf("GPU event %d: operator %d does not exist", i, g.Op)
		case g.Dur < 0:
			return fmt.Errorf("GPU event %d: negative duration", i)
		case g.Correlation == -1:
			return fmt.Errorf("GPU event %d: correlation -1 is none and must be 0", i)
		}
	}
	return nil
}

func (t *Trace) checkRest() error {
	for i := range t.Annotations {
		if a := &t.Annotations[i]; !a.GPU && (a.Thread < 0 || int(a.Thread) >= len(t.Threads)) || a.Dur < 0 {
			return fmt.Errorf("annotation %d: thread %d, duration %v", i, a.Thread, a.Dur)
		}
	}
	for i := range t.Frames {
		if f := &t.Frames[i]; f.Parent < None || int(f.Parent) >= i {
			return fmt.Errorf("frame %d: parent %d does not come before it", i, f.Parent)
		}
	}
	return nil
}
