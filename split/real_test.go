package split_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ditlens/ditlens/internal/realtraces"
	"github.com/ditlens/ditlens/split"
	"github.com/ditlens/ditlens/trace"
)

func load(t testing.TB, name string) *trace.Trace {
	t.Helper()
	tr, err := trace.Load(t.Context(), trace.LoadOptions{}, realtraces.Path(t, name))
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

// kernels returns the GPU events of each step.
func kernels(r *split.Result) (n []int) {
	for _, s := range r.Steps {
		n = append(n, s.Kernels)
	}
	return n
}

func phases(r *split.Result) map[split.PhaseName]int {
	m := map[split.PhaseName]int{}
	for _, p := range r.Phases {
		m[p.Name] += p.Kernels
	}
	return m
}

func TestRealTracesHaveFourSteps(t *testing.T) {
	sd := map[split.PhaseName]int{split.TextEncode: 3291, split.Denoise: 4435, split.VAEDecode: 340}
	flux := map[split.PhaseName]int{split.TextEncode: 1216, split.Denoise: 6320, split.VAEDecode: 330}
	for _, c := range []struct {
		file   string
		mode   split.Splitter
		steps  []int
		phases map[split.PhaseName]int
	}{
		{realtraces.SD35, split.Autocorrelation{}, []int{1114, 1107, 1107, 1107}, sd},
		{realtraces.SD35, split.Auto{}, []int{1114, 1107, 1107, 1107}, sd},
		{realtraces.Flux, split.Autocorrelation{}, []int{1580, 1580, 1580, 1580}, flux},
		{realtraces.Flux, split.Graph{}, []int{1580, 1580, 1580, 1580}, flux},
		{realtraces.Flux, split.Auto{}, []int{1580, 1580, 1580, 1580}, flux},
	} {
		t.Run(fmt.Sprintf("%s/%s", filepath.Dir(c.file), c.mode.Name()), func(t *testing.T) {
			r, err := c.mode.Split(t.Context(), &split.Input{Trace: load(t, c.file)})
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(c.steps, kernels(r)); d != "" {
				t.Errorf("GPU events of the steps (-want +got):\n%s", d)
			}
			if d := cmp.Diff(c.phases, phases(r)); d != "" {
				t.Errorf("GPU events of the phases (-want +got):\n%s", d)
			}
			if r.Confidence < 0.8 {
				t.Errorf("confidence %v: %v", r.Confidence, r.Reasons)
			}
		})
	}
}

func TestAutoKeepsTheClaimsOfImageMarkers(t *testing.T) {
	r, err := split.Auto{}.Split(t.Context(), &split.Input{Trace: load(t, realtraces.SD35), Requested: 28})
	if err != nil {
		t.Fatal(err)
	}
	im := r.Images[0]
	im.Start, im.End, im.HostStart, im.HostEnd = 0, 0, 0, 0
	want := split.Image{Batch: 1, Height: 256, Width: 256, Steps: 4, Marker: "execute_diffusion_1_256x256"}
	if d := cmp.Diff(want, im); d != "" {
		t.Error(d)
	}
	found := false
	for _, d := range r.Diagnostics {
		found = found || d.Code == "steps_not_as_requested"
	}
	if !found {
		t.Error("no warning that 28 steps were requested and 4 found")
	}
}

func TestTracesThatAreNotDiffusionHaveNoSteps(t *testing.T) {
	dir := filepath.Join(filepath.Dir(filepath.Dir(realtraces.Path(t, realtraces.SD35))), "other")
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Skip(err)
	}
	for _, e := range entries {
		t.Run(e.Name(), func(t *testing.T) {
			tr, err := trace.Load(t.Context(), trace.LoadOptions{}, filepath.Join(dir, e.Name()))
			if err != nil {
				t.Skip(err)
			}
			_, err = split.Auto{}.Split(t.Context(), &split.Input{Trace: tr})
			var no *split.NoSteadyStateError
			if !errors.As(err, &no) {
				t.Fatalf("error %v, want *NoSteadyStateError", err)
			}
			if no.Result.Method != "none" || len(no.Attempts) < 3 {
				t.Errorf("method %q, %d attempts", no.Result.Method, len(no.Attempts))
			}
			t.Log(err)
			covers(t, tr, no.Result)
		})
	}
}

// covers checks that the phases hold every GPU event once, to the nanosecond.
func covers(t *testing.T, tr *trace.Trace, r *split.Result) {
	t.Helper()
	var want, got time.Duration
	n := 0
	for i := range tr.GPU {
		want += tr.GPU[i].Dur
		if r.PhaseOf[i] == "" {
			t.Fatalf("event %d is in no phase", i)
		}
	}
	for _, p := range r.Phases {
		got += p.GPUTime
		n += p.Kernels
	}
	if got != want || n != len(tr.GPU) {
		t.Errorf("phases hold %d events of %v, want %d of %v", n, got, len(tr.GPU), want)
	}
}
