package split_test

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/ditlens/ditlens/split"
	"github.com/ditlens/ditlens/trace"
)

// loop plays steps of the kernels of step(3), with a small copy between them that no marker covers, and calls mark around each.
func loop(x *tape, steps int, mark func(s int, begin, end float64)) {
	for s := range steps {
		at := float64(1000 * s)
		for k, n := range step(3) {
			x.launch(n, at+float64(50*k), 20)
		}
		mark(s, at-5, at+600)
		x.launch("log", at+700, 1)
	}
}

func TestMarkerForms(t *testing.T) {
	for _, c := range []struct {
		name  string
		mark  func(x *tape) func(s int, begin, end float64)
		steps []int
	}{
		{"ranges", func(x *tape) func(int, float64, float64) {
			return func(s int, b, e float64) { x.mark(fmt.Sprintf("denoise_step_%d", s), b, e-b) }
		}, []int{12, 12, 12, 12}},
		{"sglang's names", func(x *tape) func(int, float64, float64) {
			return func(s int, b, e float64) {
				x.mark(fmt.Sprintf("denoising_step_%d_t%d", s, 1000-250*s), b, e-b)
				x.mark("predict_noise", b+10, e-b-60)
			}
		}, []int{12, 12, 12, 12}},
		{"nested in each other", func(x *tape) func(int, float64, float64) {
			return func(s int, b, e float64) {
				x.mark(fmt.Sprintf("denoise_step_%d", s), b, e-b)
				x.mark(fmt.Sprintf("Denoising_Step_%d", s), b+1, e-b-2)
			}
		}, []int{12, 12, 12, 12}},
		{"the same on two threads", func(x *tape) func(int, float64, float64) {
			other := x.b.Thread(0, 100, 101, "worker")
			return func(s int, b, e float64) {
				x.mark(fmt.Sprintf("denoise_step_%d", s), b, e-b)
				x.b.Annotation(trace.Annotation{Name: fmt.Sprintf("denoise_step_%d", s), Start: us(b + 3), Dur: us(e - b), Thread: other})
			}
		}, []int{12, 12, 12, 12}},
		{"never closed", func(x *tape) func(int, float64, float64) {
			return func(s int, b, e float64) {
				x.b.Annotation(trace.Annotation{Name: fmt.Sprintf("denoise_step_%d", s), Start: us(b), Dur: us(4000 - b), Thread: x.th, Open: true})
			}
		}, []int{13, 13, 13, 13}},
		{"one forward a step", func(x *tape) func(int, float64, float64) {
			return func(s int, b, e float64) { x.mark("transformer_forward", b, 560) }
		}, []int{13, 13, 13, 13}},
		{"profiler windows", func(x *tape) func(int, float64, float64) {
			return func(s int, b, e float64) { x.mark(fmt.Sprintf("ProfilerStep#%d", s+3), b, 999) }
		}, []int{13, 13, 13, 13}},
	} {
		t.Run(c.name, func(t *testing.T) {
			x := newTape(t)
			loop(x, 4, c.mark(x))
			_, r := x.split(split.Marker{})
			x.wantSteps(r, c.steps...)
			if r.Marked != len(c.steps) {
				t.Errorf("%d marked", r.Marked)
			}
		})
	}
}

func TestMarkersOfPhases(t *testing.T) {
	x := newTape(t)
	x.mark("encode_prompt", 0, 100)
	for k := range 4 {
		x.launch("k", float64(10+10*k), 5)
	}
	for s := range 2 {
		x.mark(fmt.Sprintf("denoise_step_%d", s), float64(200+100*s), 90)
		x.launch("k", float64(210+100*s), 5)
		x.launch("m", float64(220+100*s), 5)
	}
	x.mark("vae.decode", 500, 100)
	x.launch("k", 510, 5)
	_, r := x.split(split.Marker{})
	want := map[split.PhaseName]int{split.TextEncode: 4, split.Denoise: 4, split.VAEDecode: 1}
	if d := gocmp.Diff(want, phases(r)); d != "" {
		t.Error(d)
	}
}

func TestProfilerWindowsAroundImagesAreNotSteps(t *testing.T) {
	x := newTape(t)
	for im := range 2 {
		base := float64(10000 * im)
		x.mark(fmt.Sprintf("ProfilerStep#%d", im), base, 9999)
		for i, n := range cat(repeat(8, "t5_gemm", "t5_attn"), repeat(4, step(5)...), repeat(12, "conv", "group_norm")) {
			x.launch(n, base+float64(10+20*i), 15)
		}
	}
	_, r := x.split(split.Auto{})
	x.wantSteps(r, 18, 18, 18, 18, 18, 18, 18, 18)
	if len(r.Images) != 2 {
		t.Errorf("%d images", len(r.Images))
	}
}

func TestUserGrammar(t *testing.T) {
	x := newTape(t)
	loop(x, 3, func(s int, b, e float64) { x.mark(fmt.Sprintf("my loop body %d", s), b, e-b) })
	g := append(split.DefaultGrammar(), split.Pattern{Regexp: regexp.MustCompile(`^my loop body (?P<index>\d+)$`), Meaning: split.StepMarker})
	_, r := x.split(split.Marker{Grammar: g})
	x.wantSteps(r, 12, 12, 12)
}

func TestMarkersWithoutWork(t *testing.T) {
	x := newTape(t)
	x.launch("k", 5000, 5)
	x.mark("denoise_step_0", 0, 10)
	x.mark("denoise_step_1", 20, 10)
	_, err := split.Marker{}.Split(t.Context(), &split.Input{Trace: x.trace()})
	var no *split.NoSteadyStateError
	if !errors.As(err, &no) || no.Attempts[0].Code != split.CodeEmpty {
		t.Errorf("error %v, want code %s", err, split.CodeEmpty)
	}
}

func TestAutoSaysWhereMarkersAndWorkDisagree(t *testing.T) {
	x := newTape(t)
	for s := range 4 {
		if s < 3 { // one marker was lost
			x.mark(fmt.Sprintf("denoise_step_%d", s), float64(1000*s), 900)
		}
		for k, n := range step(5) {
			x.launch(n, float64(1000*s+40*k), 20)
		}
	}
	_, r := x.split(split.Auto{})
	if r.Marked != 3 || r.Detected != 4 {
		t.Errorf("%d marked, %d detected", r.Marked, r.Detected)
	}
	for _, d := range r.Diagnostics {
		if d.Code == "steps_disagree" {
			return
		}
	}
	t.Errorf("no diagnostic steps_disagree in %+v", r.Diagnostics)
}

func TestSplitStopsWithItsContext(t *testing.T) {
	tr, _, _ := scene{images: 1, steps: 8, double: 20, blockSize: 20, text: 6, scheduler: 4}.make()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, m := range split.Modes() {
		if _, err := m.Split(ctx, &split.Input{Trace: tr}); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: error %v, want context.Canceled", m.Name(), err)
		}
	}
}

func TestEmptyTrace(t *testing.T) {
	for _, m := range split.Modes() {
		_, err := m.Split(t.Context(), &split.Input{Trace: &trace.Trace{}})
		var no *split.NoSteadyStateError
		if !errors.As(err, &no) || no.Result == nil || no.Result.Method != "none" {
			t.Errorf("%s: error %v", m.Name(), err)
		}
	}
}

func TestModesByName(t *testing.T) {
	for _, name := range []string{"auto", "marker", "autocorrelation", "graph"} {
		if s, ok := split.ByName(name); !ok || s.Name() != name {
			t.Errorf("mode %q: %v %v", name, s, ok)
		}
	}
	if _, ok := split.ByName("fourier"); ok {
		t.Error("unknown mode found")
	}
}
