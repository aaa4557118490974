package trace

import (
	"context"
	"errors"
)

// LoadOptions change how files are read. The zero value is right for most callers.
type LoadOptions struct {
	// Strict turns the first fault in a file into a *SyntaxError. By default faults are repaired or skipped, and counted.
	Strict bool
	// Stacks keeps Python frames and module paths. They are most of a file; leave them out unless you show them.
	Stacks bool
	// MaxEvent is the size in bytes of the largest event that is read; longer ones are skipped as damage. 0 means 64 MiB.
	MaxEvent int
	// Progress, if not nil, is called about ten times a second with the bytes read so far and in total (on disk).
	Progress func(done, total int64)
}

// Load reads files, all of one process or run, into one Trace. A file that cannot be opened or that holds no trace is an
// error; damage inside a file is counted in [File] and described in Diagnostics. It stops within 100 ms when ctx ends.
func Load(ctx context.Context, opts LoadOptions, paths ...string) (*Trace, error) {
	return nil, errors.New("not yet")
}

// A Builder makes a Trace of events that come from elsewhere than a file. The zero value is ready. It is for one
// goroutine.
type Builder struct{}
