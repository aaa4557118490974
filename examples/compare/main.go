// Command compare says what changed between two reports: throughput, phases, steps, categories and operators.
//
//	go run ./examples/compare [-json] BEFORE AFTER
//
// Each argument is a report.json or a folder that holds one. It exits with 0, with 1 when a report cannot be read or both are of
// the same trace, and with 2 for wrong usage.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/ditlens/ditlens/report"
)

func main() {
	asJSON := flag.Bool("json", false, "write JSON instead of Markdown")
	flag.Usage = func() {
		fmt.Fprintf(flag.CommandLine.Output(), "usage: compare [-json] BEFORE AFTER\n\nBEFORE and AFTER are report.json files or folders that hold one.\n\n")
		flag.PrintDefaults()
	}
	flag.Parse()
	if flag.NArg() != 2 {
		flag.Usage()
		os.Exit(2)
	}
	if err := compare(os.Stdout, flag.Arg(0), flag.Arg(1), *asJSON); err != nil {
		fmt.Fprintln(os.Stderr, "compare:", err)
		os.Exit(1)
	}
}

func compare(w io.Writer, before, after string, asJSON bool) error {
	a, err := read(before)
	if err != nil {
		return err
	}
	b, err := read(after)
	if err != nil {
		return err
	}
	c, err := report.Compare(a, b)
	if err != nil {
		return fmt.Errorf("%s and %s: %w", before, after, err)
	}
	if asJSON {
		return c.WriteJSON(w)
	}
	return c.WriteMarkdown(w)
}

// read reads a report.json, or the one of a folder.
func read(path string) (*report.Report, error) {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		path = filepath.Join(path, "report.json")
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	r, err := report.ReadJSON(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return r, nil
}
