package trace

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// graft copies the operators of the chosen regions, and the modules around them, into a new trace.
func (m *merger) graft() *Trace {
	out := *m.t
	out.Launches = slices.Clone(m.t.Launches)
	out.GPU = slices.Clone(m.t.GPU)
	out.Files = slices.Clone(m.t.Files)
	out.Diagnostics = slices.Clone(m.t.Diagnostics)
	c := m.copies()
	owners := c.owners
	allFrames, frames, framesPlaced := weave(m.t.Frames, c.frames, frameFirst, func(f *Frame) *FrameID { return &f.Parent })
	allOps, moved, placed := weave(m.t.Ops, c.ops, opFirst, func(o *Op) *OpID { return &o.Parent })
	out.Frames, out.Ops = allFrames, allOps
	for i := range out.Ops {
		switch o := &out.Ops[i]; {
		case o.Frame == None:
		case o.Captured && o.Frame < None:
			o.Frame = framesPlaced[copiedFrame(o.Frame)]
		default:
			o.Frame = frames[o.Frame]
		}
	}
	for i := range out.Launches {
		if op := out.Launches[i].Op; op != None {
			out.Launches[i].Op = moved[op]
		}
	}
	for i := range out.GPU {
		switch {
		case owners[i] != None:
			out.GPU[i].Op = placed[owners[i]]
			out.GPU[i].ExternalID = c.ops[owners[i]].value.ExternalID
		case out.GPU[i].Op != None:
			out.GPU[i].Op = moved[out.GPU[i].Op]
		}
	}
	for i := range m.match.Unpaired {
		if u := &m.match.Unpaired[i]; u.Op != None {
			u.Op = placed[u.Op]
		}
	}
	for _, c := range m.captures[:len(m.captures)-1] {
		out.Files = append(out.Files, c.Trace.Files...)
	}
	return &out
}

// A grafted value is the copy of a captured operator or module below a graph launch. Its Parent is an index into the
// copies, or None for those right below the launch. The Frame of an operator is one of the trace without copies, or tells
// a copy as copiedFrame does.
type grafted[T any, ID ~int32] struct {
	value T
	above ID // of the trace without copies: what encloses the launch
}

// copiedFrame turns an index into the copies of frames into a FrameID below None, and back.
func copiedFrame(f FrameID) FrameID { return None - 1 - f }

// copies are the copies for all replays, in the order of a Trace.
type copies struct {
	ops    []grafted[Op, OpID]
	frames []grafted[Frame, FrameID]
	owners []OpID // index of the copy that owns a GPU event, None for others
	nextID int64  // external id
}

// copies makes the copies of all replays and tells which of them owns each GPU event. It counts the match on the way; OpIDs of
// its unpaired launches are indices into the copies.
func (m *merger) copies() *copies {
	c := &copies{owners: make([]OpID, len(m.t.GPU))}
	for i := range c.owners {
		c.owners[i] = None
	}
	order := make([]int, len(m.replays))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(x, y int) int { return compareReplays(m.t, m.replays[x].Launch, m.replays[y].Launch) })
	for i := range m.t.Ops {
		c.nextID = max(c.nextID, m.t.Ops[i].ExternalID)
	}
	missing := make(map[missingNode]int)
	for _, i := range order {
		chosen := m.chosen[i]
		if chosen.region == nil {
			m.match.Unknown += len(m.replays[i].Events)
			continue
		}
		base := len(c.ops)
		m.copyRegion(c, chosen.region, m.replays[i].Launch)
		m.own(c.owners, m.replays[i], chosen, base)
		m.count(chosen, base, missing)
	}
	if m.match.Events > 0 {
		m.match.Agreement /= float64(m.match.Events)
	}
	return c
}

// copyRegion appends the operators and modules of a region as they stand below a graph launch.
func (m *merger) copyRegion(c *copies, r *region, launch LaunchID) {
	from := m.captures[r.capture].Trace
	l := &m.t.Launches[launch]
	above := FrameID(None)
	if l.Op != None {
		above = m.t.Ops[l.Op].Frame
	}
	base, frameBase := OpID(len(c.ops)), FrameID(len(c.frames))
	for _, id := range r.frames {
		f := from.Frames[id]
		f.Parent = r.copyOf(from.moduleAbove(id), frameBase)
		f.Start, f.Dur, f.Thread = l.Start, l.Dur, l.Thread
		c.frames = append(c.frames, grafted[Frame, FrameID]{f, above})
	}
	for _, id := range r.ops {
		c.nextID++
		o := from.Ops[id]
		parent, found := slices.BinarySearch(r.ops, o.Parent)
		if o.Parent = None; found {
			o.Parent = base + OpID(parent)
		}
		if f := r.copyOf(o.Frame, frameBase); f != None {
			o.Frame = copiedFrame(f)
		} else {
			o.Frame = above
		}
		o.Start, o.Dur, o.Thread = l.Start, l.Dur, l.Thread
		o.Inputs, o.ExternalID, o.Captured = m.words.input(o.Inputs), c.nextID, true
		c.ops = append(c.ops, grafted[Op, OpID]{o, l.Op})
	}
}

// copyOf returns the index of the copy of a frame, None if it lies outside of the region.
func (r *region) copyOf(f, base FrameID) FrameID {
	if i, found := slices.BinarySearch(r.frames, f); found {
		return base + FrameID(i)
	}
	return None
}

// own gives the paired events of a replay their copied operators, which begin at base.
func (m *merger) own(owners []OpID, replay GraphReplay, c choice, base int) {
	for j, id := range replay.Events {
		if i := c.pairing.node[j]; i != None {
			if k, ok := slices.BinarySearch(c.region.ops, c.region.nodes[i].op); ok {
				owners[id] = OpID(base + k)
			}
		}
	}
}

// A missingNode is what unpaired launches are counted by.
type missingNode struct {
	class, token int32
}

// count adds a matched replay to the match.
func (m *merger) count(c choice, base int, missing map[missingNode]int) {
	paired := c.pairing.paired()
	m.match.Matched++
	m.match.Launches += len(c.region.nodes)
	m.match.Paired += paired
	m.match.Unknown += len(c.pairing.node) - paired
	m.match.Agreement += float64(c.pairing.matched)
	if paired == len(c.region.nodes) {
		return
	}
	used := make([]bool, len(c.region.nodes))
	for _, i := range c.pairing.node {
		if i != None {
			used[i] = true
		}
	}
	from := m.captures[c.region.capture].Trace
	for i, n := range c.region.nodes {
		if used[i] {
			continue
		}
		key := missingNode{n.class, n.token}
		k, ok := missing[key]
		if !ok {
			k = len(m.match.Unpaired)
			missing[key] = k
			u := UnpairedLaunch{Op: None, Kernel: from.Launches[n.launch].Kernel}
			if at, found := slices.BinarySearch(c.region.ops, n.op); found {
				u.Op = OpID(base + at)
			}
			m.match.Unpaired = append(m.match.Unpaired, u)
		}
		m.match.Unpaired[k].Count++
	}
}

// weave merges the operators or modules of a trace and their copies, both in order. It returns where each went.
func weave[T any, ID ~int32](own []T, copies []grafted[T, ID], first func(x, copied *T) bool, parent func(*T) *ID) (all []T, moved, placed []ID) {
	all = make([]T, 0, len(own)+len(copies))
	moved, placed = make([]ID, len(own)), make([]ID, len(copies))
	i, k := 0, 0
	for i < len(own) || k < len(copies) {
		id := ID(len(all))
		if k == len(copies) || i < len(own) && first(&own[i], &copies[k].value) {
			all = append(all, own[i])
			if p := parent(&all[id]); *p != None {
				*p = moved[*p]
			}
			moved[i] = id
			i++
			continue
		}
		all = append(all, copies[k].value)
		switch p, above := parent(&all[id]), copies[k].above; {
		case *p != None:
			*p = placed[*p]
		case above != None:
			*p = moved[above]
		}
		placed[k] = id
		k++
	}
	return all, moved, placed
}

// opFirst tells whether x comes before an operator that was copied to a launch.
func opFirst(x, copied *Op) bool { return compareOps(*x, *copied) <= 0 }

// frameFirst tells whether x comes before a frame that was copied to a launch.
func frameFirst(x, copied *Frame) bool {
	return cmp.Or(cmp.Compare(x.Thread, copied.Thread), cmp.Compare(x.Start, copied.Start), cmp.Compare(copied.Dur, x.Dur)) <= 0
}

// report describes the match in the diagnostics of the merged trace.
func (m *merger) report(out *Trace) {
	diagnoseGraphs(out)
	c := &m.match
	if c.Matched > 0 {
		out.diagnose("graph_capture_merged", Info, int64(c.Paired), fmt.Sprintf(
			"%d of %d graph replays were matched with captured graphs: %d of %d captured launches own a replayed event", c.Matched, c.Replays, c.Paired, c.Launches))
	}
	if n := c.Replays - c.Matched; n > 0 && len(m.regions) > 0 {
		out.diagnose("graph_replay_unmatched", Warning, int64(n), fmt.Sprintf(
			"no captured graph explains %d of %d graph replays, or several of different shapes do", n, c.Replays))
	}
	for _, u := range c.Unpaired[:min(len(c.Unpaired), 5)] {
		out.diagnose("captured_launch_unpaired", Info, int64(u.Count), fmt.Sprintf(
			"the captured launch of %s has no event in the replays (%d times), so its operator has no time", out.describe(u), u.Count))
	}
	if unsure := c.Launches - c.Paired; len(c.Unpaired) > 5 {
		out.diagnose("captured_launches_unpaired", Warning, int64(unsure), fmt.Sprintf(
			"%d captured launches of %d kinds have no event: capture and replay differ, so some operators have too little time", unsure, len(c.Unpaired)))
	}
}

// describe names an unpaired launch by its operator with the shapes of its tensors, else by its kernel.
func (t *Trace) describe(u UnpairedLaunch) string {
	if u.Op == None {
		return u.Kernel[:min(len(u.Kernel), 80)]
	}
	o := &t.Ops[u.Op]
	var b strings.Builder
	b.WriteString(o.Name)
	if o.Inputs != nil {
		for _, a := range o.Inputs.Args[:min(len(o.Inputs.Args), 8)] {
			if len(a.Dims) > 0 {
				fmt.Fprintf(&b, " %v", a.Dims)
			}
		}
	}
	return b.String()
}

// mismatch describes why nothing was merged.
func (m *merger) mismatch() error {
	e := &CaptureMismatchError{Graphs: len(m.regions), Replays: m.match.Replays, Agreement: m.best}
	for _, c := range m.captures[:len(m.captures)-1] {
		for i := range c.Trace.Files {
			e.Files = append(e.Files, c.Trace.Files[i].Path)
		}
	}
	return e
}
