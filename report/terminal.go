package report

import (
	"bufio"
	"fmt"
	"io"
	"text/tabwriter"
)

// terminalRows is how many operators and findings the terminal summary names.
const terminalRows = 8

// WriteSummary writes the report in one screen of plain text: the key figures, the top operators and the findings.
func (r *Report) WriteSummary(w io.Writer) error {
	b := bufio.NewWriter(w)
	for _, c := range r.caveats() {
		fmt.Fprintln(b, printable(c))
	}
	t := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	for _, row := range r.summaryRows() {
		if row[1] != "" {
			fmt.Fprintf(t, "%s\t%s\n", row[0], printable(row[1]))
		}
	}
	if err := t.Flush(); err != nil {
		return err
	}
	if err := r.terminalOperators(b); err != nil {
		return err
	}
	for i := range r.Findings[:min(terminalRows, len(r.Findings))] {
		f := &r.Findings[i]
		if i == 0 {
			fmt.Fprintln(b)
		}
		fmt.Fprintf(b, "%d. %s\n", i+1, printable(joined(f.Title, f.numbers(r))))
	}
	return b.Flush()
}

func (r *Report) terminalOperators(w io.Writer) error {
	if len(r.Operators) == 0 {
		return nil
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(t, "\ntime\tGPU\tefficiency\tcalls\t  operation\n")
	for i := range r.Operators[:min(terminalRows, len(r.Operators))] {
		o := &r.Operators[i]
		c := o.nameCell()
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t  %s %s\n", duration(o.KernelTime), percent(o.Percent), o.efficiencyCell().Text, count(o.Count), c.Text, c.Detail)
	}
	return t.Flush()
}
