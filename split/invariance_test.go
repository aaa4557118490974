package split_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/ditlens/ditlens/internal/realtraces"
	"github.com/ditlens/ditlens/split"
	"github.com/ditlens/ditlens/trace"
)

// copyOf returns a trace with slices of its own for what the transformations change.
func copyOf(t *trace.Trace) *trace.Trace {
	c := *t
	c.GPU, c.Launches, c.Annotations, c.Ops = slices.Clone(t.GPU), slices.Clone(t.Launches), slices.Clone(t.Annotations), slices.Clone(t.Ops)
	return &c
}

// resort restores the order of GPU events by start.
func resort(t *trace.Trace) *trace.Trace {
	slices.SortStableFunc(t.GPU, func(a, b trace.GPUEvent) int { return cmp.Compare(a.Start, b.Start) })
	return t
}

func withoutAnnotations(t *trace.Trace) *trace.Trace {
	c := copyOf(t)
	c.Annotations = nil
	return c
}

func withoutOps(t *trace.Trace) *trace.Trace {
	c := copyOf(t)
	c.Ops = nil
	for i := range c.GPU {
		c.GPU[i].Op = trace.None
	}
	for i := range c.Launches {
		c.Launches[i].Op = trace.None
	}
	return c
}

func kernelsOnly(t *trace.Trace) *trace.Trace {
	c := copyOf(t)
	c.Ops, c.Launches, c.Annotations, c.Threads = nil, nil, nil, nil
	for i := range c.GPU {
		c.GPU[i].Op, c.GPU[i].Launch = trace.None, trace.None
	}
	return c
}

func renamed(t *trace.Trace) *trace.Trace {
	c := copyOf(t)
	names := map[string]string{}
	for i := range c.GPU {
		n, ok := names[c.GPU[i].Name]
		if !ok {
			n = fmt.Sprintf("kernel_%d", len(names))
			names[c.GPU[i].Name] = n
		}
		c.GPU[i].Name = n
	}
	return c
}

func scaled(t *trace.Trace) *trace.Trace {
	c := copyOf(t)
	base := c.GPU[0].Start
	f := func(x time.Duration) time.Duration { return base + 3*(x-base) }
	for i := range c.GPU {
		c.GPU[i].Start, c.GPU[i].Dur = f(c.GPU[i].Start), 3*c.GPU[i].Dur
	}
	for i := range c.Launches {
		c.Launches[i].Start = f(c.Launches[i].Start)
	}
	for i := range c.Annotations {
		c.Annotations[i].Start, c.Annotations[i].Dur = f(c.Annotations[i].Start), 3*c.Annotations[i].Dur
	}
	return c
}

// noisy adds small kernels of foreign names at random places, 5 % of all.
func noisy(t *trace.Trace) *trace.Trace {
	c := copyOf(t)
	r := rand.New(rand.NewPCG(1, 2))
	for range len(t.GPU) / 20 {
		g := t.GPU[r.IntN(len(t.GPU))]
		g.Name, g.Dur, g.Start, g.Correlation = fmt.Sprintf("stray_%d", r.IntN(20)), 1500*time.Nanosecond, g.Start+g.Dur, 0
		g.Grid, g.Block, g.Kind = [3]uint32{1, 1, 1}, [3]uint32{64, 1, 1}, trace.Kernel
		c.GPU = append(c.GPU, g)
	}
	return resort(c)
}

// onSecondStream adds copies on another stream, without launches, all through the trace.
func onSecondStream(t *trace.Trace) *trace.Trace {
	c := copyOf(t)
	r := rand.New(rand.NewPCG(3, 4))
	end := t.GPU[len(t.GPU)-1].Start
	for at := t.GPU[0].Start; at < end; at += time.Duration(200+r.IntN(2000)) * time.Microsecond {
		c.GPU = append(c.GPU, trace.GPUEvent{Name: "Memcpy HtoD", Start: at, Dur: 20 * time.Microsecond, Stream: 99, Device: t.GPU[0].Device, Kind: trace.Memcpy, Launch: trace.None, Op: trace.None})
	}
	return resort(c)
}

// twice returns the trace followed by itself.
func twice(t *trace.Trace) *trace.Trace {
	c := copyOf(t)
	var end time.Duration
	for i := range t.GPU {
		end = max(end, t.GPU[i].End())
	}
	for i := range t.Launches {
		end = max(end, t.Launches[i].End())
	}
	for i := range t.Annotations {
		end = max(end, t.Annotations[i].End())
	}
	shift := end - t.GPU[0].Start + time.Second
	n := trace.LaunchID(len(t.Launches))
	for _, l := range t.Launches {
		l.Start += shift
		c.Launches = append(c.Launches, l)
	}
	for _, g := range t.GPU {
		g.Start += shift
		if g.Launch >= 0 {
			g.Launch += n
		}
		c.GPU = append(c.GPU, g)
	}
	for _, a := range t.Annotations {
		a.Start += shift
		c.Annotations = append(c.Annotations, a)
	}
	return c
}

// cutAt keeps the events launched before a share of the time.
func cutAt(t *trace.Trace, share float64) *trace.Trace {
	c := copyOf(t)
	first, last := t.GPU[0].Start, t.GPU[len(t.GPU)-1].End()
	limit := first + time.Duration(share*float64(last-first))
	c.GPU = slices.DeleteFunc(c.GPU, func(g trace.GPUEvent) bool { return g.End() > limit })
	return c
}

func TestStepsDoNotDependOnWhatElseIsRecorded(t *testing.T) {
	for _, c := range []struct {
		file string
		mode split.Splitter
	}{
		{realtraces.SD35, split.Autocorrelation{}}, {realtraces.Flux, split.Autocorrelation{}}, {realtraces.SD35, split.Auto{}}, {realtraces.Flux, split.Auto{}},
	} {
		t.Run(filepath.Dir(c.file)+"/"+c.mode.Name(), func(t *testing.T) { doNotDepend(t, load(t, c.file), c.mode) })
	}
}

func doNotDepend(t *testing.T, tr *trace.Trace, mode split.Splitter) {
	want, err := mode.Split(t.Context(), &split.Input{Trace: tr})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name   string
		change func(*trace.Trace) *trace.Trace
	}{
		{"without annotations", withoutAnnotations}, {"without operators", withoutOps}, {"kernels only", kernelsOnly},
		{"renamed", renamed}, {"scaled", scaled},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, err := mode.Split(t.Context(), &split.Input{Trace: c.change(tr)})
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(want.StepOf, r.StepOf) {
				t.Errorf("steps of %v GPU events, want %v, the same ones", kernels(r), kernels(want))
			}
			if d := gocmp.Diff(phases(want), phases(r)); d != "" {
				t.Error(d)
			}
		})
	}
	for _, c := range []struct {
		name   string
		change func(*trace.Trace) *trace.Trace
	}{
		{"with noise", noisy}, {"with a second stream", onSecondStream},
		{"kernels only, with noise", func(t *trace.Trace) *trace.Trace { return noisy(kernelsOnly(t)) }},
		{"kernels only, with a second stream", func(t *trace.Trace) *trace.Trace { return onSecondStream(kernelsOnly(t)) }},
		{"with noise under names of its own", func(t *trace.Trace) *trace.Trace { return noisy(renamed(t)) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			changed := c.change(tr)
			r, err := mode.Split(t.Context(), &split.Input{Trace: changed})
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(want.StepOf, original(tr, changed, r.StepOf)) {
				t.Errorf("steps of %v GPU events; those of the trace itself are not in the same steps as before", kernels(r))
			}
		})
	}
	t.Run("twice", func(t *testing.T) {
		r, err := mode.Split(t.Context(), &split.Input{Trace: twice(tr)})
		if err != nil {
			t.Fatal(err)
		}
		if d := gocmp.Diff(append(kernels(want), kernels(want)...), kernels(r)); d != "" || len(r.Images) != 2 {
			t.Errorf("%d images, steps (-want +got):\n%s", len(r.Images), d)
		}
		p := phases(want)
		for k := range p {
			p[k] *= 2
		}
		if d := gocmp.Diff(p, phases(r)); d != "" {
			t.Error(d)
		}
	})
	t.Run("cut", func(t *testing.T) {
		r, err := mode.Split(t.Context(), &split.Input{Trace: cutAt(tr, 0.7)})
		if err != nil {
			t.Fatal(err)
		}
		n := len(r.Steps)
		if n == 0 || n > 4 || r.Steps[n-1].Complete || !r.Steps[n-2].Complete {
			t.Errorf("steps %v, last complete: %v", kernels(r), r.Steps[n-1].Complete)
		}
		if d := gocmp.Diff(kernels(want)[:n-1], kernels(r)[:n-1]); d != "" {
			t.Error(d)
		}
	})
}

// original returns what is said of the events of a trace in one to which others were added.
func original(tr, changed *trace.Trace, stepOf []int32) (out []int32) {
	k := 0
	for i := range changed.GPU {
		if k < len(tr.GPU) && changed.GPU[i].Start == tr.GPU[k].Start && changed.GPU[i].Dur == tr.GPU[k].Dur {
			out = append(out, stepOf[i])
			k++
		}
	}
	return out
}

// shuffled builds the trace anew from its events in another order.
func shuffled(t *testing.T, tr *trace.Trace) *trace.Trace {
	t.Helper()
	r := rand.New(rand.NewPCG(5, 6))
	var b trace.Builder
	th := b.Thread(0, 1, 1, "")
	for _, i := range r.Perm(len(tr.GPU)) {
		b.GPU(tr.GPU[i])
	}
	for _, i := range r.Perm(len(tr.Launches)) {
		l := tr.Launches[i]
		l.Thread = th
		b.Launch(l)
	}
	out, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestStepsDoNotDependOnTheOrderOfEvents(t *testing.T) {
	for _, file := range []string{realtraces.SD35, realtraces.Flux} {
		tr := load(t, file)
		for _, mode := range []split.Splitter{split.Autocorrelation{}, split.Graph{}, split.Auto{}} {
			if file == realtraces.SD35 && mode == (split.Splitter)(split.Graph{}) {
				continue // it ran without graphs
			}
			want, err := mode.Split(t.Context(), &split.Input{Trace: withoutAnnotations(withoutOps(tr))})
			if err != nil {
				t.Fatal(err)
			}
			t.Run(filepath.Dir(file)+"/"+mode.Name(), func(t *testing.T) {
				got, err := mode.Split(t.Context(), &split.Input{Trace: shuffled(t, tr)})
				if err != nil {
					t.Fatal(err)
				}
				if !slices.Equal(want.StepOf, got.StepOf) {
					t.Errorf("steps of %v GPU events, want %v, the same ones", kernels(got), kernels(want))
				}
				if d := gocmp.Diff(phases(want), phases(got)); d != "" {
					t.Error(d)
				}
			})
		}
	}
}
