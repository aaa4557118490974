package report_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ditlens/ditlens/report"
	"github.com/ditlens/ditlens/trace"
)

// TestInclusiveTime: operators that call themselves, directly and by others, and a nest as deep as a trace without times has it.
func TestInclusiveTime(t *testing.T) {
	var b trace.Builder
	th := b.Thread(0, 1, 1, "")
	corr := int64(0)
	at := time.Duration(0)
	var call func(names []string, work time.Duration)
	call = func(names []string, work time.Duration) {
		start := at
		at++
		if len(names) > 1 {
			call(names[1:], work)
		}
		corr++
		b.Launch(trace.Launch{Name: "hipLaunchKernel", Start: at, Correlation: corr, Thread: th})
		at++
		b.GPU(trace.GPUEvent{Name: "k", Start: time.Hour + time.Duration(corr)*time.Millisecond, Dur: work, Correlation: corr})
		b.Op(trace.Op{Name: names[0], Start: start, Dur: at - start, Thread: th})
		at++
	}
	call([]string{"a", "b", "a", "c"}, 10)
	call([]string{"b", "b"}, 100)
	deep := make([]string, 20_000)
	for i := range deep {
		deep[i] = []string{"x", "y"}[i%2]
	}
	call(deep, 1)
	tr, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	type times struct{ Own, Inclusive report.Micros }
	got := map[string]times{}
	for _, o := range analyze(t, report.Analyzer{}, tr).OperatorTotals {
		got[o.Name] = times{o.Time, o.Inclusive}
	}
	want := map[string]times{"a": {20, 40}, "b": {210, 230}, "c": {10, 10}, "x": {10_000, 20_000}, "y": {10_000, 19_999}}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}
