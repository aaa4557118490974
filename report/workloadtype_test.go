package report_test

import (
	"strings"
	"testing"
	"time"

	"github.com/ditlens/ditlens/report"
	"github.com/ditlens/ditlens/trace"
)

func TestWorkloadTypeIsAWordOfTheReport(t *testing.T) {
	tr, err := new(trace.Builder).Build()
	if err != nil {
		t.Fatal(err)
	}
	for _, word := range []string{"", "auto", "diffusion", "llm", "unknown"} {
		if _, err := (&report.Analyzer{WorkloadType: word}).Analyze(t.Context(), tr); err != nil {
			t.Errorf("%q: %v", word, err)
		}
	}
	if _, err := (&report.Analyzer{WorkloadType: "video"}).Analyze(t.Context(), tr); err == nil || !strings.Contains(err.Error(), `workload type "video": want auto`) {
		t.Errorf("video: %v", err)
	}
}

func TestMarkersTellTheWorkloadType(t *testing.T) {
	for marker, want := range map[string]string{
		"denoise_step_0":                    "diffusion",
		"scheduler_step":                    "diffusion", // a name that is all of the word looked for
		"transformer_forward":               "diffusion",
		"execute_1_context_2_generation_3_": "llm",
		"decode_step":                       "llm",
		"epoch":                             "unknown",
	} {
		t.Run(marker, func(t *testing.T) {
			r := analyze(t, report.Analyzer{}, marked(t, marker))
			if r.WorkloadType != want {
				t.Errorf("%s by %q, want %s", r.WorkloadType, r.WorkloadEvidence, want)
			}
		})
	}
}

// marked is a trace of one kernel and one annotation.
func marked(t testing.TB, name string) *trace.Trace {
	t.Helper()
	var b trace.Builder
	thread := b.Thread(0, 1, 1, "")
	b.Annotation(trace.Annotation{Name: name, Dur: 20 * time.Microsecond, Thread: thread})
	b.GPU(trace.GPUEvent{Name: "k", Start: 5 * time.Microsecond, Dur: time.Microsecond})
	tr, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	return tr
}
