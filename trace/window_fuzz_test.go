package trace_test

import (
	"bytes"
	"context"
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/ditlens/ditlens/trace"
)

// Whatever a file holds, a window of all that was read is valid JSON, strictly readable, and holds the same.
func FuzzWriteWindow(f *testing.F) {
	f.Add([]byte(`[{"ph":"X","cat":"cpu_op","name":"a\u0000\"","pid":1,"tid":"main 7","ts":1.5,"dur":3,"args":{"External id":3,"Input Dims":[[1],[],[[2,3],[]]],"Input type":["float","","TensorList"],"x":{"y":[1,"2"]}}},
{"ph":"X","cat":"cuda_runtime","name":"hipGraphLaunch","pid":1,"tid":"main 7","ts":2,"dur":1,"args":{"correlation":4}},
{"ph":"X","cat":"cpu_op","name":"b","pid":1,"tid":"main 7","ts":2.1,"dur":0.1,"args":{"External id":9}},
{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":1,"dur":2,"args":{"correlation":4,"External id":9,"stream":7,"grid":[1,2,3]}},
{"ph":"X","cat":"gpu_memcpy","name":"Memcpy HtoD","pid":0,"tid":7,"ts":-1,"dur":2,"args":{"correlation":-1,"bytes":5}},
{"ph":"B","cat":"user_annotation","name":"open","pid":1,"tid":"main 7","ts":0}]`))
	f.Fuzz(func(t *testing.T, text []byte) {
		if len(text) > 1<<13 {
			return
		}
		tr, err := trace.Read(context.Background(), trace.LoadOptions{Stacks: true, MaxEvent: 1 << 16}, "fuzz", bytes.NewReader(text))
		if err != nil {
			return
		}
		var b bytes.Buffer
		if err := trace.WriteWindow(&b, tr, allEvents(tr)); err != nil {
			t.Fatal(err)
		}
		if !json.Valid(b.Bytes()) {
			t.Fatalf("not valid JSON: %s", b.Bytes())
		}
		back, err := trace.Read(context.Background(), trace.LoadOptions{Stacks: true, Strict: true}, "window", bytes.NewReader(b.Bytes()))
		if err != nil {
			t.Fatalf("%v in %s", err, b.Bytes())
		}
		if err := back.Check(); err != nil {
			t.Fatalf("%v in %s", err, b.Bytes())
		}
		ignore := cmpopts.IgnoreFields(trace.GPUEvent{}, "RawDur", "Launch", "Op", "File", "ExternalID", "Correlation", "Inputs")
		if diff := cmp.Diff(tr.GPU, back.GPU, ignore); diff != "" {
			t.Fatalf("events (-want +got):\n%s", diff)
		}
		for i := range tr.GPU {
			want, got := tr.GPU[i].Op, back.GPU[i].Op
			if (want == trace.None) != (got == trace.None) || want != trace.None && tr.Ops[want].Name != back.Ops[got].Name {
				t.Fatalf("event %d is of operator %d, was of %d:\n%s", i, got, want, b.Bytes())
			}
		}
	})
}
