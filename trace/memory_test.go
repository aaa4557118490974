package trace_test

import (
	"bytes"
	"fmt"
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
	round  int64
	buf    bytes.Buffer
	line   []byte
	closed bool
	peak   uint64 // largest heap seen
	seen   int64
}

func (g *generator) Read(p []byte) (int, error) {
	if g.seen += int64(len(p)); g.seen > 16<<20 {
		g.seen = 0
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		g.peak = max(g.peak, m.HeapAlloc)
	}
	for g.buf.Len() < len(p) && !g.closed {
		g.fill()
	}
	return g.buf.Read(p)
}

func (g *generator) fill() {
	before := g.buf.Len()
	if g.round == 0 {
		g.buf.WriteString(`{"schemaVersion":1,"traceEvents":[`)
	} else {
		g.buf.WriteString(",\n")
	}
	n, ts := g.round, g.round*100
	for i := range int64(15) {
		g.buf.Write(g.frame(n, ts, i))
	}
	fmt.Fprintf(&g.buf, `{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": %d.100, "dur": 50.000, "args": {"External id": %d, "Record function id": 0, "Input type": ["c10::BFloat16", "c10::BFloat16"], "Input Dims": [[4096, %d], [64, 64]], "Ev Idx": %d}},`+"\n", ts, n+1, n%100, n)
	fmt.Fprintf(&g.buf, `{"ph": "X", "cat": "cuda_runtime", "name": "hipLaunchKernel", "pid": 1, "tid": 1, "ts": %d.200, "dur": 5.000, "args": {"External id": %d, "correlation": %d, "kernel": "Cijk"}},`+"\n", ts, n+1, n+1)
	fmt.Fprintf(&g.buf, `{"ph": "X", "cat": "kernel", "name": "Cijk", "pid": 0, "tid": 0, "ts": %d.300, "dur": 40.000, "args": {"External id": %d, "device": 0, "stream": 0, "correlation": %d, "grid": [64, 1, 1], "block": [256, 1, 1]}}`, ts+20, n+1, n+1)
	g.round++
	g.done += int64(g.buf.Len() - before)
	if g.done >= g.size {
		g.closed = true
		g.buf.WriteString("]}")
	}
}

// frame writes a Python frame. It is most of the text, so it does without fmt.
func (g *generator) frame(n, ts, i int64) []byte {
	b := append(g.line[:0], `{"ph": "X", "cat": "python_function", "name": "module_`...)
	b = strconv.AppendInt(b, n, 10)
	b = append(b, ".py("...)
	b = strconv.AppendInt(b, i, 10)
	b = append(b, `): a_function_of_some_length", "pid": 1, "tid": 1, "ts": `...)
	b = strconv.AppendInt(b, ts, 10)
	b = append(b, ".0"...)
	b = strconv.AppendInt(b, 10+i, 10)
	b = append(b, `, "dur": 3.250, "args": {"Python parent id": `...)
	b = strconv.AppendInt(b, n, 10)
	b = append(b, `, "Python id": `...)
	b = strconv.AppendInt(b, n+i, 10)
	b = append(b, `, "Ev Idx": `...)
	b = strconv.AppendInt(b, n, 10)
	g.line = append(b, "}},\n"...)
	return g.line
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
	rounds := int(g.round)
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
