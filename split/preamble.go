package split

import (
	"math"
	"time"

	"github.com/ditlens/ditlens/trace"
)

// preamble returns how many GPU events, in order of start, are left from before the profiler's window: no launch is known for
// them, and they ended before anything was recorded on the host. Without host records a pause tells them, of more than a
// second and longer than all that follows it. Some profilers keep records of their warm-up.
func preamble(t *trace.Trace) int {
	host, recorded := firstHost(t)
	n, end, last := 0, time.Duration(math.MinInt64), lastEnd(t)
	for i := range t.GPU {
		g := &t.GPU[i]
		if pause := g.Start - end; !recorded && i > 0 && pause > max(time.Second, last-g.Start) {
			return i
		}
		if g.Launch != trace.None || recorded && g.End() > host {
			break
		}
		n, end = i+1, max(end, g.End())
	}
	if !recorded || n == len(t.GPU) { // all of it: the clocks of host and GPU differ
		return 0
	}
	return n
}

// lastEnd is when the last GPU event ended.
func lastEnd(t *trace.Trace) time.Duration {
	end := time.Duration(math.MinInt64)
	for i := range t.GPU {
		end = max(end, t.GPU[i].End())
	}
	return end
}

// firstHost is when the first host record began, false when there is none.
func firstHost(t *trace.Trace) (first time.Duration, ok bool) {
	see := func(at time.Duration) {
		if !ok || at < first {
			first, ok = at, true
		}
	}
	for i := range t.Launches {
		see(t.Launches[i].Start)
	}
	for i := range t.Ops {
		see(t.Ops[i].Start)
	}
	for i := range t.Annotations {
		if !t.Annotations[i].GPU {
			see(t.Annotations[i].Start)
		}
	}
	return first, ok
}
