package trace_test

import (
	"fmt"
	"io"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/ditlens/ditlens/trace"
)

// A generator writes a trace of a given size without end of names: of its bytes about four fifths are Python frames, and
// each round holds an operator, its launch and its kernel.
type generator struct {
	size   int64 // of the text
	done   int64
	rounds int64
	round  []byte // the text of a round
	places []int  // in it, where its number stands
	rest   []byte // of the text that is not handed out yet
	closed bool
	peak   uint64 // largest heap seen
	seen   int64
}

const firstRound = 1_000_000_000 // all numbers of rounds have ten digits

// Read implements io.Reader.
func (g *generator) Read(p []byte) (int, error) {
	if g.seen += int64(len(p)); g.seen > 16<<20 {
		g.seen = 0
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		g.peak = max(g.peak, m.HeapAlloc)
	}
	n := 0
	for n < len(p) {
		if len(g.rest) == 0 && !g.next() {
			return n, io.EOF
		}
		m := copy(p[n:], g.rest)
		g.rest = g.rest[m:]
		n += m
	}
	return n, nil
}

// next makes the text of the next round. To write each from its parts would take longer than to read it.
func (g *generator) next() bool {
	switch {
	case g.closed:
		return false
	case g.round == nil:
		g.compose()
		g.rest = []byte(`{"schemaVersion":1,"traceEvents":[{"ph": "M", "name": "process_name", "pid": 1, "args": {"name": "python"}}`)
	case g.done >= g.size:
		g.closed = true
		g.rest = []byte("]}")
	default:
		number := strconv.AppendInt(nil, firstRound+g.rounds, 10)
		for _, at := range g.places {
			copy(g.round[at:], number)
		}
		g.rest = g.round
		g.rounds++
	}
	g.done += int64(len(g.rest))
	return true
}

// compose writes a round with @ where its number belongs, then notes the places. A time is its number and some digits.
func (g *generator) compose() {
	var b strings.Builder
	for i := range 15 {
		fmt.Fprintf(&b, ",\n"+`{"ph": "X", "cat": "python_function", "name": "module_@.py(%d): a_function_of_some_length", "pid": 1, "tid": 1, "ts": @00.0%d, "dur": 3.250, "args": {"Python parent id": @, "Python id": @%d, "Ev Idx": @}}`, i, 10+i, i)
	}
	b.WriteString(",\n" + `{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": @00.100, "dur": 50.000, "args": {"External id": @, "Record function id": 0, "Input type": ["c10::BFloat16", "c10::BFloat16"], "Input Dims": [[4096, 32], [32, 64]], "Ev Idx": @}}`)
	b.WriteString(",\n" + `{"ph": "X", "cat": "cuda_runtime", "name": "hipLaunchKernel", "pid": 1, "tid": 1, "ts": @00.200, "dur": 5.000, "args": {"External id": @, "correlation": @, "kernel": "Cijk"}}`)
	b.WriteString(",\n" + `{"ph": "X", "cat": "kernel", "name": "Cijk", "pid": 0, "tid": 0, "ts": @20.300, "dur": 40.000, "args": {"External id": @, "device": 0, "stream": 0, "correlation": @, "grid": [64, 1, 1], "block": [256, 1, 1]}}`)
	for i, part := range strings.Split(b.String(), "@") {
		if i > 0 {
			g.places = append(g.places, len(g.round))
			g.round = append(g.round, "0123456789"...)
		}
		g.round = append(g.round, part...)
	}
}

// TestBL14BL15Memory reads generated traces of growing size: memory follows the events that are kept, not the file.
func TestBL14BL15Memory(t *testing.T) {
	size := int64(1 << 30)
	if testing.Short() {
		size = 64 << 20
	}
	g := &generator{size: size}
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	tr, err := trace.Read(t.Context(), trace.LoadOptions{}, "generated", g)
	if err != nil {
		t.Fatal(err)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if err := tr.Check(); err != nil {
		t.Fatal(err)
	}
	rounds := int(g.rounds)
	if len(tr.Ops) != rounds || len(tr.Launches) != rounds || len(tr.GPU) != rounds || tr.GPU[rounds-1].Op != trace.OpID(rounds-1) {
		t.Errorf("%d operators, %d launches, %d GPU events, want %d of each", len(tr.Ops), len(tr.Launches), len(tr.GPU), rounds)
	}
	kept := int64(after.HeapAlloc) - int64(before.HeapAlloc)
	if each := kept / int64(3*rounds); each > 150 {
		t.Errorf("%d bytes for each of %d kept events, want at most 150", each, 3*rounds)
	}
	grown := int64(after.HeapSys) - int64(before.HeapSys) // of the address space: it does not shrink on the way
	if g.peak > 400<<20 || grown > 400<<20 {
		t.Errorf("the heap reached %d MiB and grew by %d, want at most 400", g.peak>>20, grown>>20)
	}
	t.Logf("%d MiB of text, %d kept events of %d bytes each, heap up to %d MiB", tr.Files[0].JSONBytes>>20, 3*rounds, kept/int64(3*rounds), g.peak>>20)
	runtime.KeepAlive(tr)
}

// TestMaxEvent reads an event that is longer than the limit allows.
func TestMaxEvent(t *testing.T) {
	text := document(kernel("a", 10, 10, 0, 1), op(strings.Repeat("long", 10_000), 1, 1), kernel("b", 30, 20, 0, 2))
	tr := load(t, trace.LoadOptions{MaxEvent: 1 << 10}, write(t, "t.json", []byte(text)))
	if len(tr.GPU) != 2 || len(tr.Ops) != 0 || tr.Files[0].Skipped != 1 {
		t.Errorf("%d GPU events, %d operators, file %+v", len(tr.GPU), len(tr.Ops), tr.Files[0])
	}
}
