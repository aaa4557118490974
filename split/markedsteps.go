package split

import (
	"regexp"
	"slices"
	"time"
)

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
	look := search{t: s.t, lane: ids, sig: s.o.signatures(ids), distinct: s.o.distinct, solid: s.o.distinct, stop: func() error { return nil }}
	f, _ := look.at(indices(len(ids)))
	return f == nil || !f.loops
}

// cover reports whether marks hold at least half of the events from the first to the last of them in each image; of a single mark, whether it
// holds an eighth of what its image has launched until it ends.
func (s *sheet) cover(marks []span) bool {
	inside, all := 0, 0
	if len(marks) == 1 {
		from, to := s.position(marks[0].start), s.position(marks[0].end)
		return 8*(to-from) >= to-s.floor(s.images(marks)[0])
	}
	image := s.images(marks)
	for i, m := range marks {
		a, b := s.position(m.start), s.position(m.end)
		inside += b - a
		all += b - a
		if i+1 < len(marks) && image[i+1] == image[i] {
			all += max(s.position(marks[i+1].start)-b, 0)
		}
	}
	return 2*inside >= all
}

func (s *sheet) ranges(marks []span) []stepSpan {
	out := make([]stepSpan, len(marks))
	image := s.images(marks)
	for i, m := range marks {
		out[i] = stepSpan{from: s.position(m.start), to: s.position(m.end), image: image[i]}
	}
	return out
}

// closed returns steps that end where the marks end. The first of an image begins where it agrees with the one after it, or
// with the first forward pass, or with the image.
func (s *sheet) closed(marks []span) []stepSpan {
	out := make([]stepSpan, len(marks))
	image := s.images(marks)
	for i, m := range marks {
		out[i] = stepSpan{to: s.position(m.end), image: image[i]}
	}
	for i := range out {
		if i > 0 && out[i].image == out[i-1].image {
			out[i].from = out[i-1].to
			continue
		}
		floor := s.floor(out[i].image)
		if i > 0 {
			floor = max(floor, out[i-1].to)
		}
		floor = min(floor, out[i].to) // marks may stand before the first image marker
		out[i].from = s.opening(out, i, floor)
	}
	if len(out) == 1 {
		out[0].open = len(s.by[ForwardMarker]) == 0
	}
	return out
}

// floor returns where an image begins, as far as markers say.
func (s *sheet) floor(image int) int {
	if im := s.by[ImageMarker]; image < len(im) {
		return s.position(im[image].start)
	}
	return 0
}

// compiled matches calls of compiled code as torch.compile names them.
var compiled = regexp.MustCompile(`^(Torch-Compiled Region|## Call CompiledFxGraph)`)

// onlyCall returns the one call of compiled code that launched at least half of the trace's GPU time, if there is no other call and it runs blocks: one
// pass, and so one step, is all that was recorded.
func (s *sheet) onlyCall() (steps []stepSpan, how string) {
	var calls []span
	see := func(name string, start, end time.Duration) {
		if compiled.MatchString(name) {
			calls = append(calls, span{mark: mark{Pattern: &Pattern{Regexp: compiled}, name: name}, start: start, end: end})
		}
	}
	for i := range s.t.Annotations {
		if a := &s.t.Annotations[i]; !a.GPU {
			see(a.Name, a.Start, a.End())
		}
	}
	for i := range s.t.Ops {
		see(s.t.Ops[i].Name, s.t.Ops[i].Start, s.t.Ops[i].End())
	}
	if calls = outermost(calls); len(calls) != 1 {
		return nil, ""
	}
	var inside, all time.Duration
	from, to := s.position(calls[0].start), s.position(calls[0].end)
	for k, id := range s.o.ids {
		d := s.t.GPU[id].Dur
		all += d
		if k >= from && k < to {
			inside += d
		}
	}
	if 2*inside < all || to <= from || blocks(s.t, s.o, s.o.ids[from:to]) == "" {
		return nil, ""
	}
	return []stepSpan{{from: from, to: to, inferred: true}}, "told from the only call of " + calls[0].name
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
	image := s.images(marks)
	for i := range marks[:len(marks)-1] {
		if image[i] != image[i+1] {
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
		x := stepSpan{from: s.position(marks[begin].start), image: image[i]}
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
