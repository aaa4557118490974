package main

import (
	"strings"
	"testing"
)

func TestCommand(t *testing.T) {
	tests := []struct {
		args []string
		says string
	}{
		{nil, "AMD Instinct MI300X      achievable  708.0"},
		{[]string{"-schema"}, "last_level_cache_bytes"},
		{[]string{"-template", "MI300X"}, `"name": "AMD Instinct MI300X"`},
		{[]string{"-check", "../../hw/data/h200.json"}, "989.4"},
	}
	for _, tt := range tests {
		var out strings.Builder
		if err := run(tt.args, &out); err != nil || !strings.Contains(out.String(), tt.says) {
			t.Errorf("%q: %v\n%s", tt.args, err, out.String())
		}
	}
	if err := run([]string{"-template", "MI999X"}, &strings.Builder{}); err == nil {
		t.Error("a template of an unknown GPU")
	}
}
