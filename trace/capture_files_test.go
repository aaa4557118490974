package trace_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ditlens/ditlens/internal/synth"
	"github.com/ditlens/ditlens/trace"
)

// writeFiles makes a folder of the given files; an empty text stands for a small trace.
func writeFiles(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if text == "" {
			r := synth.New()
			r.Capture(func(launch func(synth.Work)) { launch(synth.Work{Name: "gemm", Dur: 1000}) })
			text = string(r.JSON())
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestFindCapture(t *testing.T) {
	tests := []struct {
		name  string
		files map[string]string
		main  string
		want  []string
	}{
		{"none", map[string]string{"trace_rank_0.json": "", "other.json": ""}, "trace_rank_0.json", nil},
		{"folder", map[string]string{"t.json": "", "capture_traces/a.json.gz": "", "capture_traces/execution_details.json": "[]", "capture_traces/note.txt": "x"},
			"t.json", []string{"capture_traces/a.json.gz"}},
		{"beside", map[string]string{"t.json": "", "t_capture.json": ""}, "t.json", []string{"t_capture.json"}},
		{"itself", map[string]string{"capture.json": ""}, "capture.json", nil},
		{"own rank", map[string]string{"t_rank_1.json": "", "capture_traces/c_rank_0.json": "", "capture_traces/c_rank_1.json": "", "capture_traces/c.json": ""},
			"t_rank_1.json", []string{"capture_traces/c.json", "capture_traces/c_rank_1.json"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := writeFiles(t, tt.files)
			var got []string
			for _, f := range trace.FindCapture(filepath.Join(dir, tt.main)) {
				rel, err := filepath.Rel(dir, f)
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, filepath.ToSlash(rel))
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("captures (-want +got):\n%s", diff)
			}
		})
	}
}

func TestLoadCapture(t *testing.T) {
	const details = `[{"file": "a.json", "batch_size": 4, "mode": "PIECEWISE"}, {"file": "b.json", "batch_size": 2, "mode": "FULL"}]`
	type known struct {
		Batch     int
		Piecewise bool
	}
	tests := []struct {
		name  string
		files map[string]string
		path  string
		want  []known
		err   bool
	}{
		{"file", map[string]string{"c.json": ""}, "c.json", []known{{}}, false},
		{"file with details", map[string]string{"a.json": "", "execution_details.json": details}, "a.json", []known{{4, true}}, false},
		{"folder", map[string]string{"a.json": "", "b.json": "", "execution_details.json": details}, "", []known{{4, true}, {2, false}}, false},
		{"folder of a run", map[string]string{"t.json": "", "capture_traces/b.json": "", "capture_traces/execution_details.json": details}, "", []known{{2, false}}, false},
		{"other file in the folder", map[string]string{"a.json": "", "settings.json": `{"seed": 1}`}, "", []known{{}}, false},
		{"broken details", map[string]string{"a.json": "", "execution_details.json": `[{"file": "a.json", "batch_size": "four"`}, "", []known{{}}, false},
		{"no trace", map[string]string{"settings.json": `{"seed": 1}`}, "", nil, true},
		{"empty folder", nil, "", nil, true},
		{"no file", nil, "absent.json", nil, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(writeFiles(t, tt.files), tt.path)
			captures, err := trace.LoadCapture(context.Background(), trace.LoadOptions{}, path)
			if (err != nil) != tt.err {
				t.Fatal(err)
			}
			var got []known
			for _, c := range captures {
				got = append(got, known{c.Batch, c.Piecewise})
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("captures (-want +got):\n%s", diff)
			}
		})
	}
	if _, err := trace.LoadCapture(context.Background(), trace.LoadOptions{}, filepath.Join(t.TempDir(), "absent.json")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("absent file: %v", err)
	}
}
