package perfmodel

import (
	"strings"

	"github.com/ditlens/ditlens/trace"
)

// instances makes one instance per owner and one per event without owner, and hands out the events.
func (a *attribution) instances() []Instance {
	var (
		of   = make([]int32, len(a.t.GPU)) // instance of each event
		ofOp = make([]int32, len(a.t.Ops)) // instance of each owning operator, counted from 1
		ops  = make([]trace.OpID, 0, len(a.t.GPU))
	)
	for g := range a.t.GPU {
		o := a.ownerOf(trace.GPUID(g))
		if o != trace.None && ofOp[o] != 0 {
			of[g] = ofOp[o] - 1
			continue
		}
		of[g] = int32(len(ops))
		ops = append(ops, o)
		if o != trace.None {
			ofOp[o] = int32(len(ops))
		}
	}
	list := deal(ops, of)
	a.heads = make([]*heads, len(list))
	for i := range list {
		a.heads[i] = a.fill(&list[i])
	}
	return list
}

// deal makes an instance of each owner and gives it its events, as parts of one array.
func deal(ops []trace.OpID, of []int32) []Instance {
	list := make([]Instance, len(ops))
	sizes := make([]int32, len(ops))
	for _, i := range of {
		sizes[i]++
	}
	events := make([]trace.GPUID, len(of))
	for i := range list {
		list[i].Op = ops[i]
		list[i].GPU, events = events[:0:sizes[i]], events[sizes[i]:]
	}
	for g, i := range of {
		list[i].GPU = append(list[i].GPU, trace.GPUID(g))
	}
	return list
}

// ownerOf returns the operator whose instance gets the event, None when the event stands for itself.
func (a *attribution) ownerOf(g trace.GPUID) trace.OpID {
	o := a.opOf(g)
	if o == trace.None {
		return trace.None
	}
	if a.owner[o] != trace.None {
		return a.owner[o]
	}
	if a.fromGraph(g) && !a.t.Ops[o].Captured || isRegion(&a.t.Ops[o]) {
		return trace.None
	}
	return o
}

// fromGraph reports whether the event was launched by a graph.
func (a *attribution) fromGraph(g trace.GPUID) bool {
	l := a.t.GPU[g].Launch
	return l >= 0 && int(l) < len(a.t.Launches) && a.t.Launches[l].Kind == trace.LaunchGraph
}

// isRegion reports whether an operator is a named range around others' work rather than an operator: it has no namespace
// and was given no tensors. "Torch-Compiled Region: 0/0" and a user's own range are such.
func isRegion(op *trace.Op) bool {
	if strings.Contains(op.Name, "::") && !strings.HasPrefix(op.Name, "autograd::engine::") {
		return false
	}
	if op.Inputs == nil {
		return true
	}
	for i := range op.Inputs.Args {
		if a := &op.Inputs.Args[i]; len(a.Dims) > 0 || len(a.List) > 0 {
			return false
		}
	}
	return len(op.Inputs.Extra) == 0
}

// fill describes an instance that has its events, and returns its sizes if it is an attention.
func (a *attribution) fill(in *Instance) *heads {
	g := in.GPU[0]
	in.File, in.Device = a.t.GPU[g].File, a.t.GPU[g].Device
	for _, o := range in.GPU[1:] {
		if a.t.GPU[o].Dur > a.t.GPU[g].Dur {
			g = o
		}
	}
	if in.Op == trace.None {
		in.Call = a.callOfEvent(g)
	} else {
		in.Call = a.callOf(in.Op, g)
	}
	w := a.lookup(in.Call)
	if said := a.t.GPU[g].Inputs; w.missing != nil && said != nil && len(in.GPU) == 1 {
		in.Call.Inputs = said // all that the operator does is a collective
		w = a.lookup(in.Call)
	}
	in.Model, in.Work, in.Missing = w.model, w.work, w.missing
	switch {
	case in.Op == trace.None:
		if in.Missing != nil && in.Call.Inputs == nil {
			in.Missing = a.noOperator(g)
		}
	case w.wrapper && a.owner[in.Op] != in.Op:
		*in = leftover(in)
	}
	in.Leaf = in.Call.Name
	if l := a.opOf(g); l != trace.None {
		in.Leaf = a.t.Ops[l].Name
	}
	if _, ok := a.joined[g]; ok && in.Missing == nil {
		in.Work.doubt(Estimated, joinedInOrder)
	}
	in.Core = a.core(in)
	if in.Missing != nil {
		return nil
	}
	return w.heads
}

// noOperator says why an event that stands for itself has no shapes.
func (a *attribution) noOperator(g trace.GPUID) error {
	what := "operator: none is recorded for it"
	if o := a.opOf(g); a.fromGraph(g) {
		what = "operator: it was replayed from a graph whose capture is not known"
	} else if o != trace.None {
		what = "operator: only " + a.t.Ops[o].Name + " encloses its launch"
	}
	return &MissingError{Op: a.t.GPU[g].Name, What: what}
}

// leftover describes what a wrapper launched itself beside the operators below it that do its work.
func leftover(in *Instance) Instance {
	left := Instance{Op: in.Op, GPU: in.GPU, File: in.File, Device: in.Device, Call: in.Call}
	left.Work.Category, left.Work.Kind = Classify("", in.Call.Kernel)
	left.Missing = &MissingError{Op: in.Call.Name, What: "work of its own: operators below it do that of its arguments"}
	return left
}

// core returns the events of an instance that do the modelled work, all of them when its kernels do not tell.
func (a *attribution) core(in *Instance) []trace.GPUID {
	if len(in.GPU) == 1 {
		return in.GPU
	}
	helpers := 0
	for _, g := range in.GPU {
		if a.part(in.Work.Category, g) != CorePart {
			helpers++
		}
	}
	if helpers == 0 || helpers == len(in.GPU) {
		return in.GPU
	}
	core := make([]trace.GPUID, 0, len(in.GPU)-helpers)
	for _, g := range in.GPU {
		if a.part(in.Work.Category, g) == CorePart {
			core = append(core, g)
		}
	}
	return core
}

// part is KernelPart of an event, computed once for equal names.
func (a *attribution) part(c Category, g trace.GPUID) Part {
	key := partKey{c, a.t.GPU[g].Name}
	p, ok := a.parts[key]
	if !ok {
		p = KernelPart(c, key.kernel)
		a.parts[key] = p
	}
	return p
}

type partKey struct {
	category Category
	kernel   string
}
