package report

import (
	"time"

	"github.com/ditlens/ditlens/split"
)

// describeSplit puts the splitter's result into the report. Times count from the first GPU event.
func (in *analysis) describeSplit(res *split.Result) {
	s := &in.Split
	*s = Split{Method: res.Method, Mode: res.Mode, StepCount: len(res.Steps), Images: len(res.Images),
		ForwardsPerStep: res.ForwardsPerStep, PeriodKernels: res.PeriodKernels, Confidence: Number(res.Confidence), Reasons: res.Reasons,
		Marked: res.Marked, Detected: res.Detected, Requested: res.Requested, SubPeriods: res.SubPeriods, NonEmptyModes: res.NonEmptyModes}
	for _, c := range res.Classes {
		s.Classes = append(s.Classes, Class{ID: c.ID, Name: c.Name, Steps: len(c.Steps), MedianGPUTime: Micros(c.MedianGPUTime),
			MedianSpan: Micros(c.MedianSpan), Kernels: c.Kernels})
	}
	for i := range res.Steps {
		p := in.step(&res.Steps[i])
		if p.Kernels == 0 { // all of it was lost: it stands where the step before it ended
			p.Start, p.End = 0, 0
			if i > 0 {
				p.Start, p.End = s.Steps[i-1].End, s.Steps[i-1].End
			}
		}
		s.Steps = append(s.Steps, p)
	}
	s.MeanGPUTime, s.CacheHitRatio = s.mix()
	for _, p := range res.Phases {
		s.Phases = append(s.Phases, Phase{Name: string(p.Name), Image: p.Image, Kernels: p.Kernels, GPUTime: Micros(p.GPUTime),
			Busy: Micros(p.Busy), Start: in.since(p.Start), End: in.since(p.End)})
	}
	s.PhaseTotals = phaseTotals(s.Phases)
	for _, a := range res.Attempts {
		s.Attempts = append(s.Attempts, Attempt{a.Mode, a.Code, a.Message, a.Steps})
	}
	if ss := res.Steady; ss != nil {
		s.Steady = &Steady{ss.First, ss.Last, ss.Class}
		s.MedianGPUTime = Micros(medianOf(res, ss, func(p *split.Step) time.Duration { return p.GPUTime }))
		s.MedianSpan = Micros(medianOf(res, ss, (*split.Step).Span))
	}
}

func (in *analysis) step(p *split.Step) Step {
	return Step{Index: p.Index, Image: p.Image, Class: p.Class, Complete: p.Complete, Outlier: p.Outlier, Kernels: p.Kernels,
		GPUTime: Micros(p.GPUTime), Busy: Micros(p.Busy), Span: Micros(p.Span()), Start: in.since(p.Start), End: in.since(p.End),
		Forwards: p.Forwards, Roofline: unknown}
}

// ofStep is a median of the steady steps in microseconds, unknown when there are none.
func (s *Split) ofStep(m Micros) Number {
	if s.Steady == nil {
		return unknown
	}
	return Number(m) / 1e3
}

// mix is what describes all steps together: their mean GPU time in microseconds, and the share of cached ones.
func (s *Split) mix() (mean, cached Number) {
	var sum Micros
	for i := range s.Steps {
		sum += s.Steps[i].GPUTime
	}
	hits := 0
	for _, c := range s.Classes {
		if c.Name == "cached" {
			hits += c.Steps
		}
	}
	n := float64(len(s.Steps))
	cached = unknown
	if hits > 0 {
		cached = ratio(float64(hits), n)
	}
	return ratio(float64(sum)/1e3, n), cached
}

func (in *analysis) since(t time.Duration) Micros { return Micros(t - in.origin) }

func medianOf(res *split.Result, ss *split.SteadyState, f func(*split.Step) time.Duration) time.Duration {
	var d []time.Duration
	for i := ss.First; i <= ss.Last; i++ {
		d = append(d, f(&res.Steps[i]))
	}
	return medianTime(d)
}

// phaseTotals sums phases of one name over images, in order of first occurrence. Image is -1.
func phaseTotals(phases []Phase) []Phase {
	var out []Phase
	at := map[string]int{}
	for _, p := range phases {
		i, ok := at[p.Name]
		if !ok {
			i = len(out)
			at[p.Name] = i
			out = append(out, Phase{Name: p.Name, Image: -1, Start: p.Start, End: p.End})
		}
		q := &out[i]
		q.Kernels += p.Kernels
		q.GPUTime += p.GPUTime
		q.Busy += p.Busy
		q.Start, q.End = min(q.Start, p.Start), max(q.End, p.End)
	}
	return out
}
