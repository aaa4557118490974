package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"

	"github.com/ditlens/ditlens/report"
	"github.com/ditlens/ditlens/trace"
)

// Exit codes.
const (
	exitOK       = 0
	exitInput    = 1
	exitUsage    = 2
	exitEmpty    = 3
	exitUnsteady = 4
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// run is the command without its process: it returns the exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	o, err := parseOptions(args, stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return exitOK
	case err != nil:
		fmt.Fprintln(stderr, "analyze:", err)
		return exitUsage
	}
	t, err := load(ctx, o, stderr)
	if err != nil {
		fmt.Fprintln(stderr, "analyze:", err)
		return exitInput
	}
	r, err := o.analyzer.Analyze(ctx, t)
	if err != nil {
		fmt.Fprintln(stderr, "analyze:", err)
		return exitInput
	}
	if err := write(o, r, t, stdout, stderr); err != nil {
		fmt.Fprintln(stderr, "analyze:", err)
		return exitInput
	}
	for _, f := range r.Trace.Files {
		if f.Truncated {
			fmt.Fprintf(stderr, "analyze: %s ends too early; the report is on what it holds\n", f.Path)
		}
	}
	switch {
	case r.Status == report.StatusEmpty:
		fmt.Fprintln(stderr, "analyze: the trace holds no GPU events; see the diagnostics of the report")
		return exitEmpty
	case o.requireSteady && r.Split.Steady == nil:
		fmt.Fprintln(stderr, "analyze: no steady state was found; see the attempts in the report")
		return exitUnsteady
	}
	return exitOK
}

// write prints analysis.md, or writes all forms into the folder that was asked for.
func write(o *options, r *report.Report, t *trace.Trace, stdout, stderr io.Writer) error {
	if o.pprof != "" {
		if err := writeFile(o.pprof, r.WriteProfile); err != nil {
			return err
		}
	}
	if o.out == "" {
		if o.verbose {
			if err := r.WriteSummary(stderr); err != nil {
				return err
			}
		}
		return r.WriteMarkdown(stdout)
	}
	if err := report.WriteDir(o.out, r); err != nil {
		return err
	}
	if err := writeSteadyState(o.out, r, t); err != nil {
		return err
	}
	if o.verbose {
		return r.WriteSummary(stderr)
	}
	return nil
}
