package trace_test

import (
	"bytes"
	"context"
	"testing"
	"time"

	"github.com/ditlens/ditlens/internal/synth"
	"github.com/ditlens/ditlens/trace"
)

func TestReadKnowsTheSyntheticAnswer(t *testing.T) {
	r := synth.Flux(synth.FluxConfig{})
	tr, err := trace.Read(context.Background(), trace.LoadOptions{Strict: true}, "synthetic", bytes.NewReader(r.JSON()))
	if err != nil {
		t.Fatal(err)
	}
	var sum time.Duration
	for i := range tr.GPU {
		sum += tr.GPU[i].Dur
		if tr.GPU[i].Op == trace.None {
			t.Errorf("%s is not linked", tr.GPU[i].Name)
		}
	}
	if len(tr.GPU) != r.Answer.GPUEvents || sum != r.Answer.GPUTime {
		t.Errorf("%d GPU events of %v, want %d of %v", len(tr.GPU), sum, r.Answer.GPUEvents, r.Answer.GPUTime)
	}
}
