package report

import (
	"fmt"
	"strings"

	"github.com/ditlens/ditlens/trace/record"
)

// recordAgain tells how to record a trace that is not empty. A window that was thrown away leaves no operators behind; the
// commonest schedule that does so stands for the others.
func (in *analysis) recordAgain() []Finding {
	if len(in.trace.GPU) > 0 || len(in.trace.Ops) > 0 {
		return nil
	}
	const steps = 3
	s := record.Schedule{Warmup: 2, Active: 1}
	changes, err := s.Advise(steps)
	if err != nil || len(changes) == 0 {
		return nil
	}
	var ways []string
	for _, c := range changes[:min(2, len(changes))] {
		ways = append(ways, c.Text)
	}
	return []Finding{{Code: "record_again", Title: "The profiler's schedule probably threw the recorded window away",
		Detail: fmt.Sprintf("%s over %d steps, for one, begins a new cycle before the trace is exported and keeps nothing; %s keeps it "+
			"(xDiT: --profile_wait 1).", s, steps, strings.Join(ways, ", or "))}}
}
