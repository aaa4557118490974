package main

import (
	"flag"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the excerpt in the README anew")

const (
	readme       = "../../README.md"
	excerptBegin = "<!-- excerpt: go run ./examples/analyze -->\n"
	excerptEnd   = "<!-- end of excerpt -->\n"
)

// TestReadmeShowsWhatTheCommandPrints compares the excerpt in the README with the first section of the sample's report.
func TestReadmeShowsWhatTheCommandPrints(t *testing.T) {
	data, err := os.ReadFile(readme)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(data), excerptBegin)
	got, after, ok2 := strings.Cut(rest, excerptEnd)
	if !ok || !ok2 {
		t.Fatal("the README has no excerpt")
	}
	_, out, _ := call(t)
	want := excerpt(out)
	if *update {
		if err := os.WriteFile(readme, []byte(before+excerptBegin+want+excerptEnd+after), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if got != want {
		t.Errorf("the README shows\n%s\nthe command prints\n%s\nrun the test with -update", got, want)
	}
}

// excerpt is the executive summary and the first rows of the operators, quoted.
func excerpt(out string) string {
	_, summary, _ := strings.Cut(out, "## Executive Summary\n")
	summary, _, _ = strings.Cut(summary, "\n## ")
	_, operators, _ := strings.Cut(out, "## Top Operators\n")
	var rows []string
	for line := range strings.Lines(strings.TrimLeft(operators, "\n")) {
		if rows = append(rows, "> "+line); len(rows) == 7 {
			break
		}
	}
	var b strings.Builder
	b.WriteString("> **Executive Summary**\n")
	for line := range strings.Lines(strings.TrimRight(summary, "\n") + "\n") {
		b.WriteString(strings.TrimRight("> "+line, " \n") + "\n")
	}
	b.WriteString(">\n> **Top Operators**\n>\n")
	b.WriteString(strings.Join(rows, ""))
	return b.String()
}
