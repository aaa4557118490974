package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"

	"github.com/ditlens/ditlens/report"
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
	path, others, err := o.choose(ctx, stderr)
	if err != nil {
		return nil, err
	}
	t, err := trace.Load(ctx, opts, path)
	if err != nil {
		return nil, err
	}
	if t, err = o.loadOthers(ctx, opts, t, others); err != nil {
		return nil, err
	}
	return mergeCaptures(ctx, o, opts, t, path)
}

// choose returns the path that was given, or, when that is a folder, the main trace of the rank that was asked for (the lowest)
// and those of the other ranks.
func (o *options) choose(ctx context.Context, stderr io.Writer) (path string, others []string, err error) {
	info, err := os.Stat(o.path)
	if err == nil && !info.IsDir() && o.rank >= 0 {
		err = errors.New("-rank chooses from a folder")
	}
	if err != nil || !info.IsDir() {
		return o.path, nil, err
	}
	found, err := trace.FindTraces(ctx, o.path)
	if err != nil {
		return "", nil, err
	}
	mains := map[int]string{} // by rank
	for _, c := range found {
		fmt.Fprintf(stderr, "%s: %s: %s\n", c.Path, c.Role, c.Reason)
		if c.Role == trace.RoleMain {
			mains[c.Rank] = c.Path
		}
	}
	ranks := slices.Sorted(maps.Keys(mains))
	if len(ranks) > 1 && ranks[0] < 0 { // unknown is no rank below the others
		ranks = append(ranks[1:], ranks[0])
	}
	if len(ranks) == 0 {
		return "", nil, fmt.Errorf("%s: no trace with GPU events among %d files", o.path, len(found))
	}
	chosen := ranks[0]
	if o.rank >= 0 {
		chosen = o.rank
	}
	path, ok := mains[chosen]
	if !ok {
		return "", nil, fmt.Errorf("%s: no trace of rank %d; there are those of %v", o.path, chosen, ranks)
	}
	for _, r := range ranks {
		if r >= 0 && chosen >= 0 && r != chosen {
			others = append(others, mains[r])
		}
	}
	fmt.Fprintf(stderr, "analysing %s\n", path)
	return path, others, nil
}

// loadOthers reads the other ranks, one after the other, for comparison. One that cannot be read is left out with a diagnostic.
func (o *options) loadOthers(ctx context.Context, opts trace.LoadOptions, t *trace.Trace, paths []string) (*trace.Trace, error) {
	opts.Stacks = false
	if len(paths) > 0 && t.Header.Rank < 0 {
		return withDiagnostic(t, trace.Diagnostic{Code: "rank_unknown", Severity: trace.Warning, Count: 1,
			Message: "the trace holds several ranks or tells none; it was not compared with those of other ranks"}), nil
	}
	for _, path := range paths {
		other, err := trace.Load(ctx, opts, path)
		var r *report.RankTrace
		if err == nil {
			r, err = o.analyzer.Rank(ctx, other)
		}
		switch {
		case err == nil:
			o.analyzer.Others = append(o.analyzer.Others, r)
		case ctx.Err() != nil || o.strict:
			return nil, err
		default:
			t = withDiagnostic(t, trace.Diagnostic{Code: "rank_unreadable", Severity: trace.Warning, Count: 1,
				Message: err.Error() + "; this rank was left out of the comparison"})
		}
	}
	return t, nil
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
