package report

import (
	"math"
	"slices"

	"github.com/ditlens/ditlens/trace"
)

// readInput tells what was read.
func (in *analysis) readInput(captures []string) {
	t := in.trace
	for _, f := range t.Files {
		role := "trace"
		if slices.Contains(captures, f.Path) {
			role = "capture"
		}
		in.Trace.Files = append(in.Trace.Files, File{Path: f.Path, SHA256: f.SHA256, Format: f.Format, Bytes: f.Bytes,
			Events: f.Events, Skipped: f.Skipped, Repaired: f.Repaired, Truncated: f.Truncated, Role: role})
	}
	for i := range t.GPU {
		in.countGPU(&t.GPU[i])
	}
	in.Trace.WorldSize = t.Header.WorldSize
	if t.Header.Rank >= 0 {
		rank := t.Header.Rank
		in.Trace.Rank = &rank
	}
	in.Trace.ProfilerStacks, in.Trace.RecordedShapes = t.Header.WithStack, t.Header.RecordShapes
	for _, d := range t.Diagnostics {
		in.diagnose(d)
	}
}

func (in *analysis) countGPU(g *trace.GPUEvent) {
	n := &in.Trace
	n.GPUTime += Micros(g.Dur)
	if raw := Micros(max(0, g.RawDur)); n.RawGPUTime <= math.MaxInt64-raw { // recorded nonsense may be beyond any sum
		n.RawGPUTime += raw
	}
	switch g.Kind {
	case trace.Memcpy:
		n.Memcpys++
	case trace.Memset:
		n.Memsets++
	default:
		n.Kernels++
		if g.Op == trace.None && g.Launch == trace.None {
			n.Unlinked++
		} else {
			n.LinkedKernels++
		}
	}
	if g.Launch != trace.None && in.trace.Launches[g.Launch].Kind == trace.LaunchGraph {
		n.GraphKernels++
	}
}
