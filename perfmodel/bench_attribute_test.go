package perfmodel_test

import (
	"context"
	"testing"

	"github.com/ditlens/ditlens/internal/realtraces"
	"github.com/ditlens/ditlens/perfmodel"
	"github.com/ditlens/ditlens/trace"
)

func BenchmarkAttribute(b *testing.B) {
	t, err := trace.Load(context.Background(), trace.LoadOptions{}, realtraces.Path(b, realtraces.SD35))
	if err != nil {
		b.Fatal(err)
	}
	models := perfmodel.Default()
	b.ReportAllocs()
	for b.Loop() {
		perfmodel.Attribute(t, models)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(t.GPU)), "ns/event")
}
