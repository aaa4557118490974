package report

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"
)

// changeRows is how many operators the Markdown of a comparison names; the JSON has all.
const changeRows = 40

// WriteJSON writes the comparison as indented JSON.
func (c *Comparison) WriteJSON(w io.Writer) error { return writeJSON(w, c) }

// WriteMarkdown writes the comparison for people: the whole run, then phases, steps, categories and the operators that changed.
func (c *Comparison) WriteMarkdown(w io.Writer) error {
	b := bufio.NewWriter(w)
	for i, s := range []section{c.summarySection(), c.changesSection(), c.operatorsSection(), c.inputsSection()} {
		if i > 0 {
			b.WriteString("\n")
		}
		s.markdown(b)
	}
	return b.Flush()
}

func (c *Comparison) summarySection() section {
	s := section{ID: "summary", Title: "Comparison"}
	if len(c.Notes) > 0 {
		s.Lead = []string{"The runs differ in more than speed. " + strings.Join(c.Notes, "; ") + "."}
	}
	t := table{Columns: columns("figure", ">before", ">after", ">change")}
	for _, f := range c.Figures {
		t.Rows = append(t.Rows, []cell{text(f.Name), number(f.Before, f.show(f.Before)), number(f.After, f.show(f.After)), number(f.Percent, signed(f.Percent))})
	}
	s.Tables = []table{t}
	return s
}

// show writes a value of the figure in its unit.
func (f *Figure) show(v Number) string {
	switch f.Unit {
	case "µs":
		return micros(v)
	case "s":
		return seconds(v)
	case "":
		return percent(v * 100)
	}
	if !v.Known() {
		return notAvailable
	}
	return significant(v) + " " + f.Unit
}

// signed writes a change in percent with its sign.
func signed(p Number) string {
	switch {
	case !p.Known():
		return notAvailable
	case p > 0:
		return "+" + percent(p)
	default:
		return percent(p)
	}
}

func (c *Comparison) changesSection() section {
	s := section{ID: "changes", Title: "Where the Time Changed"}
	for _, part := range []struct {
		title string
		rows  []Change
	}{{"Categories", c.Categories}, {"Phases", c.Phases}, {"Steps", c.Steps}} {
		if len(part.rows) == 0 {
			continue
		}
		t := table{Title: part.title, Columns: columns(strings.ToLower(part.title), "state", ">before", ">after", ">difference", ">change")}
		for _, x := range part.rows {
			t.Rows = append(t.Rows, append([]cell{text(x.Name)}, x.cells()...))
		}
		s.Tables = append(s.Tables, t)
	}
	return s
}

// cells shows state and times of a change.
func (c *Change) cells() []cell {
	return []cell{text(c.State), took(c.Before), took(c.After), took(c.Difference), number(c.Percent, signed(c.Percent))}
}

func (c *Comparison) operatorsSection() section {
	s := section{ID: "operators", Title: "Operators"}
	changed := slices.DeleteFunc(slices.Clone(c.Operators), func(x Change) bool { return x.State == ChangeSame })
	s.Lead = []string{fmt.Sprintf("%s of %s operators are new, gone, or changed by %d %% or more.", count(len(changed)), count(len(c.Operators)), sameWithin)}
	if len(changed) == 0 {
		return s
	}
	t := table{Columns: columns("operation", "phase", "state", ">before", ">after", ">difference", ">change", ">calls before", ">calls after",
		">efficiency before", ">efficiency after", "new kernels")}
	for i := range changed[:min(changeRows, len(changed))] {
		x := &changed[i]
		op := name(x.Name)
		op.Detail = x.Shape
		kernels := make([]string, len(x.NewKernels))
		for k, n := range x.NewKernels {
			kernels[k] = readable(n)
		}
		row := append([]cell{op, text(x.Phase)}, x.cells()...)
		t.Rows = append(t.Rows, append(row, whole(x.CallsFrom), whole(x.CallsTo), sharedCell(x.EffFrom), sharedCell(x.EffTo), text(strings.Join(kernels, ", "))))
	}
	s.Tables = []table{t}
	s.more(len(changed), changeRows, "changed operators", "the JSON")
	return s
}

func (c *Comparison) inputsSection() section {
	t := table{Columns: columns("report", "GPU", "ceiling", ">kernels", ">GPU time", "file", "SHA-256")}
	for _, x := range []struct {
		label string
		side  *Side
	}{{"before", &c.Before}, {"after", &c.After}} {
		for _, f := range x.side.Files {
			t.Rows = append(t.Rows, []cell{text(x.label), text(x.side.GPU), text(x.side.Ceiling), whole(x.side.Kernels), took(x.side.GPUTime),
				{Text: printable(f.Path), Code: true}, {Text: f.SHA256, Code: true}})
		}
	}
	return section{ID: "inputs", Title: "Inputs", Tables: []table{t}}
}
