package trace

import (
	"fmt"

	"github.com/ditlens/ditlens/internal/scan"
)

// ErrNotTrace says that a text is no trace: neither an event array nor an object that holds one.
var ErrNotTrace = scan.ErrNotTrace

// A Damage is one place in a file that could not be read as written: an event that was repaired or skipped. It is a
// record of the [Reader], not an error: reading goes on behind it.
type Damage struct {
	File     string
	Offset   int64  // of the event in the uncompressed text
	Near     string // first bytes of the event, made printable, at most 80
	Cause    string
	Repaired bool // the event was kept in repaired form; false: it was skipped
}

// A SyntaxError is the first fault of a file that is read with Strict set, or a fault that leaves nothing to read.
type SyntaxError struct {
	File   string
	Offset int64  // in the uncompressed text
	Near   string // first bytes of the place, made printable, at most 80
	Err    error  // the cause
}

// Error implements error.
func (e *SyntaxError) Error() string {
	s := fmt.Sprintf("%s: byte %d: %v", e.File, e.Offset, e.Err)
	if e.Near != "" {
		s += fmt.Sprintf(" near %q", e.Near)
	}
	return s
}

// Unwrap returns the cause.
func (e *SyntaxError) Unwrap() error { return e.Err }
