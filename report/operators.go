package report

import (
	"fmt"
	"slices"
	"strings"
)

// topSection ranks the operators, with and without a model, by time.
func (r *Report) topSection() section {
	s := section{ID: "operators", Title: "Top Operators"}
	if len(r.Operators) == 0 {
		return s
	}
	s.Tables = []table{r.operatorTable(topOperators)}
	for i := range r.Operators[:min(topOperators, len(r.Operators))] {
		o := &r.Operators[i]
		if o.Efficiency > 100 && len(o.Notes) > 0 {
			s.Notes = append(s.Notes, fmt.Sprintf("Rank %d: %s.", i+1, strings.Join(printables(o.Notes), "; ")))
		}
	}
	s.Notes = append(s.Notes, operatorLegend)
	s.more(len(r.Operators), topOperators, "operators", "unified_perf_summary.csv")
	return s
}

// operatorLegend explains the columns of operator tables.
const operatorLegend = "GPU % is of the sum over all GPU events. Efficiency is roofline time / kernel time over all calls; ≥ and ≤ mark bounds, " +
	"~ marks estimates; the core is without helper kernels such as layout changes. At stake is kernel time - roofline time."

// operatorTable shows the first n operators.
func (r *Report) operatorTable(n int) table {
	t := table{ID: "top", Caption: "Operators by GPU time", Columns: columns(">rank", "operation", ">time", ">GPU %", ">efficiency %", ">AI (FLOP/B)",
		"bound", "category", "kind", ">calls", ">at stake")}
	for i := range r.Operators[:min(n, len(r.Operators))] {
		o := &r.Operators[i]
		t.Rows = append(t.Rows, []cell{whole(i + 1), o.nameCell(), took(o.KernelTime), sharedCell(o.Percent), o.efficiencyCell(),
			number(o.Intensity, significant(o.Intensity)), text(o.Bound), text(string(o.Category)), text(o.Kind), whole(o.Count), o.stakeCell()})
	}
	return t
}

// nameCell shows the operator and the shapes it worked on.
func (o *Operator) nameCell() cell {
	c := name(o.Name)
	c.Detail = o.shape()
	return c
}

// efficiencyCell shows how sure the figure is, and the efficiency of the core kernels where helpers hide it.
func (o *Operator) efficiencyCell() cell {
	c := number(o.Efficiency, percent(o.Efficiency))
	if !o.Efficiency.Known() {
		return c
	}
	c.Text = hedged(certaintySigns[o.Certainty], o.Efficiency)
	if core := percent(o.CoreEfficiency); o.CoreEfficiency.Known() && core != percent(o.Efficiency) {
		c.Detail = "(core " + core + ")"
	}
	return c
}

// certaintySigns precede a figure that is not exact. Less work than assumed would be a lower efficiency.
var certaintySigns = map[string]string{"lower bound": "≥ ", "upper bound": "≤ ", "estimated": "~ "}

// hedged shows a percentage behind a sign or word of its certainty, if there is one. Such a figure takes no second sign: "≥ 0.00 %".
func hedged(sign string, p Number) string {
	switch {
	case sign == "":
		return percent(p)
	case p < 1:
		return sign + percentFine(p)
	}
	return sign + decimals(float64(p), 1) + " %"
}

// stakeCell shows the time above the roof, which only a modelled operator has.
func (o *Operator) stakeCell() cell {
	if !o.Efficiency.Known() {
		return number(unknown, notAvailable)
	}
	return took(o.AtStake)
}

// categoriesSection sums GPU time by category and shows each category's operators.
func (r *Report) categoriesSection() section {
	s := section{ID: "categories", Title: "Categories"}
	if len(r.Coverage.ByCategory) == 0 {
		return s
	}
	t := table{ID: "category-table", Title: "Overview", Caption: "GPU time by category",
		Columns: columns("category", ">calls", ">time", ">GPU %", ">modelled", ">roofline", ">efficiency %")}
	for _, c := range r.Coverage.ByCategory {
		t.Rows = append(t.Rows, []cell{text(string(c.Category)), whole(c.Count), took(c.Time), sharedCell(c.Percent), sharedCell(c.ModelledPercent),
			number(c.Ideal, micros(c.Ideal)), sharedCell(c.Efficiency)})
	}
	s.Tables = []table{t}
	for _, c := range r.Coverage.ByCategory {
		if t := r.categoryTable(c); len(t.Rows) > 0 {
			s.Tables = append(s.Tables, t)
		}
	}
	return s
}

// categoryTable shows the operators of one category in more depth.
func (r *Report) categoryTable(c CategoryCoverage) table {
	t := table{ID: "category-" + slug(string(c.Category)), Title: printable(string(c.Category)),
		Caption: "Operators of category " + printable(string(c.Category)),
		Columns: columns("operation", "phase", ">calls", ">time", ">GPU %", ">per call", ">TFLOP/s", ">TB/s", ">AI (FLOP/B)", "bound", ">efficiency %",
			">at stake", "main kernel")}
	for i := range r.Operators {
		o := &r.Operators[i]
		if o.Category != c.Category {
			continue
		}
		if len(t.Rows) == categoryRows {
			break
		}
		t.Rows = append(t.Rows, []cell{o.nameCell(), text(o.Phase), whole(o.Count), took(o.KernelTime), sharedCell(o.Percent),
			number(o.Time.Mean, micros(o.Time.Mean)), number(o.TFLOPS, significant(o.TFLOPS)), number(o.TBs, significant(o.TBs)),
			number(o.Intensity, significant(o.Intensity)), text(o.Bound), o.efficiencyCell(), o.stakeCell(), o.mainKernel()})
	}
	return t
}

// mainKernel is the kernel in which the operator spends most of its time.
func (o *Operator) mainKernel() cell {
	if len(o.Kernels) == 0 {
		return text("")
	}
	return name(slices.MaxFunc(o.Kernels, func(a, b OperatorKernel) int { return int(a.Time - b.Time) }).Name)
}

// slug makes an identifier for links of a category's name.
func slug(s string) string {
	b := []byte(s)
	for i, c := range b {
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9') {
			b[i] = '-'
		}
	}
	return string(b)
}
