package report

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"html"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/ditlens/ditlens/internal/realtraces"
	"github.com/ditlens/ditlens/trace"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// rendered returns what a writer writes.
func rendered(t testing.TB, write func(io.Writer) error) string {
	t.Helper()
	var b bytes.Buffer
	if err := write(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// analysed analyses a shared trace; the test is skipped where there is none.
func analysed(t testing.TB, name string) *Report {
	t.Helper()
	tr, err := trace.Load(context.Background(), trace.LoadOptions{}, realtraces.Path(t, name))
	if err != nil {
		t.Fatal(err)
	}
	r, err := (&Analyzer{}).Analyze(context.Background(), tr)
	if err != nil {
		t.Fatal(err)
	}
	for i := range r.Trace.Files {
		r.Trace.Files[i].Path = filepath.Base(r.Trace.Files[i].Path)
	}
	return r
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v; write it with go test ./report -update", err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
		t.Errorf("%s (-want +got; go test ./report -update accepts it):\n%s", path, diff)
	}
}

func TestMarkdownGolden(t *testing.T) {
	golden(t, "nasty.md", rendered(t, nasty().WriteMarkdown))
	golden(t, "empty.md", rendered(t, empty().WriteMarkdown))
	golden(t, "unmodelled.md", rendered(t, unmodelled().WriteMarkdown))
	golden(t, "nasty.txt", rendered(t, nasty().WriteSummary))
	for _, name := range []string{realtraces.SD35, realtraces.Flux} {
		t.Run(name, func(t *testing.T) {
			r := analysed(t, name)
			md, _, _ := strings.Cut(rendered(t, r.WriteMarkdown), "\n### gemm\n") // the rest is long and of the same kind
			golden(t, filepath.Base(filepath.Dir(name))+".md", md)
		})
	}
}

// writers are all writers by file name.
func writers(r *Report) map[string]func(io.Writer) error {
	return map[string]func(io.Writer) error{
		"analysis.md": r.WriteMarkdown, "report.json": r.WriteJSON, "report.html": r.WriteHTML, "kernel_candidates.json": r.WriteCandidates,
		"kernel_roofline.json": r.WriteKernelRoofline, "diffusion_roofline.json": r.WriteDiffusionRoofline,
		"unified_perf_summary.csv": r.WritePerfSummary, "ops_summary.csv": r.WriteOpsSummary, "gpu_timeline.csv": r.WriteTimeline, "steps.csv": r.WriteSteps,
		"summary.txt": r.WriteSummary,
	}
}

// analyses are the reports of shared traces that were made so far; a Report is read-only.
var analyses sync.Map

// samples are reports of all kinds by name.
func samples(t *testing.T) map[string]*Report {
	s := map[string]*Report{"nasty": nasty(), "empty": empty(), "unmodelled": unmodelled()}
	for _, name := range []string{realtraces.SD35, realtraces.Flux} {
		t.Run("real", func(t *testing.T) {
			r, ok := analyses.Load(name)
			if !ok {
				r, _ = analyses.LoadOrStore(name, analysed(t, name))
			}
			s[name] = r.(*Report)
		})
	}
	return s
}

// TestOutputsAreText checks what must hold for every file of every report: UTF-8, no control characters, no NaN or infinity, and
// the syntax of its kind.
func TestOutputsAreText(t *testing.T) {
	badNumber := regexp.MustCompile(`(?i)(^|[^\w])[+-]?(nan|inf|infinity)([^\w]|$)`)
	for name, r := range samples(t) {
		for file, write := range writers(r) {
			out := rendered(t, write)
			if !utf8.ValidString(out) {
				t.Errorf("%s %s: not UTF-8", name, file)
			}
			if i := strings.IndexFunc(out, func(r rune) bool { return r < ' ' && r != '\n' }); i >= 0 && file != "report.json" {
				t.Errorf("%s %s: control character %q", name, file, out[i])
			}
			if m := badNumber.FindString(out); m != "" && filepath.Ext(file) != ".json" && len(r.Operators) <= len(nastyNames) { // real names may hold "inf"
				t.Errorf("%s %s: holds %q", name, file, m)
			}
			switch filepath.Ext(file) {
			case ".json":
				if !json.Valid([]byte(out)) {
					t.Errorf("%s %s: not JSON", name, file)
				}
				if regexp.MustCompile(`"(operators|findings|diagnostics|hot_kernels|kernels|steps|phases|input_dims)": null`).MatchString(out) {
					t.Errorf("%s %s: a list is null", name, file)
				}
			case ".csv":
				readCSV(t, out)
			}
		}
	}
}

// readCSV returns the rows by column name.
func readCSV(t testing.TB, s string) []map[string]string {
	t.Helper()
	rows, err := csv.NewReader(strings.NewReader(s)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var out []map[string]string
	for _, row := range rows[1:] {
		m := map[string]string{}
		for i, c := range row {
			m[rows[0][i]] = c
		}
		out = append(out, m)
	}
	return out
}

func TestNoFormulaInCSV(t *testing.T) {
	r := nasty()
	for _, row := range readCSV(t, rendered(t, r.WritePerfSummary)) {
		for column, c := range row {
			if _, err := strconv.ParseFloat(c, 64); err != nil && c != "" && strings.ContainsRune("=+-@\t\r", rune(c[0])) {
				t.Errorf("%s: %q is a formula", column, c)
			}
		}
	}
	// Stripping one apostrophe gives the name back, unless it had characters that no text may hold.
	for i, row := range readCSV(t, rendered(t, r.WritePerfSummary)) {
		if got := strings.TrimPrefix(row["name"], "'"); got != printable(r.Operators[i].Name) {
			t.Errorf("name %d reads back as %q, want %q", i, got, r.Operators[i].Name)
		}
	}
}

// unmerged is r with one row an operator in the tables of other tools too.
func unmerged(r *Report) *Report {
	c := *r
	c.Merged = nil
	return &c
}

// TestKernelTimeAddsUp checks that no GPU time is lost between the trace and the tables.
func TestKernelTimeAddsUp(t *testing.T) {
	for name, r := range samples(t) {
		for file, column := range map[string]string{"unified_perf_summary.csv": "Kernel Time (µs)_sum", "ops_summary.csv": "total_direct_kernel_time_sum"} {
			if file == "ops_summary.csv" && r.OperatorTotals == nil {
				continue
			}
			sum := 0.0
			for _, row := range readCSV(t, rendered(t, writers(r)[file])) {
				v, err := strconv.ParseFloat(row[column], 64)
				if err != nil {
					t.Fatal(err)
				}
				sum += v
			}
			if want := float64(r.Trace.GPUTime) / 1000; math.Abs(sum-want) > 0.5 {
				t.Errorf("%s %s: %s adds up to %.3f, want %.3f", name, file, column, sum, want)
			}
		}
	}
}

// TestReferenceColumns checks that files have the columns of the reference tables, in their order.
func TestReferenceColumns(t *testing.T) {
	reference := filepath.Join(filepath.Dir(realtraces.Path(t, realtraces.SD35)), "reference")
	for file, write := range writers(nasty()) {
		text, err := os.ReadFile(filepath.Join(reference, file))
		if err != nil {
			continue // not a file of theirs
		}
		header := func(s string) []string {
			row, err := csv.NewReader(strings.NewReader(s)).Read()
			if err != nil {
				t.Fatal(err)
			}
			return row
		}
		want, got := header(string(text)), header(rendered(t, write))
		if len(got) < len(want) || !slices.Equal(got[:len(want)], want) {
			t.Errorf("%s: columns differ: %s", file, cmp.Diff(want, got))
		}
	}
}

var (
	htmlTable = regexp.MustCompile(`(?s)<table id="top".*?</table>`)
	htmlRow   = regexp.MustCompile(`(?s)<tr>(<td.*?)</tr>`)
	htmlCell  = regexp.MustCompile(`(?s)<td(?: class="n" data-v="([^"]*)")?>(.*?)</td>`)
	htmlTag   = regexp.MustCompile(`<[^>]*>`)
	mdEscape  = regexp.MustCompile("\\\\([\\\\|`\\[\\]*_])")
)

// mdCells splits a row of a Markdown table, as a reader of the table sees it.
func mdCells(line string) []string {
	line = strings.ReplaceAll(line, `\\`, "\x02")
	line = strings.ReplaceAll(line, `\|`, "\x01")
	var out []string
	for _, c := range strings.Split(strings.Trim(line, "|"), " | ") {
		c = strings.TrimSpace(strings.ReplaceAll(strings.ReplaceAll(c, "\x01", "|"), "\x02", `\\`))
		if fence := strings.TrimLeft(c, "`"); len(fence) < len(c) {
			ticks := c[:len(c)-len(fence)]
			code, rest, _ := strings.Cut(fence, ticks)
			if len(ticks) > 1 {
				code, rest, _ = strings.Cut(strings.TrimPrefix(fence, " "), " "+ticks)
			}
			c = code + mdEscape.ReplaceAllString(html.UnescapeString(rest), "$1")
		} else {
			c = mdEscape.ReplaceAllString(html.UnescapeString(c), "$1")
		}
		out = append(out, c)
	}
	return out
}

// TestBL94SameFiguresEverywhere compares the top operators cell by cell: Markdown with HTML as shown, HTML's values with JSON, JSON
// with CSV.
func TestBL94SameFiguresEverywhere(t *testing.T) {
	for name, r := range samples(t) {
		var fromJSON struct {
			Operators []map[string]any `json:"operators"`
		}
		if err := json.Unmarshal([]byte(rendered(t, r.WriteJSON)), &fromJSON); err != nil {
			t.Fatal(err)
		}
		rows := readCSV(t, rendered(t, unmerged(r).WritePerfSummary))
		if len(rows) != len(r.Operators) || len(fromJSON.Operators) != len(r.Operators) {
			t.Fatalf("%s: %d operators, %d in CSV, %d in JSON", name, len(r.Operators), len(rows), len(fromJSON.Operators))
		}
		_, md, found := strings.Cut(rendered(t, r.WriteMarkdown), "## Top Operators\n")
		if found != (len(r.Operators) > 0) {
			t.Fatalf("%s: top operators in Markdown: %v", name, found)
		}
		if !found {
			continue
		}
		md, _, _ = strings.Cut(md, "\n## ")
		lines := strings.Split(md, "\n")[3:]
		shown := htmlRow.FindAllStringSubmatch(htmlTable.FindString(rendered(t, r.WriteHTML)), -1)
		for i := range min(topOperators, len(r.Operators)) {
			page := htmlCell.FindAllStringSubmatch(shown[i][1], -1)
			var texts []string
			for _, c := range page {
				texts = append(texts, strings.TrimSpace(html.UnescapeString(htmlTag.ReplaceAllString(c[2], ""))))
			}
			if diff := cmp.Diff(mdCells(lines[i]), texts); diff != "" {
				t.Errorf("%s: row %d of Markdown and HTML differ:\n%s", name, i, diff)
			}
			op := fromJSON.Operators[i]
			for _, x := range []struct {
				json, csv string
				column    int // of the HTML table
				scale     float64
			}{
				{"kernel_time_us", "Kernel Time (µs)_sum", 2, 1}, {"gpu_percent", "Percentage (%)", 3, 1}, {"efficiency_percent", "", 4, 1},
				{"arithmetic_intensity", "FLOPS/Byte", 5, 1}, {"count", "operation_count", 9, 1}, {"flops", "GFLOPS", -1, 1e9},
				{"bytes", "Data Moved (MB)", -1, 1 << 20}, {"roofline_time_us", "Roofline Time (µs)_first", -1, 1},
			} {
				if x.column >= 0 && !sameNumber(op[x.json], page[x.column][1], 1) {
					t.Errorf("%s: row %d: %s is %v in JSON, %q in HTML", name, i, x.json, op[x.json], page[x.column][1])
				}
				if x.csv != "" && !sameNumber(op[x.json], rows[i][x.csv], x.scale) {
					t.Errorf("%s: row %d: %s is %v in JSON, %q in CSV", name, i, x.json, op[x.json], rows[i][x.csv])
				}
			}
			dims, _ := json.Marshal(op["input_dims"])
			python := strings.NewReplacer(",)", "]", "(", "[", ")", "]", " ", "").Replace(rows[i]["Input Dims"])
			if python == "" {
				python = "[]"
			}
			if string(dims) != python {
				t.Errorf("%s: row %d: input_dims is %s in JSON, %s in CSV", name, i, dims, python)
			}
		}
	}
}

// sameNumber compares a JSON number or null with text that holds it in a larger unit.
func sameNumber(v any, s string, unit float64) bool {
	f, known := v.(float64)
	if !known {
		return s == ""
	}
	got, err := strconv.ParseFloat(s, 64)
	return err == nil && math.Abs(got*unit-f) <= 1e-9*math.Abs(f)
}

func TestJSONReadsBack(t *testing.T) {
	for name, r := range samples(t) {
		wrote := rendered(t, r.WriteJSON)
		got, err := ReadJSON(strings.NewReader(wrote))
		if err != nil {
			t.Fatal(err)
		}
		for file, write := range writers(got) {
			if name == "nasty" && file != "report.json" {
				continue // names that are not UTF-8 cannot come back
			}
			if diff := cmp.Diff(rendered(t, writers(r)[file]), rendered(t, write)); diff != "" {
				t.Errorf("%s: %s differs after report.json was read back:\n%s", name, file, diff)
			}
		}
	}
}

func TestReadJSONErrors(t *testing.T) {
	for _, s := range []string{``, `{`, `[]`, `{"schema_version": "2.0"}`, `{}`, `{"schema_version": "1.0", "status": 3}`} {
		if _, err := ReadJSON(strings.NewReader(s)); err == nil {
			t.Errorf("%s: no error", s)
		}
	}
	if _, err := ReadJSON(strings.NewReader(`{"schema_version": "1.7", "new_field": 1}`)); err != nil {
		t.Errorf("a newer minor version: %v", err)
	}
}

// TestHonestWithoutModels is BL-93: a report with nothing in it says so first.
func TestHonestWithoutModels(t *testing.T) {
	for name, x := range map[string]struct {
		r    *Report
		want string
	}{"empty": {empty(), "0 of 0 kernels modelled"}, "unmodelled": {unmodelled(), "0 of 2 kernels modelled"}} {
		md := rendered(t, x.r.WriteMarkdown)
		first := strings.Join(strings.SplitN(md, "\n", 6)[:5], "\n")
		if !strings.HasPrefix(md, "## Executive Summary\n") || !strings.Contains(first, x.want) {
			t.Errorf("%s begins with:\n%s", name, first)
		}
		if !strings.Contains(rendered(t, x.r.WriteHTML), x.want) || !strings.Contains(rendered(t, x.r.WriteSummary), x.want) {
			t.Errorf("%s: HTML or terminal summary lacks %q", name, x.want)
		}
	}
}

// TestUnmodelledIsRanked is BL-98: an operator without a model is ranked by its time.
func TestUnmodelledIsRanked(t *testing.T) {
	_, md, _ := strings.Cut(rendered(t, nasty().WriteMarkdown), "## Top Operators")
	row := mdCells(strings.Split(md, "\n")[4])
	if row[0] != "1" || row[4] != "n/a" || row[6] != "unmodelled" || row[10] != "n/a" {
		t.Errorf("first row: %q", row)
	}
}

// TestUnits is BL-91: three values with three names.
func TestUnits(t *testing.T) {
	md := rendered(t, nasty().WriteMarkdown)
	for _, want := range []string{"| throughput | 0.500 images/sec; basis: first to last GPU event |", "| latency | 8.000 s per pipeline call, 2.000 s per image |"} {
		if !strings.Contains(md, want) {
			t.Errorf("no row %q", want)
		}
	}
	r := nasty()
	r.ThroughputUnit, r.Throughput.Unit, r.Throughput.FramesPerSec = "videos/sec", "videos/sec", 40.5
	if md := rendered(t, r.WriteMarkdown); !strings.Contains(md, "0.500 videos/sec, 40.5 frames/sec") || !strings.Contains(md, "per video") {
		t.Error("frames/sec or videos missing")
	}
}

// TestDevicesApart is BL-92: devices are told apart and sums are named.
func TestDevicesApart(t *testing.T) {
	r := nasty()
	r.Timeline.PerDevice = []DeviceTimeline{{0, r.Timeline}, {1, r.Timeline}}
	if md := rendered(t, r.WriteMarkdown); !strings.Contains(md, "sums over 2 devices") || !strings.Contains(md, "### Devices") {
		t.Error("devices are not told apart")
	}
}

func TestHTMLIsSelfContained(t *testing.T) {
	for name, r := range samples(t) {
		page := rendered(t, r.WriteHTML)
		if m := regexp.MustCompile(`(?i)(src|href)="(?:[^#"d]|d[^a])[^"]*"|url\(|@import|<link[^>]*stylesheet|https?://[a-z]`).FindString(page); m != "" {
			t.Errorf("%s: refers to %q", name, m)
		}
		if strings.Count(page, "<script") != 1 {
			t.Errorf("%s: a name became a script", name)
		}
		for _, want := range []string{"Content-Security-Policy", `<html lang="en">`, "prefers-color-scheme: dark", "@media print", `scope="col"`, "<caption>", "aria-sort"} {
			if !strings.Contains(page, want) {
				t.Errorf("%s: no %s", name, want)
			}
		}
		if strings.Contains(page, "ZgotmplZ") {
			t.Errorf("%s: the template engine refused a value", name)
		}
	}
	if page := rendered(t, nasty().WriteHTML); strings.Count(page, `class="point`) != len(nastyNames)-2 {
		t.Errorf("%d points, want one for each operator with a finite intensity", strings.Count(page, `class="point`))
	}
}

// TestEverySectionIsOnThePage: the page has an order of its own, and whatever Markdown tells must be in it.
func TestEverySectionIsOnThePage(t *testing.T) {
	for name, r := range samples(t) {
		page := rendered(t, r.WriteHTML)
		for _, s := range r.document().Sections {
			if !strings.Contains(page, fmt.Sprintf(`id="%s"`, s.ID)) {
				t.Errorf("%s: the page has no section %q", name, s.Title)
			}
		}
	}
}

func TestWriteDir(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b")
	r := nasty()
	for range 2 { // a second time over the first
		if err := WriteDir(dir, r); err != nil {
			t.Fatal(err)
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range entries {
		got = append(got, e.Name())
	}
	want := []string{"analysis.md", "diffusion_roofline.json", "gpu_timeline.csv", "kernel_candidates.json", "kernel_roofline.json", "ops_summary.csv",
		"report.html", "report.json", "steps.csv", "unified_perf_summary.csv"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for name, write := range writers(r) {
		if text, err := os.ReadFile(filepath.Join(dir, name)); err == nil && string(text) != rendered(t, write) {
			t.Errorf("%s differs from what its writer writes", name)
		}
	}
	if err := WriteDir(filepath.Join(dir, "report.json"), r); err == nil {
		t.Error("a file in the place of the folder is no error")
	}
}

// TestFailedWriteKeepsFile checks that a file is whole or unchanged.
func TestFailedWriteKeepsFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x")
	if err := os.WriteFile(path, []byte("old"), 0o644); err != nil {
		t.Fatal(err)
	}
	broken := errors.New("broken")
	err := writeFile(path, func(w io.Writer) error { fmt.Fprint(w, "new"); return broken })
	text, _ := os.ReadFile(path)
	entries, _ := os.ReadDir(filepath.Dir(path))
	if !errors.Is(err, broken) || string(text) != "old" || len(entries) != 1 {
		t.Errorf("error %v, file %q, %d files", err, text, len(entries))
	}
}

// failing is a writer that fails after n bytes.
type failing struct{ n int }

var errFull = errors.New("disk full")

func (f *failing) Write(p []byte) (int, error) {
	if f.n -= len(p); f.n < 0 {
		return 0, errFull
	}
	return len(p), nil
}

func TestWritersReportErrors(t *testing.T) {
	r := nasty()
	all := writers(r)
	all["profile"] = r.WriteProfile
	for name, write := range all {
		if err := write(&failing{10}); !errors.Is(err, errFull) {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

func BenchmarkWriters(b *testing.B) {
	r := analysed(b, realtraces.SD35)
	for name, write := range writers(r) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := write(io.Discard); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
