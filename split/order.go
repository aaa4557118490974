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

	beside [][]trace.GPUID // the parts of other threads or streams, the busiest first
	parts  [][]trace.GPUID // of ids, if the phases of one are not those of another

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
			slots[i] = slot{t.GPU[i].Start, trace.None, trace.None}
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
	if l := lanes(t, o.ids, slots); len(l) > 0 {
		if !o.host {
			l = inTurn(t, o.ids, l)
		}
		o.lane, o.beside = l[0], l[1:]
	}
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
		g := &t.GPU[i]
		slots[i] = slot{min(first.at, g.Start), trace.None, trace.None}
		if _, ok := onStream[streamKey{g.Device, g.Stream}]; ok {
			slots[i].thread = first.thread
		}
	}
	for i := range slots {
		if slots[i].launch == -2 { // a device without any launch
			slots[i] = slot{t.GPU[i].Start, trace.None, trace.None}
		}
	}
}

// lanes parts the events by the thread that launched them, those of none by stream, the busiest first.
func lanes(t *trace.Trace, ids []trace.GPUID, slots []slot) [][]trace.GPUID {
	type lane struct {
		thread trace.ThreadID
		streamKey
	}
	return partition(t, ids, func(id trace.GPUID) lane {
		if th := slots[id].thread; th != trace.None {
			return lane{thread: th}
		}
		g := &t.GPU[id]
		return lane{trace.None, streamKey{g.Device, g.Stream}}
	})
}

// partition parts events by a key, those of most GPU time first, and of a tie those that come first.
func partition[K comparable](t *trace.Trace, ids []trace.GPUID, key func(trace.GPUID) K) [][]trace.GPUID {
	type part struct {
		ids  []trace.GPUID
		busy time.Duration
	}
	at := map[K]int{}
	var parts []part
	var last K
	i := -1
	for _, id := range ids {
		if k := key(id); i < 0 || k != last { // the next is mostly of the same part
			n, seen := at[k]
			if !seen {
				n = len(parts)
				at[k], parts = n, append(parts, part{})
			}
			i, last = n, k
		}
		parts[i].ids, parts[i].busy = append(parts[i].ids, id), parts[i].busy+t.GPU[id].Dur
	}
	if len(parts) == 1 {
		return [][]trace.GPUID{ids}
	}
	slices.SortStableFunc(parts, func(a, b part) int { return cmp.Compare(b.busy, a.busy) })
	out := make([][]trace.GPUID, len(parts))
	for i := range parts {
		out[i] = parts[i].ids
	}
	return out
}

// apart returns an order for each part whose phases are its own.
func (o *order) apart() []*order {
	if o.parts == nil {
		return []*order{o}
	}
	var out []*order
	for _, ids := range o.parts {
		own := *o
		own.ids = ids
		out = append(out, &own)
	}
	return out
}
