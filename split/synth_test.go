package split_test

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"github.com/ditlens/ditlens/internal/synth"
	"github.com/ditlens/ditlens/split"
	"github.com/ditlens/ditlens/trace"
)

// TestPipelinesWithoutMarkers splits made-up pipelines, whose encoder and denoiser share most of their kernels, by signatures alone.
func TestPipelinesWithoutMarkers(t *testing.T) {
	for _, c := range []synth.FluxConfig{
		{}, {Steps: 2}, {Steps: 3}, {Steps: 8, Single: 6}, {Steps: 28}, {Images: 2}, {Images: 3, Steps: 5}, {Double: 1, Single: 12},
		{Double: 6, Single: 1}, {Double: 19, Single: 38}, {Image: 4096, Text: 256}, {Hidden: 1536, Steps: 20},
	} {
		t.Run(fmt.Sprintf("%+v", c), func(t *testing.T) {
			marked := play(t, c)
			want, err := split.Marker{}.Split(t.Context(), &split.Input{Trace: marked})
			if err != nil {
				t.Fatal(err)
			}
			c.Unnamed = true
			got, err := split.Autocorrelation{}.Split(t.Context(), &split.Input{Trace: play(t, c)})
			if err != nil {
				t.Fatal(err)
			}
			if len(got.Steps) != max(c.Steps, 0)*max(c.Images, 1) && c.Steps > 0 || len(got.Images) != max(c.Images, 1) {
				t.Errorf("%d steps in %d images", len(got.Steps), len(got.Images))
			}
			if !slices.Equal(got.StepOf, want.StepOf) {
				t.Errorf("steps of %v events, want %v, by markers", sizes(got), sizes(want))
			}
			if !slices.Equal(got.PhaseOf, want.PhaseOf) {
				t.Error("phases differ from those by markers")
			}
		})
	}
}

func play(t *testing.T, c synth.FluxConfig) *trace.Trace {
	t.Helper()
	tr, err := trace.Read(t.Context(), trace.LoadOptions{}, "synthetic", bytes.NewReader(synth.Flux(c).JSON()))
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

func sizes(r *split.Result) (n []int) {
	for _, s := range r.Steps {
		n = append(n, s.Kernels)
	}
	return n
}
