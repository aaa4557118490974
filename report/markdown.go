package report

import (
	"bufio"
	"fmt"
	"io"
	"regexp"
	"strings"
)

// WriteMarkdown writes the report for people, as GitHub-flavoured Markdown. It begins with "## Executive Summary", whose
// table has the rows workload_type and throughput_unit for programs that look for them. Long names are shortened.
func (r *Report) WriteMarkdown(w io.Writer) error {
	b := bufio.NewWriter(w)
	for i, s := range r.document().Sections {
		if i > 0 {
			b.WriteString("\n")
		}
		s.markdown(b)
	}
	return b.Flush()
}

func (s *section) markdown(b *bufio.Writer) {
	b.WriteString("## " + s.Title + "\n")
	for _, p := range s.Lead {
		b.WriteString("\n" + mdText(p) + "\n")
	}
	for i := range s.Tables {
		s.Tables[i].markdown(b)
	}
	if len(s.List) > 0 {
		b.WriteString("\n")
	}
	for i, it := range s.List {
		fmt.Fprintf(b, "%d. **%s.**", i+1, mdText(it.Title))
		if it.Detail != "" {
			b.WriteString(" " + mdText(it.Detail))
		}
		if it.Numbers != "" {
			b.WriteString(" (" + mdText(it.Numbers) + ")")
		}
		b.WriteString("\n")
	}
	for _, p := range s.Notes {
		b.WriteString("\n" + mdText(p) + "\n")
	}
}

func (t *table) markdown(b *bufio.Writer) {
	if t.Title != "" {
		b.WriteString("\n### " + mdText(t.Title) + "\n")
	}
	b.WriteString("\n|")
	for _, c := range t.Columns {
		b.WriteString(" " + mdText(c.Name) + " |")
	}
	b.WriteString("\n|")
	for _, c := range t.Columns {
		if c.Numeric {
			b.WriteString("--:|")
		} else {
			b.WriteString("---|")
		}
	}
	b.WriteString("\n")
	for _, row := range t.Rows {
		b.WriteString("|")
		for _, c := range row {
			b.WriteString(" " + c.markdown() + " |")
		}
		b.WriteString("\n")
	}
}

func (c *cell) markdown() string {
	s := mdText(c.Text)
	if c.Code {
		s = mdCode(c.Text)
	}
	if c.Detail != "" {
		s += " " + mdText(c.Detail)
	}
	return s
}

// mdSpecial are the characters that would be markup: underscores and asterisks only where they could open emphasis.
var mdSpecial = regexp.MustCompile("[\\\\|<`\\[\\]&*]|\\b_|_\\b")

// mdText writes text so that Markdown shows it as it is, on one line.
func mdText(s string) string {
	return mdSpecial.ReplaceAllStringFunc(printable(s), func(m string) string {
		switch m {
		case "&":
			return "&amp;"
		case "<":
			return "&lt;"
		default:
			return "\\" + m
		}
	})
}

// mdCode writes a name as a code span inside a table, whatever it holds.
func mdCode(s string) string {
	if s == "" {
		return ""
	}
	s = strings.ReplaceAll(s, "|", "\\|")
	if !strings.Contains(s, "`") {
		return "`" + s + "`"
	}
	fence := "``"
	for strings.Contains(s, fence) {
		fence += "`"
	}
	return fence + " " + s + " " + fence
}
