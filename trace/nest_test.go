package trace_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/ditlens/ditlens/trace"
)

// The parent of an operator is, of those that run when it begins and end no more than a microsecond before it, the one that
// began last; also where operators of a thread cross.
func TestNestingOfCrossingOperators(t *testing.T) {
	rnd := rand.New(rand.NewPCG(7, 7))
	for range 200 {
		var b trace.Builder
		th := b.Thread(0, 1, 1, "")
		unit := []time.Duration{1, 300, 2000}[rnd.IntN(3)]
		for i := range 30 {
			b.Op(trace.Op{Name: string(rune('a' + i)), Thread: th, Start: unit * time.Duration(rnd.IntN(40)), Dur: unit * time.Duration(rnd.IntN(15)), ExternalID: int64(i + 1)})
		}
		tr, err := b.Build()
		if err != nil {
			t.Fatal(err)
		}
		for i := range tr.Ops {
			want := trace.OpID(trace.None)
			for j := range i {
				x, o := &tr.Ops[j], &tr.Ops[i]
				runs := o.Start < x.End() || o.Start == x.Start && o.Dur == x.Dur
				if runs && o.End() <= x.End()+time.Microsecond {
					want = trace.OpID(j)
				}
			}
			if got := tr.Ops[i].Parent; got != want {
				t.Fatalf("unit %v: parent of operator %d (%v + %v) is %d, want %d", unit, i, tr.Ops[i].Start, tr.Ops[i].Dur, got, want)
			}
		}
	}
}

// Files that give all calls the same correlation are read in bearable time, and each event goes to the last call before it.
func TestOneCorrelationForAll(t *testing.T) {
	var b trace.Builder
	th := b.Thread(0, 1, 1, "")
	const n = 50_000
	for i := range n {
		at := time.Duration(i) * 100
		b.Launch(trace.Launch{Name: "hipLaunchKernel", Thread: th, Start: at, Dur: 10, Correlation: 7})
		b.GPU(trace.GPUEvent{Name: "k", Start: at + 50, Dur: 10, Correlation: 7})
	}
	tr, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	for i := range tr.GPU {
		if tr.GPU[i].Launch != trace.LaunchID(i) {
			t.Fatalf("event %d is of launch %d", i, tr.GPU[i].Launch)
		}
	}
}
