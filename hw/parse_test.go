package hw_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ditlens/ditlens/hw"
)

func TestParseSpec(t *testing.T) {
	s, err := hw.ParseSpec("mine.json", strings.NewReader(`{
		"name": "My GPU", "sources": {"lab": "measured here"},
		"achievable": {
			"matrix": {"bf16": {"flops_per_second": 1e14, "source": "lab"}},
			"bandwidth": {"memory": {"bytes_per_second": 1e12, "source": "a STREAM run"}}
		}}`))
	if err != nil {
		t.Fatal(err)
	}
	want := &hw.Spec{Product: "My GPU", Devices: 1, Achievable: hw.Set{
		Matrix:    map[hw.DType]hw.Figure{hw.BF16: {Value: 1e14, Source: "measured here"}},
		Bandwidth: map[hw.Level]hw.Figure{hw.DeviceMemory: {Value: 1e12, Source: "a STREAM run"}},
	}}
	if diff := cmp.Diff(want, s); diff != "" {
		t.Error(diff)
	}
}

func TestParseSpecErrors(t *testing.T) {
	figure := func(s string) string { return `{"name": "x", "datasheet": {"matrix": {"bf16": ` + s + `}}}` }
	tests := []struct{ name, spec, field, says string }{
		{"unknown field", `{"name": "x", "nmae": 1}`, "nmae", "achievable"},
		{"unknown field inside", figure(`{"flops": 1}`), "datasheet.matrix.bf16.flops", "flops_per_second"},
		{"unknown type", `{"name": "x", "datasheet": {"matrix": {"bf17": {}}}}`, "datasheet.matrix.bf17", "bf16"},
		{"unknown level", `{"name": "x", "datasheet": {"bandwidth": {"hbm": {}}}}`, "datasheet.bandwidth.hbm", "host_link"},
		{"no name", `{}`, "name", "missing"},
		{"no source", figure(`{"flops_per_second": 1}`), "datasheet.matrix.bf16.source", "no source"},
		{"no value", figure(`{"source": "s"}`), "datasheet.matrix.bf16.flops_per_second", "positive"},
		{"negative", figure(`{"flops_per_second": -1, "source": "s"}`), "datasheet.matrix.bf16.flops_per_second", "positive"},
		{"text for a number", figure(`{"flops_per_second": "1", "source": "s"}`), "datasheet.matrix.bf16.flops_per_second", "string"},
		{"BL-82 sparse", `{"name": "x", "sparse": true}`, "sparse", "dense"},
		{"not an object", `{"name": "x", "datasheet": 3}`, "datasheet", "object"},
		{"not an object at all", `[]`, "", "object"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := hw.ParseSpec("mine.json", strings.NewReader(tt.spec))
			var fe *hw.FieldError
			if !errors.As(err, &fe) {
				t.Fatalf("got %v", err)
			}
			if fe.Field != tt.field || !strings.Contains(err.Error(), tt.says) || !strings.Contains(err.Error(), "mine.json") {
				t.Errorf("field %q in %q", fe.Field, err)
			}
		})
	}
	if _, err := hw.ParseSpec("mine.json", strings.NewReader(`{"name": `)); err == nil || !strings.Contains(err.Error(), "mine.json") {
		t.Errorf("cut file: %v", err)
	}
}

func TestSchemaNamesEveryField(t *testing.T) {
	_, err := hw.ParseSpec("x", strings.NewReader(`{"name": "x", "?": 1}`))
	var fe *hw.FieldError
	if !errors.As(err, &fe) {
		t.Fatal(err)
	}
	for _, field := range fe.Known {
		if !strings.Contains(hw.Schema(), "`"+field+"`") {
			t.Errorf("the schema does not describe %q", field)
		}
	}
}

func FuzzParseSpec(f *testing.F) {
	files, err := filepath.Glob("data/*.json")
	if err != nil {
		f.Fatal(err)
	}
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(data))
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := hw.ParseSpec("fuzz", strings.NewReader(text))
		if err != nil {
			return
		}
		for _, typ := range types {
			for _, c := range []hw.Ceiling{hw.Achievable, hw.Datasheet} {
				if p, ok := s.Peak(c, hw.Matrix, typ); ok && (!(p.Value > 0) || p.Source == "") {
					t.Errorf("%v: %+v", typ, p)
				}
			}
		}
	})
}
