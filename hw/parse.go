package hw

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
)

// FieldError is returned by [ParseSpec] for a field that is unknown, missing or impossible.
type FieldError struct {
	File  string   // as given to ParseSpec
	Field string   // path of the field: "datasheet.matrix.bf16.flops_per_sec"
	Why   string   // "unknown field", "no source" …
	Known []string // names that are known there, for an unknown field
}

// Error implements error.
func (e *FieldError) Error() string {
	s := fmt.Sprintf("hw: spec %s: field %q: %s", e.File, e.Field, e.Why)
	if len(e.Known) > 0 {
		s += "; known here: " + strings.Join(e.Known, ", ")
	}
	return s
}

// ParseSpec reads a GPU's spec from JSON; [Schema] describes the form and [Template] gives a shipped one to start from.
// file is the name that errors carry. Unknown fields, figures without a source, sparse rates and impossible values are a
// *[FieldError]; text that is no JSON is an error that wraps the decoder's.
func ParseSpec(file string, r io.Reader) (*Spec, error) {
	data, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("hw: read spec %s: %w", file, err)
	}
	if !json.Valid(data) {
		return nil, fmt.Errorf("hw: spec %s is no JSON: %w", file, json.Unmarshal(data, new(any)))
	}
	p := parser{file: file}
	return p.spec(data)
}

// parser holds what the nested objects need. Its methods descend: spec, set, figures, figure.
type parser struct {
	file    string
	sources map[string]string
}

var specFields = []string{"name", "aliases", "arch", "compute_capability", "compute_units", "memory_bytes",
	"last_level_cache_bytes", "devices", "no_matrix_unit", "sparse", "sources", "datasheet", "achievable"}

func (p *parser) spec(data []byte) (*Spec, error) {
	o, err := p.object("", data, specFields)
	if err != nil {
		return nil, err
	}
	s := &Spec{Devices: 1}
	var sparse bool
	err = errors.Join(
		p.value(o, "", "name", &s.Product), p.value(o, "", "aliases", &s.Aliases), p.value(o, "", "arch", &s.Arch),
		p.value(o, "", "compute_capability", &s.Capability), p.value(o, "", "devices", &s.Devices),
		p.value(o, "", "no_matrix_unit", &s.NoMatrix), p.value(o, "", "sparse", &sparse), p.value(o, "", "sources", &p.sources),
	)
	if err != nil {
		return nil, err
	}
	switch {
	case s.Product == "":
		return nil, p.fail("name", "missing")
	case sparse:
		return nil, p.fail("sparse", "rates with structured sparsity are not accepted: give the dense ones")
	case s.Devices < 1:
		return nil, p.fail("devices", "must be at least 1")
	}
	return s, errors.Join(
		p.count(o, "compute_units", &s.ComputeUnits), p.count(o, "memory_bytes", &s.Memory),
		p.count(o, "last_level_cache_bytes", &s.Cache),
		p.set(o, "datasheet", &s.Datasheet), p.set(o, "achievable", &s.Achievable),
	)
}

func (p *parser) set(o map[string]json.RawMessage, field string, s *Set) error {
	raw, ok := o[field]
	if !ok {
		return nil
	}
	in, err := p.object(field, raw, []string{"matrix", "vector", "bandwidth"})
	if err != nil {
		return err
	}
	return errors.Join(
		figures(p, in, field+".matrix", "flops_per_second", typeNames[:], &s.Matrix),
		figures(p, in, field+".vector", "flops_per_second", typeNames[:], &s.Vector),
		figures(p, in, field+".bandwidth", "bytes_per_second", levelNames[:], &s.Bandwidth),
	)
}

// figures reads the object at path from its parent o. names[k] is the name of key k.
func figures[K ~uint8](p *parser, o map[string]json.RawMessage, path, unit string, names []string, m *map[K]Figure) error {
	_, field, _ := strings.Cut(path, ".")
	raw, ok := o[field]
	if !ok {
		return nil
	}
	known := slices.DeleteFunc(slices.Clone(names), func(s string) bool { return s == UnknownType.String() })
	in, err := p.object(path, raw, known)
	if err != nil {
		return err
	}
	*m = make(map[K]Figure, len(in))
	for _, name := range slices.Sorted(maps.Keys(in)) {
		f, err := p.figure(path+"."+name, unit, in[name])
		if err != nil {
			return err
		}
		(*m)[K(slices.Index(names, name))] = f
	}
	return nil
}

func (p *parser) figure(path, unit string, raw json.RawMessage) (Figure, error) {
	o, err := p.object(path, raw, []string{unit, "source", "substitute"})
	if err != nil {
		return Figure{}, err
	}
	var f Figure
	err = errors.Join(p.value(o, path, unit, &f.Value), p.value(o, path, "source", &f.Source), p.value(o, path, "substitute", &f.Substitute))
	if err != nil {
		return Figure{}, err
	}
	if !(f.Value > 0) || math.IsInf(f.Value, 0) {
		return Figure{}, p.fail(path+"."+unit, "must be positive")
	}
	f.Source, err = p.source(path, f.Source)
	return f, err
}

func (p *parser) count(o map[string]json.RawMessage, field string, c *Count) error {
	raw, ok := o[field]
	if !ok {
		return nil
	}
	in, err := p.object(field, raw, []string{"value", "source"})
	if err != nil {
		return err
	}
	if err := errors.Join(p.value(in, field, "value", &c.Value), p.value(in, field, "source", &c.Source)); err != nil {
		return err
	}
	if c.Value <= 0 {
		return p.fail(field+".value", "must be positive")
	}
	c.Source, err = p.source(field, c.Source)
	return err
}

// source resolves a key of "sources"; other text stands for itself.
func (p *parser) source(path, s string) (string, error) {
	if full, ok := p.sources[s]; ok {
		s = full
	}
	if strings.TrimSpace(s) == "" {
		return "", p.fail(path+".source", "no source: say where the figure is from")
	}
	return s, nil
}

// object decodes one object and refuses fields that are not known.
func (p *parser) object(path string, raw json.RawMessage, known []string) (map[string]json.RawMessage, error) {
	var o map[string]json.RawMessage
	if err := json.Unmarshal(raw, &o); err != nil || o == nil {
		return nil, p.fail(path, "must be an object")
	}
	for _, name := range slices.Sorted(maps.Keys(o)) {
		if !slices.Contains(known, name) {
			return nil, &FieldError{p.file, strings.TrimPrefix(path+"."+name, "."), "unknown field", known}
		}
	}
	return o, nil
}

// value decodes a field of the object at path, which may be left out.
func (p *parser) value(o map[string]json.RawMessage, path, field string, to any) error {
	raw, ok := o[field]
	if !ok || bytes.Equal(raw, []byte("null")) {
		return nil
	}
	if err := json.Unmarshal(raw, to); err != nil {
		return p.fail(strings.TrimPrefix(path+"."+field, "."), err.Error())
	}
	return nil
}

func (p *parser) fail(field, why string) error {
	return &FieldError{File: p.file, Field: field, Why: why}
}
