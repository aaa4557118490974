package report

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/ditlens/ditlens/internal/realtraces"
)

// TestProfile reads the profile with Go's own tool and adds its samples up.
func TestProfile(t *testing.T) {
	for name, r := range map[string]*Report{"nasty": nasty(), "empty": empty()} {
		checkProfile(t, name, r)
	}
	t.Run("real", func(t *testing.T) { checkProfile(t, "real", analysed(t, realtraces.SD35)) })
}

func checkProfile(t *testing.T, name string, r *Report) {
	t.Helper()
	goTool, err := exec.LookPath("go")
	if err != nil {
		t.Skip("no go command to read the profile with")
	}
	path := filepath.Join(t.TempDir(), "profile.pb.gz")
	if err := os.WriteFile(path, []byte(rendered(t, r.WriteProfile)), 0o644); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(goTool, "tool", "pprof", "-raw", path).CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", name, err, out)
	}
	var events, time, sumEvents, sumTime int64
	for _, m := range regexp.MustCompile(`(?m)^ +(\d+) +(\d+): [\d ]+$`).FindAllStringSubmatch(string(out), -1) {
		fmt.Sscan(m[1]+" "+m[2], &events, &time)
		sumEvents, sumTime = sumEvents+events, sumTime+time
	}
	var wantEvents int64
	for i := range r.Operators {
		for _, k := range r.Operators[i].Kernels {
			wantEvents += int64(k.Count)
		}
	}
	if sumTime != int64(r.Trace.GPUTime) || sumEvents != wantEvents {
		t.Errorf("%s: %d events, %d ns; want %d, %d", name, sumEvents, sumTime, wantEvents, r.Trace.GPUTime)
	}
	if !strings.Contains(string(out), "events/count gpu/nanoseconds") {
		t.Errorf("%s: sample types are missing:\n%.300s", name, out)
	}
}
