package trace

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// A Capture is a trace that was recorded while graphs were captured: its launches ran nothing, but each has the operator
// that a replay lacks.
type Capture struct {
	Trace     *Trace
	Batch     int  // images a call that it was recorded for, 0 when unknown
	Piecewise bool // its graphs are pieces of one forward, replayed in the order of their capture
}

// CaptureMatch tells how the replays of a trace were matched to captured graphs.
type CaptureMatch struct {
	Replays   int              // graph launches with GPU work in the trace
	Matched   int              // of them, those that a captured graph explains
	Launches  int              // captured launches, over all matched replays
	Paired    int              // of them, those that own a replayed event
	Events    int              // GPU events of all replays
	Unknown   int              // of them, those that have no captured launch
	Unpaired  []UnpairedLaunch // captured launches without an event, alike ones once
	Agreement float64          // share of the events of all replays whose name and order agree with a captured graph
}

// An UnpairedLaunch is a captured launch that no replayed event answers. The last node of a graph is always one on ROCm,
// whose tracer does not report it.
type UnpairedLaunch struct {
	Op     OpID // of the merged trace, in the first such replay; None for a launch outside of operators
	Kernel string
	Count  int // how often: in how many replays, summed over alike launches
}

// A CaptureMismatchError says that captures do not belong to a trace: none of its replays agrees with a graph of theirs.
type CaptureMismatchError struct {
	Files     []string // of the captures
	Graphs    int      // captured graphs found in them
	Replays   int
	Agreement float64 // largest share of a replay and a graph that agrees in name and order, 0 … 1
}

// Error implements error.
func (e *CaptureMismatchError) Error() string {
	files := strings.Join(e.Files, ", ")
	if e.Graphs == 0 {
		return fmt.Sprintf("capture %s: no captured graph in it", files)
	}
	return fmt.Sprintf("capture %s: does not belong to the trace: none of its %d graphs explains one of %d replays, the best agrees to %.1f %%",
		files, e.Graphs, e.Replays, 100*e.Agreement)
}

// MergeCapture returns a Trace in which every event of a graph replay belongs to the operator that launched it when the
// graph was captured. The captures are those recorded while the graphs were built; graphs captured in t itself need none.
// t is not changed.
//
// The operators are copied below the operator of each graph launch, with Captured set, new external ids and the time of
// the launch; the events take over the external ids. Events that cannot be paired for sure keep the operator of the launch.
// Everything else is as in t. It returns a *CaptureMismatchError, and no trace, when captures are given and none explains a
// replay of t. It takes a second or two for a million GPU events.
func MergeCapture(t *Trace, captures ...Capture) (*Trace, *CaptureMatch, error) {
	m := merger{t: t, captures: append(slices.Clone(captures), Capture{Trace: t}), words: newVocabulary(t)}
	m.collect()
	m.choose()
	if len(captures) > 0 && m.match.Replays > 0 && !m.explained() {
		return nil, nil, m.mismatch()
	}
	merged := m.graft()
	m.report(merged)
	return merged, &m.match, nil
}

// LoadCapture reads the capture-phase traces at the given paths: files, or folders of them with an optional
// execution_details.json that tells the batch size and the mode of each. A folder of a run stands for its capture_traces.
func LoadCapture(ctx context.Context, opts LoadOptions, paths ...string) ([]Capture, error) {
	var files []string
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil {
			return nil, err
		}
		if !info.IsDir() {
			files = append(files, path)
			continue
		}
		if sub := filepath.Join(path, captureFolder); isDir(sub) {
			path = sub
		}
		found, err := captureFiles(path)
		if err != nil {
			return nil, err
		}
		files = append(files, found...)
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("%s: no capture trace there", strings.Join(paths, ", "))
	}
	return loadCaptures(ctx, opts, files)
}

// captureFolder is the folder beside a trace that holds its capture-phase traces.
const captureFolder = "capture_traces"

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// FindCapture returns the capture-phase traces that lie beside a trace file, for [LoadCapture]: those in a folder
// capture_traces or with "capture" in their names, of its rank if names tell ranks. It is empty when there are none.
func FindCapture(path string) []string {
	dir := filepath.Dir(path)
	for _, folder := range []string{filepath.Join(dir, captureFolder), dir} {
		files, err := captureFiles(folder)
		if err != nil {
			continue
		}
		files = slices.DeleteFunc(files, func(f string) bool {
			named := strings.Contains(filepath.Base(f), "capture")
			return filepath.Clean(f) == filepath.Clean(path) || folder == dir && !named
		})
		if rank := rankInName(path); rank != -1 {
			files = slices.DeleteFunc(files, func(f string) bool { r := rankInName(f); return r != -1 && r != rank })
		}
		if len(files) > 0 {
			return files
		}
	}
	return nil
}

// captureFiles lists the files of a folder that look like traces, in the order of their names.
func captureFiles(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var files []string
	for _, e := range entries {
		name := e.Name()
		if !e.IsDir() && name != detailsName && strings.Contains(name, ".json") {
			files = append(files, filepath.Join(dir, name))
		}
	}
	return files, nil
}

// loadCaptures reads each file as a capture of its own. A file that holds no trace is left out, unless none does.
func loadCaptures(ctx context.Context, opts LoadOptions, files []string) ([]Capture, error) {
	var list []Capture
	var failed error
	for _, f := range files {
		t, err := Load(ctx, opts, f)
		switch {
		case errors.Is(err, ErrNotTrace):
			failed = cmp.Or(failed, err)
		case err != nil:
			return nil, err
		default:
			c := Capture{Trace: t}
			c.readDetails(f)
			list = append(list, c)
		}
	}
	if len(list) == 0 {
		return nil, failed
	}
	return list, nil
}
