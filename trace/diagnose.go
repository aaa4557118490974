package trace

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"
)

func (t *Trace) diagnose(code string, severity Severity, count int64, message string) {
	t.Diagnostics = append(t.Diagnostics, Diagnostic{code, severity, count, message})
}

// diagnose describes what a user of the trace should know.
func diagnose(ctx context.Context, t *Trace) {
	diagnoseFiles(t)
	if len(t.GPU) == 0 {
		diagnoseEmpty(t)
		return
	}
	for _, look := range []func(*Trace){diagnoseLinks, diagnoseLatency, diagnoseGraphs, diagnoseTwice, diagnoseOverlap, diagnoseInstants, diagnoseApart} {
		if ctx.Err() == nil {
			look(t)
		}
	}
}

func diagnoseFiles(t *Trace) {
	for i := range t.Files {
		f := &t.Files[i]
		if f.Truncated {
			t.diagnose("truncated", Warning, 1, f.Path+" ends too early; the last events are missing")
		}
		if f.Skipped > 0 {
			t.diagnose("skipped_events", Warning, f.Skipped, fmt.Sprintf("%s: %d events could not be read, the first at byte %d", f.Path, f.Skipped, f.firstDamage(false)))
		}
		if f.Repaired > 0 {
			t.diagnose("repaired_events", Info, f.Repaired, fmt.Sprintf("%s: %d events were mended, the first at byte %d", f.Path, f.Repaired, f.firstDamage(true)))
		}
	}
}

func (f *File) firstDamage(repaired bool) int64 {
	for _, d := range f.Damage {
		if d.Repaired == repaired {
			return d.Offset
		}
	}
	return -1
}

// firstCause says why the first event that was skipped was.
func (f *File) firstCause() string {
	for _, d := range f.Damage {
		if !d.Repaired {
			return d.Cause
		}
	}
	return ""
}

// diagnoseEmpty names the likely cause of a trace without GPU work.
func diagnoseEmpty(t *Trace) {
	launches := 0
	for i := range t.Launches {
		if k := t.Launches[i].Kind; k == LaunchKernel || k == LaunchGraph {
			launches++
		}
	}
	var skipped int64
	why := ""
	for i := range t.Files {
		skipped += t.Files[i].Skipped
		why = cmp.Or(why, t.Files[i].firstCause())
	}
	cause := "only CPU activity was recorded"
	switch {
	case slices.ContainsFunc(t.Files, func(f File) bool { return f.Truncated }):
		cause = "the file ends too early, before the GPU events, which profilers write last"
		skipped = 0 // the event that is cut
	case skipped > 0 && len(t.Ops) == 0 && launches == 0:
		cause = fmt.Sprintf("%d events could not be read, the first for this reason: %s", skipped, why)
		skipped = 0
	case launches > 0:
		cause = fmt.Sprintf("the host launched %d times but no GPU activity was recorded: was it among the profiler's activities?", launches)
	case len(t.Ops) == 0:
		cause = "no operator and no launch either: the profiler discarded its window, as a schedule without repeat=1 does when step() is called once too often"
	}
	if skipped > 0 {
		cause += fmt.Sprintf("; or they are among the %d events that could not be read", skipped)
	}
	t.diagnose("empty_trace", Error, 1, "no GPU events: "+cause)
}

// diagnoseLinks counts the work that has no launch and the launches that have no work.
func diagnoseLinks(t *Trace) {
	var unlinked, withoutOp int64
	for i := range t.GPU {
		switch g := &t.GPU[i]; {
		case g.Launch == None && g.Op == None:
			unlinked++
		case g.Op == None:
			withoutOp++
		}
	}
	if unlinked > 0 {
		t.diagnose("unlinked_gpu_events", Warning, unlinked, fmt.Sprintf("%d of %d GPU events belong to no recorded launch", unlinked, len(t.GPU)))
	}
	if withoutOp > 0 {
		t.diagnose("gpu_events_without_operator", Info, withoutOp, fmt.Sprintf("%d of %d GPU events were launched outside of any operator", withoutOp, len(t.GPU)))
	}
	if n := t.launchesWithoutWork(); n > 0 {
		t.diagnose("launches_without_kernel", Warning, n, fmt.Sprintf("%d launches have no recorded GPU event", n))
	}
}

// launchesWithoutWork counts launches that should have caused GPU work and did not. Launches into a graph that is being
// captured cause none, and a launch without correlation cannot be told to have lost its work.
func (t *Trace) launchesWithoutWork() (n int64) {
	capturing := make([]bool, len(t.Threads))
	for i := range t.Launches {
		l := &t.Launches[i]
		switch l.Kind {
		case CaptureBegin:
			capturing[l.Thread] = true
		case CaptureEnd:
			capturing[l.Thread] = false
		case LaunchKernel, LaunchGraph:
			if l.GPU == 0 && l.Correlation != 0 && !capturing[l.Thread] {
				n++
			}
		}
	}
	return n
}

// diagnoseLatency notices GPU work that is recorded to begin before the host launched it.
func diagnoseLatency(t *Trace) {
	var linked, early int64
	var worst time.Duration
	for i := range t.GPU {
		g := &t.GPU[i]
		if g.Launch == None {
			continue
		}
		linked++
		if d := g.Start - t.Launches[g.Launch].Start; d < 0 {
			early++
			worst = min(worst, d)
		}
	}
	if early == 0 {
		return
	}
	t.diagnose("negative_launch_latency", Info, early, fmt.Sprintf("%d of %d GPU events begin before their launch, by up to %v", early, linked, -worst))
	if 2*early > linked {
		t.diagnose("clock_skew", Warning, early, "most GPU events begin before their launch: the clocks of host and device disagree, so launch latencies mean nothing")
	}
}
