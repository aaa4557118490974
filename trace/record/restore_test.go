package record_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ditlens/ditlens/trace/record"
)

func TestOrRestoresWhatWasToldNotWhatWasFound(t *testing.T) {
	earlier := record.Workload{Model: "flux", Batch: 2, NumInferenceSteps: 28, Tensor: 4, Source: map[string]string{
		"model": "option", "batch": record.FromTrace + "marker", "num_inference_steps": "option", "tensor_parallel_degree": record.ExtraXDiTArgs}}
	now := record.Workload{NumInferenceSteps: 50, Source: map[string]string{"num_inference_steps": "option"}}
	want := record.Workload{Model: "flux", NumInferenceSteps: 50, Tensor: 4, Source: map[string]string{"model": "old.json: option",
		"num_inference_steps": "option", "tensor_parallel_degree": "old.json: " + record.ExtraXDiTArgs}}
	if d := cmp.Diff(want, now.Or(earlier, "old.json")); d != "" {
		t.Error(d)
	}
	if len(now.Source) != 1 {
		t.Error("the receiver's sources were changed")
	}
}

func TestDescribeReadsParallelDegrees(t *testing.T) {
	env := map[string]string{record.ExtraXDiTArgs: "--pipefusion_parallel_degree 2 --tensor_parallel_degree=4 --data_parallel_degree 8"}
	w, err := record.Describe(record.Workload{}, func(k string) string { return env[k] })
	if err != nil {
		t.Fatal(err)
	}
	if w.PipeFusion != 2 || w.Tensor != 4 || w.Data != 8 || w.Source["data_parallel_degree"] != record.ExtraXDiTArgs {
		t.Errorf("%+v", w)
	}
}
