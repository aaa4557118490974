package main

import (
	"errors"
	"strings"
	"testing"
)

func TestPlan(t *testing.T) {
	env := func(name string) string {
		return map[string]string{"EXTRA_XDIT_ARGS": "--height 1024 --prompt '$5'", "XDIT_MODEL_NAME": "Flux"}[name]
	}
	var out strings.Builder
	if err := run([]string{"-framework", "xdit"}, &out, env); err != nil {
		t.Fatal(err)
	}
	for _, says := range []string{`EXTRA_XDIT_ARGS='--height 1024 --prompt '\''$5'\'' --profile_wait 1'`, "not_attempted", `model "Flux"`, "the trace holds steps [3]"} {
		if !strings.Contains(out.String(), says) {
			t.Errorf("%q is not in\n%s", says, out.String())
		}
	}
	out.Reset()
	if err := run([]string{"-wait", "0"}, &out, env); !errors.Is(err, errEmpty) || !strings.Contains(out.String(), "better: repeat=1 keeps steps [2]") {
		t.Errorf("%v\n%s", err, out.String())
	}
	if err := run([]string{"-active", "0"}, &out, env); err == nil {
		t.Error("an impossible schedule")
	}
}
