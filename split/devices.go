package split

import (
	"slices"
	"time"

	"github.com/ditlens/ditlens/trace"
)

// Several devices may run the loop of steps, each a part of it or each with data of its own. Kernels of one device then say nothing of where a step
// begins on another. So the loop is sought in every lane that holds much work, and where it has as many steps, step k of the one is step k of the other.

// findLoops looks for the loop of steps in the busiest lane and in those beside it. If one thread launches the same loop on several devices, each device is
// a lane of its own.
func findLoops(t *trace.Trace, o *order, stop func() error) (*finding, error) {
	f, err := findLoop(t, o, stop)
	if err != nil {
		return nil, err
	}
	var found []*finding
	if lanes := byDevice(t, o.lane); len(lanes) > 1 {
		g, err := findEach(t, o, lanes, work(t, o.lane)/50, stop)
		if err != nil {
			return nil, err
		}
		looped := len(g) > 0 && len(g[0].pieces) > 1
		switch {
		case looped && (f == nil || f.alternates() || len(g) > 1 && g[0].same(g[1])):
			f, found = g[0], g[1:]
		case f != nil && f.alternates():
			f.dissent = append(f.dissent, "iterations that follow each other run on different devices: they may be of one step")
		}
	}
	if f == nil || len(f.pieces) < 2 {
		return f, nil
	}
	others, err := findEach(t, o, o.elsewhere(t, f.lane), f.time/50, stop)
	if err != nil {
		return nil, err
	}
	found = append(found, others...)
	for i, g := range found {
		if g.leads(f) {
			f, found[i] = g, f
		}
	}
	f.gather(t, o, found)
	return f, nil
}

// findEach looks for a loop in each lane that works for longer than least. Where there is none the finding has no pieces.
func findEach(t *trace.Trace, o *order, lanes [][]trace.GPUID, least time.Duration, stop func() error) ([]*finding, error) {
	var found []*finding
	for _, lane := range lanes {
		if work(t, lane) <= least {
			continue
		}
		f := &finding{events: t.GPU, lane: lane}
		own := *o
		own.lane = lane
		g, err := findLoop(t, &own, stop)
		if err != nil {
			return nil, err
		}
		if g != nil {
			f = g
		}
		found = append(found, f)
	}
	return found, nil
}

// elsewhere returns the lanes that work on other devices. Streams of one device share its time, by which their events are told.
func (o *order) elsewhere(t *trace.Trace, lane []trace.GPUID) [][]trace.GPUID {
	return slices.DeleteFunc(slices.Clone(o.beside), func(l []trace.GPUID) bool { return t.GPU[l[0]].Device == t.GPU[lane[0]].Device })
}

// inTurn merges with the busiest lane those of other devices that work while it does not: each waits for what the other computes, and together they are as
// one device. The ids are those of all lanes in order.
func inTurn(t *trace.Trace, ids []trace.GPUID, lanes [][]trace.GPUID) [][]trace.GPUID {
	if len(lanes) == 1 {
		return lanes
	}
	of := make([]int, len(t.GPU)) // lane of each event
	first := map[int32]int{}      // the busiest lane of each device
	for k := range lanes {
		for _, id := range lanes[k] {
			of[id] = k
		}
		if d := t.GPU[lanes[k][0]].Device; k == 0 || first[d] == 0 && d != t.GPU[lanes[0][0]].Device {
			first[d] = k
		}
	}
	least := max(work(t, lanes[0])/200, work(t, ids)/1000) // of a lane that matters
	merged := make([]bool, len(lanes))
	merged[0] = true
	for k := 1; k < len(lanes); k++ {
		if first[t.GPU[lanes[k][0]].Device] != k || work(t, lanes[k]) < least {
			continue
		}
		var end [2]time.Duration // of what runs in the merged lanes and in this one
		var both, own time.Duration
		for _, id := range ids {
			g, side := &t.GPU[id], rank(of[id] == k)
			if side == 0 && !merged[of[id]] {
				continue
			}
			both += max(0, min(end[1-side], g.End())-g.Start)
			own += g.Dur * time.Duration(side)
			end[side] = max(end[side], g.End())
		}
		merged[k] = 20*both <= own
	}
	var one []trace.GPUID
	for _, id := range ids {
		if merged[of[id]] {
			one = append(one, id)
		}
	}
	out := [][]trace.GPUID{one}
	for k, lane := range lanes {
		if !merged[k] {
			out = append(out, lane)
		}
	}
	return out
}

// byDevice parts events by device, the busiest first.
func byDevice(t *trace.Trace, ids []trace.GPUID) [][]trace.GPUID {
	return partition(t, ids, func(id trace.GPUID) int32 { return t.GPU[id].Device })
}

// work returns the GPU time of events.
func work(t *trace.Trace, ids []trace.GPUID) (sum time.Duration) {
	for _, id := range ids {
		sum += t.GPU[id].Dur
	}
	return sum
}

// alternates reports whether iterations that follow each other mostly run on different devices. If that happens once only, the second half of the steps may
// run on another device, unless both are at work at a time.
func (f *finding) alternates() bool {
	changes := 0
	last := f.device(0)
	for i := 1; i < len(f.pieces); i++ {
		d := f.device(i)
		changes += rank(d >= 0 && last >= 0 && d != last)
		last = d
	}
	if changes == 1 {
		a, b := f.span(0, 1), f.span(1, 2)
		return len(f.pieces) == 2 && a.overlap(b) > 0
	}
	return changes > 1 && 2*changes >= len(f.pieces)-1
}

// device returns the device on which most of a piece runs, -1 if there is none.
func (f *finding) device(k int) int32 {
	busy := map[int32]time.Duration{}
	var all time.Duration
	best := int32(-1)
	for _, id := range f.lane[f.pieces[k].from:f.pieces[k].to] {
		g := &f.events[id]
		all += g.Dur
		if busy[g.Device] += g.Dur; busy[g.Device] > busy[best] {
			best = g.Device
		}
	}
	if 3*busy[best] < 2*all {
		return -1
	}
	return best
}

// leads reports whether f knows better than g what a step is: which passes it has, when what tells them is launched in its lane alone, or where it
// begins, when what surrounds the loop is.
func (f *finding) leads(g *finding) bool {
	if len(f.pieces) < 2 || !f.agree || !f.span(0, len(f.pieces)).together(g.span(0, len(g.pieces))) {
		return false
	}
	if len(f.pieces) == len(g.pieces) {
		return f.around() >= fewKernels && g.around() < fewKernels && !g.same(f)
	}
	sum, most := f.sung()
	_, its := g.sung()
	return most > 1 && its == 1 && sum == len(g.pieces)
}

// around returns how many events of the lane lie before the first step and behind the last.
func (f *finding) around() int {
	return f.pieces[0].from + len(f.lane) - f.pieces[len(f.pieces)-1].to
}
