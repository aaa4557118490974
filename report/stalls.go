package report

import (
	"fmt"
	"sort"
	"time"

	"github.com/ditlens/ditlens/internal/interval"
	"github.com/ditlens/ditlens/split"
	"github.com/ditlens/ditlens/trace"
)

// busySet is when any device was busy.
func (in *analysis) busySet() interval.Set {
	if in.busy == nil {
		v := make([]interval.Interval, 0, len(in.trace.GPU))
		for i := range in.trace.GPU {
			v = append(v, interval.Interval{Start: in.trace.GPU[i].Start, End: in.trace.GPU[i].End()})
		}
		in.busy = interval.Union(v)
	}
	return in.busy
}

// idleFrom is how long all devices are idle from a time on: 0 when one is busy then, or when nothing follows.
func (in *analysis) idleFrom(at time.Duration) time.Duration {
	busy := in.busySet()
	i := sort.Search(len(busy), func(k int) bool { return busy[k].End > at })
	if i == len(busy) || busy[i].Start <= at {
		return 0
	}
	return busy[i].Start - at
}

// stepSyncs is what it costs that the host waits for the GPU inside the denoising loop: the GPU then idles until the host
// has launched again.
func (in *analysis) stepSyncs() []Finding {
	var waited, idle time.Duration
	n := 0
	for i := range in.trace.Launches {
		l := &in.trace.Launches[i]
		if l.Kind != trace.LaunchSync || !in.inLoop(l.End()) {
			continue
		}
		n++
		waited += l.Dur
		idle += in.idleFrom(l.End())
	}
	if !in.worthwhile(idle) {
		return nil
	}
	return []Finding{{Code: "step_syncs", Time: Micros(waited), AtStake: Micros(idle), Title: "The host waits for the GPU inside the loop",
		Detail: fmt.Sprintf("%s synchronisations in the denoising loop, %s of host time; the GPU then idles %s until the next launch arrives.",
			count(n), dur(waited), dur(idle))}}
}

// inLoop reports whether a time lies between the first and the last event of a denoising loop.
func (in *analysis) inLoop(at time.Duration) bool {
	for _, p := range in.steps.Phases {
		if p.Name == split.Denoise && p.Start <= at && at < p.End {
			return true
		}
	}
	return false
}

// readbacks are small copies to the host inside steps.
func (in *analysis) readbacks() []Finding {
	var copied time.Duration
	n := 0
	for i := range in.trace.GPU {
		g := &in.trace.GPU[i]
		if in.steps.StepOf[i] >= 0 && g.Kind == trace.Memcpy && g.Dir == trace.DeviceToHost && g.Bytes <= 4096 {
			n++
			copied += g.Dur
		}
	}
	if n == 0 {
		return nil
	}
	return []Finding{{Code: "step_readbacks", Time: Micros(copied), AtStake: Micros(copied), Title: "Steps read single values back to the host",
		Detail: fmt.Sprintf("%s copies of at most 4 KiB to the host in %d steps, %s on the GPU; each also makes the host wait for all work before it.",
			count(n), len(in.Split.Steps), dur(copied))}}
}
