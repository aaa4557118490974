package record_test

import (
	"fmt"

	"github.com/ditlens/ditlens/trace/record"
)

// Flags are added to what the environment asks for already.
func ExampleNewPlan() {
	environment := map[string]string{"EXTRA_XDIT_ARGS": "--height 1024"}
	plan, err := record.NewPlan(record.Request{
		Framework: record.XDiT,
		Env:       func(name string) string { return environment[name] },
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, v := range plan.Env {
		fmt.Printf("%s=%s\n", v.Name, v.Value)
	}
	// Output:
	// EXTRA_XDIT_ARGS=--height 1024 --profile_wait 1
	// HYPERLOOM_TRACELENS_PATCH_STATUS=not_attempted
	// HYPERLOOM_PROFILE_DEGRADED_REASON=no checkout given
}
