package split_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"testing"
	"time"

	"github.com/ditlens/ditlens/internal/realtraces"
	"github.com/ditlens/ditlens/split"
	"github.com/ditlens/ditlens/trace"
)

// without returns the trace without the GPU events that drop names, and the index in t of each that is left. Their launches stay, with nothing launched.
func without(t *trace.Trace, drop func(i int) bool) (c *trace.Trace, left []int) {
	c = copyOf(t)
	c.GPU = nil
	for i := range c.Launches {
		c.Launches[i].GPU = 0
	}
	for i := range t.GPU {
		if drop(i) {
			continue
		}
		c.GPU, left = append(c.GPU, t.GPU[i]), append(left, i)
		if l := t.GPU[i].Launch; l >= 0 {
			c.Launches[l].GPU++
		}
	}
	return c, left
}

// TestDamagedTraces takes parts of the real traces away. What is left of the steps is found as it was, up to the one kernel of a step whose variant depends on
// alignment; a step that lacks an end is not taken for complete. Otherwise nothing is given out.
func TestDamagedTraces(t *testing.T) {
	for _, file := range []string{realtraces.SD35, realtraces.Flux} {
		tr := load(t, file)
		whole, err := split.Autocorrelation{}.Split(t.Context(), &split.Input{Trace: tr})
		if err != nil {
			t.Fatal(err)
		}
		begin, end := tr.GPU[0].Start, tr.GPU[len(tr.GPU)-1].End()
		at := func(share float64) time.Duration { return begin + time.Duration(share*float64(end-begin)) }
		type damage struct {
			name string
			drop func(i int) bool
			cuts bool // what is left of a step lacks an end of it
		}
		var all []damage
		for _, share := range []float64{0.31, 0.45, 0.55, 0.83} {
			early := func(i int) bool { return tr.GPU[i].Start < at(share) }
			late := func(i int) bool { return tr.GPU[i].End() > at(share) }
			both := func(i int) bool { return tr.GPU[i].Start < at(share) || tr.GPU[i].End() > at(0.9) }
			all = append(all, damage{fmt.Sprint("begins at ", share), early, true}, damage{fmt.Sprint("ends at ", share), late, true},
				damage{fmt.Sprint("begins at ", share, " and ends at 0.9"), both, true})
		}
		for step := range int32(4) {
			next := (step + 1) % 4
			all = append(all, damage{fmt.Sprint("lacks step ", step), func(i int) bool { return whole.StepOf[i] == step }, false},
				damage{fmt.Sprint("has steps ", step, " and ", next, " only"), func(i int) bool {
					return whole.StepOf[i] >= 0 && whole.StepOf[i] != step && whole.StepOf[i] != next
				}, false},
				damage{fmt.Sprint("has step ", step, " only"), func(i int) bool { return whole.StepOf[i] >= 0 && whole.StepOf[i] != step }, false})
		}
		for seed := range uint64(3) {
			r := rand.New(rand.NewPCG(seed, 3))
			all = append(all, damage{fmt.Sprint("lacks kernels at random, ", seed), func(int) bool { return r.IntN(20) == 0 }, false})
		}
		for _, d := range all {
			t.Run(filepath.Dir(file)+"/"+d.name, func(t *testing.T) {
				c, left := without(tr, d.drop)
				for _, x := range []*trace.Trace{withoutAnnotations(withoutOps(c)), kernelsOnly(c)} {
					r, err := split.Autocorrelation{}.Split(t.Context(), &split.Input{Trace: x})
					var no *split.NoSteadyStateError
					if errors.As(err, &no) && no.Attempts[0].Message != "" {
						continue
					}
					if err != nil {
						t.Fatal(err)
					}
					asBefore(t, whole, r, left, d.cuts)
				}
			})
		}
	}
}

// asBefore checks the steps of a damaged trace against those of the whole one.
func asBefore(t *testing.T, whole, r *split.Result, left []int, ends bool) {
	t.Helper()
	const variant = 2 // events at the ends of a step
	held := make([]map[int32]int, len(r.Steps))
	for i := range held {
		held[i] = map[int32]int{}
	}
	rest := map[int32]int{}
	for i, k := range left {
		rest[whole.StepOf[k]]++
		if s := r.StepOf[i]; s >= 0 {
			held[s][whole.StepOf[k]]++
		}
	}
	outside := 0
	for i, k := range left {
		if r.StepOf[i] < 0 && whole.StepOf[k] >= 0 {
			outside++
		}
	}
	if outside > variant {
		t.Errorf("%d events of steps are in none", outside)
	}
	for i, h := range held {
		var of int32
		n := 0
		for s, k := range h {
			if k > n {
				of, n = s, k
			}
		}
		if of < 0 || r.Steps[i].Kernels-n > variant || rest[of]-n > variant {
			t.Errorf("step %d holds %v of the events of the steps, want the %d of one", i, h, rest[of])
			continue
		}
		if lacks := whole.Steps[of].Kernels - rest[of]; ends && r.Steps[i].Complete && lacks > 0 {
			t.Errorf("step %d is taken for complete and lacks %d events", i, lacks)
		}
	}
}

// TestTwoStepsAreLeft drops all steps of a real run but two that follow each other: one boundary is all that tells a head from a tail.
func TestTwoStepsAreLeft(t *testing.T) {
	for _, file := range []string{realtraces.SD35, realtraces.Flux} {
		tr := load(t, file)
		all, err := split.Autocorrelation{}.Split(t.Context(), &split.Input{Trace: tr})
		if err != nil {
			t.Fatal(err)
		}
		for first := range int32(len(all.Steps) - 1) {
			c, left := without(tr, func(i int) bool { s := all.StepOf[i]; return s >= 0 && s != first && s != first+1 })
			r, err := split.Autocorrelation{}.Split(t.Context(), &split.Input{Trace: c})
			if err != nil {
				t.Fatal(err)
			}
			for k, i := range left {
				if want := max(-1, all.StepOf[i]-first); r.StepOf[k] != want {
					t.Errorf("%s from step %d on: event %d is in step %d, want %d", file, first, i, r.StepOf[k], want)
				}
			}
		}
	}
}
