package record_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/ditlens/ditlens/trace/record"
)

const (
	v267 = "c30266378c815c2f31f95b9d21d2818276050547"
	v268 = "2f74acb12830163d1fe0dd1abb5422f0bff7acf0"
)

// checkout lays files into a folder and returns it.
func checkout(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestCheckoutSHA(t *testing.T) {
	tests := []struct {
		name  string
		files map[string]string
		at    string
		want  string
	}{
		{"detached", map[string]string{".git/HEAD": v267 + "\n"}, ".", v267},
		{"branch", map[string]string{".git/HEAD": "ref: refs/heads/main\n", ".git/refs/heads/main": v267 + "\n"}, ".", v267},
		{"packed", map[string]string{".git/HEAD": "ref: refs/heads/main\n", ".git/packed-refs": "# pack-refs with: peeled\n" + v268 +
			" refs/tags/a\n^" + v267 + "\n" + v267 + " refs/heads/main\n"}, ".", v267},
		{"loose before packed", map[string]string{".git/HEAD": "ref: refs/heads/main\n", ".git/refs/heads/main": v268, ".git/packed-refs": v267 + " refs/heads/main\n"}, ".", v268},
		{"worktree", map[string]string{"repo/.git/worktrees/w/HEAD": "ref: refs/heads/w\n", "repo/.git/worktrees/w/commondir": "../..\n",
			"repo/.git/refs/heads/w": v268, "w/.git": "gitdir: ../repo/.git/worktrees/w\n"}, "w", v268},
		{"submodule", map[string]string{".git/modules/s/HEAD": v267, "s/.git": "gitdir: ../.git/modules/s\n"}, "s", v267},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := record.CheckoutSHA(filepath.Join(checkout(t, tt.files), tt.at))
			if err != nil || got != tt.want {
				t.Errorf("got %q, %v", got, err)
			}
		})
	}
}

func TestCheckoutSHAErrors(t *testing.T) {
	tests := []struct {
		name  string
		files map[string]string
		is    error
	}{
		{"no checkout", nil, fs.ErrNotExist},
		{"no branch", map[string]string{".git/HEAD": "ref: refs/heads/main\n"}, record.ErrNoCommit},
		{"no hash", map[string]string{".git/HEAD": "hello\n"}, record.ErrNoCommit},
		{"cycle", map[string]string{".git/HEAD": "ref: refs/a\n", ".git/refs/a": "ref: refs/b", ".git/refs/b": "ref: refs/a"}, record.ErrNoCommit},
		{"out of the folder", map[string]string{".git/HEAD": "ref: refs/../../secret\n", "secret": v267}, record.ErrNoCommit},
		{"no pointer", map[string]string{".git": "hello"}, record.ErrNoCommit},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if sha, err := record.CheckoutSHA(checkout(t, tt.files)); !errors.Is(err, tt.is) {
				t.Errorf("got %q, %v", sha, err)
			}
		})
	}
}

func TestChoosePatch(t *testing.T) {
	folder := func(names ...string) fstest.MapFS {
		m := fstest.MapFS{}
		for _, n := range names {
			m[n] = &fstest.MapFile{}
		}
		return m
	}
	tests := []struct {
		name, sha string
		folder    fstest.MapFS
		want      record.Patch
	}{
		{"exact", v267, folder("xdit_v26.7.patch", "xdit_v26.6.patch"), record.Patch{Status: record.OK, Version: "v26.7", File: "xdit_v26.7.patch"}},
		{"nearest lower", v268, folder("xdit_v26.7.patch", "xdit_v26.5.patch", "xdit_v26.9.patch"), record.Patch{Status: record.OK, Version: "v26.8", File: "xdit_v26.7.patch"}},
		{"numbers, not text", v267, folder("v26.10.patch", "v9.1.patch"), record.Patch{Status: record.OK, Version: "v26.7", File: "v9.1.patch"}},
		{"only higher", v267, folder("v26.8.patch", "README.md"), record.Patch{Status: record.Unavailable, Version: "v26.7", Reason: "no patch for v26.7 or lower"}},
		{"unknown commit", strings.Repeat("0", 40), folder("v26.7.patch"), record.Patch{Status: record.Unavailable, Reason: "checkout " + strings.Repeat("0", 40) + " is no known image"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := record.ChoosePatch(tt.sha, record.XDiTImages(), tt.folder)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
	extended := append(record.XDiTImages(), record.Image{Version: "v26.9", SHA: strings.Repeat("a", 40)})
	if p, err := record.ChoosePatch(strings.Repeat("a", 40), extended, folder("v26.8.diff")); err != nil || p.File != "v26.8.diff" {
		t.Errorf("extended table: %+v, %v", p, err)
	}
}

func TestPlan(t *testing.T) {
	dir := checkout(t, map[string]string{".git/HEAD": v267})
	patches := fstest.MapFS{"v26.7.patch": &fstest.MapFile{}}
	tests := []struct {
		name   string
		env    map[string]string
		in     record.Request
		args   string // EXTRA_XDIT_ARGS
		status record.Status
	}{
		{"patched", map[string]string{"EXTRA_XDIT_ARGS": "--use_torch_compile --height 1024"}, record.Request{Checkout: dir, Patches: patches},
			"--use_torch_compile --height 1024 --profile_wait 1 --profile_capture_phase --profile_with_stack", record.OK},
		{"switched off", map[string]string{"HYPERLOOM_ENABLE_PATCH": "0", "EXTRA_XDIT_ARGS": "--x"}, record.Request{Checkout: dir, Patches: patches},
			"--x --profile_wait 1", record.NotAttempted},
		{"no checkout", nil, record.Request{Patches: patches}, "--profile_wait 1", record.NotAttempted},
		{"no patch folder", nil, record.Request{Checkout: dir}, "--profile_wait 1", record.NotAttempted},
		{"no git", nil, record.Request{Checkout: t.TempDir(), Patches: patches}, "--profile_wait 1", record.Unavailable},
		{"quoted text stays", map[string]string{"EXTRA_XDIT_ARGS": "--prompt 'two  cats'"}, record.Request{}, "--prompt 'two  cats' --profile_wait 1", record.NotAttempted},
		{"own value stays", map[string]string{"EXTRA_XDIT_ARGS": "--profile_wait=3"}, record.Request{}, "--profile_wait=3", record.NotAttempted},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.in.Framework, tt.in.Env = record.XDiT, func(n string) string { return tt.env[n] }
			p, err := record.NewPlan(tt.in)
			if err != nil {
				t.Fatal(err)
			}
			env := map[string]string{}
			for _, v := range p.Env {
				env[v.Name] = v.Value
			}
			if env["EXTRA_XDIT_ARGS"] != tt.args || p.Patch.Status != tt.status || env["HYPERLOOM_TRACELENS_PATCH_STATUS"] != string(tt.status) {
				t.Errorf("got %+v", p)
			}
			if (env["HYPERLOOM_PROFILE_DEGRADED_REASON"] == "") != (tt.status == record.OK) {
				t.Errorf("reason: %+v", p)
			}
		})
	}
}

func TestPlanOfEachFramework(t *testing.T) {
	modes := map[string]string{"xdit": "inference", "vllm": "inference", "SGLang": "inference", "atom": "inference", "diffusers": "default", "custom": "default"}
	for name, mode := range modes {
		f, err := record.ParseFramework(name)
		if err != nil {
			t.Fatal(err)
		}
		p, err := record.NewPlan(record.Request{Framework: f})
		if err != nil || p.Mode != mode || p.Patch.Status != record.NotAttempted || len(p.Flags)+len(p.Notes) == 0 {
			t.Errorf("%s: %+v, %v", name, p, err)
		}
	}
	if _, err := record.ParseFramework("comfy"); !errors.Is(err, record.ErrFramework) {
		t.Error(err)
	}
	if _, err := record.NewPlan(record.Request{Framework: "comfy"}); !errors.Is(err, record.ErrFramework) {
		t.Error(err)
	}
	zero, err := record.NewPlan(record.Request{Framework: record.XDiT, Env: func(n string) string {
		return map[string]string{"EXTRA_XDIT_ARGS": "--profile_wait 0"}[n]
	}})
	if err != nil || len(zero.Notes) != 1 || len(zero.Flags) != 0 {
		t.Errorf("--profile_wait 0: %+v, %v", zero, err)
	}
}

func TestDescribe(t *testing.T) {
	env := map[string]string{"XDIT_MODEL_NAME": "SD3.5", "EXTRA_XDIT_ARGS": "--height 512 --num_inference_steps=28 --use_cfg_parallel --ulysses_degree 4"}
	got, err := record.Describe(record.Workload{Model: "/models/snapshots/abc", Height: 1024, Precision: "bf16"}, func(n string) string { return env[n] })
	if err != nil {
		t.Fatal(err)
	}
	want := record.Workload{Model: "SD3.5", Height: 1024, NumInferenceSteps: 28, Ulysses: 4, CFG: 2, Precision: "bf16", Source: map[string]string{
		"model": "XDIT_MODEL_NAME", "height": "option", "num_inference_steps": "EXTRA_XDIT_ARGS", "ulysses_degree": "EXTRA_XDIT_ARGS", "cfg_degree": "EXTRA_XDIT_ARGS", "precision": "option"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if got, err := record.Describe(record.Workload{Batch: 2}, nil); err != nil || got.Source["batch"] != "option" {
		t.Errorf("without an environment: %+v, %v", got, err)
	}
	if _, err := record.Describe(record.Workload{}, func(string) string { return "--height big" }); err == nil {
		t.Error("a height that is no number")
	}
}
