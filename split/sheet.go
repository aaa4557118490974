package split

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/ditlens/ditlens/trace"
)

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
		images := "1 image marker"
		if n := len(s.by[ImageMarker]); n > 1 {
			images = fmt.Sprintf("%d image markers", n)
		}
		return fmt.Sprintf("%s (%s), no step markers", images, s.by[ImageMarker][0].name)
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

// images returns the image of each mark, by start: that of the image marker around it; without, a new one begins where the indices
// of the names restart.
func (s *sheet) images(marks []span) []int {
	out := make([]int, len(marks))
	k, last := 0, -1
	im := s.by[ImageMarker]
	for i, m := range marks {
		if len(im) > 0 {
			for k+1 < len(im) && im[k+1].start <= m.start {
				k++
			}
		} else if x, err := strconv.Atoi(m.group("index")); err == nil {
			if x <= last {
				k++
			}
			last = x
		}
		out[i] = k
	}
	return out
}

// claims returns what image markers say of the images.
func (s *sheet) claims() []Image {
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
