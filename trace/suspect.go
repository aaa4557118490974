package trace

import (
	"fmt"
	"time"
)

// What follows looks for GPU events that are each possible but cannot be true together. Nothing is changed: which of them are wrong
// is not known.

// A queue is what runs its work in order.
type queue struct {
	file, device int32
	stream       int64
}

// diagnoseTwice counts events that are recorded again, be it in one file or in two copies of it.
func diagnoseTwice(t *Trace) {
	type record struct {
		device              int32
		stream, correlation int64
		dur                 time.Duration
		name                string
	}
	var again int64
	seen := make(map[record]bool) // of one start
	for i := range t.GPU {
		g := &t.GPU[i]
		if i > 0 && g.Start != t.GPU[i-1].Start {
			clear(seen)
		}
		r := record{g.Device, g.Stream, g.Correlation, g.RawDur, g.Name}
		if seen[r] && g.RawDur != 0 {
			again++
		}
		seen[r] = true
	}
	if again > 0 {
		t.diagnose("duplicate_events", Warning, again, fmt.Sprintf(
			"%d of %d GPU events are recorded a second time, with the same name, time, stream and correlation: their time counts twice", again, len(t.GPU)))
	}
}

// mostOverlap is the share of GPU time that may overlap on its queue without a word. Kernels that are launched dependently overlap by the
// end of the one and the beginning of the next.
const mostOverlap = 0.25

// diagnoseOverlap measures the time in which a queue is recorded to do two things at once.
func diagnoseOverlap(t *Trace) {
	ends := make(map[queue]time.Duration)
	var count int64
	var overlap, sum float64
	for i := range t.GPU {
		g := &t.GPU[i]
		q := queue{g.File, g.Device, g.Stream}
		end, ok := ends[q]
		if d := min(end, g.End()) - g.Start; ok && d > 0 {
			count++
			overlap += float64(d)
		}
		if !ok || g.End() > end {
			ends[q] = g.End()
		}
		sum += float64(g.Dur)
	}
	if overlap > mostOverlap*sum {
		t.diagnose("overlapping_events", Warning, count, fmt.Sprintf("%d of %d GPU events begin before those before them on their stream ended: %.3f of %.3f ms "+
			"count more than once; parts of a graph may run at once, else events are recorded twice or times and durations are of different units",
			count, len(t.GPU), overlap/1e6, sum/1e6))
	}
}

// diagnoseInstants notices a trace whose GPU events mostly take no time.
func diagnoseInstants(t *Trace) {
	var n int64
	for i := range t.GPU {
		if t.GPU[i].Dur == 0 {
			n++
		}
	}
	if 2*n > int64(len(t.GPU)) {
		t.diagnose("zero_durations", Warning, n, fmt.Sprintf("%d of %d GPU events have no duration: what the GPU did can be counted, not timed", n, len(t.GPU)))
	}
}

// TimesApart is the Code of the Diagnostic that GPU events lie so far apart that no span over all of them means anything.
const TimesApart = "times_apart"

// farApart is a pause that no recording has: profilers record seconds.
const farApart = 10 * time.Minute

// diagnoseApart counts the events that lie far from most others.
func diagnoseApart(t *Trace) {
	end := t.GPU[0].End()
	n, most := 0, 0
	for i := range t.GPU {
		g := &t.GPU[i]
		if g.Start-end > farApart {
			n = 0
		}
		n++
		most, end = max(most, n), max(end, g.End())
	}
	if stray := len(t.GPU) - most; stray > 0 {
		t.diagnose(TimesApart, Error, int64(stray), fmt.Sprintf("%d of %d GPU events lie more than %v from the others: their times are damaged, or "+
			"these are several recordings; spans and idle time mean nothing", stray, len(t.GPU), farApart))
	}
}
