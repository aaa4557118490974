package trace_test

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ditlens/ditlens/trace"
)

// TestDamageStaysLocal damages one byte of a trace at many places: whatever it was, no event but those that touch the
// place is lost, and the file does not seem cut.
func TestDamageStaysLocal(t *testing.T) {
	t.Parallel()
	g := &generator{size: 40_000}
	var text bytes.Buffer
	if _, err := text.ReadFrom(g); err != nil {
		t.Fatal(err)
	}
	read := func(data []byte) *trace.Trace {
		tr, err := trace.Read(t.Context(), trace.LoadOptions{}, "mutated", bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		if err := tr.Check(); err != nil {
			t.Fatal(err)
		}
		return tr
	}
	whole := read(text.Bytes()).Files[0].Events
	r := rand.New(rand.NewPCG(7, 3))
	first, last := bytes.IndexByte(text.Bytes(), '[')+1, text.Len()-2
	rounds := 2000
	if testing.Short() {
		rounds = 500
	}
	for range rounds {
		at := first + r.IntN(last-first)
		data := slices.Clone(text.Bytes())
		was := data[at]
		switch r.IntN(3) {
		case 0:
			data = slices.Delete(data, at, at+1)
		case 1:
			data = slices.Insert(data, at, `"{}[],:\x`[r.IntN(9)])
		case 2:
			data[at] = byte(r.IntN(256))
		}
		tr := read(data)
		f := tr.Files[0]
		if f.Events < whole-2 || f.Events > whole+1 || f.Truncated {
			t.Errorf("byte %d (%q) damaged: %d of %d events, truncated %v\n%s\n%+v", at, was, f.Events, whole, f.Truncated, data[max(0, at-60):min(len(data), at+60)], f.Damage)
		}
	}
}
