package trace_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/ditlens/ditlens/trace"
)

// TestNoGoroutineStays: whatever ends a reading, nothing of it runs on.
func TestNoGoroutineStays(t *testing.T) {
	long := "[" + strings.Repeat(python("f")+",", 20_000)
	cut := zstandard(t, long)
	cut = cut[:len(cut)/2]
	soon := func() context.Context {
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		t.Cleanup(cancel)
		return ctx
	}
	before := runtime.NumGoroutine()
	for range 5 {
		for name, r := range map[string]io.Reader{
			"not a trace":  strings.NewReader("x" + long),
			"broken disk":  io.MultiReader(strings.NewReader(long), iotest.ErrReader(errors.New("disk on fire"))),
			"broken zstd":  io.MultiReader(bytes.NewReader(cut), strings.NewReader("xxxx")),
			"broken event": strings.NewReader("[{bad}" + long),
			"endless":      io.MultiReader(strings.NewReader(long), strings.NewReader(strings.Repeat(long, 10))),
		} {
			if _, err := trace.Read(soon(), trace.LoadOptions{Strict: name == "broken event"}, name, r); err == nil && name != "broken zstd" {
				t.Errorf("%s: no error", name)
			}
		}
	}
	for wait := time.Millisecond; runtime.NumGoroutine() > before && wait < time.Second; wait *= 2 {
		time.Sleep(wait) // goroutines of expired contexts end on their own
	}
	if n := runtime.NumGoroutine(); n > before {
		t.Errorf("%d goroutines, %d before", n, before)
	}
}
