package trace_test

import (
	"testing"
	"time"

	"github.com/ditlens/ditlens/trace"
	"github.com/google/go-cmp/cmp"
)

func TestPairsAndOpenRanges(t *testing.T) {
	tr := loadText(t, document(
		`{"ph":"B","cat":"user_annotation","name":"never ends","pid":1,"tid":"main","ts":5}`,
		`{"ph":"B","cat":"cpu_op","name":"op","pid":1,"tid":"other","ts":10}`,
		`{"ph":"B","cat":"python_function","name":"frame","pid":1,"tid":"other","ts":11}`,
		`{"ph":"B","cat":"weird","name":"?","pid":1,"tid":"other","ts":12}`,
		`{"ph":"E","pid":1,"tid":"other","ts":13}`,
		`{"ph":"E","pid":1,"tid":"other","ts":14}`,
		`{"ph":"E","pid":1,"tid":"other","ts":15}`,
		`{"ph":"E","pid":1,"tid":"other","ts":16}`,
		`{"ph":"X","cat":"user_annotation","name":"no duration","pid":1,"tid":"other","ts":20}`,
		kernel("k", 90, 10, 0, 1),
		`{"ph":"X","cat":"kernel","name":"no duration","pid":0,"tid":0,"ts":50,"args":{"stream":0}}`,
		`{"ph":"X","cat":"kernel","name":"negative","pid":0,"tid":0,"ts":60,"dur":-3,"args":{"stream":0}}`,
		`{"ph":"X","cat":"cpu_op","name":"negative","pid":1,"tid":"other","ts":60,"dur":-3}`,
	))
	type row struct {
		Name       string
		Start, Dur time.Duration
		Open       bool
	}
	var got []row
	for i := range tr.Annotations {
		a := &tr.Annotations[i]
		got = append(got, row{a.Name, a.Start, a.Dur, a.Open})
	}
	want := []row{{"never ends", 5 * us, 95 * us, true}, {"no duration", 20 * us, 80 * us, true}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("annotations (-want +got):\n%s", diff)
	}
	if len(tr.Ops) != 2 || tr.Ops[0].Start != 10*us || tr.Ops[0].Dur != 5*us || tr.Ops[1].Dur != 0 {
		t.Errorf("operators are %+v", tr.Ops)
	}
	if g := tr.GPU[1]; len(tr.GPU) != 3 || g.Dur != 0 || g.RawDur != -3*us {
		t.Errorf("GPU events are %+v", tr.GPU)
	}
	if f := tr.Files[0]; f.Skipped != 1 || f.Repaired != 3 || count(tr, "unclosed_events") != 2 {
		t.Errorf("skipped %d (an end without a begin), repaired %d; %+v", f.Skipped, f.Repaired, tr.Diagnostics)
	}
}

// An end without a time, or with one that cannot be, leaves its range open; the range ends with what is known of the trace.
func TestEndsWithoutTime(t *testing.T) {
	tr := loadText(t, document(
		`{"ph":"B","cat":"user_annotation","name":"a","pid":1,"tid":1,"ts":5}`,
		`{"ph":"B","cat":"user_annotation","name":"b","pid":1,"tid":1,"ts":6}`,
		`{"ph":"E","pid":1,"tid":1}`,
		`{"ph":"E","pid":1,"tid":1,"ts":9223372036854775.807}`,
		kernel("k", 90, 10, 0, 1),
	))
	if len(tr.Annotations) != 2 || tr.Annotations[0].Dur != 95*us || tr.Annotations[1].Dur != 94*us || tr.Files[0].Skipped != 2 {
		t.Errorf("ranges are %+v, file %+v", tr.Annotations, tr.Files[0])
	}
}

func TestTextualThreads(t *testing.T) {
	a := `{"ph":"X","cat":"cpu_op","name":"a","pid":"Spans","tid":"PyTorch Profiler","ts":1,"dur":1}`
	b := `{"ph":"X","cat":"cpu_op","name":"b","pid":"Spans","tid":"thread 5","ts":1,"dur":1}`
	m := `{"ph":"M","name":"thread_name","pid":"Spans","tid":"thread 5","args":{"name":"worker"}}`
	x, y := loadText(t, document(a, b, m)), loadText(t, document(m, b, a))
	if diff := cmp.Diff(x.Threads, y.Threads); diff != "" {
		t.Errorf("the order of events matters (-first +second):\n%s", diff)
	}
	if th := x.Threads; len(th) != 2 || th[0].TID >= 0 || th[1].TID != 5 || th[1].Name != "worker" {
		t.Errorf("threads are %+v", th)
	}
}

func TestSharedCorrelationIsNoticed(t *testing.T) {
	tr := loadText(t, document(runtimeCall("hipLaunchKernel", 1, 1, 5), runtimeCall("hipLaunchKernel", 20, 1, 5), kernel("k", 10, 1, 0, 5), kernel("l", 30, 1, 0, 5)))
	if count(tr, "shared_correlations") != 2 || tr.GPU[0].Launch != 0 || tr.GPU[1].Launch != 1 {
		t.Errorf("%+v %+v", tr.Diagnostics, tr.GPU)
	}
	if tr.Launches[0].Kind != trace.LaunchKernel {
		t.Errorf("launch is %+v", tr.Launches[0])
	}
}
