package hw

import (
	"fmt"
	"time"
)

// Thresholds of [Place]. A launch costs the GPU's front end about a microsecond even when the kernel is empty, and costs
// the host about five; kernels shorter than that are fed one by one.
const (
	// LatencyFloor is the roofline time below which neither arithmetic nor traffic decides how long a kernel runs.
	LatencyFloor = time.Microsecond
	// LaunchGranularity is the measured time below which a kernel that misses half of its roof is put down to its launch.
	LaunchGranularity = 5 * time.Microsecond
)

// A Placement tells where a measured piece of work lies under its roof.
type Placement struct {
	Percent float64  // 100 * Roof.Time / measured time; above 100 when it is above the roof, never clipped
	Bound   Bound    // that of the roof, or LatencyBound
	Reasons []string // what may explain a Percent above 100; empty up to 100
}

// Place compares the roof r of work d with the time it took: the union of the intervals of its GPU events. upperBound says that d
// counts more than may have been done (sparse attention, a gather from a slice). ok is false when measured is not positive:
// there is no percentage without a recorded kernel.
//
// Work is latency bound when its roofline time is below [LatencyFloor], or when it took less than [LaunchGranularity] and
// reached less than half of its roof.
func Place(spec HardwareSpec, d Demand, r Roof, measured time.Duration, upperBound bool) (p Placement, ok bool) {
	if measured <= 0 {
		return Placement{}, false
	}
	p = Placement{Percent: 100 * r.Time / measured.Seconds(), Bound: r.Bound}
	if r.Time < LatencyFloor.Seconds() || measured < LaunchGranularity && p.Percent < 50 {
		p.Bound = LatencyBound
	}
	if p.Percent > 100 {
		p.Reasons = aboveRoof(spec, d, r, p.Percent, upperBound)
	}
	return p, true
}

// suspect is the percentage of a compute roof from which clocks and tuning are no longer an explanation.
const suspect = 120

func aboveRoof(spec HardwareSpec, d Demand, r Roof, percent float64, upperBound bool) []string {
	var why []string
	if upperBound {
		why = append(why, "the work is an upper bound: less may have been done")
	}
	if c := spec.CacheBytes(); r.Bound == MemoryBound && d.Level == DeviceMemory && c > 0 && d.Bytes <= c {
		why = append(why, fmt.Sprintf("the working set of %s fits the last-level cache of %s", size(d.Bytes), size(c)))
	}
	if percent > suspect {
		return append(why, "the model of the work or the recorded time is suspect: a kernel may be missing from the trace")
	}
	if len(why) == 0 {
		why = append(why, "clocks above those of the ceiling, or a ceiling set too low")
	}
	return why
}

func size(bytes int64) string {
	if bytes < 1<<20 {
		return fmt.Sprintf("%.1f KiB", float64(bytes)/(1<<10))
	}
	return fmt.Sprintf("%.1f MiB", float64(bytes)/(1<<20))
}
