package report

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/ditlens/ditlens/internal/realtraces"
	"github.com/ditlens/ditlens/trace"
)

// TestOpsSummaryAgreesWithReference compares the operators by module with AMD TraceLens' table of the same trace. Their times come
// through float64 microseconds since the epoch, which are a quarter of a microsecond apart, so an event may differ by half of one;
// and they leave out the one fill of the trace, which aten::nonzero launches.
func TestOpsSummaryAgreesWithReference(t *testing.T) {
	path := realtraces.Path(t, realtraces.SD35)
	tr, err := trace.Load(context.Background(), trace.LoadOptions{Stacks: true}, path)
	if err != nil {
		t.Fatal(err)
	}
	r, err := (&Analyzer{}).Analyze(context.Background(), tr)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(filepath.Dir(path), "reference", "ops_summary.csv"))
	if err != nil {
		t.Fatal(err)
	}
	ours := map[[2]string]map[string]string{}
	for _, row := range readCSV(t, rendered(t, r.WriteOpsSummary)) {
		ours[[2]string{row["name"], row["parent_module"]}] = row
	}
	value := func(s string) float64 {
		v, err := strconv.ParseFloat(s, 64)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	for _, want := range readCSV(t, string(text)) {
		got := ours[[2]string{want["name"], want["parent_module"]}]
		if got == nil {
			t.Errorf("%s in %s is missing", want["name"], want["parent_module"])
			continue
		}
		if want["name"] == "aten::nonzero" {
			continue
		}
		for _, column := range []string{"total_direct_kernel_time_sum", "total_subtree_kernel_time_sum", "Count"} {
			if a, b := value(want[column]), value(got[column]); math.Abs(a-b) > 0.5*value(want["Count"]) && math.Abs(a-b) > 0.001*a {
				t.Errorf("%s in %s: %s is %s, want %s", want["name"], want["parent_module"], column, got[column], want[column])
			}
		}
	}
}

// TestTimelineAgreesWithReference compares gpu_timeline.csv with AMD TraceLens' table.
func TestTimelineAgreesWithReference(t *testing.T) {
	for _, name := range []string{realtraces.SD35, realtraces.Flux} {
		path := realtraces.Path(t, name)
		text, err := os.ReadFile(filepath.Join(filepath.Dir(path), "reference", "gpu_timeline.csv"))
		if err != nil {
			t.Fatal(err)
		}
		want, got := readCSV(t, string(text)), readCSV(t, rendered(t, analysed(t, name).WriteTimeline))
		if len(want) != len(got) {
			t.Fatalf("%s: %d rows, want %d", name, len(got), len(want))
		}
		for i := range want {
			for _, column := range []string{"time ms", "percent"} {
				a, errA := strconv.ParseFloat(want[i][column], 64)
				b, errB := strconv.ParseFloat(got[i][column], 64)
				if errA != nil || errB != nil || want[i]["type"] != got[i]["type"] || math.Abs(a-b) > 0.003 {
					t.Errorf("%s: %s of %s is %s, want %s", name, column, got[i]["type"], got[i][column], want[i][column])
				}
			}
		}
	}
}
