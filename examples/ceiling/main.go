// Ceiling says how fast a diffusion model can be at best, from the configuration files of its folder.
//
//	ceiling -hw MI300X -size 1024x1024 -steps 28 ./FLUX.1-dev
//	ceiling -report out/report.json ./FLUX.1-dev
//
// Sizes are height x width. It prints tokens, FLOPs and bytes, and the time at the roofs of the GPU for each ceiling that the GPU
// has figures for. With the report of a trace it takes size, steps and batch from there, and compares the FLOPs.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"

	"github.com/ditlens/ditlens/hw"
	"github.com/ditlens/ditlens/perfmodel/ceiling"
)

func main() {
	err := run(os.Args[1:], os.Stdout)
	switch {
	case err == nil, errors.Is(err, flag.ErrHelp):
	case errors.Is(err, errUsage):
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	default:
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

var errUsage = errors.New("usage: ceiling [flags] FOLDER|CONFIG.json; ceiling -help lists the flags")

// An asked is what the command line asks for. Zero fields of options leave the model's own.
type asked struct {
	folder, gpu, size, guidance, report string
	options                             ceiling.Options
	verbose                             bool
}

func parse(args []string) (asked, error) {
	var a asked
	o := &a.options
	flags := flag.NewFlagSet("ceiling", flag.ContinueOnError)
	flags.StringVar(&a.gpu, "hw", "MI300X", "GPU `NAME` or a JSON spec file")
	flags.StringVar(&a.size, "size", "", "`HxW` in pixels (default: the model's)")
	flags.Int64Var(&o.Steps, "steps", 0, "denoising steps (default: the model's)")
	flags.Int64Var(&o.Frames, "frames", 0, "frames of a video (default: the model's)")
	flags.Int64Var(&o.Batch, "batch", 0, "images of a call (default: 1)")
	flags.Int64Var(&o.TextTokens, "text", 0, "text tokens (default: the model's)")
	flags.StringVar(&a.guidance, "guidance", "", "on or off: two halves a forward pass (default: the model's)")
	flags.TextVar(&o.Type, "type", hw.BF16, "element `TYPE` of weights and activations")
	flags.BoolVar(&a.verbose, "v", false, "print each operator")
	flags.StringVar(&a.report, "report", "", "report.json `FILE` of a trace to compare with")
	if err := flags.Parse(args); err != nil {
		return a, err
	}
	if flags.NArg() != 1 {
		return a, errUsage
	}
	a.folder = flags.Arg(0)
	switch a.guidance {
	case "", "on", "off":
	default:
		return a, fmt.Errorf("%w: guidance %q is neither on nor off", errUsage, a.guidance)
	}
	return a, parseSize(a.size, o)
}

func run(args []string, out io.Writer) error {
	a, err := parse(args)
	if err != nil {
		return err
	}
	m, err := open(a.folder)
	if err != nil {
		return err
	}
	o := m.Defaults()
	r, err := readReport(a.report, &o)
	if err != nil {
		return err
	}
	a.override(&o)
	spec, err := spec(a.gpu)
	if err != nil {
		return err
	}
	w, err := m.Work(o)
	if err != nil {
		return err
	}
	if err := show(out, m, w, spec, a.verbose); err != nil || r == nil {
		return err
	}
	return compare(out, w, r)
}

// override sets what the command line gives.
func (a *asked) override(o *ceiling.Options) {
	o.Type = a.options.Type
	override(&o.Width, a.options.Width)
	override(&o.Height, a.options.Height)
	override(&o.Batch, a.options.Batch)
	override(&o.Steps, a.options.Steps)
	override(&o.Frames, a.options.Frames)
	override(&o.TextTokens, a.options.TextTokens)
	if a.guidance != "" {
		o.Guided = a.guidance == "on"
	}
}

// open reads a model folder, or a configuration alone.
func open(name string) (*ceiling.Model, error) {
	if !strings.HasSuffix(name, ".json") {
		return ceiling.Open(os.DirFS(name))
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	return ceiling.Parse(name, data)
}

func override(to *int64, value int64) {
	if value != 0 {
		*to = value
	}
}

func parseSize(s string, o *ceiling.Options) error {
	if s == "" {
		return nil
	}
	if _, err := fmt.Sscanf(s, "%dx%d", &o.Height, &o.Width); err != nil {
		return fmt.Errorf("%w: size %q is not HxW", errUsage, s)
	}
	return nil
}

// spec reads a file when the name looks like one.
func spec(name string) (*hw.Spec, error) {
	if !strings.HasSuffix(name, ".json") {
		return hw.Lookup(name)
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return hw.ParseSpec(name, f)
}

func show(out io.Writer, m *ceiling.Model, w *ceiling.Work, spec *hw.Spec, verbose bool) error {
	fmt.Fprintf(out, "%s: %dx%d", m.Class, w.Height, w.Width)
	if w.Frames > 1 {
		fmt.Fprintf(out, ", %d frames", w.Frames)
	}
	fmt.Fprintf(out, ", %d + %d tokens, %d steps, batch %d, guidance %v, %v\n", w.ImageTokens, w.TextTokens, w.Steps, w.Batch, w.Guided, w.Type)
	forward, image := w.Forward(), w.Image()
	item := "image"
	if w.Frames > 1 {
		item = "video"
	}
	fmt.Fprintf(out, "forward %.2f TFLOP, %.2f GB; %s %.2f TFLOP, %.2f GB\n\n",
		float64(forward.FLOPs)/1e12, float64(forward.Bytes)/1e9, item, float64(image.FLOPs)/1e12, float64(image.Bytes)/1e9)
	tab := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tab, "part\tcalls\tTFLOP a call\tlinear\tattention\tconvolution")
	for i := range w.Parts {
		p := &w.Parts[i]
		fmt.Fprintf(tab, "%s\t%d\t%.3f\t%.3f\t%.3f\t%.3f\n", p.Name, p.Calls, float64(p.Call().FLOPs)/1e12,
			float64(p.FLOPs(ceiling.Linear))/1e12, float64(p.FLOPs(ceiling.Attention))/1e12, float64(p.FLOPs(ceiling.Convolution))/1e12)
	}
	if verbose {
		fmt.Fprintln(tab, "\noperator\ttimes\tTFLOP\tMB")
		for _, t := range w.Parts[0].Terms {
			fmt.Fprintf(tab, "%s\t%d\t%.4f\t%.2f\n", t.Name, t.Count, float64(t.FLOPs)/1e12, float64(t.Bytes)/1e6)
		}
	}
	fmt.Fprintf(tab, "\nceiling\tstep\t%s\t%[1]ss/sec\n", item)
	notes, err := times(tab, w, spec)
	if err != nil {
		return err
	}
	if err := tab.Flush(); err != nil {
		return err
	}
	for _, n := range append(m.Notes, notes...) {
		fmt.Fprintln(out, "note:", n)
	}
	return nil
}

// times prints a row for each ceiling that the GPU has figures for.
func times(out io.Writer, w *ceiling.Work, spec *hw.Spec) (notes []string, err error) {
	for _, c := range []hw.Ceiling{hw.Achievable, hw.Datasheet} {
		if used, _, ok := hw.Choose(spec, c); !ok || used != c {
			notes = append(notes, fmt.Sprintf("%s has no %s figures", spec.Name(), c))
			continue
		}
		ideal, err := w.Ideal(spec, c)
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(out, "%s, %s\t%.2f ms\t%.3f s\t%#.3g\n", spec.Name(), c, 1e3*ideal.Step, ideal.Image, ideal.ImagesPerSecond)
		for _, n := range ideal.Notes {
			notes = append(notes, c.String()+": "+n)
		}
	}
	return notes, nil
}
