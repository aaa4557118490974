package hw_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ditlens/ditlens/hw"
)

// types are the element types that a peak is asked for.
var types = []hw.DType{hw.Bool, hw.Int8, hw.Int64, hw.FP4, hw.FP6, hw.FP8, hw.FP16, hw.BF16, hw.TF32, hw.FP32, hw.FP64, hw.Complex64}

func TestEveryFigureHasASource(t *testing.T) {
	all := hw.All()
	if len(all) < 15 {
		t.Fatalf("only %d specs are shipped", len(all))
	}
	for _, s := range all {
		for _, c := range []hw.Count{s.ComputeUnits, s.Memory, s.Cache} {
			if c.Value != 0 && c.Source == "" {
				t.Errorf("%s: count %d without source", s.Product, c.Value)
			}
		}
		for _, c := range []hw.Ceiling{hw.Datasheet, hw.Achievable} {
			for u, m := range map[hw.Unit]map[hw.DType]hw.Figure{hw.Matrix: s.Set(c).Matrix, hw.Vector: s.Set(c).Vector} {
				for typ, f := range m {
					sourced(t, f, s.Product, c, u, typ)
				}
			}
			for l, f := range s.Set(c).Bandwidth {
				sourced(t, f, s.Product, c, l)
			}
		}
	}
}

// In the shipped files every source is a key of "sources", every key is used, and its text names a document and what the
// document says: a vendor alone, or a word such as "data sheet", is no source that a reader could open.
func TestSourcesNameDocuments(t *testing.T) {
	document := regexp.MustCompile(`(?i)white paper|data sheet|documentation|blog|product brief|block diagram|review|` +
		`[\w/]+\.(json|py|cc|md)\b|platform specifications|\w\.(com|se)/`)
	files, err := filepath.Glob("data/*.json")
	if err != nil || len(files) != len(hw.All()) {
		t.Fatal(files, err)
	}
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		var spec map[string]any
		if err := json.Unmarshal(data, &spec); err != nil {
			t.Fatal(err)
		}
		sources, _ := spec["sources"].(map[string]any)
		delete(spec, "sources")
		used := map[string]bool{}
		sourceKeys(spec, used)
		for key := range used {
			if sources[key] == nil {
				t.Errorf("%s: source %q is not in sources", name, key)
			}
		}
		for key, text := range sources {
			if !used[key] {
				t.Errorf("%s: source %q is not used", name, key)
			}
			if s := text.(string); !document.MatchString(s) || !strings.ContainsAny(s, "0123456789") {
				t.Errorf("%s: source %q names no document or nothing that it says: %q", name, key, s)
			}
		}
	}
}

// sourceKeys collects the values of all "source" fields.
func sourceKeys(v any, used map[string]bool) {
	o, _ := v.(map[string]any)
	for name, in := range o {
		if s, ok := in.(string); ok && name == "source" {
			used[s] = true
		}
		sourceKeys(in, used)
	}
}

// sourced checks a shipped figure: a plausible magnitude catches a slip of a unit, and nothing stands in for it.
func sourced(t *testing.T, f hw.Figure, where ...any) {
	t.Helper()
	if f.Source == "" || f.Value < 1e9 || f.Value > 2e16 || f.Substitute != "" {
		t.Errorf("%v: %+v", where, f)
	}
}

// The achievable set of a product never exceeds its data sheet, except where a data sheet counts unpacked instructions.
func TestAchievableIsBelowDatasheet(t *testing.T) {
	for _, s := range hw.All() {
		for typ, f := range s.Achievable.Matrix {
			if d, ok := s.Datasheet.Matrix[typ]; ok && f.Value > d.Value*1.001 {
				t.Errorf("%s matrix %v: achievable %g above datasheet %g", s.Product, typ, f.Value, d.Value)
			}
		}
	}
}

// BL-80, BL-82, BL-83, BL-84: dense rates of the whole chip, from the right row.
func TestPeaks(t *testing.T) {
	tests := []struct {
		gpu  string
		c    hw.Ceiling
		u    hw.Unit
		typ  hw.DType
		want float64
	}{
		{"MI300X", hw.Achievable, hw.Matrix, hw.BF16, 708e12},
		{"MI300X", hw.Achievable, hw.Matrix, hw.FP16, 654e12},
		{"MI300X", hw.Achievable, hw.Matrix, hw.FP8, 1273e12},
		{"MI300X", hw.Achievable, hw.Matrix, hw.FP32, 163e12},
		{"MI300X", hw.Achievable, hw.Matrix, hw.FP64, 81e12},
		{"MI300X", hw.Achievable, hw.Vector, hw.BF16, 163e12},
		{"MI300X", hw.Achievable, hw.Vector, hw.FP32, 81e12},
		{"MI300X", hw.Achievable, hw.Vector, hw.FP64, 40e12},
		{"MI300X", hw.Achievable, hw.Vector, hw.FP16, 163e12},
		{"MI300X", hw.Datasheet, hw.Matrix, hw.BF16, 1307.4e12},
		{"MI300X", hw.Datasheet, hw.Matrix, hw.FP16, 1307.4e12},
		{"MI300X", hw.Datasheet, hw.Matrix, hw.FP8, 2614.9e12},
		{"MI300X", hw.Datasheet, hw.Matrix, hw.Int8, 2614.9e12},
		{"MI300X", hw.Datasheet, hw.Matrix, hw.FP32, 163.4e12},
		{"MI300X", hw.Datasheet, hw.Matrix, hw.FP64, 163.4e12},
		{"MI300X", hw.Datasheet, hw.Vector, hw.FP32, 163.4e12},
		{"MI300X", hw.Datasheet, hw.Vector, hw.FP64, 81.7e12},
		{"MI325X", hw.Achievable, hw.Matrix, hw.BF16, 843e12},
		{"MI325X", hw.Achievable, hw.Matrix, hw.FP16, 794e12},
		{"MI325X", hw.Achievable, hw.Matrix, hw.FP8, 1519e12},
		{"MI325X", hw.Achievable, hw.Matrix, hw.FP64, 97e12},
		{"MI325X", hw.Achievable, hw.Vector, hw.FP32, 97e12},
		{"MI325X", hw.Achievable, hw.Vector, hw.BF16, 194e12},
		{"MI325X", hw.Achievable, hw.Vector, hw.FP64, 48e12},
		{"MI325X", hw.Datasheet, hw.Matrix, hw.BF16, 1307.4e12},
		{"MI350X", hw.Datasheet, hw.Matrix, hw.BF16, 2306.9e12},
		{"MI355X", hw.Achievable, hw.Matrix, hw.BF16, 1686e12},
		{"MI355X", hw.Achievable, hw.Matrix, hw.FP16, 1686e12},
		{"MI355X", hw.Achievable, hw.Matrix, hw.FP8, 3567e12},
		{"MI355X", hw.Achievable, hw.Matrix, hw.FP4, 5663e12},
		{"MI355X", hw.Achievable, hw.Matrix, hw.FP32, 137e12},
		{"MI355X", hw.Datasheet, hw.Matrix, hw.BF16, 2516.6e12},
		{"MI355X", hw.Datasheet, hw.Matrix, hw.Int8, 5033.2e12},
		{"MI355X", hw.Datasheet, hw.Matrix, hw.FP32, 157.3e12},
		{"MI355X", hw.Datasheet, hw.Matrix, hw.FP64, 78.6e12},
		{"MI355X", hw.Datasheet, hw.Vector, hw.FP32, 157.3e12},
		{"MI355X", hw.Datasheet, hw.Matrix, hw.FP16, 2516.6e12},
		{"MI355X", hw.Datasheet, hw.Matrix, hw.FP8, 5033.2e12},
		{"MI355X", hw.Datasheet, hw.Vector, hw.FP64, 78.6e12},
		{"MI250X", hw.Datasheet, hw.Matrix, hw.FP16, 383e12},
		{"H100", hw.Datasheet, hw.Matrix, hw.BF16, 989.4e12},
		{"H100 PCIe", hw.Datasheet, hw.Matrix, hw.BF16, 756e12},
		{"H200", hw.Datasheet, hw.Matrix, hw.FP8, 1978.9e12},
		{"A100", hw.Datasheet, hw.Matrix, hw.BF16, 312e12},
		{"B200", hw.Datasheet, hw.Matrix, hw.FP4, 9e15},
		{"B200", hw.Datasheet, hw.Vector, hw.FP32, 75e12},
		{"B200", hw.Datasheet, hw.Matrix, hw.FP64, 37e12},
		{"MI350X", hw.Datasheet, hw.Matrix, hw.FP4, 9227.5e12},
		{"MI355X", hw.Datasheet, hw.Matrix, hw.FP4, 10066.4e12},
		{"L40S", hw.Datasheet, hw.Matrix, hw.FP8, 733e12},
		{"RTX 4090", hw.Datasheet, hw.Matrix, hw.BF16, 165.2e12},
		{"RTX 5090", hw.Datasheet, hw.Matrix, hw.BF16, 209.5e12},
	}
	for _, tt := range tests {
		f, ok := lookup(t, tt.gpu).Peak(tt.c, tt.u, tt.typ)
		if !ok || f.Value != tt.want || f.Substitute != "" {
			t.Errorf("%s %v %v %v: got %+v, want %g", tt.gpu, tt.c, tt.u, tt.typ, f, tt.want)
		}
	}
}

// Links count in one direction: vendors add up both.
func TestBandwidths(t *testing.T) {
	tests := []struct {
		gpu                string
		memory, host, peer float64 // bytes/s, 0 for unknown
	}{
		{"MI250", 3276.8e9, 64e9, 300e9},
		{"MI250X", 3276.8e9, 64e9, 400e9},
		{"MI300A", 5300e9, 0, 384e9},
		{"MI300X", 5300e9, 64e9, 448e9},
		{"MI308X", 0, 0, 0},
		{"MI325X", 6000e9, 64e9, 448e9},
		{"MI350X", 8000e9, 64e9, 537.6e9},
		{"MI355X", 8000e9, 64e9, 537.6e9},
		{"A100", 2039e9, 32e9, 300e9},
		{"A100 40GB", 1555e9, 32e9, 300e9},
		{"A100 PCIe", 1935e9, 32e9, 300e9},
		{"H100", 3350e9, 64e9, 450e9},
		{"H100 PCIe", 2000e9, 64e9, 300e9},
		{"H200", 4800e9, 64e9, 450e9},
		{"B200", 7700e9, 64e9, 900e9},
		{"L40S", 864e9, 32e9, 0},
		{"RTX 4090", 1008e9, 32e9, 0},
		{"RTX 5090", 1792e9, 64e9, 0},
	}
	if len(tests) != len(hw.All()) {
		t.Error("a shipped GPU is not tested")
	}
	for _, tt := range tests {
		for level, want := range map[hw.Level]float64{hw.DeviceMemory: tt.memory, hw.HostLink: tt.host, hw.PeerLink: tt.peer} {
			if f, _ := lookup(t, tt.gpu).Bandwidth(hw.Datasheet, level); f.Value != want {
				t.Errorf("%s %v: %+v, want %g", tt.gpu, level, f, want)
			}
		}
	}
}

func lookup(t *testing.T, name string) *hw.Spec {
	t.Helper()
	s, err := hw.Lookup(name)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// BL-87 and the INT8 rate of the achievable set: a stand-in is used and named.
func TestSubstitutes(t *testing.T) {
	tests := []struct {
		name, gpu string
		c         hw.Ceiling
		u         hw.Unit
		typ       hw.DType
		want      float64
		says      string
	}{
		{"BL-87 fp8 on A100 runs in 16 bits", "A100", hw.Datasheet, hw.Matrix, hw.FP8, 312e12, "has no fp8 matrix unit"},
		{"int8 was not measured", "MI300X", hw.Achievable, hw.Matrix, hw.Int8, 1273e12, "no int8 matrix peak is listed"},
		{"fp4 on MI300X", "MI300X", hw.Achievable, hw.Matrix, hw.FP4, 1273e12, "has no fp4 matrix unit"},
		{"fp32 products on vector units", "H100", hw.Datasheet, hw.Matrix, hw.FP32, 66.9e12, "fp32 vector"},
		{"bf16 vectors by the data sheet", "MI300X", hw.Datasheet, hw.Vector, hw.BF16, 163.4e12, "fp32 vector"},
		{"masks", "MI300X", hw.Achievable, hw.Vector, hw.Bool, 81e12, "no bool vector"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f, ok := lookup(t, tt.gpu).Peak(tt.c, tt.u, tt.typ)
			if !ok || f.Value != tt.want || !strings.Contains(f.Substitute, tt.says) {
				t.Errorf("got %+v, %v", f, ok)
			}
		})
	}
	if _, ok := hw.MI300X().Peak(hw.Achievable, hw.Matrix, hw.UnknownType); ok {
		t.Error("a peak for an unknown type")
	}
	if _, ok := lookup(t, "H100").Peak(hw.Achievable, hw.Matrix, hw.BF16); ok {
		t.Error("the achievable set borrows from the data sheet")
	}
}

// BL-81: no default for an unknown GPU.
func TestLookupUnknown(t *testing.T) {
	_, err := hw.Lookup("AMD Instinct MI999X")
	var unknown *hw.UnknownError
	if !errors.As(err, &unknown) || len(unknown.Near) != 3 || !strings.HasPrefix(unknown.Near[0], "MI") {
		t.Fatalf("got %v", err)
	}
	for _, says := range []string{"MI999X", "nearest", "spec file"} {
		if !strings.Contains(err.Error(), says) {
			t.Errorf("%q does not say %q", err, says)
		}
	}
	if _, err := hw.Lookup(""); !errors.As(err, &unknown) {
		t.Errorf("empty name: %v", err)
	}
}

func TestLookupIgnoresCaseAndPunctuation(t *testing.T) {
	for _, name := range []string{"mi300x", "AMD Instinct MI300X", "amd_instinct_mi300x", "NVIDIA-H100-80GB-HBM3", "rtx4090"} {
		if _, err := hw.Lookup(name); err != nil {
			t.Error(err)
		}
	}
}

func TestTemplateOfEveryGPUParses(t *testing.T) {
	for _, s := range hw.All() {
		data, err := hw.Template(s.Aliases[0])
		if err != nil {
			t.Error(err)
			continue
		}
		got, err := hw.ParseSpec("mine.json", strings.NewReader(string(data)))
		if err != nil {
			t.Error(err)
		} else if diff := cmp.Diff(s, got); diff != "" {
			t.Errorf("%s: %s", s.Product, diff)
		}
		if own, err := hw.Lookup(s.Product); err != nil || own.Product != s.Product {
			t.Errorf("%s is not found by its name: %v", s.Product, err)
		}
	}
}

// Every shipped GPU with any figures can be used by one ceiling or the other, for any type that models ask for.
func TestChoose(t *testing.T) {
	if c, note, ok := hw.Choose(hw.MI300X(), hw.Achievable); c != hw.Achievable || note != "" || !ok {
		t.Errorf("MI300X: %v %q %v", c, note, ok)
	}
	if c, note, ok := hw.Choose(lookup(t, "H100"), hw.Achievable); c != hw.Datasheet || note == "" || !ok {
		t.Errorf("H100: %v %q %v", c, note, ok)
	}
	if _, note, ok := hw.Choose(lookup(t, "MI308X"), hw.Achievable); ok || note == "" {
		t.Errorf("MI308X: %q %v", note, ok)
	}
	for _, s := range hw.All() {
		c, _, ok := hw.Choose(s, hw.Achievable)
		for _, typ := range types {
			if _, has := s.Peak(c, hw.Vector, typ); ok && !has && typ != hw.FP64 {
				t.Errorf("%s: no %v vector peak for %v", s.Product, c, typ)
			}
		}
	}
}
