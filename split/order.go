package split

import (
	"cmp"
	"slices"
	"time"

	"github.com/ditlens/ditlens/trace"
)

// An order is the GPU events of a trace as they were launched. An event that carries no launch takes the place of the
// launched event before it on its stream, or on its device; in a trace without launches the order is that of the GPU.
type order struct {
	ids  []trace.GPUID   // events in launch order
	key  []time.Duration // by GPUID: when it was launched
	lane []trace.GPUID   // the part of ids that the busiest host thread launched (without launches: the busiest stream)
	host bool            // keys are host times

	sig      []int32 // by GPUID: the number of its signature
	distinct int     // signatures
}

// slot is what decides an event's place: its launch, or that of its neighbour.
type slot struct {
	at     time.Duration
	launch trace.LaunchID
	thread trace.ThreadID
}

type streamKey struct {
	device int32
	stream int64
}

func newOrder(t *trace.Trace) *order {
	o := &order{ids: make([]trace.GPUID, len(t.GPU)), key: make([]time.Duration, len(t.GPU))}
	slots := make([]slot, len(t.GPU))
	for i := range t.GPU {
		o.ids[i] = trace.GPUID(i)
		o.host = o.host || t.GPU[i].Launch >= 0
	}
	if o.host {
		placeByLaunch(t, slots)
	} else {
		for i := range t.GPU {
			slots[i] = slot{at: t.GPU[i].Start, launch: trace.None}
		}
	}
	for i := range slots {
		o.key[i] = slots[i].at
	}
	slices.SortFunc(o.ids, func(a, b trace.GPUID) int {
		x, y := &slots[a], &slots[b]
		return cmp.Or(cmp.Compare(x.at, y.at), cmp.Compare(x.launch, y.launch), cmp.Compare(a, b))
	})
	o.sig, o.distinct = number(t, o.ids)
	o.lane = busiestLane(t, o, slots)
	return o
}

// placeByLaunch gives each event its launch, walking in order of GPU time so that unlinked events find their neighbour.
func placeByLaunch(t *trace.Trace, slots []slot) {
	onStream := map[streamKey]slot{}
	onDevice := map[int32]slot{}
	var first *slot
	for i := range t.GPU {
		g := &t.GPU[i]
		k := streamKey{g.Device, g.Stream}
		if g.Launch >= 0 {
			l := &t.Launches[g.Launch]
			slots[i] = slot{l.Start, g.Launch, l.Thread}
			onStream[k], onDevice[g.Device] = slots[i], slots[i]
			if first == nil {
				first = &slots[i]
			}
			continue
		}
		if s, ok := onStream[k]; ok {
			slots[i] = s
		} else if s, ok := onDevice[g.Device]; ok {
			s.thread = trace.None // of no thread: its place among the launches of one is chance
			slots[i] = s
		} else {
			slots[i].launch = -2 // before the first launch, which is set below
		}
	}
	for i := range slots {
		if slots[i].launch != -2 {
			break
		}
		slots[i] = slot{min(first.at, t.GPU[i].Start), trace.None, first.thread}
	}
	for i := range slots {
		if slots[i].launch == -2 { // a device without any launch
			slots[i] = slot{t.GPU[i].Start, trace.None, trace.None}
		}
	}
}

func busiestLane(t *trace.Trace, o *order, slots []slot) []trace.GPUID {
	type lane struct {
		thread trace.ThreadID
		streamKey
	}
	of := func(id trace.GPUID) lane {
		if o.host {
			return lane{thread: slots[id].thread}
		}
		g := &t.GPU[id]
		return lane{trace.None, streamKey{g.Device, g.Stream}}
	}
	busy := map[lane]time.Duration{}
	var best lane
	top := time.Duration(-1)
	for _, id := range o.ids {
		busy[of(id)] += t.GPU[id].Dur
	}
	for _, id := range o.ids { // in launch order, so that a tie has one answer
		if l := of(id); busy[l] > top {
			best, top = l, busy[l]
		}
	}
	if len(busy) == 1 {
		return o.ids
	}
	var out []trace.GPUID
	for _, id := range o.ids {
		if of(id) == best {
			out = append(out, id)
		}
	}
	return out
}
