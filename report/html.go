package report

import (
	_ "embed"
	"html/template"
	"io"
	"strings"

	"github.com/ditlens/ditlens/perfmodel"
)

//go:embed report.html.tmpl
var pageText string

// longestTable is how many operators report.html shows.
const longestTable = 1000

// pageOrder is the order of the sections in HTML: what to do comes before how it was measured.
var pageOrder = []string{"summary", "findings", "phases", "operators", "categories", "modulation", "signals", "ranks", "diagnostics", "method"}

// WriteHTML writes the report as one page that needs no network: styles, script and drawings are inside, and the page forbids
// requests. Without JavaScript everything can be read; the script sorts and filters tables.
func (r *Report) WriteHTML(w io.Writer) error {
	t, err := template.New("page").Funcs(template.FuncMap{"value": csvNumber, "show": printable}).Parse(pageText)
	if err != nil {
		return err
	}
	return t.Execute(w, r.page())
}

// page is what the template shows.
type page struct {
	Title, Subtitle string
	Tiles           []tile
	Sections        []section
	Roofline        *roofPlot
	Categories      *shareBar
	Steps           *stepChart
	Phases          *phaseChart
}

// A tile is one key figure.
type tile struct{ Label, Value, Unit, Remark string }

func (r *Report) page() page {
	p := page{
		Title: r.title(), Subtitle: r.subtitle(), Tiles: r.tiles(), Roofline: r.roofPlot(), Categories: r.shareBar(), Steps: r.stepChart(),
		Phases: r.phaseChart(),
	}
	sections := map[string]section{}
	for _, s := range r.document().Sections {
		sections[s.ID] = s
	}
	if s, ok := sections["operators"]; ok {
		s.Title, s.Tables, s.Notes = "Operators", []table{r.operatorTable(longestTable)}, []string{operatorLegend}
		s.more(len(r.Operators), longestTable, "operators", "unified_perf_summary.csv")
		sections["operators"] = s
	}
	for _, id := range pageOrder {
		if s, ok := sections[id]; ok {
			p.Sections = append(p.Sections, s)
		}
	}
	return p
}

// title names the run.
func (r *Report) title() string {
	if r.Workload.Model != "" {
		return printable(r.Workload.Model)
	}
	if r.WorkloadType == "" || r.WorkloadType == "unknown" {
		return "GPU trace"
	}
	return strings.ToUpper(r.WorkloadType[:1]) + printable(r.WorkloadType[1:]) + " run"
}

func (r *Report) subtitle() string {
	var parts []string
	for _, s := range []string{r.workloadText(), r.gpuText()} {
		if s != "" {
			parts = append(parts, printable(s))
		}
	}
	if len(r.Trace.Files) > 0 {
		f := r.Trace.Files[0]
		parts = append(parts, printable(f.Path[strings.LastIndexByte(f.Path, '/')+1:]))
	}
	return strings.Join(parts, " · ")
}

// tiles are the figures that are seen first. A figure that is not known has no tile.
func (r *Report) tiles() []tile {
	var out []tile
	add := func(label, shown, remark string) {
		if shown == notAvailable {
			return
		}
		cut := max(0, strings.LastIndexByte(shown, ' '))
		value, unit := shown[:cut], strings.TrimSpace(shown[cut:])
		out = append(out, tile{label, value, unit, remark})
	}
	if t := &r.Throughput; t.Value.Known() {
		add("throughput", t.sign("≤ ")+significant(t.Value)+" "+t.Unit, t.sign("≥ ")+seconds(t.SecondsPerItem)+" per "+r.item())
		add("latency", t.sign("≥ ")+seconds(t.LatencySeconds), "per pipeline call")
	}
	if r.Split.MedianGPUTime > 0 {
		add("step (median)", duration(r.Split.MedianSpan), duration(r.Split.MedianGPUTime)+" of GPU work")
	}
	if t := &r.Timeline; t.Total > 0 {
		add("GPU busy", percent(share(t.Busy, t.Total)), duration(t.Idle)+" idle")
	}
	if t := &r.Roofline; t.Efficiency.Known() {
		add("kernel efficiency", percent(t.Efficiency*100), micros(t.Ideal)+" at the roofline")
	}
	if c := &r.Coverage; c.ModelledPercent.Known() {
		add("coverage", percent(c.ModelledPercent), count(c.ModelledKernels)+" of "+count(c.Kernels)+" kernels")
	}
	return out
}

// hues gives each category its colour, the same in every report; the page's style sheet defines them for light and dark.
var hues = map[perfmodel.Category]string{
	perfmodel.GEMM: "blue", perfmodel.Attention: "orange", perfmodel.CrossAttention: "yellow", perfmodel.Modulation: "purple",
	perfmodel.Norm: "teal", perfmodel.Conv: "green", perfmodel.Elementwise: "pink", perfmodel.Copy: "brown", perfmodel.Memcpy: "brown",
	perfmodel.Communication: "red", perfmodel.Triton: "violet", perfmodel.Quantize: "violet", perfmodel.Rope: "sky",
}

// hue returns the colour of a category, grey for those without one.
func hue(c perfmodel.Category) string {
	if h, ok := hues[c]; ok {
		return h
	}
	return "grey"
}
