package split

import (
	"fmt"
	"sort"
	"time"

	"github.com/ditlens/ditlens/trace"
)

// Lanes that run the same loop keep step: each with data of its own, when step k of one is step k of the other though they run apart in time, or each with a part
// of the model, when they wait for each other in every step.

// A stretch is a stretch of GPU time.
type stretch struct{ from, to time.Duration }

func (s stretch) overlap(r stretch) time.Duration { return min(s.to, r.to) - max(s.from, r.from) }

// together reports whether two stretches are at least half the same.
func (s stretch) together(r stretch) bool { return 2*s.overlap(r) >= max(s.to-s.from, r.to-r.from) }

// span returns the GPU time of pieces [from, to).
func (f *finding) span(from, to int) stretch {
	ids := f.lane[f.pieces[from].from:f.pieces[to-1].to]
	if len(ids) == 0 {
		return stretch{}
	}
	s := stretch{f.events[ids[0]].Start, f.events[ids[0]].End()}
	for _, id := range ids {
		s.from, s.to = min(s.from, f.events[id].Start), max(s.to, f.events[id].End())
	}
	return s
}

// sung returns how many passes the pieces have together, and the most of one.
func (f *finding) sung() (sum, most int) {
	for _, p := range f.pieces {
		sum, most = sum+p.passes, max(most, p.passes)
	}
	return sum, most
}

// gather takes what was found in other lanes: those that run the same loop go with f, of others it notes where they do not.
func (f *finding) gather(t *trace.Trace, o *order, found []*finding) {
	mine := map[int32]bool{} // devices of the lane
	for _, id := range f.lane {
		mine[t.GPU[id].Device] = true
	}
	alone := map[int32]bool{} // devices with a loop of their own
	for _, g := range found {
		d := t.GPU[g.lane[0]].Device
		switch {
		case f.joins(g):
			f.beside = append(f.beside, g)
			if !mine[d] {
				alone[d] = true
			}
		case 5*work(t, g.lane) >= f.time:
			f.apart = append(f.apart, g)
		}
	}
	if len(alone) > 0 {
		o.parts = partition(t, o.ids, func(id trace.GPUID) int32 {
			if d := t.GPU[id].Device; alone[d] {
				return d
			}
			return -1
		})
	}
}

// same reports whether g runs the loop of f on other data: at the same time it takes as many steps that launch the same work and mostly begin and end alike.
func (f *finding) same(g *finding) bool {
	n := len(f.pieces)
	if n < 2 || n != len(g.pieces) || !f.span(0, n).together(g.span(0, n)) {
		return false
	}
	like := func(i, j int) bool { return signatureOf(&f.events[f.lane[i]]) == signatureOf(&f.events[g.lane[j]]) }
	alike := 0
	for i, p := range f.pieces {
		q := g.pieces[i]
		if p.image != q.image {
			return false
		}
		alike += rank(!p.whole || !q.whole || p.from < p.to && q.from < q.to && like(p.from, q.from) && like(p.to-1, q.to-1))
	}
	if 4*alike < 3*n {
		return false
	}
	return f.resembles(g)
}

// resembles reports whether a step of g launches the same work as one of f.
func (f *finding) resembles(g *finding) bool {
	known := map[signature]int32{}
	all := func(ids []trace.GPUID) bag {
		tok := make([]int32, len(ids))
		for i, id := range ids {
			s := signatureOf(&f.events[id])
			if _, seen := known[s]; !seen {
				known[s] = int32(len(known))
			}
			tok[i] = known[s]
		}
		return newBag(tok)
	}
	return all(f.middle()).like(all(g.middle()))
}

// middle returns the events of the piece in the middle.
func (f *finding) middle() []trace.GPUID {
	p := f.pieces[len(f.pieces)/2]
	return f.lane[p.from:p.to]
}

// joins reports whether g runs the loop of f, and if so makes its pieces the steps of f. What launches other work than f is a part of the same model and
// keeps step; its iterations may be the passes of a step.
func (f *finding) joins(g *finding) bool {
	if f.same(g) {
		return true
	}
	sum, _ := f.sung()
	_, its := g.sung()
	each := func(piece) int { return 1 }
	switch {
	case !g.agree:
		return false
	case len(g.pieces) == len(f.pieces):
	case len(g.pieces) == sum && its == 1:
		each = func(p piece) int { return p.passes }
	default:
		return false
	}
	own := *g
	own.pieces = nil
	rest := g.pieces
	for _, p := range f.pieces {
		n := each(p)
		own.pieces = append(own.pieces, piece{from: rest[0].from, to: rest[n-1].to, image: p.image, whole: rest[0].whole && rest[n-1].whole, passes: n})
		rest = rest[n:]
	}
	if !f.keeps(&own) {
		return false
	}
	*g = own
	return true
}

// keeps reports whether g keeps step with f: each piece runs in the same step of f. Its first and last step then extend to the ends of its lane if what lies
// there runs in these steps too: the lane begins or ends in the loop. What lies between pieces goes by when it ran.
func (f *finding) keeps(g *finding) bool {
	n := len(f.pieces)
	runs := f.runs()
	runsIn := func(ids []trace.GPUID, step int) bool { // nearly all of it
		s := runs[step]
		if step+1 < n && f.pieces[step+1].image == f.pieces[step].image {
			s.to = runs[step+1].from
		}
		var in, all time.Duration
		for _, id := range ids {
			e := &g.events[id]
			all += e.Dur
			if e.End() > s.from && e.Start < s.to {
				in += e.Dur
			}
		}
		return 10*in >= 9*all
	}
	for i, p := range g.pieces {
		if !runsIn(g.lane[p.from:p.to], i) {
			return false
		}
	}
	for i := 1; i < n; i++ { // what lies between two pieces
		p, q := &g.pieces[i-1], &g.pieces[i]
		for p.to < q.from && g.events[g.lane[p.to]].Start < runs[i].from && f.pieces[i].image == f.pieces[i-1].image {
			p.to++
		}
		if f.pieces[i].image == f.pieces[i-1].image {
			q.from = p.to
		}
	}
	first, last := &g.pieces[0], &g.pieces[n-1]
	if runsIn(g.lane[:first.from], 0) {
		first.from = 0
	}
	if runsIn(g.lane[last.to:], n-1) {
		last.to = len(g.lane)
	}
	return true
}

// runs returns when each step ran.
func (f *finding) runs() []stretch {
	out := make([]stretch, len(f.pieces))
	for i := range out {
		out[i] = f.span(i, i+1)
	}
	return out
}

// whileRunning puts the events of a device that has no steps of its own, in order of start, into the steps that ran when they began. A device that works in
// fewer than half of the steps has no part in them.
func (f *finding) whileRunning(t *trace.Trace, ids []trace.GPUID, stepOf []int32) {
	at := func(when time.Duration) int {
		return sort.Search(len(ids), func(k int) bool { return t.GPU[ids[k]].Start >= when })
	}
	runs := f.runs()
	from, to := make([]int, len(runs)), make([]int, len(runs))
	held := 0
	for s, p := range f.pieces {
		from[s], to[s] = near(t, ids, at(runs[s].from), runs[s].from), at(runs[s].to)
		if s > 0 && f.pieces[s-1].to == p.from && f.pieces[s-1].image == p.image {
			to[s-1] = from[s]
		}
	}
	for s := range runs {
		held += rank(from[s] < to[s])
	}
	if 2*held < len(runs) {
		return
	}
	for s := range runs {
		for k := from[s]; k < to[s]; k++ {
			stepOf[ids[k]] = int32(s)
		}
	}
}

// near returns which of a few events before position k is nearer to the begin of a step than to what ran before it: devices that wait for each other
// do not go on at the same instant.
func near(t *trace.Trace, ids []trace.GPUID, k int, begin time.Duration) int {
	for i := k - 1; i > 0 && i >= k-fewKernels; i-- {
		if start := t.GPU[ids[i]].Start; start-t.GPU[ids[i-1]].End() > begin-start {
			return i
		}
	}
	if k == 1 && t.GPU[ids[0]].End() > begin {
		return 0
	}
	return k
}

// object notes which other lanes do not go with f though they work much: those that run the same loop at other times, and those of which most steps hold other work
// than any other step.
func (f *finding) object(c *Cut, o *order) {
	for _, g := range f.apart {
		toks := make([][]int32, len(f.pieces))
		for _, id := range g.lane {
			if s := c.StepOf[id]; s >= 0 {
				toks[s] = append(toks[s], o.sig[id])
			}
		}
		count := map[uint64]int{}
		for _, tok := range toks {
			if len(tok) > 0 {
				count[newBag(tok).hash()]++
			}
		}
		odd := 0
		for _, n := range count {
			odd += rank(n == 1)
		}
		if 2*odd <= len(toks) && !(len(g.pieces) > 1 && f.resembles(g)) {
			continue
		}
		mine, its := f.events[f.lane[0]].Device, f.events[g.lane[0]].Device
		who := fmt.Sprintf("device %d does not keep step with device %d", its, mine)
		if its == mine {
			who = fmt.Sprintf("another stream or thread of device %d does not keep step", its)
		}
		f.dissent = append(f.dissent, who+": what it runs is in the steps by when it ran, if at all")
	}
	for _, d := range f.dissent {
		c.Diagnostics = append(c.Diagnostics, trace.Diagnostic{Code: "devices_out_of_step", Severity: trace.Warning, Count: 1, Message: d})
	}
}

// stepAt returns the step in which something was launched, -1 if it is none. A step that an end of the trace cuts reaches to that end.
func (f *finding) stepAt(o *order, at time.Duration) int32 {
	s := sort.Search(len(f.pieces), func(k int) bool { return o.key[f.lane[f.pieces[k].from]] > at }) - 1
	if s < 0 {
		if first := f.pieces[0]; first.from == 0 && !first.whole {
			return 0
		}
		return -1
	}
	p := f.pieces[s]
	inside := at <= o.key[f.lane[p.to-1]] || p.to == len(f.lane) && !p.whole
	if s+1 < len(f.pieces) && f.pieces[s+1].image == p.image {
		inside = inside || f.pieces[s+1].from == p.to
	}
	if inside {
		return int32(s)
	}
	return -1
}
