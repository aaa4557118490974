// Plan says how to record a trace that is worth analysing: what a profiler schedule keeps, and which flags and variables
// a framework needs.
//
//	plan -wait 0 -warmup 2 -active 1 -steps 3
//	plan -framework xdit -checkout ~/xDiT -patches ./patches
//
// It prints and changes nothing else. Exit code 3: the schedule would leave an empty trace.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"

	"github.com/ditlens/ditlens/trace/record"
)

var errEmpty = errors.New("the trace would be empty")

func main() {
	err := run(os.Args[1:], os.Stdout, os.Getenv)
	switch {
	case err == nil, errors.Is(err, flag.ErrHelp):
	case errors.Is(err, errEmpty):
		os.Exit(3)
	default:
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(args []string, out io.Writer, env func(string) string) error {
	var (
		flags     = flag.NewFlagSet("plan", flag.ContinueOnError)
		s         record.Schedule
		w         record.Workload
		framework = flags.String("framework", "xdit", "xdit, vllm, sglang, atom, diffusers or custom")
		checkout  = flags.String("checkout", "", "the framework's git checkout, a `FOLDER`")
		patches   = flags.String("patches", "", "`FOLDER` of patch files")
		steps     = flags.Int("steps", 0, "steps of the profiled loop (default wait + warmup + active)")
	)
	flags.IntVar(&s.Wait, "wait", 1, "idle steps of a cycle")
	flags.IntVar(&s.Warmup, "warmup", 2, "warm-up steps of a cycle")
	flags.IntVar(&s.Active, "active", 1, "recorded steps of a cycle")
	flags.IntVar(&s.Repeat, "repeat", 0, "cycles, 0 for without end")
	flags.IntVar(&s.SkipFirst, "skip-first", 0, "steps before the first cycle")
	flags.BoolVar(&s.SkipFirstWait, "skip-first-wait", false, "leave out the idle steps of the first cycle")
	flags.StringVar(&w.Model, "model", "", "registry name of the model")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *steps == 0 {
		*steps = s.SkipFirst + s.Wait + s.Warmup + s.Active
		if s.SkipFirstWait {
			*steps -= s.Wait
		}
	}
	if err := printPlan(out, *framework, *checkout, *patches, env); err != nil {
		return err
	}
	if err := printWorkload(out, w, env); err != nil {
		return err
	}
	return printSchedule(out, s, *steps)
}

func printPlan(out io.Writer, framework, checkout, patches string, env func(string) string) error {
	f, err := record.ParseFramework(framework)
	if err != nil {
		return err
	}
	request := record.Request{Framework: f, Env: env, Checkout: checkout}
	if patches != "" {
		request.Patches = os.DirFS(patches)
	}
	p, err := record.NewPlan(request)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "framework %s, analysis mode %s, patch %s\n", p.Framework, p.Mode, strings.TrimSpace(string(p.Patch.Status)+" "+p.Patch.File))
	if len(p.Flags) > 0 {
		fmt.Fprintf(out, "add flags: %q\n", p.Flags)
	}
	for _, v := range p.Env {
		fmt.Fprintf(out, "export %s=%s\n", v.Name, quote(v.Value))
	}
	for _, n := range p.Notes {
		fmt.Fprintln(out, "note:", n)
	}
	return nil
}

// quote makes one word of a text for a POSIX shell, which leaves everything between single quotes alone.
func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

func printWorkload(out io.Writer, w record.Workload, env func(string) string) error {
	w, err := record.Describe(w, env)
	if err != nil || len(w.Source) == 0 {
		return err
	}
	fmt.Fprintf(out, "workload: model %q, %d steps, batch %d, %dx%d, %d frames; from %v\n",
		w.Model, w.NumInferenceSteps, w.Batch, w.Height, w.Width, w.Frames, w.Source)
	return nil
}

func printSchedule(out io.Writer, s record.Schedule, n int) error {
	r, err := s.Simulate(n)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "\n%v, %d steps\n", s, n)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "step\taction\tthen\t")
	for _, step := range r.Steps {
		fmt.Fprintf(w, "%d\t%v\t%v\t%v\n", step.Index, step.Action, step.Next, step.Effect)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if len(r.Kept) > 0 {
		fmt.Fprintf(out, "the trace holds steps %v\n", r.Kept)
		return nil
	}
	advice, err := s.Advise(n)
	if err != nil {
		return err
	}
	for _, c := range advice {
		fmt.Fprintf(out, "better: %s keeps steps %v\n", c.Text, c.Kept)
	}
	fmt.Fprintln(out, errEmpty)
	return errEmpty
}
