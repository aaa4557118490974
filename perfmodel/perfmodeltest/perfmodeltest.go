// Package perfmodeltest checks a model of one's own against what perfmodel asks of an OpModel. It takes the model and
// calls that it should understand, and reports each broken promise as a test error. It does not judge the figures:
// compare those in the model's own test.
package perfmodeltest

import (
	"errors"
	"reflect"
	"slices"
	"sync"
	"testing"

	"github.com/ditlens/ditlens/perfmodel"
	"github.com/ditlens/ditlens/trace"
)

// Run checks that the model is named and documented; that it understands each call; that its answers are not
// negative, agree in themselves, and give a reason where they are not exact; that asking changes nothing, neither the
// call nor later answers, from any number of goroutines; that it keeps none of the call's slices; and that it answers
// with a *perfmodel.MissingError when shapes were not recorded.
func Run(t testing.TB, m perfmodel.OpModel, calls ...*perfmodel.Call) {
	t.Helper()
	if i := m.Info(); i.Name == "" || i.Doc == "" {
		t.Errorf("Info() = %+v: name and doc must not be empty", i)
	}
	if len(calls) == 0 {
		t.Errorf("no calls given: nothing was checked but the model's name")
	}
	for _, c := range calls {
		first := clone(c)
		w, err := m.Work(first)
		if err != nil {
			t.Errorf("%s: %v", c.Name, err)
			continue
		}
		if !reflect.DeepEqual(first, clone(c)) {
			t.Errorf("%s: Work changed the call", c.Name)
		}
		scribble(first)
		sane(t, c, &w)
		pure(t, m, c, &w)
		missing(t, m, c)
	}
}

// sane checks one answer in itself.
func sane(t testing.TB, c *perfmodel.Call, w *perfmodel.Work) {
	t.Helper()
	for _, k := range w.Compute {
		if k.FLOPs < 0 {
			t.Errorf("%s: negative arithmetic: %+v", c.Name, k)
		}
	}
	if w.Bytes < 0 || w.Read < 0 || w.Written < 0 {
		t.Errorf("%s: negative traffic: %d bytes, %d read, %d written", c.Name, w.Bytes, w.Read, w.Written)
	}
	if w.Bytes != 0 && (w.Read > w.Bytes || w.Written > w.Bytes-w.Read) {
		t.Errorf("%s: %d bytes read and %d written are more than the %d bytes in all", c.Name, w.Read, w.Written,
			w.Bytes)
	}
	if w.Category == "" {
		t.Errorf("%s: no category", c.Name)
	}
	if exact := w.Certainty == perfmodel.Exact; exact != (w.Why == "") {
		t.Errorf("%s: certainty %q with the reason %q: a reason is needed unless exact", c.Name, w.Certainty, w.Why)
	}
}

// pure checks that equal calls give equal answers, in parallel too, although the memory of the first call has been
// overwritten.
func pure(t testing.TB, m perfmodel.OpModel, c *perfmodel.Call, want *perfmodel.Work) {
	t.Helper()
	answers := make([]perfmodel.Work, 4)
	var all sync.WaitGroup
	for i := range answers {
		all.Go(func() { answers[i], _ = m.Work(clone(c)) })
	}
	all.Wait()
	for _, w := range answers {
		if w != *want {
			t.Errorf("%s: an equal call gave another answer after the memory of the first one had changed: %+v, not %+v", c.Name, w, *want)
			return
		}
	}
}

// missing checks that calls without shapes are refused in the way that reports can explain.
func missing(t testing.TB, m perfmodel.OpModel, c *perfmodel.Call) {
	t.Helper()
	unrecorded := &perfmodel.Call{Name: c.Name}
	empty := &perfmodel.Call{Name: c.Name, Inputs: &trace.Inputs{}}
	shapeless := &perfmodel.Call{Name: c.Name}
	if c.Inputs != nil {
		shapeless.Inputs = &trace.Inputs{Args: make([]trace.Arg, len(c.Inputs.Args))}
	}
	for _, bad := range [...]*perfmodel.Call{unrecorded, empty, shapeless} {
		_, err := m.Work(bad)
		if e := (*perfmodel.MissingError)(nil); !errors.As(err, &e) {
			t.Errorf("%s: without recorded shapes the error is %v, want a *perfmodel.MissingError", c.Name, err)
			return
		}
	}
}

// clone copies a call so that it shares no memory with the original.
func clone(c *perfmodel.Call) *perfmodel.Call {
	k := *c
	if c.Inputs != nil {
		in := *c.Inputs
		in.Args = cloneArgs(in.Args)
		if in.Extra != nil {
			in.Extra = make(map[string]string, len(c.Inputs.Extra))
			for key, value := range c.Inputs.Extra {
				in.Extra[key] = value
			}
		}
		k.Inputs = &in
	}
	return &k
}

func cloneArgs(args []trace.Arg) []trace.Arg {
	args = slices.Clone(args)
	for i := range args {
		a := &args[i]
		a.Dims, a.Strides, a.List = slices.Clone(a.Dims), slices.Clone(a.Strides), cloneArgs(a.List)
	}
	return args
}

// scribble overwrites everything that a model could have kept.
func scribble(c *perfmodel.Call) {
	if c.Inputs == nil {
		return
	}
	var spoil func([]trace.Arg)
	spoil = func(args []trace.Arg) {
		for i := range args {
			for k := range args[i].Dims {
				args[i].Dims[k] = 7919
			}
			for k := range args[i].Strides {
				args[i].Strides[k] = 0
			}
			spoil(args[i].List)
			args[i].Type, args[i].Value = "bool", "7919"
		}
	}
	spoil(c.Inputs.Args)
	clear(c.Inputs.Extra)
}
