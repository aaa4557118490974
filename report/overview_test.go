package report_test

import (
	"os"
	"strings"
	"testing"
)

// TestOverviewShowsTheExample holds the code in the module's overview to the example that runs here.
func TestOverviewShowsTheExample(t *testing.T) {
	overview, err := os.ReadFile("../doc.go")
	if err != nil {
		t.Fatal(err)
	}
	example, err := os.ReadFile("example_analyzer_test.go")
	if err != nil {
		t.Fatal(err)
	}
	var code strings.Builder
	for line := range strings.Lines(string(overview)) {
		if rest, ok := strings.CutPrefix(line, "//\t"); ok {
			code.WriteString("\t" + rest)
		}
	}
	if code.Len() == 0 || !strings.Contains(string(example), code.String()) {
		t.Errorf("the overview shows code that the example does not run:\n%s", code.String())
	}
}
