package split_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/ditlens/ditlens/split"
	"github.com/ditlens/ditlens/trace"
)

// FuzzSplit reads bytes as a sequence of kernels, copies, launches and markers. Whatever the trace, the phases hold every event once, steps are
// in order and whole, and nothing panics.
func FuzzSplit(f *testing.F) {
	f.Add([]byte(""))
	f.Add([]byte("a"))
	f.Add([]byte("abcbcbcdeabcbcbcdeabcbcbcde"))
	f.Add([]byte("xxxabababcabababcabababcyyy"))
	f.Add([]byte("!abcd?abcd?!abcd?abcd?"))
	f.Add([]byte("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"))
	f.Add([]byte("ab#ab#ab#ZZZZab#ab#ab#"))
	f.Add([]byte("?a?ba\xff\xff\x00\x00dbd!\x85a?\xd2\xff\x00")) // step markers before the first image marker
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 4000 {
			return
		}
		tr := fromBytes(data)
		for _, m := range split.Modes() {
			r, err := m.Split(t.Context(), &split.Input{Trace: tr})
			var no *split.NoSteadyStateError
			if errors.As(err, &no) {
				r = no.Result
			} else if err != nil {
				t.Fatal(err)
			}
			covers(t, tr, r)
			sound(t, tr, r)
		}
	})
}

func fromBytes(data []byte) *trace.Trace {
	t := &trace.Trace{Threads: []trace.Thread{{PID: 1, TID: 1}}}
	at := time.Second
	for i, b := range data {
		at += time.Duration(b%7) * time.Microsecond
		switch {
		case b == '!':
			t.Annotations = append(t.Annotations, trace.Annotation{Name: "pipeline_call", Start: at, Dur: 40 * time.Microsecond})
		case b == '?':
			t.Annotations = append(t.Annotations, trace.Annotation{Name: fmt.Sprintf("denoise_step_%d", i%5), Start: at, Dur: 9 * time.Microsecond, Open: i%3 == 0})
		case b == '#':
			t.Annotations = append(t.Annotations, trace.Annotation{Name: "transformer_forward", Start: at, Dur: 5 * time.Microsecond})
		default:
			g := trace.GPUEvent{Name: string(rune(b)), Start: at, Dur: time.Duration(b) * 100, Launch: trace.None, Op: trace.None, Stream: int64(b % 2)}
			if b&0x40 != 0 {
				g.Launch = trace.LaunchID(len(t.Launches))
				k := trace.LaunchKernel
				if b%5 == 0 {
					k = trace.LaunchGraph
				}
				t.Launches = append(t.Launches, trace.Launch{Start: at - time.Microsecond, Kind: k, GPU: 1, Op: trace.None})
			}
			if b%11 == 0 {
				g.Kind = trace.Memcpy
			}
			t.GPU = append(t.GPU, g)
		}
	}
	return t
}

// sound checks what every Result must hold.
func sound(t *testing.T, tr *trace.Trace, r *split.Result) {
	t.Helper()
	n := make([]int, len(r.Steps))
	for id, s := range r.StepOf {
		if s >= 0 {
			n[s]++
			if r.PhaseOf[id] != split.Denoise {
				t.Fatalf("event %d of step %d is in phase %s", id, s, r.PhaseOf[id])
			}
		} else if r.PhaseOf[id] == split.Denoise {
			t.Fatalf("event %d of no step is in phase denoise", id)
		}
	}
	inClass := 0
	for i, s := range r.Steps {
		if s.Kernels != n[i] || s.Index != i || s.Busy > s.GPUTime || s.Image >= len(r.Images) || s.Class >= len(r.Classes) {
			t.Fatalf("step %d: %+v holds %d events", i, s, n[i])
		}
	}
	for _, c := range r.Classes {
		inClass += len(c.Steps)
	}
	if inClass != len(r.Steps) || r.Confidence < 0 || r.Confidence > 1 {
		t.Fatalf("%d steps in classes, %d in all; confidence %v", inClass, len(r.Steps), r.Confidence)
	}
	if s := r.Steady; s != nil && (s.First > s.Last || s.Last >= len(r.Steps)) {
		t.Fatalf("steady state %+v of %d steps", s, len(r.Steps))
	}
}
