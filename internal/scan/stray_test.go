package scan_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/ditlens/ditlens/internal/scan"
)

// A copied or cut piece of an event may hold brackets and braces that look like the end of the array or of the document.
func TestEndsInsideBrokenEventsLoseNoOther(t *testing.T) {
	const event = `{"ph":"X","cat":"kernel","name":"k","ts":1,"dur":2}`
	for name, stray := range map[string]string{
		"list cut off":          `], [512, 3072], [], []]}},`,
		"end of an event":       `]]}},`,
		"braces":                `}}},`,
		"end of the document":   `]},`,
		"list and text":         `], 12, "x": [1]},`,
		"end and a broken name": `]} "a": nonsense,`,
	} {
		for root, ends := range map[string][2]string{"object": {`{"traceEvents":[`, `],"a":1}`}, "array": {`[`, `]`}} {
			t.Run(name+" in an "+root, func(t *testing.T) {
				text := ends[0] + event + "," + stray + "\n" + event + "," + event + ends[1]
				got := dump(strings.NewReader(text), scan.Options{})
				if n := strings.Count(got, " event 'X'"); n != 3 || !strings.Contains(got, " damage ") || strings.Contains(got, "truncated") {
					t.Errorf("%d events of\n%s\n%s", n, text, got)
				}
				for window := 64; window < 80; window++ {
					if small := dump(bytes.NewReader([]byte(text)), scan.Options{Window: window}); small != got {
						t.Fatalf("window of %d:\n%s\nwant\n%s", window, small, got)
					}
				}
			})
		}
	}
}
