package trace_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/ditlens/ditlens/internal/realtraces"
	"github.com/ditlens/ditlens/trace"
	"github.com/google/go-cmp/cmp"
)

// records writes down what a Reader gives.
func records(r *trace.Reader) (out []string, err error) {
	for r.Scan() {
		switch x := r.Record().(type) {
		case *trace.Event:
			out = append(out, fmt.Sprintf("%s %s %q %d/%d %v+%v", string(x.Phase), x.Category, x.Name, x.PID, x.TID, x.Start, x.Dur))
		case *trace.Damage:
			out = append(out, fmt.Sprintf("damage at %d, repaired %v: %s", x.Offset, x.Repaired, x.Cause))
		case *trace.Member:
			out = append(out, fmt.Sprintf("member %s=%s", x.Key, x.Value))
		}
	}
	return out, r.Err()
}

func TestReader(t *testing.T) {
	text := document(kernel("a", 10, 1, 7, 1), python("\x01"), `{"ph":"X",bad}`, op("o", 5, 2))
	want := []string{
		"member schemaVersion=1",
		`X kernel "a" 0/7 10µs+1µs`,
		fmt.Sprintf("damage at %d, repaired true: raw control character in a string", strings.Index(text, `{"ph":"X","cat":"python`)),
		`X python_function "\x01" 100/100 5µs+1µs`,
		fmt.Sprintf("damage at %d, repaired false: the event is not valid JSON", strings.Index(text, `{"ph":"X",bad`)),
		`X cpu_op "o" 100/100 5µs+2µs`,
		`member traceName="t.json"`,
	}
	for name, r := range map[string]io.Reader{
		"plain":    strings.NewReader(text),
		"gzip":     bytes.NewReader(gzipped(t, text)),
		"one byte": iotest.OneByteReader(strings.NewReader(text)),
		"zstd":     iotest.HalfReader(bytes.NewReader(zstandard(t, text))),
		"lz4":      iotest.OneByteReader(bytes.NewReader(lz4ed(t, text))),
	} {
		t.Run(name, func(t *testing.T) {
			got, err := records(trace.NewReader(r, trace.ReadOptions{Name: "t"}))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("records (-want +got):\n%s", diff)
			}
		})
	}
}

func TestReaderStops(t *testing.T) {
	text := sample()
	failure := errors.New("disk on fire")
	for _, c := range []struct {
		name   string
		r      io.Reader
		strict bool
		is     error
		syntax bool
	}{
		{"reader fails", io.MultiReader(strings.NewReader(text[:200]), iotest.ErrReader(failure)), false, failure, false},
		{"reader fails at once", iotest.ErrReader(failure), false, failure, false},
		{"gzip is cut", bytes.NewReader(gzipped(t, text)[:60]), false, io.ErrUnexpectedEOF, true},
		{"text is cut", strings.NewReader(text[:200]), false, nil, false},
		{"text is cut, strict", strings.NewReader(text[:200]), true, nil, true},
		{"damage, strict", strings.NewReader(document(python("\x01"))), true, nil, true},
		{"not a trace", strings.NewReader("x"), false, trace.ErrNotTrace, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := trace.NewReader(c.r, trace.ReadOptions{Name: "t", Strict: c.strict})
			_, err := records(r)
			var syntax *trace.SyntaxError
			if c.is != nil && !errors.Is(err, c.is) || errors.As(err, &syntax) != c.syntax || c.is == nil && !c.syntax && err != nil {
				t.Errorf("error is %v", err)
			}
			if r.Scan() {
				t.Error("Scan goes on after the end")
			}
		})
	}
}

func TestEventClone(t *testing.T) {
	r := trace.NewReader(strings.NewReader(document(kernel("a", 10, 1, 7, 1), kernel("b", 20, 1, 8, 2))), trace.ReadOptions{})
	var kept []*trace.Event
	for r.Scan() {
		if e, ok := r.Record().(*trace.Event); ok {
			kept = append(kept, e.Clone())
		}
	}
	if len(kept) != 2 || kept[0].Name != "a" || kept[0].Arg("correlation") != "1" || string(kept[0].Args()) != `{"device":0,"stream":7,"correlation":1}` || kept[1].Arg("stream") != "8" || kept[1].Arg("none") != "" {
		t.Errorf("kept %+v", kept)
	}
}

// TestReaderSeesWhatLoadKeeps counts the GPU events of a real trace both ways.
func TestReaderSeesWhatLoadKeeps(t *testing.T) {
	t.Parallel()
	path := realtraces.Path(t, realtraces.Flux)
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r := trace.NewReader(f, trace.ReadOptions{Name: path})
	events, gpu := 0, 0
	for r.Scan() {
		if e, ok := r.Record().(*trace.Event); ok {
			events++
			switch e.Category {
			case "kernel", "gpu_memcpy", "gpu_memset":
				gpu++
			}
		}
	}
	tr := loadReal(t, realtraces.Flux)
	if r.Err() != nil || int64(events) != tr.Files[0].Events || gpu != len(tr.GPU) {
		t.Errorf("%d events, %d on the GPU, error %v; Load has %d and %d", events, gpu, r.Err(), tr.Files[0].Events, len(tr.GPU))
	}
}

// FuzzLoad: no bytes make Load or the Reader panic or run on, and what Load makes of them holds together.
func FuzzLoad(f *testing.F) {
	f.Add([]byte(sample()))
	f.Add(gzipped(f, sample()))
	f.Add([]byte(document(python(`{"device": "cpu"}(12): run`), `{"ph":"B","name":"b","cat":"cpu_op","pid":1,"tid":"x","ts":1}`, `{"ph":"E","pid":1,"tid":"x","ts":-5}`)))
	f.Add([]byte(document(op("o", 1, 5, `"Input Dims":[[1,2],[[3],[4]]],"Input type":["float","TensorList"],"Concrete Inputs":["",""],"Input Strides":[[2,1],[[1],[1]]]`))))
	f.Fuzz(func(t *testing.T, data []byte) {
		tr, err := trace.Load(t.Context(), trace.LoadOptions{Stacks: true}, write(t, "t", data))
		if err == nil {
			if err := tr.Check(); err != nil {
				t.Error(err)
			}
		}
		records(trace.NewReader(bytes.NewReader(data), trace.ReadOptions{}))
	})
}

// FuzzArgs: no arguments make Load fail, and equal ones are shared.
func FuzzArgs(f *testing.F) {
	f.Add(`[[1,2],[[3],[4]]]`, `["float","TensorList"]`, `["","x"]`, `[[2,1],[[1],[1]]]`)
	f.Add(`[NaN]`, `{}`, `[1,null,true]`, `"x"`)
	f.Add(`[[1e3,-1,99999999999999999999]]`, `[[]]`, `["\ud800"]`, `[[[[]]]]`)
	f.Fuzz(func(t *testing.T, dims, types, values, strides string) {
		args := fmt.Sprintf(`"Input Dims":%s,"Input type":%s,"Concrete Inputs":%s,"Input Strides":%s`, dims, types, values, strides)
		text := document(op("a", 0, 1, args), kernel("k", 5, 1, 0, 1), op("a", 10, 1, args))
		tr, err := trace.Read(t.Context(), trace.LoadOptions{}, "args", strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		if err := tr.Check(); err != nil {
			t.Error(err)
		}
		if len(tr.Ops) == 2 && tr.Ops[0].Name == "a" && tr.Ops[1].Name == "a" && tr.Ops[0].Inputs != tr.Ops[1].Inputs {
			t.Errorf("equal arguments are not shared: %+v, %+v", tr.Ops[0].Inputs, tr.Ops[1].Inputs)
		}
	})
}
