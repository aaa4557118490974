package main

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ditlens/ditlens/internal/realtraces"
	"github.com/ditlens/ditlens/internal/synth"
)

// call runs the command and returns what it printed.
func call(t testing.TB, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	code = run(context.Background(), args, &out, &errs)
	return code, out.String(), errs.String()
}

func file(t testing.TB, name string, data []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func zipped(t testing.TB, data []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func unzipped(t testing.TB, data []byte) []byte {
	t.Helper()
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestSampleIsWhatTheGeneratorMakes(t *testing.T) {
	for name, unnamed := range map[string]bool{"sample.json.gz": false, "sample_unmarked.json.gz": true} {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(unzipped(t, data), synth.Flux(synth.FluxConfig{Unnamed: unnamed}).JSON()) {
			t.Errorf("%s is not what the generator makes; run go generate", name)
		}
	}
}

func TestWithoutArgumentsPrintsTheSample(t *testing.T) {
	code, out, errs := call(t)
	if code != exitOK || errs != "" {
		t.Errorf("exit %d, stderr %q", code, errs)
	}
	for _, want := range []string{"## Executive Summary", "| workload_type | diffusion |", "| throughput_unit | images/sec |", "4 / 4 / not given"} {
		if !strings.Contains(out, want) {
			t.Errorf("the report lacks %q", want)
		}
	}
}

func TestUnmarkedSampleBySignatures(t *testing.T) {
	code, out, _ := call(t, "-split", "autocorrelation", "sample_unmarked.json.gz")
	if code != exitOK || !strings.Contains(out, "4 / none / not given, by autocorrelation") {
		t.Errorf("exit %d\n%.1500s", code, out)
	}
}

func TestOutWritesAllForms(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	if code, _, errs := call(t, "-out", dir, "sample.json.gz"); code != exitOK {
		t.Fatalf("exit %d: %s", code, errs)
	}
	for _, name := range []string{"analysis.md", "report.json", "report.html", "kernel_candidates.json", "kernel_roofline.json", "diffusion_roofline.json",
		"unified_perf_summary.csv", "ops_summary.csv", "gpu_timeline.csv", "steps.csv", "steady_state.pt.trace.json.gz"} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
	t.Run("the steady state is a trace with the same steps", func(t *testing.T) {
		code, out, errs := call(t, filepath.Join(dir, "steady_state.pt.trace.json.gz"))
		if code != exitOK || !strings.Contains(out, "4 / 4 / not given") {
			t.Errorf("exit %d: %s\n%.1500s", code, errs, out)
		}
	})
	t.Run("the workload is restored from the report", func(t *testing.T) {
		again := filepath.Join(t.TempDir(), "again")
		if code, _, errs := call(t, "-model", "sample/flux", "-resolution", "512x512", "-out", dir, "sample.json.gz"); code != exitOK {
			t.Fatal(errs)
		}
		if code, _, errs := call(t, "-workload", filepath.Join(dir, "report.json"), "-out", again, "sample_unmarked.json.gz"); code != exitOK {
			t.Fatal(errs)
		}
		data, err := os.ReadFile(filepath.Join(again, "report.json"))
		if err != nil {
			t.Fatal(err)
		}
		var r struct{ Workload struct{ Model string } }
		if err := json.Unmarshal(data, &r); err != nil || r.Workload.Model != "sample/flux" {
			t.Errorf("%v, model %q", err, r.Workload.Model)
		}
	})
}

func TestExitCodes(t *testing.T) {
	whole := synth.Flux(synth.FluxConfig{}).JSON()
	gz := zipped(t, whole)
	irregular := synth.New()
	for i := range 30 {
		irregular.Addmm(int64(64+i*i), 512, int64(128+8*i))
	}
	for name, c := range map[string]struct {
		args []string
		code int
		says string // in stderr
	}{
		"missing file":         {[]string{"no/such/file.json"}, exitInput, "no/such/file.json"},
		"empty file":           {[]string{file(t, "empty.json", nil)}, exitInput, "byte 0"},
		"not JSON":             {[]string{file(t, "text.json", []byte("hello, world\n"))}, exitInput, "text.json: byte 0"},
		"JSON but no trace":    {[]string{file(t, "other.json", []byte(`{"a": 1}`))}, exitInput, "other.json"},
		"gzip cut at its head": {[]string{file(t, "head.json.gz", gz[:6])}, exitInput, "head.json.gz"},
		"gzip cut":             {[]string{file(t, "cut.json.gz", gz[:len(gz)/2])}, exitOK, ""},
		"text cut":             {[]string{file(t, "cut.json", whole[:len(whole)/2])}, exitOK, ""},
		"cut, strict":          {[]string{"-strict", file(t, "cut.json", whole[:len(whole)/2])}, exitInput, "cut.json: byte"},
		"no GPU events":        {[]string{file(t, "host.json", []byte(`{"traceEvents": []}`))}, exitEmpty, "no GPU events"},
		"no steady state":      {[]string{"-require-steady-state", file(t, "odd.json", irregular.JSON())}, exitUnsteady, "no steady state"},
		"no steps, no demand":  {[]string{file(t, "odd.json", irregular.JSON())}, exitOK, ""},
		"unknown flag":         {[]string{"-nope"}, exitUsage, "-nope"},
		"two traces":           {[]string{"a", "b"}, exitUsage, "one trace"},
		"unknown mode":         {[]string{"-split", "magic"}, exitUsage, "magic"},
		"bad marker":           {[]string{"-marker", "("}, exitUsage, "-marker"},
		"bad resolution":       {[]string{"-resolution", "big"}, exitUsage, "HxW"},
		"unknown GPU":          {[]string{"-hw", "MI300Y"}, exitUsage, "MI300X"},
		"missing spec":         {[]string{"-hw", "no.json"}, exitUsage, "no.json"},
		"spec with a typo":     {[]string{"-hw", file(t, "spec.json", []byte(`{"product": "x", "bandwith": 1}`))}, exitUsage, "bandwith"},
		"bad ceiling":          {[]string{"-ceiling", "sky"}, exitUsage, "sky"},
		"bad type":             {[]string{"-workload-type", "cake"}, exitUsage, "cake"},
		"help":                 {[]string{"-h"}, exitOK, "usage: analyze"},
	} {
		t.Run(name, func(t *testing.T) {
			code, _, errs := call(t, c.args...)
			if code != c.code || !strings.Contains(errs, c.says) {
				t.Errorf("exit %d, stderr %q; want exit %d and %q", code, errs, c.code, c.says)
			}
			if c.code == exitInput && strings.Count(errs, "\n") != 1 {
				t.Errorf("want one line, got %q", errs)
			}
		})
	}
}

func TestCutTraceSaysSo(t *testing.T) {
	gz := zipped(t, synth.Flux(synth.FluxConfig{Steps: 8}).JSON())
	dir := t.TempDir()
	if code, _, errs := call(t, "-out", dir, file(t, "cut.json.gz", gz[:len(gz)*2/3])); code != exitOK {
		t.Fatal(errs)
	}
	data, err := os.ReadFile(filepath.Join(dir, "report.json"))
	if err != nil {
		t.Fatal(err)
	}
	var r struct {
		Status     string
		Throughput struct{ Value *float64 }
		Trace      struct{ Files []struct{ Truncated bool } }
		Split      struct{ Steps []struct{ Complete bool } }
	}
	if err := json.Unmarshal(data, &r); err != nil {
		t.Fatal(err)
	}
	if r.Status != "partial" || !r.Trace.Files[0].Truncated || r.Throughput.Value != nil {
		t.Errorf("status %s, files %+v, throughput %v", r.Status, r.Trace.Files, r.Throughput.Value)
	}
}

func TestProfile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "gpu.pb.gz")
	if code, _, errs := call(t, "-pprof", path, "sample.json.gz"); code != exitOK {
		t.Fatal(errs)
	}
	out, err := exec.Command("go", "tool", "pprof", "-top", path).CombinedOutput()
	if err != nil || !bytes.Contains(out, []byte("attn_fwd")) {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestFolder(t *testing.T) {
	dir := t.TempDir()
	for name, data := range map[string][]byte{"rank_0.trace.json": synth.Flux(synth.FluxConfig{}).JSON(),
		"decode_only_rank_0.trace.json": []byte(`{"traceEvents": []}`), "execution_details.json": []byte(`[{"file": "x"}]`)} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	code, _, errs := call(t, dir)
	if code != exitOK || !strings.Contains(errs, "analysing "+filepath.Join(dir, "rank_0.trace.json")) {
		t.Errorf("exit %d, stderr %s", code, errs)
	}
}

// TestBL06CutTrace: a trace that was cut is reported as far as it goes and told from a whole one; -strict refuses it.
func TestBL06CutTrace(t *testing.T) {
	whole := synth.Flux(synth.FluxConfig{}).JSON()
	path := file(t, "cut.json", whole[:len(whole)*9/10])
	code, out, errs := call(t, path)
	if code != exitOK || !strings.Contains(errs, path+" ends too early") || !strings.Contains(out, "| status | partial |") {
		t.Errorf("exit %d: %s\n%.1500s", code, errs, out)
	}
	if code, _, errs := call(t, "-strict", path); code != exitInput || !strings.Contains(errs, "cut off by the end of the file") {
		t.Errorf("strict: exit %d: %s", code, errs)
	}
}

// TestFolderOfRanks: two ranks whose collective one enters 70 µs late, and a third one that is broken.
func TestFolderOfRanks(t *testing.T) {
	dir := t.TempDir()
	for rank, dur := range []int{100, 30} {
		r := synth.Flux(synth.FluxConfig{})
		r.Raw(fmt.Sprintf(`{"ph":"X","cat":"kernel","name":"ncclDevKernel_Generic","pid":0,"tid":9,"ts":%d,"dur":%d,"args":{"stream":9}}`, 1000-dur, dur))
		text := strings.Replace(string(r.JSON()), `"rank": 0, "world_size": 1`, fmt.Sprintf(`"rank": %d, "world_size": 3`, rank), 1)
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("trace_rank_%d.json", rank)), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	code, out, errs := call(t, dir)
	if code != exitOK || !strings.Contains(out, "Rank 1 arrives last in 1 of its 1") || !strings.Contains(errs, "analysing "+filepath.Join(dir, "trace_rank_0.json")) {
		t.Errorf("exit %d: %s\n%.800s", code, errs, out)
	}
	if code, out, errs := call(t, "-rank", "1", dir); code != exitOK || !strings.Contains(errs, "analysing "+filepath.Join(dir, "trace_rank_1.json")) ||
		!strings.Contains(out, "| this rank | 1 |") {
		t.Errorf("rank 1: exit %d: %s", code, errs)
	}
	unranked := `{"traceEvents": [{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":0,"ts":1,"dur":2,"args":{"device":0,"stream":0}}]}`
	if err := os.WriteFile(filepath.Join(dir, "another.json"), []byte(unranked), 0o644); err != nil {
		t.Fatal(err)
	}
	if code, out, errs := call(t, dir); code != exitOK || !strings.Contains(out, "Rank 1 arrives last") || !strings.Contains(errs, "analysing "+filepath.Join(dir, "trace_rank_0.json")) {
		t.Errorf("a trace of no rank beside them: exit %d: %s", code, errs)
	}
	if err := os.Remove(filepath.Join(dir, "another.json")); err != nil {
		t.Fatal(err)
	}
	if code, _, errs := call(t, "-rank", "7", dir); code != exitInput || !strings.Contains(errs, "no trace of rank 7; there are those of [0 1]") {
		t.Errorf("rank 7: exit %d: %s", code, errs)
	}
	if code, _, errs := call(t, "-rank", "1", filepath.Join(dir, "trace_rank_0.json")); code != exitInput || !strings.Contains(errs, "-rank chooses from a folder") {
		t.Errorf("a file: exit %d: %s", code, errs)
	}
}

func TestCaptureThatCannotBeRead(t *testing.T) {
	const graph = `{"traceEvents":[
{"ph":"X","cat":"cuda_runtime","name":"hipGraphLaunch","pid":1,"tid":1,"ts":0,"dur":5,"args":{"correlation":9}},
{"ph":"X","cat":"kernel","name":"gemm","pid":0,"tid":0,"ts":10,"dur":40,"args":{"stream":0,"correlation":9}}]}`
	path := file(t, "rank_0.json", []byte(graph))
	if code, _, errs := call(t, "-capture", filepath.Join(t.TempDir(), "none"), path); code != exitInput || !strings.Contains(errs, "none") {
		t.Errorf("a capture that is not there: exit %d, %s", code, errs)
	}
	folder := filepath.Join(filepath.Dir(path), "capture_traces")
	if err := os.Mkdir(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	broken := filepath.Join(folder, "capture_trace_rank_0.json")
	if err := os.WriteFile(broken, []byte("no trace"), 0o644); err != nil {
		t.Fatal(err)
	}
	code, out, errs := call(t, path)
	if code != exitOK || !strings.Contains(out, "capture_unreadable") {
		t.Errorf("a broken capture beside the trace: exit %d, %s", code, errs)
	}
	if code, _, _ := call(t, "-capture", broken, path); code != exitInput {
		t.Errorf("a broken capture that was asked for: exit %d", code)
	}
}

func TestFluxFindsItsCapture(t *testing.T) {
	path := realtraces.Path(t, realtraces.Flux)
	realtraces.Path(t, realtraces.FluxCapture)
	code, out, errs := call(t, path)
	if code != exitOK || !strings.Contains(out, "sage_fwd") {
		t.Errorf("exit %d: %s", code, errs)
	}
	if strings.Contains(out, "graph_without_capture") {
		t.Error("the capture beside the trace was not merged")
	}
}

// TestFolderWithAnArchiveOfRanks: what holds several ranks is reported, and said not to be compared with the others.
func TestFolderWithAnArchiveOfRanks(t *testing.T) {
	rank := func(n int) string {
		return fmt.Sprintf(`{"distributedInfo": {"rank": %d}, "traceEvents": [{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":0,"ts":1,"dur":2,"args":{"device":%[1]d,"stream":0}}]}`, n)
	}
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for n := range 2 {
		w, err := z.Create(fmt.Sprint(n, ".json"))
		if err != nil {
			t.Fatal(err)
		}
		io.WriteString(w, rank(n))
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, data := range map[string][]byte{"both.zip": b.Bytes(), "two.json": []byte(rank(2))} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if code, out, errs := call(t, dir); code != exitOK || !strings.Contains(out, "was not compared with those of other ranks") {
		t.Errorf("exit %d: %s", code, errs)
	}
}
