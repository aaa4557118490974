package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/ditlens/ditlens/trace"
)

// load reads the trace that was asked for, with its capture traces merged.
func load(ctx context.Context, o *options, stderr io.Writer) (*trace.Trace, error) {
	opts := trace.LoadOptions{Strict: o.strict, Stacks: o.pprof != "", Progress: progress(stderr)} // modules are in the stacks
	if o.path == "" {
		return trace.Read(ctx, opts, "sample.json.gz", bytes.NewReader(sampleTrace))
	}
	if o.capture != "" {
		if _, err := os.Stat(o.capture); err != nil {
			return nil, fmt.Errorf("-capture: %w", err)
		}
	}
	path, err := choose(ctx, o.path, stderr)
	if err != nil {
		return nil, err
	}
	t, err := trace.Load(ctx, opts, path)
	if err != nil {
		return nil, err
	}
	return mergeCaptures(ctx, o, opts, t, path)
}

// choose returns path itself, or the main trace of the lowest rank when it is a folder.
func choose(ctx context.Context, path string, stderr io.Writer) (string, error) {
	info, err := os.Stat(path)
	if err != nil || !info.IsDir() {
		return path, err
	}
	found, err := trace.FindTraces(ctx, path)
	if err != nil {
		return "", err
	}
	var best *trace.Candidate
	for i := range found {
		c := &found[i]
		fmt.Fprintf(stderr, "%s: %s: %s\n", c.Path, c.Role, c.Reason)
		if c.Role == trace.RoleMain && (best == nil || c.Rank < best.Rank) {
			best = c
		}
	}
	if best == nil {
		return "", fmt.Errorf("%s: no trace with GPU events among %d files", path, len(found))
	}
	fmt.Fprintf(stderr, "analysing %s\n", best.Path)
	return best.Path, nil
}

// mergeCaptures gives replayed kernels their operators. A capture that was asked for must belong to the trace; one that was
// merely found beside it is left out, with a diagnostic, when it does not.
func mergeCaptures(ctx context.Context, o *options, opts trace.LoadOptions, t *trace.Trace, path string) (*trace.Trace, error) {
	if !replays(t) {
		if o.capture != "" {
			return withDiagnostic(t, trace.Diagnostic{Code: "capture_unused", Severity: trace.Info, Count: 1,
				Message: "the trace has no graph launches; the capture trace was not read"}), nil
		}
		return t, nil
	}
	paths := []string{o.capture}
	if o.capture == "" {
		paths = trace.FindCapture(path)
	}
	var captures []trace.Capture
	if len(paths) > 0 {
		var err error
		captures, err = trace.LoadCapture(ctx, opts, paths...)
		if err != nil && (o.capture != "" || o.strict || ctx.Err() != nil) {
			return nil, err
		}
		if err != nil {
			return withDiagnostic(t, trace.Diagnostic{Code: "capture_unreadable", Severity: trace.Warning, Count: 1,
				Message: err.Error() + "; it was left out"}), nil
		}
	}
	merged, _, err := trace.MergeCapture(t, captures...)
	var mismatch *trace.CaptureMismatchError
	switch {
	case errors.As(err, &mismatch) && o.capture == "":
		return withDiagnostic(t, trace.Diagnostic{Code: "capture_mismatch", Severity: trace.Warning, Count: 1,
			Message: err.Error() + "; it was left out"}), nil
	case err != nil:
		return nil, err
	}
	for _, c := range captures {
		for _, f := range c.Trace.Files {
			o.analyzer.CapturePaths = append(o.analyzer.CapturePaths, f.Path)
		}
	}
	return merged, nil
}

func replays(t *trace.Trace) bool {
	for i := range t.Launches {
		if t.Launches[i].Kind == trace.LaunchGraph && t.Launches[i].GPU > 0 {
			return true
		}
	}
	return false
}

// withDiagnostic returns t with one diagnostic more; t itself stays as it is.
func withDiagnostic(t *trace.Trace, d trace.Diagnostic) *trace.Trace {
	c := *t
	c.Diagnostics = append(slices.Clone(t.Diagnostics), d)
	return &c
}
