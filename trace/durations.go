package trace

import (
	"cmp"
	"context"
	"fmt"
	"time"
)

// overlapFloor is the overlap of two pieces of work on one queue up to which it is taken for real: programmatic dependent
// launch and stamp jitter stay below.
const overlapFloor = time.Millisecond

// longestWork is longer than anything runs on a GPU without a pause. A longer duration is none.
const longestWork = time.Hour

// repairDurations mends durations that cannot be: work that is recorded to end more than overlapFloor after the next work
// on its queue (input, device, stream) began. It is taken to end where the next one began; RawDur keeps the record.
// Deferred completion stamps on ROCm are the known cause. What is left of more than longestWork is taken for 0, so that sums do not
// overflow.
func repairDurations(ctx context.Context, t *Trace) {
	byQueue := make([]GPUID, len(t.GPU))
	for i := range byQueue {
		byQueue[i] = GPUID(i)
	}
	order(ctx, byQueue, func(x, y GPUID) int {
		return cmp.Or(compareQueue(&t.GPU[x], &t.GPU[y]), cmp.Compare(x, y))
	})
	var count, endless int64
	var excess, total float64 // ns; many impossible durations exceed an int64
	next := time.Duration(0)  // start of the next later work on the queue
	for back := range each(ctx, len(byQueue)) {
		i := len(byQueue) - 1 - back
		g := &t.GPU[byQueue[i]]
		total += float64(max(0, g.RawDur))
		if back == 0 || compareQueue(g, &t.GPU[byQueue[i+1]]) != 0 {
			next = 1<<63 - 1
		} else if n := t.GPU[byQueue[i+1]].Start; n > g.Start {
			next = n
		}
		if next != 1<<63-1 && g.End()-next > overlapFloor {
			count++
			excess += float64(g.End() - next)
			g.Dur = next - g.Start
		}
		if g.Dur > longestWork {
			endless++
			g.Dur = 0
		}
	}
	if endless > 0 {
		t.diagnose("endless_durations", Error, endless, fmt.Sprintf("%d GPU events are recorded to last more than %v; taken as 0, raw durations kept", endless, longestWork))
	}
	if count == 0 {
		return
	}
	severity := Warning
	if excess > total/4 {
		severity = Error
	}
	t.diagnose("impossible_durations", severity, count, fmt.Sprintf(
		"%d GPU events end more than %v after the next one on their queue began; cut there, %.3f ms left out, raw durations kept",
		count, overlapFloor, excess/1e6))
}

func compareQueue(x, y *GPUEvent) int {
	return cmp.Or(cmp.Compare(x.File, y.File), cmp.Compare(x.Device, y.Device), cmp.Compare(x.Stream, y.Stream))
}
