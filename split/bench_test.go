package split_test

import (
	"fmt"
	"testing"

	"github.com/ditlens/ditlens/internal/realtraces"
	"github.com/ditlens/ditlens/split"
)

func BenchmarkAutocorrelation(b *testing.B) {
	for _, steps := range []int{50, 500} {
		tr, _, _ := scene{images: 1, steps: steps, double: 60, single: 20, blockSize: 24, text: 24, tiles: 12, scheduler: 5, prestep: 2}.make()
		b.Run(fmt.Sprintf("kernels=%d", len(tr.GPU)), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				r, err := split.Autocorrelation{}.Split(b.Context(), &split.Input{Trace: tr})
				if err != nil || len(r.Steps) != steps {
					b.Fatal(err, len(r.Steps))
				}
			}
			b.ReportMetric(float64(len(tr.GPU))*float64(b.N)/b.Elapsed().Seconds(), "kernels/s")
		})
	}
}

func BenchmarkAuto(b *testing.B) {
	tr := load(b, realtraces.SD35)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := (split.Auto{}).Split(b.Context(), &split.Input{Trace: tr}); err != nil {
			b.Fatal(err)
		}
	}
}
