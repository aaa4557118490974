// Package realtraces finds the real traces that tests run on when they are there: in $DITLENS_TRACES, or in
// shared/traces beside the project.
package realtraces

import (
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/klauspost/compress/gzip"
)

// Names of the traces, as [Path] takes them.
const (
	SD35        = "xdit_sd35/profile_trace_rank_0.json.gz"
	Flux        = "xdit_flux1_sage/profile_trace_rank_0.json.gz"
	FluxCapture = "xdit_flux1_sage/capture_traces/capture_trace_rank_0.json.gz"
)

// Path returns the path of a file below the trace folder. It skips the test when the file is not there.
func Path(tb testing.TB, name string) string {
	tb.Helper()
	dir := os.Getenv("DITLENS_TRACES")
	if dir == "" {
		dir = filepath.Join(moduleParent(tb), "shared", "traces")
	}
	p := filepath.Join(dir, filepath.FromSlash(name))
	if _, err := os.Stat(p); err != nil {
		tb.Skipf("real trace %s is not there; set DITLENS_TRACES to the folder that holds it", name)
	}
	return p
}

// Text returns the uncompressed text of a trace. It skips the test when the file is not there.
func Text(tb testing.TB, name string) []byte {
	tb.Helper()
	f, err := os.Open(Path(tb, name))
	if err != nil {
		tb.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		tb.Fatal(err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		tb.Fatal(err)
	}
	return text
}

func moduleParent(tb testing.TB) string {
	tb.Helper()
	dir, err := os.Getwd()
	if err != nil {
		tb.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return filepath.Dir(dir)
		}
		up := filepath.Dir(dir)
		if up == dir {
			tb.Fatal("no go.mod above the test")
		}
		dir = up
	}
}
