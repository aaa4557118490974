package main

import (
	"errors"
	"strings"
	"testing"
)

const models = "../../perfmodel/ceiling/testdata/models/"

func TestCeiling(t *testing.T) {
	tests := []struct {
		args []string
		says []string
	}{
		{[]string{models + "sd35_large"}, []string{"4096 + 333 tokens", "AMD Instinct MI300X, achievable", "AMD Instinct MI300X, datasheet", "vae decoder"}},
		{[]string{"-size", "256x256", "-steps", "4", "-v", models + "flux1"}, []string{"256 + 512 tokens, 4 steps", "joint attention"}},
		{[]string{"-hw", "H100", "-type", "fp8", models + "wan22_a14b"}, []string{"81 frames, 75600 + 512 tokens", "videos/sec", "has no achievable figures"}},
		{[]string{models + "sana/transformer/config.json"}, []string{"1024 + 300 tokens", "the denoiser alone"}},
	}
	for _, tt := range tests {
		var out strings.Builder
		if err := run(tt.args, &out); err != nil {
			t.Errorf("%q: %v", tt.args, err)
		}
		for _, says := range tt.says {
			if !strings.Contains(out.String(), says) {
				t.Errorf("%q: %q is not in\n%s", tt.args, says, out.String())
			}
		}
	}
	for _, args := range [][]string{{}, {"-size", "big", models + "flux1"}, {"-guidance", "maybe", models + "flux1"}} {
		if err := run(args, &strings.Builder{}); !errors.Is(err, errUsage) {
			t.Errorf("%q: %v", args, err)
		}
	}
	if err := run([]string{"nowhere"}, &strings.Builder{}); err == nil {
		t.Error("a folder that is not there")
	}
}
