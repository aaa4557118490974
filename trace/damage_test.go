package trace_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/ditlens/ditlens/trace"
	"github.com/google/go-cmp/cmp"
)

// A python event that stands for those that are most of a file.
func python(name string) string {
	return `{"ph":"X","cat":"python_function","name":"` + name + `","pid":100,"tid":100,"ts":5,"dur":1,"args":{"Python id":1}}`
}

// TestDamage reads files that the field has seen broken. Each holds the kernels "a" and "b" of 10 and 20 us besides the
// damage, and both must survive.
func TestDamage(t *testing.T) {
	a, b := kernel("a", 10, 10, 0, 1), kernel("b", 30, 20, 0, 2)
	for _, c := range []struct {
		name     string
		text     string
		skipped  int64
		repaired int64
	}{
		{"BL-01 quotes in a name", document(a, python(`{"device": "cpu", "dtype": "float32"}(12): run`), b), 0, 1},
		{"BL-01 quotes in the first name", document(python(`{"device": "cpu"}(12): run`), a, b), 0, 1},
		{"BL-01 quotes in the last name", document(a, b, python(`{"device": "cpu"}(12): run`)), 0, 1},
		{"BL-01 one quote in a name", document(a, python(`a"b`), b), 0, 1},
		{"BL-02 line break and quotes", document(a, python("x = torch.library.Library(\"_t\", \"IMPL\")\n(1): <module>"), b), 0, 1},
		{"BL-02 line break and tab", document(a, python("x\n\ty"), b), 0, 1},
		{"BL-03 backslashes", document(a, python(`torch\cuda\__init__.py(219): _lazy_init`), b), 0, 1},
		{"BL-03 backslashes that look like escapes", document(a, python(`C:\users\x\new.py`), b), 0, 1},
		{"BL-03 backslash at the end", document(a, python(`C:\dir\`), b), 0, 1},
		{"BL-04 control character", document(a, python("|\x01S(1)"), b), 0, 1},
		{"BL-04 invalid UTF-8", document(a, python("\xff\xfe\x80"), b), 0, 1},
		{"BL-05 bare inf", document(a, op("o", 1, 1, `"x":inf,"y":-Infinity,"z":NaN`), b), 0, 1},
		{"BL-06 no closing brackets", strings.TrimSuffix(document(a, b), `],"traceName":"t.json"}`), 0, 0},
		{"BL-06 cut in an event", strings.TrimSuffix(document(a, b, kernel("c", 60, 1, 0, 3)), `0,"correlation":3}}],"traceName":"t.json"}`), 1, 0},
		{"BL-07 key without its quote", document(a, `{"name":"a","ph":"X","ts":1,"dur":1,tid": 0,"pid":"CUDA functions"}`, b), 1, 0},
		{"BL-07 key without its quote at the end", `[` + a + `,` + b + `,{"name":"a","ph":"X","ts":1,"dur":1,tid": 0,"pid":"CUDA functions"},]`, 1, 0},
		{"BL-07 trailing comma", `[` + a + `,` + b + `,]`, 0, 0},
		{"BL-07 leading comma", `[,` + a + `,` + b + `]`, 0, 0},
		{"BL-08 duplicate key", document(a, strings.Replace(b, `"dur":20`, `"dur":7,"dur":20`, 1)), 0, 1},
		{"no value", document(a, `{"ph":"X","ts":}`, b), 1, 0},
		{"a comma is missing", document(a, `{"ph":"X","ts":1 "dur":2}`, b), 0, 1},
		{"two broken events in a row", document(a, `{"ph":"X",ts:1}`, `{"ph":"X",ts:2}`, b), 2, 0},
		{"garbage between events", document(a, `garbage`, b), 1, 0},
		{"an event is no object", document(a, `17`, b), 1, 0},
		{"args broken", document(a, `{"ph":"X","cat":"cpu_op","name":"o","pid":1,"tid":1,"ts":1,"dur":1,"args":{"x":[1,2}}`, b), 1, 0},
		{"a brace too many", document(a, `{"ph":"X","ts":1}}`, b), 1, 0},
		{"no time", document(a, `{"ph":"X","cat":"cpu_op","name":"o","pid":1,"tid":1,"dur":1}`, b), 1, 0},
		{"time beyond all range", document(a, op("o", "1e300", 1), b), 1, 0},
		{"byte order mark", "\xef\xbb\xbf" + document(a, b), 0, 0},
		{"white space before and after", "\n\n " + document(a, b) + "\n\n", 0, 0},
		{"text behind the end", document(a, b) + "x", 1, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			tr := loadText(t, c.text)
			if diff := cmp.Diff([]string{"a", "b"}, names(tr)); diff != "" {
				t.Errorf("kernels (-want +got):\n%s", diff)
			}
			if sum, _ := gpuTime(tr); sum != 30*time.Microsecond {
				t.Errorf("GPU time is %v, want 30us", sum)
			}
			f := tr.Files[0]
			if f.Skipped != c.skipped || f.Repaired != c.repaired {
				t.Errorf("skipped %d, repaired %d; want %d, %d\n%+v", f.Skipped, f.Repaired, c.skipped, c.repaired, f.Damage)
			}
			for _, d := range f.Damage {
				if near := d.Near[:min(8, len(d.Near))]; !strings.HasPrefix(strings.ReplaceAll(c.text[d.Offset:], "\n", " "), near) {
					t.Errorf("damage at %d is not near %q", d.Offset, near)
				}
			}
			if cut := strings.HasPrefix(c.name, "BL-06"); f.Truncated != cut {
				t.Errorf("truncated is %v", f.Truncated)
			}
			strict(t, c.text, c.skipped+c.repaired > 0 || f.Truncated)
		})
	}
}

// TestDamagedNames reads names that cannot be as they stand: they are kept as text.
func TestDamagedNames(t *testing.T) {
	for _, c := range []struct{ bl, written, want string }{
		{"BL-01", `{"device": "cpu", "dtype": "float32"}(12): run`, `{"device": "cpu", "dtype": "float32"}(12): run`},
		{"BL-02", "x = torch.library.Library(\"_t\", \"IMPL\")\n(1): <module>", "x = torch.library.Library(\"_t\", \"IMPL\")\n(1): <module>"},
		{"BL-03", `torch\cuda\__init__.py(219): _lazy_init`, `torch\cuda\__init__.py(219): _lazy_init`},
		{"BL-03", `C:\users\x\new.py`, `C:\users\x\new.py`},
		{"BL-04", "|\x01S(1)", "|\x01S(1)"},
		{"BL-04", "\xff\xfe\x80", "\uFFFD\uFFFD\uFFFD"},
	} {
		tr := load(t, trace.LoadOptions{Stacks: true}, write(t, "t.json", []byte(document(python(c.written), kernel("a", 10, 10, 0, 1)))))
		if len(tr.Frames) != 1 || tr.Frames[0].Name != c.want || len(tr.GPU) != 1 {
			t.Errorf("%s: frames %+v, want one of name %q", c.bl, tr.Frames, c.want)
		}
	}
}

// strict loads a text in strict mode, which must refuse it, with the place, if it is damaged.
func strict(t *testing.T, text string, damaged bool) {
	t.Helper()
	_, err := trace.Load(t.Context(), trace.LoadOptions{Strict: true}, write(t, "t.json", []byte(text)))
	if !damaged {
		if err != nil {
			t.Errorf("strict: %v", err)
		}
		return
	}
	var syntax *trace.SyntaxError
	if !errors.As(err, &syntax) {
		t.Fatalf("strict: error is %v, want a *SyntaxError", err)
	}
	if syntax.Offset < 0 || syntax.Offset > int64(len(text)) || len(syntax.Near) > 80 {
		t.Errorf("strict: %+v", syntax)
	}
}
