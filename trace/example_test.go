package trace_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/ditlens/ditlens/trace"
)

// A trace of one operator, as the profiler writes it.
const oneOperator = `{"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "AMD Instinct MI300X", "numSms": 304}],
"traceEvents": [
  {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 9, "tid": 9, "ts": 10.000, "dur": 30.000,
   "args": {"Input Dims": [[4096, 3072], [3072, 12288]], "Input type": ["c10::BFloat16", "c10::BFloat16"]}},
  {"ph": "X", "cat": "cuda_runtime", "name": "hipExtModuleLaunchKernel", "pid": 9, "tid": 9, "ts": 20.000, "dur": 5.000, "args": {"correlation": 7}},
  {"ph": "X", "cat": "kernel", "name": "Cijk_Ailk_Bljk", "pid": 0, "tid": 0, "ts": 60.000, "dur": 612.345, "args": {"stream": 0, "correlation": 7}}
]}`

func ExampleLoad() {
	path := filepath.Join(os.TempDir(), "ditlens_example.json")
	defer os.Remove(path)
	if err := os.WriteFile(path, []byte(oneOperator), 0o600); err != nil {
		fmt.Println(err)
		return
	}
	t, err := trace.Load(context.Background(), trace.LoadOptions{}, path)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("on", t.Header.Devices[0].Name)
	for i := range t.GPU {
		g := &t.GPU[i]
		op := &t.Ops[g.Op]
		fmt.Println(g.Name, g.Dur, "launched by", op.Name, op.Inputs.Args[0].Dims, op.Inputs.Args[1].Dims)
	}
	// Output:
	// on AMD Instinct MI300X
	// Cijk_Ailk_Bljk 612.345µs launched by aten::mm [4096 3072] [3072 12288]
}

func ExampleReader() {
	r := trace.NewReader(strings.NewReader(oneOperator), trace.ReadOptions{Name: "one.json"})
	for r.Scan() {
		switch x := r.Record().(type) {
		case *trace.Event:
			fmt.Printf("%s %s takes %v, correlation %q\n", x.Category, x.Name, x.Dur, x.Arg("correlation"))
		case *trace.Damage:
			fmt.Println("damage at byte", x.Offset, x.Cause)
		}
	}
	if err := r.Err(); err != nil {
		fmt.Println(err)
	}
	// Output:
	// cpu_op aten::mm takes 30µs, correlation ""
	// cuda_runtime hipExtModuleLaunchKernel takes 5µs, correlation "7"
	// kernel Cijk_Ailk_Bljk takes 612.345µs, correlation "7"
}
