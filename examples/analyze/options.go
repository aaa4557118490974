package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/ditlens/ditlens/hw"
	"github.com/ditlens/ditlens/report"
	"github.com/ditlens/ditlens/trace/record"
)

// options are the command's flags, checked.
type options struct {
	path          string // "" for the sample
	out           string
	capture       string
	pprof         string
	rank          int // -1: the lowest of a folder
	strict        bool
	verbose       bool
	requireSteady bool
	analyzer      report.Analyzer
}

func parseOptions(args []string, stderr io.Writer) (*options, error) {
	var o options
	var gpu, ceiling, mode, marker, resolution, restore string
	var stated struct{ steps, batch, frames int }
	fs := flag.NewFlagSet("analyze", flag.ContinueOnError)
	fs.SetOutput(stderr)
	fs.Usage = func() {
		fmt.Fprintln(stderr, "usage: analyze [flags] [TRACE | FOLDER]")
		fs.PrintDefaults()
	}
	fs.StringVar(&o.out, "out", "", "write all reports into `DIR` (default: print analysis.md)")
	fs.StringVar(&gpu, "hw", "", "GPU `NAME` or spec FILE.json (default: the one the trace names)")
	fs.StringVar(&ceiling, "ceiling", "achievable", "figures that percentages refer to: achievable or datasheet")
	fs.StringVar(&mode, "split", "auto", "how to find steps: "+strings.Join(modeNames(), ", "))
	fs.StringVar(&marker, "marker", "", "`REGEXP` of the annotations that mark a step")
	fs.StringVar(&o.capture, "capture", "", "capture-phase trace, `FILE or FOLDER` (default: capture_traces beside the trace)")
	o.rank = -1
	fs.Func("rank", "the rank of a FOLDER to analyse, `N` (default: the lowest); the others are compared with it", o.setRank)
	fs.StringVar(&o.pprof, "pprof", "", "also write GPU time by phase, module, operator and kernel to `FILE`, for go tool pprof")
	fs.IntVar(&stated.steps, "steps", 0, "num_inference_steps of the run, `N`")
	fs.IntVar(&stated.batch, "batch", 0, "images per call, `N`")
	fs.StringVar(&o.analyzer.Workload.Model, "model", "", "`NAME` of the model")
	fs.StringVar(&resolution, "resolution", "", "output size, `HxW`")
	fs.IntVar(&stated.frames, "frames", 0, "frames per video, `N`")
	fs.StringVar(&restore, "workload", "", "take the workload from an earlier `report.json`")
	fs.StringVar(&o.analyzer.WorkloadType, "workload-type", "auto", "auto, diffusion or unknown")
	fs.BoolVar(&o.requireSteady, "require-steady-state", false, "exit 4 when no steady state is found")
	fs.BoolVar(&o.strict, "strict", false, "stop at the first fault in a file")
	fs.BoolVar(&o.verbose, "v", false, "print a summary to standard error")
	if err := fs.Parse(args); err != nil {
		return nil, err
	}
	if fs.NArg() > 1 {
		return nil, fmt.Errorf("one trace or folder at a time, got %q", fs.Args())
	}
	o.path = fs.Arg(0)
	if stated.steps < 0 || stated.batch < 0 || stated.frames < 0 {
		return nil, errors.New("-steps, -batch and -frames must not be negative")
	}
	w := &o.analyzer.Workload
	w.NumInferenceSteps, w.Batch, w.Frames = stated.steps, stated.batch, stated.frames
	return &o, errors.Join(o.setResolution(resolution), o.describeWorkload(), o.restoreWorkload(restore), o.setHardware(gpu, ceiling),
		o.setSplit(mode, marker), checkType(o.analyzer.WorkloadType))
}

// describeWorkload adds what the environment of an xDiT run says of it.
func (o *options) describeWorkload() error {
	w, err := record.Describe(o.analyzer.Workload, os.Getenv)
	if err != nil {
		return err
	}
	o.analyzer.Workload = w
	return nil
}

func (o *options) setRank(s string) error {
	n, err := strconv.ParseUint(s, 10, 31)
	if err != nil {
		return errors.New("want a rank, counted from 0")
	}
	o.rank = int(n)
	return nil
}

func checkType(t string) error {
	switch t {
	case "auto", "diffusion", "unknown":
		return nil
	}
	return fmt.Errorf("-workload-type %q: want auto, diffusion or unknown", t)
}

func (o *options) setResolution(s string) error {
	if s == "" {
		return nil
	}
	var h, w int
	var rest string
	n, _ := fmt.Sscanf(strings.ToLower(s)+" .", "%dx%d %s", &h, &w, &rest)
	if n != 3 || rest != "." || h <= 0 || w <= 0 {
		return fmt.Errorf("-resolution %q: want HxW, as in 1024x1024", s)
	}
	o.analyzer.Workload.Height, o.analyzer.Workload.Width = h, w
	return nil
}

// restoreWorkload takes what an earlier report knew; flags of this call come first.
func (o *options) restoreWorkload(path string) error {
	if path == "" {
		return nil
	}
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("-workload: %w", err)
	}
	defer f.Close()
	r, err := report.ReadJSON(f)
	if err != nil {
		return fmt.Errorf("-workload %s: %w", path, err)
	}
	o.analyzer.Workload = o.analyzer.Workload.Or(r.Workload, path)
	return nil
}

func (o *options) setHardware(gpu, ceiling string) error {
	if err := o.analyzer.Ceiling.UnmarshalText([]byte(ceiling)); err != nil {
		return fmt.Errorf("-ceiling: %w", err)
	}
	if gpu == "" {
		return nil
	}
	if !strings.HasSuffix(gpu, ".json") {
		spec, err := hw.Lookup(gpu)
		if err != nil {
			return fmt.Errorf("-hw: %w", err)
		}
		o.analyzer.Hardware = spec
		return nil
	}
	f, err := os.Open(gpu)
	if err != nil {
		return fmt.Errorf("-hw: %w", err)
	}
	defer f.Close()
	spec, err := hw.ParseSpec(gpu, f)
	if err != nil {
		return fmt.Errorf("-hw: %w", err)
	}
	o.analyzer.Hardware = spec
	return nil
}
