package scan_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/ditlens/ditlens/internal/realtraces"
	"github.com/ditlens/ditlens/internal/scan"
	"github.com/google/go-cmp/cmp"
)

// dump reads a text to its end and writes down every record.
func dump(r io.Reader, opts scan.Options) string {
	var b strings.Builder
	s := scan.New(r, opts)
	for {
		switch s.Next() {
		case scan.IsEvent:
			e := s.Event()
			fmt.Fprintf(&b, "%d event %q %q %q %q %q %q %d %v %d %v %v %q", e.Offset, e.Phase, e.Cat.String(), e.Name.String(), e.PID, e.TID, e.ID, e.TS, e.HasTS, e.Dur, e.HasDur, e.Faults, e.Args())
			for _, f := range e.Fields {
				fmt.Fprintf(&b, " %q=%q", e.Key(f), e.Value(f))
			}
			c := e.Clone()
			if !bytes.Equal(c.Raw, e.Raw) || !bytes.Equal(c.Name.Raw, e.Name.Raw) || !bytes.Equal(c.Cat.Raw, e.Cat.Raw) || !bytes.Equal(c.PID, e.PID) || !bytes.Equal(c.ID, e.ID) {
				b.WriteString(" clone differs")
			}
		case scan.IsHeader:
			fmt.Fprintf(&b, "header %q %q", s.Header().Key.String(), s.Header().Value)
		case scan.IsDamage:
			d := s.Damage()
			fmt.Fprintf(&b, "%d damage %s", d.Offset, d.Cause)
		case scan.Truncated:
			b.WriteString("truncated")
		case scan.End:
			fmt.Fprintf(&b, "end at %d: %v", s.Offset(), s.Err())
			return b.String()
		}
		b.WriteByte('\n')
	}
}

// texts are whole, odd and broken traces.
var texts = []string{
	`{"schemaVersion": 1, "traceEvents": [{"ph": "X", "cat": "kernel", "name": "k\"\u00e9", "pid": 0, "tid": "stream 7", "ts": 1.5, "dur": 2, "args": {"a": [[1, 2], {"b": "]"}], "c": null}}, {"ph": "f", "id": 5}], "traceName": "x"}`,
	"\xef\xbb\xbf[\n{\"ph\":\"X\",\n\"ts\":\"12\" , \"dur\" : 1e3 , \"args\" : { } } , ]\n",
	`[{"ph":"X","name":"{"device": "cpu", "dtype": "float32"}(12): run","pid":100,"args":{}},{"ph":"X","name":"next"}]`,
	`[{"ph":"X",bad},{"ph":"X","name":"next","args":{"x":[{"name":1},{"name":2}]}}]`,
	`[{"ph":"X",bad "x":[{"name":1},{"name":2}]},{"name":"next","ph":"X"}]`,
	`[{"ph":"X","name":"cut`,
	`[{"ph":"X","name":"dir\","pid":1},{"ph":"E"}]`,
	`{"traceEvents":[{"ph":"X","args":{"x":nan,"y":-inf}},{},{"ph":"X","ts":99999999999999999999}]}`,
	`{"traceEvents":[],"a":{"traceEvents":[1]},"b":[1,{"c":"}"}]}`,
	`{"a":broken,"traceEvents":[{"ph":"X"}]}`,
	`{"traceEvents":{}}`,
	`[x{"ph":"X"}`, `[x}`, `[x}]`, `[{"ph":"a"b"}`,
	`[[[[[]]]],17,"x",{"ph":"X"}] trailing`,
	`{`, `[`, ``, `x`, `{"a`, `{"a":`, `[{"ph"`,
	`[{"ph":"X","cat":"kernel","args":{"a":1,"b":"{"}},{"ph":"X","cat":"kernel","args":}},{"ph":"X","cat":"kernel","args":{"a":{"b":1}}}]`,
	`[{"ph":"X","ts":1 "dur":2},{"ph":"X","ts":-0.0005}]`,
	`[{"ph":"X","cat":5,"name":null,"pid":{"a":1},"tid":[1],"args":7}]`,
}

// TestChunking reads every text through readers that cut it anywhere and through tiny windows: the records are the same.
func TestChunking(t *testing.T) {
	for i, text := range texts {
		want := dump(strings.NewReader(text), scan.Options{})
		for name, r := range map[string]io.Reader{
			"one byte":   iotest.OneByteReader(strings.NewReader(text)),
			"half":       iotest.HalfReader(strings.NewReader(text)),
			"data error": iotest.DataErrReader(strings.NewReader(text)),
		} {
			if diff := cmp.Diff(want, dump(r, scan.Options{Window: 64})); diff != "" {
				t.Errorf("text %d, %s (-whole +cut):\n%s", i, name, diff)
			}
		}
		for window := 1; window < 80; window++ {
			if diff := cmp.Diff(want, dump(strings.NewReader(text), scan.Options{Window: window})); diff != "" {
				t.Fatalf("text %d, window %d (-whole +cut):\n%s", i, window, diff)
			}
		}
	}
}

func TestChunkingRealTrace(t *testing.T) {
	t.Parallel()
	text := realtraces.Text(t, realtraces.SD35)[:8<<20]
	want := dump(bytes.NewReader(text), scan.Options{})
	if got := dump(iotest.HalfReader(bytes.NewReader(text)), scan.Options{Window: 64}); got != want {
		t.Error("the records depend on how the text is cut")
	}
}

// TestEventsAlone reads events one after the other and each on its own: what an event says does not depend on its
// neighbours, whose wording it may share.
func TestEventsAlone(t *testing.T) {
	t.Parallel()
	for _, name := range []string{realtraces.SD35, realtraces.FluxCapture} {
		text := realtraces.Text(t, name)
		s := scan.New(bytes.NewReader(text), scan.Options{})
		for n := 0; s.Next() != scan.End; n++ {
			e := s.Event()
			if len(e.Raw) == 0 || n%7 != 0 {
				continue
			}
			alone := scan.New(io.MultiReader(strings.NewReader("["), bytes.NewReader(e.Raw), strings.NewReader("]")), scan.Options{Window: 1024})
			if k := alone.Next(); k != scan.IsEvent {
				t.Fatalf("%s: %q: %v", name, e.Raw, k)
			}
			a := alone.Event()
			if a.Phase != e.Phase || a.Cat.String() != e.Cat.String() || a.Name.String() != e.Name.String() || a.Name.Plain != e.Name.Plain || string(a.PID) != string(e.PID) ||
				string(a.TID) != string(e.TID) || a.TS != e.TS || a.Dur != e.Dur || a.HasTS != e.HasTS || a.HasDur != e.HasDur || len(a.Fields) != len(e.Fields) || a.Faults != e.Faults {
				t.Fatalf("%s: %q: alone %+v, in its place %+v", name, e.Raw, a, e)
			}
		}
	}
}

// TestEveryPrefix cuts each text at every byte: reading ends, with no fewer events the longer the text.
func TestEveryPrefix(t *testing.T) {
	for i, text := range texts {
		most := 0
		for n := range len(text) {
			got := dump(strings.NewReader(text[:n]), scan.Options{Window: 64})
			if events := strings.Count(got, " event '"); i == 0 && events < most {
				t.Errorf("text %d cut at %d: %d events, fewer than before", i, n, events)
			} else {
				most = events
			}
		}
	}
}

func TestFailingReader(t *testing.T) {
	text, failure := texts[0], errors.New("disk on fire")
	for n := range len(text) {
		r := io.MultiReader(strings.NewReader(text[:n]), iotest.ErrReader(failure))
		got := dump(r, scan.Options{Window: 64})
		if !strings.HasSuffix(got, failure.Error()) || strings.Contains(got, "truncated") {
			t.Errorf("cut at %d:\n%s", n, got)
		}
	}
}

func TestLongEvents(t *testing.T) {
	t.Parallel()
	long := `{"ph":"X","name":"` + strings.Repeat("x", 5000) + `"}`
	text := `[{"ph":"X","name":"a"},` + long + `,{"ph":"X","name":"b"}]`
	for _, window := range []int{16, 64, 1 << 16} {
		got := dump(strings.NewReader(text), scan.Options{Window: window, MaxEvent: 1000})
		if strings.Count(got, " event '") != 2 || !strings.Contains(got, "longer than the limit") {
			t.Errorf("window %d:\n%s", window, got)
		}
	}
	// A broken text without end must not make the window grow beyond the limit.
	endless := io.MultiReader(strings.NewReader(`[{"ph":"X","name":"`), io.LimitReader(repeat("{x"), 8<<20))
	if got := dump(endless, scan.Options{Window: 64, MaxEvent: 1000}); !strings.Contains(got, "longer than the limit") {
		t.Errorf("endless event:\n%.300s", got)
	}
}

// repeat returns a reader of s without end.
func repeat(s string) io.Reader { return &repeater{text: s} }

// TestManyBrokenEvents reads broken events whose braces never close, each of which could swallow the rest of the file.
func TestManyBrokenEvents(t *testing.T) {
	const n = 20_000
	text := "[" + strings.Repeat(`{"ph":"X","name":"good"},{"ph":"X",bad,"args":{"a":{"b":[1,{"c":2}]}},`+"\n", n) + `{"ph":"E"}]`
	got := dump(strings.NewReader(text), scan.Options{Window: 4096})
	if events, damage := strings.Count(got, " event '"), strings.Count(got, " damage "); events != n+1 || damage != n {
		t.Errorf("%d events, %d damages; want %d, %d", events, damage, n+1, n)
	}
}

// TestManyFieldsInBrokenEvent reads a broken event that could end, and with it all events, before each of its fields.
func TestManyFieldsInBrokenEvent(t *testing.T) {
	text := `[{"ph":"X",bad,"x":[{}` + strings.Repeat(`],"a":[{}`, 100_000) + `]]] oops,{"ph":"X","name":"good"}]`
	got := dump(strings.NewReader(text), scan.Options{})
	if !strings.Contains(got, `"good"`) || strings.Count(got, " damage ") != 1 {
		t.Errorf("%.300s", got)
	}
}

type repeater struct {
	text string
	at   int
}

func (r *repeater) Read(p []byte) (int, error) {
	for n := 0; n < len(p); {
		m := copy(p[n:], r.text[r.at:])
		n, r.at = n+m, (r.at+m)%len(r.text)
	}
	return len(p), nil
}

// TestOffsetsBeyond2GiB reads a generated stream that is longer than an int32 counts, if it is allowed to take seconds.
func TestOffsetsBeyond2GiB(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("reads 2 GiB")
	}
	line := `{"ph":"M","name":"` + strings.Repeat("x", 32<<10) + `"},`
	size := (1<<31/int64(len(line)) + 1) * int64(len(line))
	text := io.MultiReader(strings.NewReader("["), io.LimitReader(repeat(line), size), strings.NewReader(`{"ph":"X"},{"ph":"X",bad},{"ph":"X"}]`))
	s := scan.New(text, scan.Options{})
	var last, broken int64
	for k := s.Next(); k != scan.End; k = s.Next() {
		switch k {
		case scan.IsEvent:
			last = s.Event().Offset
		case scan.IsDamage:
			broken = s.Damage().Offset
		default:
			t.Fatal(k)
		}
	}
	if size < 1<<31 || broken != 1+size+11 || last != broken+15 {
		t.Errorf("after %d bytes: a broken event at %d, the last at %d", size, broken, last)
	}
}

func TestNanoseconds(t *testing.T) {
	for _, c := range []struct {
		in   string
		want int64
		ok   bool
	}{
		{"0", 0, true}, {"1", 1000, true}, {"2915995397672.546", 2915995397672546, true}, {"1700000000000000.114", 1700000000000000114, true},
		{"1.5", 1500, true}, {"-1.25", -1250, true}, {"1.0005", 1000, true}, {"1.0015", 1002, true}, {"1.00051", 1001, true}, {"-0.0015", -2, true},
		{"1e3", 1000000, true}, {"1.5E-3", 2, true}, {"2.5e-3", 2, true}, {"+7", 7000, true}, {"9223372036854775.807", 9223372036854775807, true}, {"9223372036854775.808", 0, false},
		{"-9223372036854775.808", -9223372036854775808, true}, {"1e400", 0, false}, {"1e-999999999", 0, false}, {"", 0, false}, {"-", 0, false}, {".", 0, false}, {"1.", 1000, true}, {"nan", 0, false},
		{"1/2", 0, false}, {"0x10", 0, false}, {"1_0", 0, false}, {"1-2", 0, false}, {"1e", 0, false},
	} {
		if got, ok := scan.Nanoseconds([]byte(c.in)); ok != c.ok || ok && got != c.want {
			t.Errorf("%q: %d, %v; want %d, %v", c.in, got, ok, c.want, c.ok)
		}
	}
}

func TestInt(t *testing.T) {
	for _, c := range []struct {
		in   string
		want int64
		ok   bool
	}{
		{"0", 0, true}, {"-1", -1, true}, {"9007199254740993", 9007199254740993, true}, {"9223372036854775807", 9223372036854775807, true},
		{"-9223372036854775808", -9223372036854775808, true}, {"18446744073709551615", -1, true}, {"18446744073709551616", 0, false},
		{"0x7fa57e7ffa00", 0x7fa57e7ffa00, true}, {"5.0", 5, true}, {"5e3", 5000, true}, {"5.5", 0, false}, {"", 0, false}, {"x", 0, false}, {"1e99", 0, false},
	} {
		if got, ok := scan.Int([]byte(c.in)); ok != c.ok || ok && got != c.want {
			t.Errorf("%q: %d, %v; want %d, %v", c.in, got, ok, c.want, c.ok)
		}
	}
}

func TestDecode(t *testing.T) {
	for _, c := range []struct {
		in, want string
		faults   scan.Fault
	}{
		{`plain`, `plain`, 0},
		{`\"\\\/\b\f\n\r\t`, "\"\\/\b\f\n\r\t", 0},
		{`\u00e9\ud83d\ude00`, "é😀", 0},
		{`\ud83d!`, "\uFFFD!", 0},
		{`torch\cuda\__init__.py`, `torch\cuda\__init__.py`, scan.BadEscape},
		{`C:\users`, `C:\users`, scan.BadEscape},
		{`end\`, `end\`, scan.BadEscape},
		{`C:\users\x\new.py`, `C:\users\x\new.py`, scan.BadEscape},
		{`\\server\new\dir: \"run\"`, `\\server\new\dir: "run"`, scan.BadEscape},
		{"a\x01b", "a\x01b", scan.RawControl},
		{"\xff\xfe\x80", "\uFFFD\uFFFD\uFFFD", scan.BadUTF8},
	} {
		got, faults := scan.Decode(nil, []byte(c.in))
		if string(got) != c.want || faults != c.faults {
			t.Errorf("%q: %q, %v; want %q, %v", c.in, got, faults, c.want, c.faults)
		}
	}
}

// FuzzScanner: no text makes the scanner panic or run on, and no text is read differently through a small window.
func FuzzScanner(f *testing.F) {
	for _, text := range texts {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		want := dump(bytes.NewReader(text), scan.Options{MaxEvent: 4096})
		if got := dump(iotest.HalfReader(bytes.NewReader(text)), scan.Options{Window: 16, MaxEvent: 4096}); got != want {
			t.Errorf("the records depend on the window:\n%s", cmp.Diff(want, got))
		}
		unread := scan.Options{MaxEvent: 4096, Unread: "kernel"}
		want = dump(bytes.NewReader(text), unread)
		unread.Window = 16
		if got := dump(iotest.HalfReader(bytes.NewReader(text)), unread); got != want {
			t.Errorf("the records depend on the window:\n%s", cmp.Diff(want, got))
		}
	})
}

// FuzzNumbers: the fast and the exact way of reading a time agree.
func FuzzNumbers(f *testing.F) {
	f.Add(int64(1), uint16(3))
	f.Add(int64(2915995397672), uint16(546))
	f.Fuzz(func(t *testing.T, whole int64, thousandths uint16) {
		whole, thousandths = whole%(1<<53), thousandths%1000
		text := fmt.Sprintf("%d.%03d", whole, thousandths)
		fast, ok := scan.Nanoseconds([]byte(text))
		exact, ok2 := scan.Nanoseconds([]byte(text + "0"))
		if !ok || !ok2 || fast != exact {
			t.Errorf("%s: %d and %d", text, fast, exact)
		}
	})
}
