package hw

import (
	"fmt"
	"strings"
)

// UnknownError is returned when no spec is shipped for a name. The analysis can go on without: rates are then absolute,
// and no percentage is given.
type UnknownError struct {
	Name string
	Near []string // shipped names that look alike, best first; may be empty
}

// Error implements error. The text tells how to supply a spec.
func (e *UnknownError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "hw: no spec for GPU %q", e.Name)
	if len(e.Near) > 0 {
		fmt.Fprintf(&b, "; nearest: %s", strings.Join(e.Near, ", "))
	}
	b.WriteString("; give one of the shipped names or a JSON spec file (hw.Template, or examples/hardware -template NAME, gives one to start from)")
	return b.String()
}

// MissingError is returned by [Roofline] when the GPU has neither the figure that the work needs nor a neighbour for it.
type MissingError struct {
	GPU     string
	Ceiling Ceiling
	What    string // "fp64 vector peak", "host_link bandwidth"
}

// Error implements error.
func (e *MissingError) Error() string {
	return fmt.Sprintf("hw: %s: no %s %s", e.GPU, e.Ceiling, e.What)
}
