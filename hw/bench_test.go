package hw_test

import (
	"testing"

	"github.com/ditlens/ditlens/hw"
)

// A report asks for one roof an operator call.
func BenchmarkRoofline(b *testing.B) {
	spec, work := hw.MI300X(), mm(8192, 2432, 9728)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := hw.Roofline(spec, hw.Achievable, work); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkLookup(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := hw.Lookup("RTX 5090"); err != nil {
			b.Fatal(err)
		}
	}
}
