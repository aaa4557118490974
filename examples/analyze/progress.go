package main

import (
	"fmt"
	"io"
	"os"
	"time"
)

// progress returns a callback that draws one line on a terminal, nil when w is none. Reads that are over at once stay silent.
func progress(w io.Writer) func(done, total int64) {
	f, ok := w.(*os.File)
	if !ok {
		return nil
	}
	if info, err := f.Stat(); err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return nil
	}
	begun, shown := time.Now(), false
	return func(done, total int64) {
		if time.Since(begun) < 300*time.Millisecond {
			return
		}
		if done >= total {
			if shown {
				fmt.Fprint(f, "\r\x1b[K")
			}
			return
		}
		shown = true
		fmt.Fprintf(f, "\rreading %3.0f %% of %.0f MB", 100*float64(done)/float64(total), float64(total)/1e6)
	}
}
