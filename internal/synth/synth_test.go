package synth

import (
	"encoding/json"
	"testing"
)

func TestFluxIsValidJSONAndCountsItself(t *testing.T) {
	r := Flux(FluxConfig{})
	var doc struct {
		TraceEvents []struct {
			Cat, Name string
			Dur       json.Number
		}
	}
	if err := json.Unmarshal(r.JSON(), &doc); err != nil {
		t.Fatal(err)
	}
	count := map[string]int{}
	for _, e := range doc.TraceEvents {
		count[e.Cat]++
	}
	if got := count["kernel"] + count["gpu_memcpy"]; got != r.Answer.GPUEvents {
		t.Errorf("%d GPU events written, %d counted", got, r.Answer.GPUEvents)
	}
	if count["user_annotation"] != 1+1+3*4+1 {
		t.Errorf("%d annotations", count["user_annotation"])
	}
}

func TestSameProgramSameBytes(t *testing.T) {
	a, b := Flux(FluxConfig{Unnamed: true}).JSON(), Flux(FluxConfig{Unnamed: true}).JSON()
	if string(a) != string(b) {
		t.Error("two runs differ")
	}
}
