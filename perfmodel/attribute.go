package perfmodel

import "github.com/ditlens/ditlens/trace"

// An Instance is one call of an operator that owns GPU events, or one GPU event that no operator owns. The instances of a
// trace own each GPU event exactly once.
type Instance struct {
	Call    Call
	Op      trace.OpID    // trace.None for a GPU event without operator
	GPU     []trace.GPUID // events it owns, by start
	Core    []trace.GPUID // those that do the modelled work itself; the others are helpers: layout, bias, im2col, fill
	File    int32         // of its first event: index into Trace.Files
	Device  int32         // of its first event
	Leaf    string        // innermost operator that launched the longest event
	Model   string        // name of the model that spoke, "" when none did
	Work    Work          // category is set even when no model spoke
	Missing error         // why there is no Work, nil when there is
}

// Attribute divides the GPU events of a trace among operator calls: each event goes to the outermost operator on its
// path to the root that has a model and whose arguments the model can read, or to its innermost operator when none has.
//
// A wrapper ([Info].Wrapper: aten::linear, aten::conv2d, aten::scaled_dot_product_attention) steps back when an operator
// below it does the same kind of work. Regions that do no work of their own (a compiled region around a
// graph launch) never own an event: such an event stands for itself, under the kernel's name.
//
// The instances are in the order of their first GPU event. A nil registry leaves all of them unmodelled.
func Attribute(t *trace.Trace, models *Registry) []Instance {
	a := attribution{t: t, models: models, answers: make(map[Call]*answer), parts: make(map[partKey]Part), joined: joinCollectives(t)}
	a.collect()
	a.ask()
	a.claim()
	list := a.instances()
	refine(list, a.heads)
	return list
}

// An attribution is the state of one Attribute call. Operators stand before those they enclose, so a backward pass over
// them sees children first and a forward pass sees parents first.
type attribution struct {
	t       *trace.Trace
	models  *Registry
	answers map[Call]*answer
	joined  map[trace.GPUID]trace.OpID // collectives by order
	parts   map[partKey]Part

	longest []trace.GPUID // for each operator the longest event below it, None when there is none
	live    []trace.OpID  // operators with an event below them, ascending
	answer  []*answer     // for each live operator; nil elsewhere
	below   []families    // work that modelled operators strictly below do
	heads   []*heads      // for each instance, nil when it is no attention
	owner   []trace.OpID  // for each live operator the one that owns the events below it, None when nobody claims them
}

// An answer is what the registry says of a call. Equal calls share one.
type answer struct {
	model   string
	wrapper bool // leaves its work to the same work below it
	work    Work
	missing error
	heads   *heads // of an attention
}

// families is a set of the kinds of work that wrappers leave to others.
type families uint8

const (
	gemmFamily families = 1 << iota
	attentionFamily
	convFamily
	otherFamily
)

func familyOf(c Category) families {
	switch c {
	case GEMM:
		return gemmFamily
	case Attention, CrossAttention:
		return attentionFamily
	case Conv:
		return convFamily
	}
	return otherFamily
}

// collect finds for each operator the longest event below it.
func (a *attribution) collect() {
	ops := a.t.Ops
	a.longest = make([]trace.GPUID, len(ops))
	for i := range a.longest {
		a.longest[i] = trace.None
	}
	for g := range a.t.GPU {
		if o := a.opOf(trace.GPUID(g)); o != trace.None {
			a.offer(o, trace.GPUID(g))
		}
	}
	n := 0
	for i := len(ops) - 1; i >= 0; i-- {
		if a.longest[i] == trace.None {
			continue
		}
		n++
		if p := a.parent(trace.OpID(i)); p != trace.None {
			a.offer(p, a.longest[i])
		}
	}
	a.live = make([]trace.OpID, 0, n)
	for i := range ops {
		if a.longest[i] != trace.None {
			a.live = append(a.live, trace.OpID(i))
		}
	}
}

// offer makes g the longest event of an operator if it is. Of equally long ones the first wins.
func (a *attribution) offer(o trace.OpID, g trace.GPUID) {
	best := a.longest[o]
	if best == trace.None {
		a.longest[o] = g
		return
	}
	d, b := a.t.GPU[g].Dur, a.t.GPU[best].Dur
	if d > b || d == b && g < best {
		a.longest[o] = g
	}
}

// opOf returns the innermost operator of an event, None when it is not known.
func (a *attribution) opOf(g trace.GPUID) trace.OpID {
	if o := a.t.GPU[g].Op; o >= 0 && int(o) < len(a.t.Ops) {
		return o
	}
	if o, ok := a.joined[g]; ok {
		return o
	}
	return trace.None
}

// parent returns the enclosing operator. A parent that does not stand before its child is none.
func (a *attribution) parent(o trace.OpID) trace.OpID {
	if p := a.t.Ops[o].Parent; p >= 0 && p < o {
		return p
	}
	return trace.None
}

// ask puts every live operator to the registry, innermost first, and notes what kinds of work are done below each.
func (a *attribution) ask() {
	a.answer = make([]*answer, len(a.t.Ops))
	a.below = make([]families, len(a.t.Ops))
	for i := len(a.live) - 1; i >= 0; i-- {
		o := a.live[i]
		w := a.lookup(a.callOf(o, a.longest[o]))
		a.answer[o] = w
		p := a.parent(o)
		if p == trace.None {
			continue
		}
		a.below[p] |= a.below[o]
		if w.missing == nil {
			a.below[p] |= familyOf(w.work.Category)
		}
	}
}

// claim gives each live operator its owner, outermost first.
func (a *attribution) claim() {
	a.owner = make([]trace.OpID, len(a.t.Ops))
	for _, o := range a.live {
		a.owner[o] = trace.None
		if p := a.parent(o); p != trace.None && a.owner[p] != trace.None {
			a.owner[o] = a.owner[p]
		} else if a.claims(o) {
			a.owner[o] = o
		}
	}
}

// claims reports whether a modelled operator takes what is below it, rather than leave it to the same work further below.
func (a *attribution) claims(o trace.OpID) bool {
	op := &a.t.Ops[o]
	if a.answer[o].missing != nil || isRegion(op) {
		return false
	}
	w := a.answer[o]
	if c := a.callOf(o, a.longest[o]); c.Kind != trace.Kernel {
		// A model of copies answers for any operator around one. Only an operator with a model of its own claims it.
		c.Kind, c.Dir = trace.Kernel, trace.DirUnknown
		if w = a.lookup(c); w.missing != nil {
			return false
		}
	}
	return !w.wrapper || a.below[o]&familyOf(w.work.Category) == 0
}

// callOf describes an operator's call whose longest event is g. A kernel may say more of its collective than the operator
// that is that collective, but nothing of an operator that encloses other work too.
func (a *attribution) callOf(o trace.OpID, g trace.GPUID) Call {
	op := &a.t.Ops[o]
	c := a.callOfEvent(g)
	c.Name = op.Name
	if c.Inputs == nil || !communicates(splitOpName(op.Name)) || op.Inputs != nil && op.Inputs.Extra["Collective name"] != "" {
		c.Inputs = op.Inputs
	}
	return c
}

// callOfEvent describes a GPU event that stands for itself.
func (a *attribution) callOfEvent(g trace.GPUID) Call {
	e := &a.t.GPU[g]
	return Call{Name: e.Name, Inputs: e.Inputs, Kernel: e.Name, Kind: e.Kind, Dir: e.Dir, Bytes: e.Bytes}
}

// lookup returns the registry's answer for a call, computed once for equal calls.
func (a *attribution) lookup(c Call) *answer {
	if w := a.answers[c]; w != nil {
		return w
	}
	w := new(answer)
	asked := c // c stays on the stack when the answer is known
	*w = answerOf(a.models, &asked)
	a.answers[c] = w
	return w
}

func answerOf(models *Registry, c *Call) (w answer) {
	category, kind := Classify(c.Name, c.Kernel)
	w.work.Category, w.work.Kind = category, kind
	var m OpModel
	if models != nil {
		m = models.Lookup(c)
	}
	if m == nil {
		w.missing = &MissingError{Op: c.Name, What: "a model"}
		return w
	}
	info := m.Info()
	work, err := m.Work(c)
	if err != nil {
		if category == Other && info.Category != "" {
			w.work.Category = info.Category
		}
		w.missing = err
		return w
	}
	if work.Bytes == 0 {
		work.Bytes = work.Read + work.Written
	}
	if work.Category == "" {
		work.Category = category
	}
	if work.Kind == "" && work.Category == category {
		work.Kind = kind
	}
	w = answer{model: info.Name, wrapper: info.Wrapper, work: work}
	if m, ok := m.(*attentionModel); ok {
		if h, ok := m.sizes(c); ok {
			w.heads = &h
		}
	}
	return w
}
