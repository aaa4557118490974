package trace_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ditlens/ditlens/trace"
	"github.com/klauspost/compress/gzip"
)

// The helpers below write events as profilers do; times are microseconds as text or numbers.

func kernel(name string, ts, dur any, stream, corr any) string {
	return fmt.Sprintf(`{"ph":"X","cat":"kernel","name":%q,"pid":0,"tid":%v,"ts":%v,"dur":%v,"args":{"device":0,"stream":%v,"correlation":%v}}`, name, stream, ts, dur, stream, corr)
}

func runtimeCall(name string, ts, dur any, corr any) string {
	return fmt.Sprintf(`{"ph":"X","cat":"cuda_runtime","name":%q,"pid":100,"tid":100,"ts":%v,"dur":%v,"args":{"correlation":%v}}`, name, ts, dur, corr)
}

func op(name string, ts, dur any, args ...string) string {
	return fmt.Sprintf(`{"ph":"X","cat":"cpu_op","name":%q,"pid":100,"tid":100,"ts":%v,"dur":%v,"args":{%s}}`, name, ts, dur, strings.Join(args, ","))
}

func annotation(name string, ts, dur any) string {
	return fmt.Sprintf(`{"ph":"X","cat":"user_annotation","name":%q,"pid":100,"tid":100,"ts":%v,"dur":%v}`, name, ts, dur)
}

func gpuAnnotation(name string, ts, dur any, stream int) string {
	return fmt.Sprintf(`{"ph":"X","cat":"gpu_user_annotation","name":%q,"pid":0,"tid":%d,"ts":%v,"dur":%v}`, name, stream, ts, dur)
}

// document makes a trace file of events.
func document(events ...string) string {
	return `{"schemaVersion":1,"traceEvents":[` + strings.Join(events, ",\n") + `],"traceName":"t.json"}`
}

// write puts bytes into a file of the test.
func write(tb testing.TB, name string, data []byte) string {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), name)
	if err := os.WriteFile(path, data, 0o600); err != nil {
		tb.Fatal(err)
	}
	return path
}

// loadText loads a text and checks the invariants.
func loadText(tb testing.TB, text string) *trace.Trace {
	tb.Helper()
	return load(tb, trace.LoadOptions{}, write(tb, "t.json", []byte(text)))
}

func gzipped(tb testing.TB, text string) []byte {
	tb.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write([]byte(text)); err != nil {
		tb.Fatal(err)
	}
	if err := z.Close(); err != nil {
		tb.Fatal(err)
	}
	return b.Bytes()
}

// names lists the names of the GPU events.
func names(t *trace.Trace) []string {
	out := []string{}
	for i := range t.GPU {
		out = append(out, t.GPU[i].Name)
	}
	return out
}

// count returns the count of the diagnostic with a code, 0 if it is absent.
func count(t *trace.Trace, code string) int64 {
	for _, d := range t.Diagnostics {
		if d.Code == code {
			return d.Count
		}
	}
	return 0
}
