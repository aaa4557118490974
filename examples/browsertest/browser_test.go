package browsertest

import (
	"context"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	cdplog "github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/ditlens/ditlens/report"
)

// sample is a small report by hand.
func sample() *report.Report {
	nan := report.Number(math.NaN())
	r := &report.Report{
		SchemaVersion: report.SchemaVersion, Status: report.StatusOK, WorkloadType: "diffusion", ThroughputUnit: "images/sec",
		Throughput: report.Throughput{Value: 0.5, Unit: "images/sec", LatencySeconds: 2, SecondsPerItem: 2, FramesPerSec: nan},
		Hardware: report.Hardware{Name: "GPU", Ceiling: "achievable", Bandwidth: 5e12, HostLink: nan,
			Peaks: map[string]report.Peak{"matrix_bf16": {Value: 7e14, Source: "by hand"}}},
		Timeline: report.Timeline{Total: 20e6, Busy: 15e6, Idle: 5e6, Computation: 15e6, BusyRatio: 0.75},
	}
	for i, name := range []string{"aten::mm", `<img src="http://example.invalid/x.png" onerror="throw 1">`, "aten::add", "attn_fwd", "unknown"} {
		o := report.Operator{Name: name, Category: "gemm", Count: 2 + i, KernelTime: report.Micros(5-i) * 1e6, Percent: report.Number(5-i) / 15 * 100,
			FLOPsBy: map[string]int64{"matrix_bf16": 1}, Intensity: report.Number(100 * (i + 1)), TFLOPS: report.Number(300 - 40*i), Bound: "compute", Roof: "compute",
			Efficiency: report.Number([]float64{40, 90, 10, 70, 0}[i]), CoreEfficiency: nan, InputDims: [][]int64{{8, 16}, {16, 32}}}
		if name == "unknown" {
			o.Category, o.Bound, o.Intensity, o.TFLOPS, o.Efficiency = "other", "unmodelled", nan, nan, nan
		}
		r.Operators = append(r.Operators, o)
		r.Trace.GPUTime += o.KernelTime
	}
	for i := range 3 {
		at := report.Micros(i) * 5e6
		r.Split.Steps = append(r.Split.Steps, report.Step{Index: i, Complete: true, Kernels: 5, GPUTime: 4e6, Busy: 4e6, Span: 5e6, Start: at, End: at + 5e6, Roofline: 2000})
	}
	r.Split.Phases = []report.Phase{{Name: "denoise", Kernels: 15, GPUTime: 12e6, Busy: 12e6, End: 15e6}}
	r.Split.Classes = []report.Class{{Name: "full", Steps: 3}}
	return r
}

// A tab is a page in a headless browser and what it did that it should not.
type tab struct {
	context.Context
	url    string
	mu     sync.Mutex
	faults []string
}

func (p *tab) fault(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.faults = append(p.faults, fmt.Sprintf(format, args...))
}

// open opens the sample report after some preparation, which may be nil. The test is skipped where there is no browser.
func open(t *testing.T, prepare func(*tab)) *tab {
	t.Helper()
	path := browser(t)
	file := filepath.Join(t.TempDir(), "report.html")
	f, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := sample().WriteHTML(f); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	options := append(slices.Clone(chromedp.DefaultExecAllocatorOptions[:]), chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.DisableGPU, chromedp.WindowSize(1366, 900))
	allocator, stop := chromedp.NewExecAllocator(context.Background(), options...)
	t.Cleanup(stop)
	limited, cancel := context.WithTimeout(allocator, time.Minute)
	t.Cleanup(cancel)
	p := &tab{url: "file://" + file}
	var closeTab context.CancelFunc
	p.Context, closeTab = chromedp.NewContext(limited, chromedp.WithListener(p.listen))
	t.Cleanup(closeTab)
	call(t, p, network.Enable, network.EnableParams{})
	call(t, p, cdplog.Enable, cdp.Empty{})
	if prepare != nil {
		prepare(p)
	}
	p.do(t, chromedp.Navigate(p.url))
	t.Cleanup(func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		for _, f := range p.faults {
			t.Error(f)
		}
	})
	return p
}

// browser returns the path of a Chromium, or skips the test.
func browser(t *testing.T) string {
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "headless-shell"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Skip("no Chromium on this machine: report.html is not tested in a browser (apt-get install chromium)")
	return ""
}

// listen notes what a page that is whole in itself does not do.
func (p *tab) listen(ev any) {
	switch ev := ev.(type) {
	case *network.EventRequestWillBeSent:
		if u, _, _ := strings.Cut(ev.Request.URL, "#"); u != p.url && !strings.HasPrefix(u, "data:") {
			p.fault("request of %s", ev.Request.URL)
		}
	case *runtime.EventExceptionThrown:
		p.fault("exception: %s", ev.ExceptionDetails.Text)
	case *runtime.EventConsoleAPICalled:
		p.fault("console: %s", ev.Type)
	case *cdplog.EventEntryAdded:
		p.fault("log: %s", ev.Entry.Text)
	}
}

func (p *tab) do(t *testing.T, actions ...chromedp.Action[chromedp.Void]) {
	t.Helper()
	if err := chromedp.Do(p, actions...); err != nil {
		t.Fatal(err)
	}
}

// call runs a command of the browser's protocol.
func call[P, R any](t *testing.T, p *tab, command cdp.Command[P, R], params P) {
	t.Helper()
	if _, err := chromedp.Call(p, command, params); err != nil {
		t.Fatal(err)
	}
}

// eval returns the value of a script.
func eval[T any](t *testing.T, p *tab, script string) (v T) {
	t.Helper()
	v, err := chromedp.Run(p, chromedp.Evaluate[T](script))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestDrawingsAreVisible(t *testing.T) {
	p := open(t, nil)
	for selector, want := range map[string]int{"#roofline circle.point": 4, "#roofline line.roof": 2, "#phases svg rect": 2 + 3 + 6, "#phases circle.outlier": 0} {
		if got := eval[int](t, p, fmt.Sprintf("document.querySelectorAll(%q).length", selector)); got != want {
			t.Errorf("%d of %s, want %d", got, selector, want)
		}
	}
	for _, svg := range []string{"#roofline svg", "#phases svg"} {
		if !eval[bool](t, p, fmt.Sprintf("(r => r.width > 600 && r.height > 60)(document.querySelector(%q).getBoundingClientRect())", svg)) {
			t.Errorf("%s is not visible", svg)
		}
	}
	// Each point lies inside the plot and has a tooltip.
	if !eval[bool](t, p, `[...document.querySelectorAll("#roofline circle.point")].every(c => {
		const a = c.getBoundingClientRect(), b = c.ownerSVGElement.getBoundingClientRect();
		return a.left >= b.left && a.right <= b.right && a.top >= b.top && a.bottom <= b.bottom && c.querySelector("title").textContent.includes("TFLOP/s");
	})`) {
		t.Error("a point is outside the plot or has no tooltip")
	}
	if eval[bool](t, p, `document.documentElement.scrollWidth > innerWidth`) {
		t.Error("the page scrolls sideways")
	}
}

func TestTableSortsAndFilters(t *testing.T) {
	p := open(t, nil)
	column := func(n int) []string {
		return eval[[]string](t, p, fmt.Sprintf(`[...document.querySelectorAll("#top tbody tr:not([hidden])")].map(r => r.cells[%d].innerText.split("\n")[0])`, n))
	}
	press := func(n int) {
		p.do(t, chromedp.Focus(chromedp.CSS(fmt.Sprintf("#top th:nth-child(%d) button", n+1))), chromedp.KeyEvent("\r"))
	}
	check := func(what string, got []string, want ...string) {
		t.Helper()
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", what, got, want)
		}
	}
	check("as written", column(0), "1", "2", "3", "4", "5")
	press(4)
	check("efficiency, descending, unknown last", column(4), "90.0 %", "70.0 %", "40.0 %", "10.0 %", "n/a")
	press(4)
	check("efficiency, ascending, unknown last", column(4), "10.0 %", "40.0 %", "70.0 %", "90.0 %", "n/a")
	if got := eval[string](t, p, `document.querySelector("#top th:nth-child(5)").getAttribute("aria-sort")`); got != "ascending" {
		t.Errorf("aria-sort is %q", got)
	}
	press(7)
	if n := eval[int](t, p, `document.querySelectorAll("#top th[aria-sort]").length`); n != 1 {
		t.Errorf("%d columns are marked as sorted", n)
	}
	press(0)
	press(0)
	p.do(t, chromedp.SendKeys(chromedp.CSS(".filter input"), "ATEN 8x16"))
	check("filtered by words", column(1), "aten::mm", "aten::add")
	if got := eval[string](t, p, `document.querySelector(".filter output").value`); got != "2 of 5 shown" {
		t.Errorf("output %q", got)
	}
	p.do(t, chromedp.Evaluate[chromedp.Void](`{ const f = document.querySelector(".filter"), i = f.querySelector("input"), s = f.querySelector("select");
		i.value = ""; s.value = "other"; s.dispatchEvent(new Event("input", {bubbles: true})); }`))
	check("filtered by category", column(1), "unknown")
}

func TestReadableWithoutScript(t *testing.T) {
	p := open(t, func(p *tab) {
		call(t, p, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
	})
	call(t, p, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{})
	if n := eval[int](t, p, `document.querySelectorAll("#top tbody tr").length`); n != 5 {
		t.Errorf("%d rows", n)
	}
	if eval[bool](t, p, `document.querySelector(".filter").checkVisibility() || document.querySelector("th button") !== null`) {
		t.Error("controls that need the script are shown without it")
	}
}

func TestLightAndDark(t *testing.T) {
	p := open(t, nil)
	seen := map[string]bool{}
	for _, scheme := range []string{"light", "dark"} {
		call(t, p, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}})
		seen[eval[string](t, p, `getComputedStyle(document.body).backgroundColor`)] = true
		// Text and ground differ enough to read (WCAG AA: 4.5) everywhere but inside drawings.
		if low := eval[[]string](t, p, contrast); len(low) > 0 {
			t.Errorf("%s: too little contrast: %q", scheme, low)
		}
	}
	if len(seen) != 2 {
		t.Errorf("grounds: %v", seen)
	}
}

// contrast lists the elements whose text has less than 4.5:1 against what is behind it.
const contrast = `(() => {
	const rgb = s => s.match(/[\d.]+/g).map(Number);
	const light = c => { const [r, g, b] = c.slice(0, 3).map(v => (v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
	const ground = e => { for (; e; e = e.parentElement) { const c = rgb(getComputedStyle(e).backgroundColor); if (c.length === 3 || c[3] > 0.99) return c; } return [255, 255, 255]; };
	const low = new Set();
	for (const e of document.querySelectorAll("body *")) {
		if (e.closest("svg, script, caption, .skip") || ![...e.childNodes].some(n => n.nodeType === 3 && n.data.trim())) continue;
		const [a, b] = [light(rgb(getComputedStyle(e).color)), light(ground(e))];
		if ((Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05) < 4.5) low.add(e.tagName + "." + e.className);
	}
	return [...low];
})()`
