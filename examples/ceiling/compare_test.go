package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ditlens/ditlens/report"
	"github.com/ditlens/ditlens/split"
	"github.com/ditlens/ditlens/trace/record"
)

// The report says how large the images were; twice the work that the model can have done is a warning.
func TestCompare(t *testing.T) {
	for _, tt := range []struct {
		flops int64
		says  string
		warns bool
	}{{10_347_000_000_000, "ratio 1.0", false}, {20_600_000_000_000, "ratio 0.5", true}} {
		r := &report.Report{SchemaVersion: report.SchemaVersion,
			Workload: record.Workload{Width: 256, Height: 256, NumInferenceSteps: 4, Batch: 1, Images: 1},
			Operators: []report.Operator{
				{Phase: string(split.Denoise), Count: 4, FLOPsBy: map[string]int64{"matrix_bf16": tt.flops, "vector_bf16": 1e15}},
				{Phase: string(split.VAEDecode), Count: 1, FLOPsBy: map[string]int64{"matrix_bf16": 1e15}},
			},
		}
		name := filepath.Join(t.TempDir(), "report.json")
		f, err := os.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := r.WriteJSON(f); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		var out strings.Builder
		if err := run([]string{"-report", name, models + "flux1"}, &out); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(out.String(), "256x256, 256 + 512 tokens, 4 steps") || !strings.Contains(out.String(), tt.says) ||
			strings.Contains(out.String(), "warning") != tt.warns {
			t.Errorf("%d FLOPs:\n%s", tt.flops, out.String())
		}
	}
}
