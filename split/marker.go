package split

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/ditlens/ditlens/trace"
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
	images := s.claims(steps)
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
	if len(s.by[WindowMarker]) == len(steps) && len(s.by[StepMarker])+len(s.by[SchedulerMarker])+len(s.by[ForwardMarker]) == 0 {
		c.Confidence *= 0.7 // training advances the profiler once a step too
	}
	c.Reasons = []string{fmt.Sprintf("%d steps %s", len(steps), how)}
	r := assemble(in, c, o)
	if why := speaksAgainst(in.Trace, r, o); why != "" && c.Confidence < 0.7 {
		return nil, fail(CodeLowQuality, why, len(steps))
	}
	r.NonEmptyModes = []string{m.Name()}
	r.Attempts = []Attempt{{Mode: m.Name(), Code: CodeOK, Message: c.Reasons[0], Steps: len(steps)}}
	return r, nil
}

func mergeClaims(have, claims []Image) []Image {
	if len(claims) == 0 {
		return have
	}
	for i := range claims {
		claims[i].Index = i
		if i < len(have) {
			claims[i].Start, claims[i].End = have[i].Start, have[i].End
		}
	}
	return claims
}

// A span is a range of launch time with what its annotation's name says.
type span struct {
	mark
	start, end time.Duration
	open       bool
}

func (s *span) holds(at time.Duration) bool { return s.start <= at && at < s.end }

// A sheet is the annotations of a trace by meaning, and its events by launch time.
type sheet struct {
	t  *trace.Trace
	o  *order
	by [NoMarker][]span // by start
}

func newSheet(t *trace.Trace, o *order, g Grammar) *sheet {
	s := &sheet{t: t, o: o}
	var host, gpu [NoMarker][]span
	for i := range t.Annotations {
		a := &t.Annotations[i]
		m, ok := g.read(a.Name)
		if !ok {
			continue
		}
		x := span{m, a.Start, a.End(), a.Open}
		if a.GPU {
			gpu[m.Meaning] = append(gpu[m.Meaning], x)
		} else {
			host[m.Meaning] = append(host[m.Meaning], x)
		}
	}
	for k := range s.by {
		if s.by[k] = outermost(host[k]); len(host[k]) == 0 {
			s.by[k] = outermost(gpu[k])
		}
	}
	return s
}

// outermost drops spans inside others of the same meaning: inner frames, and the same range on other threads and streams. An open span
// ends where the next begins.
func outermost(in []span) []span {
	slices.SortStableFunc(in, func(a, b span) int { return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(b.end, a.end)) })
	var out []span
	for _, x := range in {
		if n := len(out); n > 0 {
			p := &out[n-1]
			if p.open && x.start > p.start {
				p.end = min(p.end, x.start)
			}
			mostly := min(p.end, x.end)-x.start > (x.end-x.start)/2
			if x.start < p.end && (x.end <= p.end || mostly && x.name == p.name) {
				p.take(x)
				continue
			}
		}
		out = append(out, x)
	}
	return out
}

// take keeps what an inner span says and the outer does not.
func (s *span) take(inner span) {
	if s.group("height") == "" && inner.group("height") != "" {
		s.mark = inner.mark
	}
}

func (s *sheet) missing() string {
	switch {
	case len(s.by[ImageMarker]) > 0:
		return fmt.Sprintf("%d image markers (%s), no step markers", len(s.by[ImageMarker]), s.by[ImageMarker][0].name)
	case len(s.by[WindowMarker]) > 0:
		return "profiler windows, no step markers"
	}
	return "no step markers"
}

// position returns how many events, in launch order, were launched before at.
func (s *sheet) position(at time.Duration) int {
	k, _ := slices.BinarySearchFunc(s.o.ids, at, func(id trace.GPUID, at time.Duration) int { return cmp.Compare(s.o.key[id], at) })
	return k
}

// A stepSpan is one marked step: the events at positions [from, to) of the launch order.
type stepSpan struct {
	from, to int
	image    int
	forwards int
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
	case len(s.by[ForwardMarker]) > 1:
		steps, how = s.passes(s.by[ForwardMarker]), "told from "+s.by[ForwardMarker][0].name
	case s.windowsAreSteps():
		steps, how = s.ranges(s.by[WindowMarker]), "as windows of the profiler"
	}
	for i := range steps {
		for _, f := range s.by[ForwardMarker] {
			if p := s.position(f.start); p >= steps[i].from && p < steps[i].to && s.position(f.end) > p {
				steps[i].forwards++
			}
		}
	}
	return steps, how
}

// windowsAreSteps reports whether the profiler was advanced once a step: there are several windows, and what they launch is made of
// blocks. A window that holds steps is an image or the whole run.
func (s *sheet) windowsAreSteps() bool {
	w := s.by[WindowMarker]
	if len(w) < 2 || len(s.by[ImageMarker]) > 0 && len(s.by[ImageMarker]) >= len(w) {
		return false
	}
	m := w[len(w)/2]
	ids := s.o.ids[s.position(m.start):s.position(m.end)]
	if len(ids) < 4 {
		return false
	}
	every := make([]int32, len(ids))
	for i := range every {
		every[i] = int32(i)
	}
	look := search{t: s.t, lane: ids, sig: s.o.signatures(ids), distinct: s.o.distinct, solid: s.o.distinct, stop: func() error { return nil }}
	f, _ := look.at(every)
	return f == nil || !f.loops
}

// cover reports whether marks hold at least half of the events from the first to the last of them in each image.
func (s *sheet) cover(marks []span) bool {
	inside, all := 0, 0
	for i, m := range marks {
		a, b := s.position(m.start), s.position(m.end)
		inside += b - a
		all += b - a
		if i+1 < len(marks) && s.image(marks, i+1) == s.image(marks, i) {
			all += max(s.position(marks[i+1].start)-b, 0)
		}
	}
	return 2*inside >= all
}

// image returns the image of marks[i]: that of the image marker around it; without, a new one begins where the indices of the names
// restart.
func (s *sheet) image(marks []span, i int) int {
	if im := s.by[ImageMarker]; len(im) > 0 {
		k := 0
		for k+1 < len(im) && im[k+1].start <= marks[i].start {
			k++
		}
		return k
	}
	n, last := 0, -1
	for k := 0; k <= i; k++ {
		x, err := strconv.Atoi(marks[k].group("index"))
		if err != nil {
			continue
		}
		if x <= last {
			n++
		}
		last = x
	}
	return n
}

func (s *sheet) ranges(marks []span) []stepSpan {
	out := make([]stepSpan, len(marks))
	for i, m := range marks {
		out[i] = stepSpan{from: s.position(m.start), to: s.position(m.end), image: s.image(marks, i)}
	}
	return out
}

// closed returns steps that end where the marks end. The first of an image begins where it agrees with the one after it, or
// with the first forward pass, or with the image.
func (s *sheet) closed(marks []span) []stepSpan {
	out := make([]stepSpan, len(marks))
	for i, m := range marks {
		out[i] = stepSpan{to: s.position(m.end), image: s.image(marks, i)}
	}
	for i := range out {
		if i > 0 && out[i].image == out[i-1].image {
			out[i].from = out[i-1].to
			continue
		}
		floor := 0
		if i > 0 {
			floor = out[i-1].to
		}
		if im := s.by[ImageMarker]; out[i].image < len(im) {
			floor = max(floor, s.position(im[out[i].image].start))
		}
		out[i].from = s.opening(out, i, floor)
	}
	return out
}

// opening returns where the first step of an image begins, floor or later.
func (s *sheet) opening(steps []stepSpan, i, floor int) int {
	for _, f := range s.by[ForwardMarker] {
		if p := s.position(f.start); p >= floor && p < steps[i].to {
			return p
		}
	}
	if i+1 == len(steps) || steps[i+1].image != steps[i].image {
		return floor
	}
	from, to := steps[i].to, steps[i+1].to
	sig := s.o.signatures(s.o.ids[floor:to])
	from, to = from-floor, to-floor
	c := &aligner{tok: sig}
	a, b := c.extend(from-1, to-1, -1, from)
	if 4*(b-from) <= to-from {
		return floor + a
	}
	for k := range from { // steps differ: take the first place that begins as the next step does
		if w := min(2, to-from); k+w <= from && slices.Equal(sig[k:k+w], sig[from:from+w]) {
			return floor + k
		}
	}
	return floor
}

// passes returns steps made of forward passes. Passes of one step follow each other closely; the scheduler's work closes a step.
func (s *sheet) passes(marks []span) []stepSpan {
	gap := make([]int, len(marks)) // events between a pass and the next of its image
	least, most := -1, 0
	for i := range marks[:len(marks)-1] {
		if s.image(marks, i) != s.image(marks, i+1) {
			gap[i] = -1
			continue
		}
		gap[i] = max(s.position(marks[i+1].start)-s.position(marks[i].end), 0)
		most = max(most, gap[i])
		if least < 0 || gap[i] < least {
			least = gap[i]
		}
	}
	several := most >= 2*least+2
	var out []stepSpan
	begin := 0
	for i := range marks {
		last := i+1 == len(marks) || gap[i] < 0
		if !last && several && 2*gap[i] < least+most {
			continue
		}
		x := stepSpan{from: s.position(marks[begin].start), image: s.image(marks, i)}
		if last {
			x.to = s.trail(s.position(marks[i].end), out, x.image, most)
		} else {
			x.to = s.position(marks[i+1].start)
		}
		out = append(out, x)
		begin = i + 1
	}
	return out
}

// trail returns where the last step of an image ends: behind the events after its last pass at position at that are as those at the
// end of the step before.
func (s *sheet) trail(at int, before []stepSpan, image, most int) int {
	if len(before) == 0 || before[len(before)-1].image != image {
		return at
	}
	b := before[len(before)-1]
	for n := 0; n < most && at+n < len(s.o.ids); n++ {
		like := b.to - most + n
		if like < b.from || s.o.sig[s.o.ids[like]] != s.o.sig[s.o.ids[at+n]] {
			return at + n
		}
	}
	return min(at+most, len(s.o.ids))
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
		c.Partial = append(c.Partial, x.to <= x.from)
		c.Forwards = append(c.Forwards, x.forwards)
		if x.to > x.from {
			full++
		}
	}
	return full
}

// claims returns what image markers say of the images.
func (s *sheet) claims(steps []stepSpan) []Image {
	var out []Image
	for _, m := range s.by[ImageMarker] {
		n := func(name string) int { v, _ := strconv.Atoi(m.group(name)); return v }
		out = append(out, Image{
			Batch: n("batch"), Height: n("height"), Width: n("width"),
			HostStart: m.start, HostEnd: m.end, Marker: m.name,
		})
	}
	return out
}

// phases returns the phase of the events that phase markers launched.
func (s *sheet) phases() []PhaseName {
	if len(s.by[PhaseMarker]) == 0 {
		return nil
	}
	out := make([]PhaseName, len(s.t.GPU))
	for _, m := range s.by[PhaseMarker] {
		for _, id := range s.o.ids[s.position(m.start):s.position(m.end)] {
			out[id] = m.Phase
		}
	}
	return out
}
