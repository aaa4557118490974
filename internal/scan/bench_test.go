package scan_test

import (
	"bytes"
	"io"
	"os"
	"testing"

	"github.com/ditlens/ditlens/internal/realtraces"
	"github.com/ditlens/ditlens/internal/scan"
	"github.com/klauspost/compress/gzip"
)

func inflate(tb testing.TB, name string) []byte {
	tb.Helper()
	f, err := os.Open(realtraces.Path(tb, name))
	if err != nil {
		tb.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		tb.Fatal(err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		tb.Fatal(err)
	}
	return text
}

func BenchmarkScan(b *testing.B) {
	for _, name := range []string{realtraces.SD35, realtraces.FluxCapture} {
		text := inflate(b, name)
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				s := scan.New(bytes.NewReader(text), scan.Options{})
				n := 0
				for k := s.Next(); k != scan.End; k = s.Next() {
					if k == scan.IsEvent {
						n++
					}
				}
				if n < 200_000 || s.Err() != nil {
					b.Fatal(n, s.Err())
				}
			}
		})
	}
}
