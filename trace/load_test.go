package trace_test

import (
	"testing"
	"time"

	"github.com/ditlens/ditlens/internal/interval"
	"github.com/ditlens/ditlens/internal/realtraces"
	"github.com/ditlens/ditlens/trace"
)

// load reads a trace and checks its invariants.
func load(tb testing.TB, opts trace.LoadOptions, paths ...string) *trace.Trace {
	tb.Helper()
	t, err := trace.Load(tb.Context(), opts, paths...)
	if err != nil {
		tb.Fatal(err)
	}
	if err := t.Check(); err != nil {
		tb.Fatal(err)
	}
	return t
}

// gpuTime returns the sum and the union of the durations of all GPU events.
func gpuTime(t *trace.Trace) (sum, union time.Duration) {
	busy := make([]interval.Interval, 0, len(t.GPU))
	for i := range t.GPU {
		sum += t.GPU[i].Dur
		busy = append(busy, interval.Interval{Start: t.GPU[i].Start, End: t.GPU[i].End()})
	}
	return sum, interval.Union(busy).Len()
}

func TestLoadRealTraces(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name      string
		gpu       int
		sum       time.Duration
		events    int64
		linkedAll bool
	}{
		{realtraces.SD35, 8066, 712_489_971, 239_093, true},
		{realtraces.Flux, 7866, 201_351_762, 229_459, true},
		{realtraces.FluxCapture, 3128, 0, 215_890, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			tr := loadReal(t, c.name)
			if err := tr.Check(); err != nil {
				t.Error(err)
			}
			sum, _ := gpuTime(tr)
			if len(tr.GPU) != c.gpu || c.sum != 0 && sum != c.sum || tr.Files[0].Events != c.events {
				t.Errorf("%d GPU events, %d ns, %d events; want %d, %d, %d", len(tr.GPU), sum, tr.Files[0].Events, c.gpu, c.sum, c.events)
			}
			for i := range tr.GPU {
				if g := &tr.GPU[i]; g.Launch == trace.None || g.Op == trace.None {
					t.Fatalf("GPU event %d is not linked: %+v", i, *g)
				}
			}
		})
	}
}
