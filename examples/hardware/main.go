// Hardware lists the GPUs that ditlens has specs for, and helps to write one of your own.
//
//	hardware                 the shipped GPUs and their main figures
//	hardware -template NAME  the spec of one, as JSON to start from
//	hardware -schema         the form of the JSON
//	hardware -check FILE     read a spec file and say what is wrong with it
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"text/tabwriter"

	"github.com/ditlens/ditlens/hw"
)

func main() {
	err := run(os.Args[1:], os.Stdout)
	if errors.Is(err, flag.ErrHelp) {
		return
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(args []string, out io.Writer) error {
	flags := flag.NewFlagSet("hardware", flag.ContinueOnError)
	template := flags.String("template", "", "print the JSON spec of the GPU `NAME`")
	schema := flags.Bool("schema", false, "print the form of a spec")
	check := flags.String("check", "", "read the spec `FILE`")
	if err := flags.Parse(args); err != nil {
		return err
	}
	switch {
	case *schema:
		_, err := io.WriteString(out, hw.Schema())
		return err
	case *template != "":
		data, err := hw.Template(*template)
		if err != nil {
			return err
		}
		_, err = out.Write(data)
		return err
	case *check != "":
		return checkSpec(*check, out)
	default:
		return list(hw.All(), out)
	}
}

func checkSpec(name string, out io.Writer) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	s, err := hw.ParseSpec(name, f)
	if err != nil {
		return err
	}
	return list([]*hw.Spec{s}, out)
}

// list prints TFLOP/s and TB/s of both sets; a star marks a figure that stands in for a missing one.
func list(specs []*hw.Spec, out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "GPU\tset\tbf16\tfp8\tint8\tmemory\tknee bf16")
	for _, s := range specs {
		for _, c := range []hw.Ceiling{hw.Achievable, hw.Datasheet} {
			if m := s.Set(c); len(m.Matrix)+len(m.Vector)+len(m.Bandwidth) == 0 {
				continue
			}
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", s.Name(), c, peak(s, c, hw.BF16), peak(s, c, hw.FP8),
				peak(s, c, hw.Int8), memory(s, c), knee(s, c))
		}
	}
	return w.Flush()
}

func peak(s *hw.Spec, c hw.Ceiling, t hw.DType) string {
	f, ok := s.Peak(c, hw.Matrix, t)
	if !ok {
		return "-"
	}
	mark := ""
	if f.Substitute != "" {
		mark = "*"
	}
	return fmt.Sprintf("%.1f%s", f.Value/1e12, mark)
}

func memory(s *hw.Spec, c hw.Ceiling) string {
	f, ok := s.Bandwidth(c, hw.DeviceMemory)
	if !ok {
		return "-"
	}
	return fmt.Sprintf("%.2f", f.Value/1e12)
}

func knee(s *hw.Spec, c hw.Ceiling) string {
	k, ok := hw.Knee(s, c, hw.Matrix, hw.BF16)
	if !ok {
		return "-"
	}
	return fmt.Sprintf("%.1f", k)
}
