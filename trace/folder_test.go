package trace_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/ditlens/ditlens/internal/realtraces"
	"github.com/ditlens/ditlens/trace"
	"github.com/google/go-cmp/cmp"
)

// folder writes files into a folder of the test.
func folder(t *testing.T, files map[string][]byte) string {
	t.Helper()
	dir := t.TempDir()
	for name, data := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// kernels makes a trace of n kernels and further events.
func kernels(n int, more ...string) string {
	for i := range n {
		more = append(more, kernel("k", i*10, 5, 0, i+1))
	}
	return document(more...)
}

func TestFindTraces(t *testing.T) {
	ranked := func(rank, n int) []byte {
		text := kernels(n)
		return []byte(`{"distributedInfo":{"rank":` + string(rune('0'+rank)) + `},` + text[1:])
	}
	for _, c := range []struct {
		name  string
		files map[string][]byte
		want  map[string]string
	}{
		{"BL-38 the right file among fragments and captures", map[string][]byte{
			"decode_only_rank_0.trace.json.gz":            gzipped(t, document(op("aten::mm", 0, 1))),
			"rank_0.trace.json.gz":                        gzipped(t, kernels(12)),
			"steady_rank_0.trace.json.gz":                 gzipped(t, kernels(4)),
			"capture_traces/capture_trace_rank_0.json.gz": gzipped(t, kernels(40, annotation("_capture_graph", 0, 1000))),
			"execution_details.json":                      []byte(`[{"file":"x","mode":"FULL"}]`),
			"analysis.md":                                 []byte("# Report"),
			"empty.json":                                  nil,
		}, map[string]string{
			"decode_only_rank_0.trace.json.gz":            "left out: no GPU events",
			"rank_0.trace.json.gz":                        "main: 12 GPU events, the most of its rank",
			"steady_rank_0.trace.json.gz":                 "left out: 4 GPU events; rank_0.trace.json.gz has 12",
			"capture_traces/capture_trace_rank_0.json.gz": "capture: it lies in capture_traces",
			"execution_details.json":                      "left out: no events",
			"analysis.md":                                 "left out: not a trace",
			"empty.json":                                  "left out: not a trace",
		}},
		{"capture traces by content", map[string][]byte{
			"a.json": []byte(kernels(3, runtimeCall("hipStreamBeginCapture", 1, 1, 90), runtimeCall("hipGraphLaunch", 3, 1, 91), runtimeCall("hipGraphLaunch", 5, 1, 92))),
			"b.json": []byte(kernels(50, runtimeCall("hipStreamBeginCapture", 1, 1, 90), runtimeCall("hipGraphLaunch", 3, 1, 91))),
			"c.json": []byte(kernels(50, annotation("_capture_graph", 0, 9))),
		}, map[string]string{
			"a.json": "main: 3 GPU events, the most of its rank",
			"b.json": "capture: it captures 1 graphs and replays 1",
			"c.json": "capture: a range in it is named after graph capture",
		}},
		{"nothing but a capture trace", map[string][]byte{
			"capture_traces/b.json": []byte(kernels(50)),
		}, map[string]string{
			"capture_traces/b.json": "main: a capture trace, but the folder has no other with GPU events: it lies in capture_traces",
		}},
		{"one trace a rank", map[string][]byte{
			"x.json": ranked(0, 3), "y.json": ranked(1, 3), "z_rank_2.json": []byte(kernels(1)),
		}, map[string]string{
			"x.json": "main: 3 GPU events, the most of its rank", "y.json": "main: 3 GPU events, the most of its rank", "z_rank_2.json": "main: 1 GPU events, the most of its rank",
		}},
		{"an archive", map[string][]byte{"t.zip": zipped(t, kernels(2), "x")}, map[string]string{"t.zip": "main: 2 GPU events, the most of its rank"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := folder(t, c.files)
			list, err := trace.FindTraces(t.Context(), dir)
			if err != nil {
				t.Fatal(err)
			}
			got := map[string]string{}
			for _, f := range list {
				name, err := filepath.Rel(dir, f.Path)
				if err != nil {
					t.Fatal(err)
				}
				got[filepath.ToSlash(name)] = f.Role.String() + ": " + f.Reason
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestFindTracesFails(t *testing.T) {
	if _, err := trace.FindTraces(t.Context(), filepath.Join(t.TempDir(), "absent")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("missing folder: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := trace.FindTraces(ctx, folder(t, map[string][]byte{"a.json": []byte(kernels(1))})); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func TestFindTracesReal(t *testing.T) {
	t.Parallel()
	main := realtraces.Path(t, realtraces.Flux)
	list, err := trace.FindTraces(t.Context(), filepath.Dir(main))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range list {
		want := trace.RoleNone
		switch c.Path {
		case main:
			want = trace.RoleMain
		case realtraces.Path(t, realtraces.FluxCapture):
			want = trace.RoleCapture
		}
		if c.Role != want || want != trace.RoleNone && c.Rank != 0 {
			t.Errorf("%+v, want %v", c, want)
		}
	}
}

func TestBL100Ranks(t *testing.T) {
	for name, want := range map[string]int{
		"profile_trace_rank_0.json.gz": 0, "trace_rank3.json": 3, "t-TP-2.trace.json.gz": 2,
		"dp0_pp0_tp1_dcp0_ep1_rank1.170.pt.trace.json.gz": 1, "rank-34.Jul_15_10_52_41.1074.pt.trace.json.gz": 34,
		"host_12345.170.pt.trace.json.gz": -1, "host_1.async_llm.170.pt.trace.json.gz": -1, "frank3.json": -1, "rank_99999999999.json": -1,
	} {
		path := write(t, name, []byte(sample()))
		if tr := load(t, trace.LoadOptions{}, path); tr.Header.Rank != want {
			t.Errorf("%s: rank %d, want %d", name, tr.Header.Rank, want)
		}
	}
	text := `{"distributedInfo":{"rank":5,"world_size":8},` + sample()[1:]
	tr := load(t, trace.LoadOptions{}, write(t, "rank_3.json", []byte(text)))
	if tr.Header.Rank != 5 || tr.Header.WorldSize != 8 || count(tr, "rank_conflict") != 1 {
		t.Errorf("header %+v, diagnostics %+v", tr.Header, tr.Diagnostics)
	}
}
