package split

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/ditlens/ditlens/trace"
)

// markLost marks steps incomplete of which launches are recorded and their GPU events are not, if others lost fewer: profilers
// drop the first kernels of a session.
func markLost(t *trace.Trace, r *Result, o *order) {
	if !o.host || len(r.Steps) == 0 {
		return
	}
	begin, end := make([]time.Duration, len(r.Steps)), make([]time.Duration, len(r.Steps))
	before := o.key[o.ids[0]] // the last launch before the first step
	for i := range r.Steps {
		begin[i] = o.key[o.ids[0]]
		if r.Steps[i].Kernels > 0 {
			begin[i] = o.key[r.Steps[i].First]
		}
		end[i] = begin[i]
	}
	for id, s := range r.StepOf {
		if s >= 0 {
			end[s] = max(end[s], o.key[id])
		} else if o.key[id] < begin[0] {
			before = max(before, o.key[id])
		}
	}
	for i := 1; i < len(r.Steps); i++ {
		if r.Steps[i].Kernels == 0 { // it stands where the step before it ended
			begin[i], end[i] = end[i-1], end[i-1]
		}
	}
	if before >= begin[0] {
		before = -1 << 62
	}
	lost := make([]int, len(r.Steps))
	capturing := map[trace.ThreadID]bool{}
	for i := range t.Launches {
		l := &t.Launches[i]
		if l.Kind == trace.CaptureBegin || l.Kind == trace.CaptureEnd {
			capturing[l.Thread] = l.Kind == trace.CaptureBegin
		}
		if l.GPU > 0 || capturing[l.Thread] || l.Kind != trace.LaunchKernel && l.Kind != trace.LaunchCopy {
			continue
		}
		k, found := slices.BinarySearch(begin, l.Start)
		if !found {
			k--
		}
		switch { // launches between two steps count with the nearer one
		case k < 0 && l.Start > before, k >= 0 && r.Steps[k].Kernels == 0: // a step that has no events at all has lost them
			lost[max(k, 0)]++
		case k >= 0 && (l.Start <= end[k] || k+1 == len(begin) && l.Start < end[k]+(end[k]-begin[k])/8):
			lost[k]++
		case k >= 0 && k+1 < len(begin) && l.Start-end[k] < begin[k+1]-l.Start:
			lost[k]++
		case k >= 0 && k+1 < len(begin):
			lost[k+1]++
		}
	}
	least := slices.Min(lost)
	for i, n := range lost {
		if n > least && 50*n > r.Steps[i].Kernels {
			r.Steps[i].Complete = false
			r.Diagnostics = append(r.Diagnostics, trace.Diagnostic{
				Code: "step_lost_kernels", Severity: trace.Warning, Count: int64(n),
				Message: fmt.Sprintf("step %d: %d launches have no GPU event; the step is taken as incomplete", i, n),
			})
		}
	}
}

// markOutliers says of steps what is unusual about them within their class, and sets the medians of the classes, over complete steps.
func markOutliers(r *Result) {
	for i := range r.Classes {
		c := &r.Classes[i]
		var kernels []int
		var gpu, span []time.Duration
		for _, s := range c.Steps {
			if x := &r.Steps[s]; x.Complete || len(c.Steps) == 1 {
				kernels, gpu, span = append(kernels, x.Kernels), append(gpu, x.GPUTime), append(span, x.Span())
			}
		}
		if len(kernels) == 0 {
			continue
		}
		c.Kernels, c.MedianGPUTime, c.MedianSpan = median(kernels), middle(gpu), middle(span)
		off := make([]int, len(kernels))
		for k, n := range kernels {
			off[k] = max(n-c.Kernels, c.Kernels-n)
		}
		allowed := max(2, c.Kernels/200, 5*median(off))
		for _, s := range c.Steps {
			x := &r.Steps[s]
			x.Outlier = outlier(x, c, allowed)
		}
	}
	if len(r.Classes) > 0 {
		r.PeriodKernels = commonest(r).Kernels
	}
}

func outlier(s *Step, c *Class, allowed int) string {
	extra := s.Kernels - c.Kernels
	slow := len(c.Steps) > 2 && s.Span() > 3*c.MedianSpan
	switch {
	case !s.Complete:
		return ""
	case slow && extra > allowed:
		return fmt.Sprintf("warm-up/compile: %d extra kernels, span %.1f times the median", extra, float64(s.Span())/float64(c.MedianSpan))
	case slow:
		return fmt.Sprintf("span %.1f times the median", float64(s.Span())/float64(c.MedianSpan))
	case extra > allowed:
		return fmt.Sprintf("extra kernels: %d more than the median", extra)
	case -extra > allowed:
		return fmt.Sprintf("fewer kernels: %d less than the median", -extra)
	}
	return ""
}

// median returns the lower median: always a value that occurs.
func median[T cmp.Ordered](v []T) T {
	s := slices.Clone(v)
	slices.Sort(s)
	return s[(len(s)-1)/2]
}

// middle returns the median of durations: the mean of the two in the middle when their number is even.
func middle(v []time.Duration) time.Duration {
	s := slices.Clone(v)
	slices.Sort(s)
	a, b := s[(len(s)-1)/2], s[len(s)/2]
	return a + (b-a)/2
}

// commonest returns the class of most steps among those that run the whole model.
func commonest(r *Result) *Class {
	best := &r.Classes[0]
	for i := range r.Classes {
		if c := &r.Classes[i]; c.Name != "cached" && len(c.Steps) > len(best.Steps) {
			best = c
		}
	}
	return best
}

// steadyState returns the longest run of complete and regular steps of the commonest full class within one image, nil if
// there is no such step.
func steadyState(r *Result) *SteadyState {
	if len(r.Classes) == 0 {
		return nil
	}
	id := commonest(r).ID
	var best *SteadyState
	for i := 0; i < len(r.Steps); {
		j := i
		for j < len(r.Steps) && regular(&r.Steps[j], id) && r.Steps[j].Image == r.Steps[i].Image {
			j++
		}
		if j > i && (best == nil || j-i > best.Last-best.First+1) {
			best = &SteadyState{First: i, Last: j - 1, Class: id}
		}
		i = max(j, i+1)
	}
	return best
}

func regular(s *Step, class int) bool {
	return s.Class == class && s.Complete && s.Outlier == "" && s.Kernels > 0
}
