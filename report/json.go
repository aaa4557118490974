package report

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"strings"
)

//go:embed report.schema.json
var schema []byte

// Schema returns the JSON Schema (draft 2020-12) of report.json. The caller may keep and change it.
func Schema() []byte { return append([]byte(nil), schema...) }

// WriteJSON writes the whole report as indented JSON. Unknown numbers are null, lists never; bytes that are not UTF-8 become U+FFFD.
func (r *Report) WriteJSON(w io.Writer) error { return writeJSON(w, r) }

// ReadJSON reads a report that [Report.WriteJSON] wrote. It returns an error for another major schema version.
func ReadJSON(rd io.Reader) (*Report, error) {
	var r Report
	if err := json.NewDecoder(rd).Decode(&r); err != nil {
		return nil, fmt.Errorf("report: read report.json: %w", err)
	}
	if major(r.SchemaVersion) != major(SchemaVersion) {
		return nil, fmt.Errorf("report: read report.json: schema version %q, want %q", r.SchemaVersion, SchemaVersion)
	}
	return &r, nil
}

// major returns what stands before the first dot of a version.
func major(version string) string {
	for i := range version {
		if version[i] == '.' {
			return version[:i]
		}
	}
	return version
}

// writeJSON writes a value as indented JSON in which lists and maps are never null.
func writeJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(filled(reflect.ValueOf(v)).Interface())
}

// filled returns a copy of v with empty lists and maps in place of nil ones and all text in UTF-8.
func filled(v reflect.Value) reflect.Value {
	out := v
	switch v.Kind() {
	case reflect.Slice:
		out = reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		for i := range v.Len() {
			out.Index(i).Set(filled(v.Index(i)))
		}
	case reflect.Map:
		out = reflect.MakeMapWithSize(v.Type(), v.Len())
		for k, e := range v.Seq2() {
			out.SetMapIndex(k, filled(e))
		}
	case reflect.Struct:
		out = reflect.New(v.Type()).Elem()
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() && f.Tag.Get("json") != "-" {
				out.Field(i).Set(filled(v.Field(i)))
			}
		}
	case reflect.String:
		out = reflect.New(v.Type()).Elem()
		out.SetString(strings.ToValidUTF8(v.String(), "\ufffd"))
	case reflect.Pointer:
		if !v.IsNil() {
			out = reflect.New(v.Type().Elem())
			out.Elem().Set(filled(v.Elem()))
		}
	}
	return out
}
