package trace_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/ditlens/ditlens/trace"
)

// Whatever was captured and replayed, a merge either refuses or keeps all invariants, all GPU events, and pairs names only
// with themselves.
func FuzzMergeCapture(f *testing.F) {
	f.Add("abcabcx", "abcabc", uint8(1))
	f.Add("aabbaabb", "abab", uint8(2))
	f.Add("xyzxyzxyzxyz", "xyzxyzxyz", uint8(3))
	f.Add("abcdefghij|abcdefghij", "abcdefgij", uint8(1))
	f.Add("", "a", uint8(9))
	f.Fuzz(func(t *testing.T, captured, replayed string, streams uint8) {
		if len(captured) > 400 || len(replayed) > 400 {
			return
		}
		rnd := rand.New(rand.NewPCG(1, 1))
		graphs := [][]kernelCall{nil}
		for i, c := range []byte(captured) {
			if c == '|' {
				graphs = append(graphs, nil)
				continue
			}
			last := len(graphs) - 1
			graphs[last] = append(graphs[last], kernelCall{name: fmt.Sprint("k", c), op: fmt.Sprint("op", c), dims: []int64{int64(i % 3)}, copy: c == '0'})
		}
		var replay []kernelCall
		for i, c := range []byte(replayed) {
			replay = append(replay, kernelCall{name: fmt.Sprint("k", c), stream: int64(i*7) % max(1, int64(streams)), copy: c == '0'})
		}
		main, capture := replaying(t, rnd, replay, replay), capturing(t, rnd, graphs...)
		merged, match, err := trace.MergeCapture(main, trace.Capture{Trace: capture})
		var mismatch *trace.CaptureMismatchError
		if errors.As(err, &mismatch) && mismatch.Agreement >= 0 && mismatch.Agreement <= 1 {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		if err := merged.Check(); err != nil {
			t.Fatal(err)
		}
		if len(merged.GPU) != len(main.GPU) || match.Paired+match.Unknown != match.Events || match.Agreement < 0 || match.Agreement > 1 {
			t.Fatalf("%d events of %d; %+v", len(merged.GPU), len(main.GPU), match)
		}
		owners := make(map[trace.OpID]bool)
		for i := range merged.GPU {
			g := &merged.GPU[i]
			o := &merged.Ops[g.Op]
			if !o.Captured {
				continue
			}
			if owners[g.Op] {
				t.Fatalf("operator %d owns two events", g.Op)
			}
			owners[g.Op] = true
			if g.Kind == trace.Kernel && "op"+g.Name[1:] != o.Name {
				t.Fatalf("event %s belongs to %s", g.Name, o.Name)
			}
		}
	})
}
