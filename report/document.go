package report

// The parts of a report that Markdown, HTML and the terminal share. A document says each thing once; the writers only
// differ in how they mark it up, so a figure cannot differ between them.

// A document is the report as people read it.
type document struct {
	Sections []section
}

// A section is a heading with text and tables below it.
type section struct {
	ID     string
	Title  string
	Lead   []string // paragraphs before the tables
	Tables []table
	List   []item   // numbered
	Notes  []string // paragraphs after the tables
}

// An item of a list: what in a few words, then the detail.
type item struct {
	Title, Detail string
	Numbers       string // at stake, gain
}

// A table has a title when its section holds several.
type table struct {
	ID      string
	Title   string
	Caption string // what it shows, for those who cannot see it
	Columns []column
	Rows    [][]cell
}

// A column of a table. Numbers stand right.
type column struct {
	Name    string
	Numeric bool
}

// A cell is a text, or a name that is shown as code. Full is the whole name where Text is a shortened one.
type cell struct {
	Text   string
	Detail string // after the text, never part of a name
	Full   string
	Code   bool
	Value  Number // of a numeric cell: what sorting goes by
}

// text makes a cell of words.
func text(s string) cell { return cell{Text: printable(s), Value: unknown} }

// name makes a cell of an operator's or kernel's name.
func name(s string) cell {
	if s == "" {
		return text("(no name)")
	}
	c := cell{Text: readable(s), Code: true, Value: unknown}
	if c.Text != s {
		c.Full = printable(s)
	}
	return c
}

// number makes a numeric cell of a value and how it is shown.
func number(v Number, shown string) cell { return cell{Text: shown, Value: v} }

// whole makes a cell of a count.
func whole(n int) cell { return number(Number(n), count(n)) }

// took makes a cell of a time.
func took(m Micros) cell { return number(Number(m)/1000, duration(m)) }

// columns makes the columns of a table; a name that begins with ">" stands for numbers.
func columns(names ...string) []column {
	var c []column
	for _, n := range names {
		numeric := n[0] == '>'
		if numeric {
			n = n[1:]
		}
		c = append(c, column{Name: n, Numeric: numeric})
	}
	return c
}

// document builds all sections, leaving out what the report knows nothing of.
func (r *Report) document() document {
	sections := []section{
		r.summarySection(), r.signalsSection(), r.ranksSection(), r.phasesSection(), r.topSection(), r.categoriesSection(), r.findingsSection(),
		r.modulationSection(), r.diagnosticsSection(), r.methodSection(),
	}
	var d document
	for _, s := range sections {
		if len(s.Lead)+len(s.Tables)+len(s.List)+len(s.Notes) > 0 {
			d.Sections = append(d.Sections, s)
		}
	}
	return d
}
