package split

import (
	"context"
	"fmt"
	"slices"
)

// Marker finds steps by annotations. What a marker covers decides what it is: one that holds most of the work between the
// first and the last of its kind is a step; one that holds little of it closes a step, as those around a scheduler's update do. GPU
// events belong to the step that launched them, wherever they ran.
//
// Annotations of the host count. Their copies on the GPU's timeline are used for traces that hold no others.
type Marker struct {
	Grammar Grammar // nil means DefaultGrammar
}

// Name returns "marker".
func (Marker) Name() string { return "marker" }

// Split implements [Splitter].
func (m Marker) Split(ctx context.Context, in *Input) (*Result, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	o := newOrder(in.Trace)
	g := m.Grammar
	if g == nil {
		g = DefaultGrammar()
	}
	s := newSheet(in.Trace, o, g)
	steps, how := s.steps()
	images := s.claims()
	fail := func(code, message string, n int) error {
		err := noSteps(in, o, m.Name(), code, message)
		err.Attempts[0].Steps = n
		err.Result.Images = mergeClaims(err.Result.Images, images)
		return err
	}
	if len(steps) == 0 {
		return nil, fail(CodeMissing, s.missing(), 0)
	}
	c := Cut{Method: "marker", Mode: m.Name(), Marked: len(steps), Images: images, PhaseOf: s.phases()}
	full := s.assign(&c, steps)
	if full == 0 {
		return nil, fail(CodeEmpty, fmt.Sprintf("%d step markers, none of which launched GPU work", len(steps)), len(steps))
	}
	c.Confidence = 0.9 * float64(full) / float64(len(steps))
	if steps[0].open || steps[0].inferred || len(s.by[WindowMarker]) == len(steps) && len(s.by[StepMarker])+len(s.by[SchedulerMarker])+len(s.by[ForwardMarker]) == 0 {
		c.Confidence *= 0.7 // training advances the profiler once a step too
	}
	if steps[0].inferred {
		c.Marked = 0
	}
	c.Reasons = []string{fmt.Sprintf("%d step%s %s", len(steps), plural(len(steps)), how)}
	r := assemble(in, c, o)
	if why := speaksAgainst(in.Trace, r, o); why != "" && c.Confidence < 0.7 {
		return nil, fail(CodeLowQuality, why, len(steps))
	}
	r.NonEmptyModes = []string{m.Name()}
	r.Attempts = []Attempt{{Mode: m.Name(), Code: CodeOK, Message: c.Reasons[0], Steps: len(steps)}}
	return r, nil
}

// A stepSpan is one marked step: the events at positions [from, to) of the launch order.
type stepSpan struct {
	from, to int
	image    int
	forwards int
	open     bool // where it begins is not known
	inferred bool // by no marker
}

// steps returns the marked steps and how they were told.
func (s *sheet) steps() (steps []stepSpan, how string) {
	marks := s.by[StepMarker]
	switch {
	case len(marks) > 0 && s.cover(marks):
		steps, how = s.ranges(marks), "as ranges named "+marks[0].name
	case len(marks) > 0:
		steps, how = s.closed(marks), "closed by markers named "+marks[0].name
	case len(s.by[SchedulerMarker]) > 0:
		steps, how = s.closed(s.by[SchedulerMarker]), "closed by "+s.by[SchedulerMarker][0].name
	case len(s.by[ForwardMarker]) > 0:
		steps, how = s.passes(s.by[ForwardMarker]), "told from "+s.by[ForwardMarker][0].name
	case s.windowsAreSteps():
		steps, how = s.ranges(s.by[WindowMarker]), "as windows of the profiler"
	default:
		steps, how = s.onlyCall()
	}
	var begun []int // positions of the forward passes that launched something
	for _, f := range s.by[ForwardMarker] {
		if p := s.position(f.start); s.position(f.end) > p {
			begun = append(begun, p)
		}
	}
	for i := range steps {
		from, _ := slices.BinarySearch(begun, steps[i].from)
		to, _ := slices.BinarySearch(begun, steps[i].to)
		steps[i].forwards = max(to-from, 0)
	}
	return steps, how
}

// assign fills the cut's steps and returns how many hold GPU events.
func (s *sheet) assign(c *Cut, steps []stepSpan) (full int) {
	c.StepOf = make([]int32, len(s.t.GPU))
	for i := range c.StepOf {
		c.StepOf[i] = -1
	}
	for k, x := range steps {
		for _, id := range s.o.ids[x.from:max(x.to, x.from)] {
			c.StepOf[id] = int32(k)
		}
		c.ImageOf = append(c.ImageOf, x.image)
		c.Partial = append(c.Partial, x.to <= x.from || x.open)
		c.Forwards = append(c.Forwards, x.forwards)
		if x.to > x.from {
			full++
		}
	}
	return full
}
