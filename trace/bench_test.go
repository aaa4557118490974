package trace_test

import (
	"bytes"
	"io"
	"os"
	"testing"

	"github.com/ditlens/ditlens/internal/realtraces"
	"github.com/ditlens/ditlens/trace"
	"github.com/klauspost/compress/gzip"
)

// BenchmarkRead measures loading beside what it cannot be faster than: inflating the same bytes. MB are of JSON.
func BenchmarkRead(b *testing.B) {
	for _, c := range []struct{ name, trace string }{{"sd35", realtraces.SD35}, {"flux", realtraces.Flux}, {"capture", realtraces.FluxCapture}} {
		path := realtraces.Path(b, c.trace)
		data, err := os.ReadFile(path)
		if err != nil {
			b.Fatal(err)
		}
		text := realtraces.Text(b, c.trace)
		run := func(name string, pass func() error) {
			b.Run(c.name+"/"+name, func(b *testing.B) {
				b.SetBytes(int64(len(text)))
				b.ReportAllocs()
				for b.Loop() {
					if err := pass(); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
		run("inflate", func() error { return inflateOnly(data) })
		run("gz", loadFile(b, path, trace.LoadOptions{}))
		run("zst", loadFile(b, write(b, "t.zst", zstandard(b, string(text))), trace.LoadOptions{}))
		run("json", loadFile(b, write(b, "t.json", text), trace.LoadOptions{}))
		run("stacks", loadFile(b, path, trace.LoadOptions{Stacks: true}))
	}
}

func loadFile(b *testing.B, path string, opts trace.LoadOptions) func() error {
	return func() error {
		_, err := trace.Load(b.Context(), opts, path)
		return err
	}
}

func inflateOnly(data []byte) error {
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, z)
	return err
}
