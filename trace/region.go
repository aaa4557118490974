package trace

import (
	"encoding/binary"
	"slices"
	"strings"
	"time"
)

// A region is what was launched into one graph while it was captured.
type region struct {
	capture int // index into the captures that are merged
	nodes   []node
	kind    int32           // equal for regions whose nodes are alike, one by one
	ops     []OpID          // of the capture trace: those that own nodes, with their ancestors inside the region, ascending
	frames  []FrameID       // of the capture trace: the modules around ops inside the region, ascending
	context map[string]bool // names of the operators and annotations around the capture
}

// A node is one captured launch.
type node struct {
	launch LaunchID
	op     OpID  // innermost operator inside the region, None if there is none
	token  int32 // of the device function, wild if its name is not known
	class  int32 // equal for launches by alike operators: same names, arguments and modules up to the region's start
}

// wild is the token of a captured launch whose device function is not recorded, as on NVIDIA.
const wild = -1

// A vocabulary gives names tokens and operators classes, the same for all captures and the trace.
type vocabulary struct {
	tokens  map[string]int32
	classes map[classKey]int32
	kinds   map[string]int32
	inputs  inputTable
	shared  map[*Inputs]*Inputs
}

type classKey struct {
	parent int32
	name   string
	inputs *Inputs
	module string
	launch string
}

func newVocabulary(t *Trace) *vocabulary {
	v := &vocabulary{tokens: make(map[string]int32), classes: make(map[classKey]int32), kinds: make(map[string]int32), shared: map[*Inputs]*Inputs{nil: nil}}
	v.inputs.byValue = make(map[string]*Inputs)
	for i := range t.Ops {
		in := t.Ops[i].Inputs
		if _, known := v.shared[in]; known {
			continue
		}
		v.shared[in] = in
		v.inputs.byValue[string(appendInputs(nil, in))] = in
	}
	return v
}

func (v *vocabulary) token(name string) int32 {
	id, ok := v.tokens[name]
	if !ok {
		id = int32(len(v.tokens))
		v.tokens[name] = id
	}
	return id
}

// input returns the value of the merged trace that equals in.
func (v *vocabulary) input(in *Inputs) *Inputs {
	p, ok := v.shared[in]
	if !ok {
		p = v.inputs.share(*in)
		v.shared[in] = p
	}
	return p
}

func (v *vocabulary) class(k classKey) int32 {
	id, ok := v.classes[k]
	if !ok {
		id = int32(len(v.classes))
		v.classes[k] = id
	}
	return id
}

// kind numbers lists of nodes by what they are.
func (v *vocabulary) kind(nodes []node) int32 {
	var key []byte
	for _, n := range nodes {
		key = binary.AppendVarint(binary.AppendVarint(key, int64(n.class)), int64(n.token))
	}
	id, ok := v.kinds[string(key)]
	if !ok {
		id = int32(len(v.kinds))
		v.kinds[string(key)] = id
	}
	return id
}

// Tokens of copies and fills: the host calls them otherwise than the device.
const (
	copyToken = "\x00copy"
	fillToken = "\x00fill"
)

// event returns the token of a GPU event. ROCm runs small copies and fills as kernels of its own.
func (v *vocabulary) event(g *GPUEvent) int32 {
	switch {
	case g.Kind == Memcpy, strings.HasPrefix(g.Name, "__amd_rocclr_copy"):
		return v.token(copyToken)
	case g.Kind == Memset, strings.HasPrefix(g.Name, "__amd_rocclr_fill"):
		return v.token(fillToken)
	}
	return v.token(g.Name)
}

// captured returns the token of a captured launch.
func (v *vocabulary) captured(l *Launch) int32 {
	switch {
	case l.Kind == LaunchCopy && strings.Contains(strings.ToLower(l.Name), "memset"):
		return v.token(fillToken)
	case l.Kind == LaunchCopy:
		return v.token(copyToken)
	case l.Kernel == "":
		return wild
	}
	return v.token(l.Kernel)
}

// regions finds the graphs that were captured in c: on each thread, what lies between the begin and the end of a capture.
// A capture whose end is missing reaches to the next begin.
func regions(c *Trace, capture int, v *vocabulary) []*region {
	type state struct {
		open  *region
		begun time.Duration
	}
	threads := make([]state, len(c.Threads))
	var list []*region
	var begins []LaunchID
	for i := range c.Launches {
		l := &c.Launches[i]
		s := &threads[l.Thread]
		switch {
		case l.Kind == CaptureBegin:
			s.open, s.begun = &region{capture: capture}, l.End()
			list = append(list, s.open)
			begins = append(begins, LaunchID(i))
		case l.Kind == CaptureEnd:
			s.open = nil
		case s.open != nil && l.GPU == 0 && (l.Kind == LaunchKernel || l.Kind == LaunchCopy):
			n := node{launch: LaunchID(i), op: l.Op, token: v.captured(l)}
			if n.op != None && c.Ops[n.op].Start < s.begun {
				n.op = None
			}
			s.open.nodes = append(s.open.nodes, n)
		}
	}
	full := list[:0]
	learned, around := newLesson(c, v), contexts(c, begins)
	for i, r := range list {
		if len(r.nodes) == 0 {
			continue
		}
		begun := c.Launches[begins[i]].End()
		r.context = around[i]
		r.classify(c, v, begun)
		learned.name(c, r)
		r.kind = v.kind(r.nodes)
		full = append(full, r)
	}
	return full
}

// classify collects the operators of the region and gives its nodes their classes.
func (r *region) classify(c *Trace, v *vocabulary, begun time.Duration) {
	classes := make(map[OpID]int32)
	frames := make(map[FrameID]bool)
	var classOf func(op OpID) int32
	classOf = func(op OpID) int32 {
		if op == None || c.Ops[op].Start < begun {
			return None
		}
		if id, ok := classes[op]; ok {
			return id
		}
		o := &c.Ops[op]
		id := v.class(classKey{parent: classOf(o.Parent), name: o.Name, inputs: v.input(o.Inputs), module: c.modulePath(o.Frame)})
		classes[op] = id
		for f := o.Frame; f != None && !frames[f] && c.Frames[f].Start >= begun; f = c.moduleAbove(f) {
			frames[f] = true
		}
		return id
	}
	for i := range r.nodes {
		n := &r.nodes[i]
		n.class = v.class(classKey{parent: classOf(n.op), launch: "launch"})
	}
	r.ops, r.frames = sortedKeys(classes), sortedKeys(frames)
}

// first returns the region of the first n nodes.
func (r *region) first(c *Trace, v *vocabulary, n int) *region {
	cut := *r
	cut.nodes, cut.kind = r.nodes[:n], v.kind(r.nodes[:n])
	ops := make(map[OpID]bool)
	for _, x := range cut.nodes {
		for op := x.op; op != None && !ops[op]; op = c.Ops[op].Parent {
			if _, inside := slices.BinarySearch(r.ops, op); !inside {
				break
			}
			ops[op] = true
		}
	}
	cut.ops = sortedKeys(ops)
	return &cut
}

// moduleAbove returns the innermost nn.Module frame above f.
func (t *Trace) moduleAbove(f FrameID) FrameID { return t.module(t.Frames[f].Parent) }

// modulePath joins the module names from a frame up.
func (t *Trace) modulePath(f FrameID) string {
	if f == None {
		return ""
	}
	var b strings.Builder
	for ; f != None; f = t.moduleAbove(f) {
		b.WriteString(t.Frames[f].Name)
		b.WriteByte('/')
	}
	return b.String()
}
