package trace

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"
)

// WriteWindow writes the given GPU events as a trace file of their own: JSON as the profiler writes it, for this package,
// Perfetto and other readers of such traces. The order of events does not matter. Compress it by giving a compressor as w.
//
// With the events go their launches, the operators that own and enclose them with all arguments, their module frames, the
// waits between the first and the last of the launches, the ranges that hold work of the window and no other, and what the
// file says of the machine. Reading it back gives the same events, times, launches, operators and arguments; durations that
// were repaired stay repaired. Times keep their origin and are exact.
//
// Operators copied from a capture are laid out, in order, within the launch of their graph, and each replayed event carries
// the external id of its own; this package reads that as the same copies. They are left out, and their events fall to the
// operator of the launch, if the launch took less than a nanosecond for each.
func WriteWindow(w io.Writer, t *Trace, events []GPUID) error {
	win, err := newWindow(t, events)
	if err != nil {
		return err
	}
	out := bufio.NewWriterSize(w, 1<<16)
	e := &encoder{w: out, t: t, win: win}
	e.document()
	return out.Flush()
}

// A window is what is written of a Trace. Its lists are ascending.
type window struct {
	gpu         []GPUID
	launches    []LaunchID
	ops         []OpID
	frames      []FrameID
	annotations []int
	threads     []ThreadID
	slots       map[OpID]slot    // of captured operators
	frameSlots  map[FrameID]slot // of the modules around them
	dropped     map[OpID]bool    // captured operators that have no slot
	correlation renumbering
	external    renumbering
}

// A slot is where a captured operator stands within its graph launch.
type slot struct{ start, dur time.Duration }

func newWindow(t *Trace, events []GPUID) (*window, error) {
	gpu := slices.Clone(events)
	slices.Sort(gpu)
	gpu = slices.Compact(gpu)
	if n := len(gpu); n > 0 && (gpu[0] < 0 || int(gpu[n-1]) >= len(t.GPU)) {
		return nil, fmt.Errorf("window: GPU events %d to %d of a trace that has %d", gpu[0], gpu[n-1], len(t.GPU))
	}
	win := &window{gpu: gpu, slots: make(map[OpID]slot), frameSlots: make(map[FrameID]slot), dropped: make(map[OpID]bool)}
	win.collectLaunches(t)
	win.collectOps(t)
	win.placeCaptured(t)
	win.collectAnnotations(t)
	win.collectThreads(t)
	return win, nil
}

// collectLaunches keeps the launches of the events, and waits on their threads from the first to the last of them.
func (win *window) collectLaunches(t *Trace) {
	kept := make(map[LaunchID]bool)
	threads := make(map[ThreadID]bool)
	for _, id := range win.gpu {
		if l := t.GPU[id].Launch; l != None {
			kept[l] = true
			threads[t.Launches[l].Thread] = true
		}
	}
	if len(kept) > 0 {
		ids := sortedKeys(kept)
		for l := ids[0]; l < ids[len(ids)-1]; l++ {
			if x := &t.Launches[l]; x.Kind == LaunchSync && x.GPU == 0 && threads[x.Thread] {
				kept[l] = true
			}
		}
	}
	win.launches = sortedKeys(kept)
}

// collectOps keeps the operators of launches and events with all that enclose them, and the module frames around them.
func (win *window) collectOps(t *Trace) {
	ops, frames := make(map[OpID]bool), make(map[FrameID]bool)
	add := func(op OpID) {
		for ; op != None && !ops[op]; op = t.Ops[op].Parent {
			ops[op] = true
			for f := t.Ops[op].Frame; f != None && !frames[f]; f = t.Frames[f].Parent {
				frames[f] = true
			}
		}
	}
	for _, id := range win.launches {
		add(t.Launches[id].Op)
	}
	for _, id := range win.gpu {
		add(t.GPU[id].Op)
	}
	whole := win.wholeReplays(t)
	for i := range t.Ops {
		if o := &t.Ops[i]; o.Captured && whole[instant{o.Thread, o.Start}] {
			add(OpID(i)) // also those whose launch was never paired
		}
	}
	win.ops, win.frames = sortedKeys(ops), sortedKeys(frames)
}

// wholeReplays tells the graph launches all of whose events are kept.
func (win *window) wholeReplays(t *Trace) map[instant]bool {
	events := make(map[LaunchID]int32)
	for _, id := range win.gpu {
		events[t.GPU[id].Launch]++
	}
	whole := make(map[instant]bool)
	for _, id := range win.launches {
		if l := &t.Launches[id]; l.Kind == LaunchGraph && l.GPU == events[id] {
			whole[instant{l.Thread, l.Start}] = true
		}
	}
	return whole
}

// An instant is where a graph launch stands, and with it the operators copied below it.
type instant struct {
	thread ThreadID
	start  time.Duration
}

// placeCaptured gives the captured operators of each graph launch their slots.
func (win *window) placeCaptured(t *Trace) {
	copies := make(map[instant][]OpID)
	for _, op := range win.ops {
		if o := &t.Ops[op]; o.Captured {
			at := instant{o.Thread, o.Start}
			copies[at] = append(copies[at], op)
		}
	}
	for _, ops := range copies {
		o := &t.Ops[ops[0]]
		step := o.Dur / time.Duration(len(ops)+1)
		for i, op := range ops {
			if step == 0 {
				win.dropped[op] = true
				continue
			}
			win.slots[op] = slot{o.Start + time.Duration(i+1)*step, step}
		}
		if step > 0 {
			win.spanChildren(t, ops)
			win.placeModules(t, ops)
		}
	}
	win.ops = slices.DeleteFunc(win.ops, func(op OpID) bool { return win.dropped[op] })
}

// spanChildren lets the slots of captured operators reach to the ends of their children's.
func (win *window) spanChildren(t *Trace, ops []OpID) {
	for _, op := range slices.Backward(ops) {
		parent := t.Ops[op].Parent
		if outer, ok := win.slots[parent]; ok {
			inner := win.slots[op]
			outer.dur = max(outer.dur, inner.start+inner.dur-outer.start)
			win.slots[parent] = outer
		}
	}
}

// placeModules gives the modules around captured operators the time of all their operators.
func (win *window) placeModules(t *Trace, ops []OpID) {
	for _, op := range ops {
		o, inner := &t.Ops[op], win.slots[op]
		for f := o.Frame; f != None && t.Frames[f].Start == o.Start && t.Frames[f].Dur == o.Dur; f = t.Frames[f].Parent {
			outer, ok := win.frameSlots[f]
			if !ok {
				outer = inner
			}
			outer.dur = max(outer.dur, inner.start+inner.dur-outer.start)
			win.frameSlots[f] = outer
		}
	}
}

// collectAnnotations keeps the ranges that hold work of the window and none that is left out: a range around a whole run would
// claim that its rest had been recorded.
func (win *window) collectAnnotations(t *Trace) {
	inside, outside := newCoverage(), newCoverage()
	kept := make(map[GPUID]bool, len(win.gpu))
	for _, id := range win.gpu {
		kept[id] = true
	}
	for id := range t.GPU {
		if kept[GPUID(id)] {
			inside.add(t, GPUID(id))
		} else {
			outside.add(t, GPUID(id))
		}
	}
	inside.sort()
	outside.sort()
	for i := range t.Annotations {
		if a := &t.Annotations[i]; inside.in(a) && !outside.in(a) {
			win.annotations = append(win.annotations, i)
		}
	}
}

// coverage tells whether ranges hold work: by when it was launched on the host, or by when it began on its stream.
type coverage struct {
	host    []time.Duration
	streams map[streamID][]time.Duration
}

type streamID struct {
	device int32
	stream int64
}

func newCoverage() *coverage { return &coverage{streams: make(map[streamID][]time.Duration)} }

func (c *coverage) add(t *Trace, id GPUID) {
	g := &t.GPU[id]
	k := streamID{g.Device, g.Stream}
	c.streams[k] = append(c.streams[k], g.Start)
	if g.Launch != None {
		c.host = append(c.host, t.Launches[g.Launch].Start)
	}
}

func (c *coverage) sort() {
	slices.Sort(c.host)
	for _, s := range c.streams {
		slices.Sort(s)
	}
}

// in reports whether a range holds any of the work.
func (c *coverage) in(a *Annotation) bool {
	at := c.host
	if a.GPU {
		at = c.streams[streamID{a.Device, a.Stream}]
	}
	i, _ := slices.BinarySearch(at, a.Start)
	return i < len(at) && at[i] < a.End()
}

func (win *window) collectThreads(t *Trace) {
	threads := make(map[ThreadID]bool)
	for _, id := range win.launches {
		threads[t.Launches[id].Thread] = true
	}
	for _, id := range win.ops {
		threads[t.Ops[id].Thread] = true
	}
	for _, i := range win.annotations {
		if a := &t.Annotations[i]; !a.GPU {
			threads[a.Thread] = true
		}
	}
	win.threads = sortedKeys(threads)
}

// operator returns the operator that a GPU event is written with.
func (win *window) operator(t *Trace, g *GPUEvent) OpID {
	op := g.Op
	for op != None && win.dropped[op] {
		op = t.Ops[op].Parent
	}
	return op
}

// A renumbering keeps ids of several inputs apart in one file. An id keeps its value unless another input has it too.
type renumbering struct {
	owner map[int64]int32  // input that keeps the value
	moved map[fileID]int64 // new values
	last  int64            // largest value in use
}

type fileID struct {
	file int32
	id   int64
}

func (r *renumbering) get(file int32, id int64) int64 {
	if id == 0 {
		return 0
	}
	if r.owner == nil {
		r.owner, r.moved = make(map[int64]int32), make(map[fileID]int64)
		r.last = 1 << 40 // beyond what profilers count to
	}
	if owner, ok := r.owner[id]; !ok || owner == file {
		r.owner[id] = file
		return id
	}
	key := fileID{file, id}
	if _, ok := r.moved[key]; !ok {
		r.last++
		r.moved[key] = r.last
	}
	return r.moved[key]
}

// extras lists the keys of a map in order.
func extras(m map[string]string) []string { return slices.Sorted(maps.Keys(m)) }
