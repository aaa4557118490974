package scan

import (
	"bytes"
	"testing"

	"github.com/ditlens/ditlens/internal/realtraces"
	"github.com/valyala/fastjson"
)

// floor is the rate in bytes per second below which reading a trace would be what users wait for.
const floor = 100e6

// BenchmarkScan compares the scanner with cutting events and parsing each by fastjson. It fails when the scanner is below the floor,
// which is a fraction of what it does on any machine.
func BenchmarkScan(b *testing.B) {
	for _, c := range []struct{ name, trace string }{{"sd35", realtraces.SD35}, {"capture", realtraces.FluxCapture}} {
		text := realtraces.Text(b, c.trace)
		run := func(name string, pass func() int) {
			b.Run(c.name+"/"+name, func(b *testing.B) {
				b.SetBytes(int64(len(text)))
				b.ReportAllocs()
				for b.Loop() {
					if n := pass(); n < 200_000 {
						b.Fatal(n)
					}
				}
				rate := float64(b.N) * float64(len(text)) / b.Elapsed().Seconds()
				if name != "fastjson" && rate < floor {
					b.Errorf("%.0f MB/s, the floor is %.0f", rate/1e6, floor/1e6)
				}
			})
		}
		run("all", func() int { return scanAll(text, Options{}) })
		run("unread", func() int { return scanAll(text, Options{Unread: "python_function"}) })
		run("fastjson", func() int { return parseAll(text) })
	}
}

func scanAll(text []byte, opts Options) (n int) {
	s := New(bytes.NewReader(text), opts)
	for k := s.Next(); k != End; k = s.Next() {
		if k == IsEvent {
			n++
		}
	}
	return n
}

func parseAll(text []byte) (n int) {
	var p fastjson.Parser
	var e Event
	i := bytes.Index(text, []byte(`"traceEvents"`))
	for i += bytes.IndexByte(text[i:], '['); ; n++ {
		for text[i] != '{' {
			if text[i] == ']' {
				return n
			}
			i++
		}
		end := e.skipNested(text, i)
		v, err := p.ParseBytes(text[i:end])
		if err != nil {
			return 0
		}
		if len(v.GetStringBytes("ph")) != 1 || len(v.GetStringBytes("name")) == 0 || !v.Exists("ts") {
			return 0
		}
		i = end
	}
}
