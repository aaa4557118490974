package report

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"math"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// enums are the fields whose values are a closed set.
var enums = map[string][]any{
	"Report.status":        {StatusOK, StatusPartial, StatusNoSteadyState, StatusEmpty},
	"Report.workload_type": {"diffusion", "llm", "unknown"},
	"Operator.bound":       {"compute", "memory", "latency", "unmodelled"},
	"Operator.roof":        {"compute", "memory", ""},
	"Diagnostic.severity":  {"info", "warning", "error"},
	"File.role":            {"trace", "capture"},
}

// TestSchemaIsCurrent makes report.schema.json of the types and their comments.
func TestSchemaIsCurrent(t *testing.T) {
	g := generator{defs: map[string]any{}, docs: comments(t)}
	root := g.object(reflect.TypeFor[Report]())
	root["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	root["title"] = "ditlens report.json, schema version " + SchemaVersion
	root["$defs"] = g.defs
	want, err := json.MarshalIndent(root, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	want = append(want, '\n')
	if *update {
		if err := os.WriteFile("report.schema.json", want, 0o644); err != nil {
			t.Fatal(err)
		}
	} else if string(want) != string(Schema()) {
		t.Error("report.schema.json is not that of the types; go test ./report -update rewrites it")
	}
}

// comments returns the comments of all fields of this package by "Type.Field".
func comments(t *testing.T) map[string]string {
	docs := map[string]string{}
	for _, file := range []string{"report.go", "totals.go", "../split/splitter.go"} {
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(f, func(n ast.Node) bool {
			spec, ok := n.(*ast.TypeSpec)
			if !ok {
				return true
			}
			if s, ok := spec.Type.(*ast.StructType); ok {
				for _, field := range s.Fields.List {
					for _, name := range field.Names {
						docs[spec.Name.Name+"."+name.Name] = strings.Join(strings.Fields(field.Doc.Text()+" "+field.Comment.Text()), " ")
					}
				}
			}
			return true
		})
	}
	return docs
}

// A generator makes schemas of types; structs go into $defs by name.
type generator struct {
	defs map[string]any
	docs map[string]string
}

func (g *generator) schema(t reflect.Type) map[string]any {
	switch t {
	case reflect.TypeFor[Number]():
		return map[string]any{"type": []any{"number", "null"}}
	case reflect.TypeFor[Micros]():
		return map[string]any{"type": "number"}
	}
	switch t.Kind() {
	case reflect.String:
		return map[string]any{"type": "string"}
	case reflect.Bool:
		return map[string]any{"type": "boolean"}
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return map[string]any{"type": "integer"}
	case reflect.Slice:
		return map[string]any{"type": "array", "items": g.schema(t.Elem())}
	case reflect.Map:
		return map[string]any{"type": "object", "additionalProperties": g.schema(t.Elem())}
	case reflect.Pointer:
		return map[string]any{"anyOf": []any{g.schema(t.Elem()), map[string]any{"type": "null"}}}
	case reflect.Struct:
		if _, ok := g.defs[t.Name()]; !ok {
			g.defs[t.Name()] = nil
			g.defs[t.Name()] = g.object(t)
		}
		return map[string]any{"$ref": "#/$defs/" + t.Name()}
	}
	panic(fmt.Sprintf("no schema for %v", t))
}

func (g *generator) object(t reflect.Type) map[string]any {
	properties, required := map[string]any{}, []any{}
	for _, f := range reflect.VisibleFields(t) {
		if f.Anonymous {
			continue
		}
		key, omit, _ := strings.Cut(f.Tag.Get("json"), ",")
		if key == "-" {
			continue
		}
		s := g.schema(f.Type)
		owner := t
		if len(f.Index) > 1 {
			owner = t.FieldByIndex(f.Index[:1]).Type
		}
		if doc := g.docs[owner.Name()+"."+f.Name]; doc != "" {
			s["description"] = doc
		}
		if e := enums[owner.Name()+"."+key]; e != nil {
			s["enum"] = e
		}
		properties[key] = s
		if omit == "" {
			required = append(required, key)
		}
	}
	return map[string]any{"type": "object", "properties": properties, "required": required}
}

// A validator checks values by the keywords that the schema uses.
type validator struct {
	root   map[string]any
	faults []string
}

// validate returns what is wrong with a JSON text by the schema of the package.
func validate(t testing.TB, text string) []string {
	t.Helper()
	var v validator
	if err := json.Unmarshal(Schema(), &v.root); err != nil {
		t.Fatal(err)
	}
	var value any
	if err := json.Unmarshal([]byte(text), &value); err != nil {
		t.Fatal(err)
	}
	v.check("", v.root, value)
	return v.faults
}

func (v *validator) fault(path, format string, args ...any) {
	v.faults = append(v.faults, path+": "+fmt.Sprintf(format, args...))
}

func (v *validator) check(path string, s map[string]any, value any) {
	if ref, ok := s["$ref"].(string); ok {
		v.check(path, v.root["$defs"].(map[string]any)[strings.TrimPrefix(ref, "#/$defs/")].(map[string]any), value)
	}
	if any, ok := s["anyOf"].([]any); ok && !v.some(any, value) {
		v.fault(path, "fits none of anyOf")
	}
	if types, ok := s["type"]; ok && !hasType(types, value) {
		v.fault(path, "is %T, want %v", value, types)
		return
	}
	if enum, ok := s["enum"].([]any); ok && !slices.Contains(enum, value) {
		v.fault(path, "is %v, want one of %v", value, enum)
	}
	switch x := value.(type) {
	case []any:
		for i, e := range x {
			v.check(fmt.Sprintf("%s[%d]", path, i), s["items"].(map[string]any), e)
		}
	case map[string]any:
		v.checkObject(path, s, x)
	}
}

func (v *validator) checkObject(path string, s map[string]any, x map[string]any) {
	properties, _ := s["properties"].(map[string]any)
	required, _ := s["required"].([]any)
	for _, k := range required {
		if _, ok := x[k.(string)]; !ok {
			v.fault(path, "lacks %v", k)
		}
	}
	for k, e := range x {
		if p, ok := properties[k]; ok {
			v.check(path+"."+k, p.(map[string]any), e)
		} else if more, ok := s["additionalProperties"].(map[string]any); ok {
			v.check(path+"."+k, more, e)
		} else if properties != nil {
			v.fault(path, "has %s, which the schema does not know", k)
		}
	}
}

func (v *validator) some(schemas []any, value any) bool {
	return slices.ContainsFunc(schemas, func(s any) bool {
		one := validator{root: v.root}
		one.check("", s.(map[string]any), value)
		return len(one.faults) == 0
	})
}

func hasType(want, value any) bool {
	if list, ok := want.([]any); ok {
		return slices.ContainsFunc(list, func(w any) bool { return hasType(w, value) })
	}
	switch x := value.(type) {
	case nil:
		return want == "null"
	case bool:
		return want == "boolean"
	case string:
		return want == "string"
	case float64:
		return want == "number" || want == "integer" && x == math.Trunc(x)
	case []any:
		return want == "array"
	default:
		return want == "object"
	}
}

func TestReportsFitTheSchema(t *testing.T) {
	for name, r := range samples(t) {
		for _, fault := range validate(t, rendered(t, r.WriteJSON)) {
			t.Errorf("%s%s", name, fault)
		}
	}
}

// TestSchemaRejects checks the validator and the schema by reports that are wrong in one place.
func TestSchemaRejects(t *testing.T) {
	good := rendered(t, nasty().WriteJSON)
	for _, x := range [][2]string{
		{`"status": "ok"`, `"status": "fine"`},
		{`"schema_version": "1.0"`, `"schema_version": 1`},
		{`"step_count": 2`, `"step_count": 2.5`},
		{`"step_count": 2`, `"step_count": null`},
		{`"findings": [`, `"findings": null, "x": [`},
		{`"bound": "unmodelled"`, `"bound": "cpu"`},
		{`"world_size": 1,`, ``},
	} {
		bad := strings.Replace(good, x[0], x[1], 1)
		if bad == good {
			t.Fatalf("no %s to replace", x[0])
		}
		if len(validate(t, bad)) == 0 {
			t.Errorf("%s instead of %s passes", x[1], x[0])
		}
	}
}
