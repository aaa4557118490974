package main

import (
	"errors"
	"io"
	"os"
	"path/filepath"

	"github.com/klauspost/compress/gzip"

	"github.com/ditlens/ditlens/report"
	"github.com/ditlens/ditlens/trace"
)

// writeSteadyState writes the steps of the steady state as a trace. Without a steady state it writes all steps, without
// steps nothing.
func writeSteadyState(dir string, r *report.Report, t *trace.Trace) error {
	if len(r.Split.Steps) == 0 {
		return nil
	}
	first, last := 0, len(r.Split.Steps)-1
	if s := r.Split.Steady; s != nil {
		first, last = s.First, s.Last
	}
	var events []trace.GPUID
	for id, step := range r.Result.StepOf {
		if int(step) >= first && int(step) <= last {
			events = append(events, trace.GPUID(id))
		}
	}
	return writeFile(filepath.Join(dir, "steady_state.pt.trace.json.gz"), func(w io.Writer) error {
		z := gzip.NewWriter(w)
		if err := trace.WriteWindow(z, t, events); err != nil {
			return err
		}
		return z.Close()
	})
}

// writeFile writes a file whole or not at all.
func writeFile(path string, write func(io.Writer) error) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	if err := write(f); err != nil {
		f.Close()
		return err
	}
	if err := errors.Join(f.Chmod(0o644), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}
