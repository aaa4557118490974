package trace

import (
	"cmp"
	"context"
	"slices"
)

// adoptCaptured recognises operators that lie within the call of a graph launch: WriteWindow puts there what was copied
// from a capture, for a launch by itself calls no operator. They become such copies again, and own the events that carry
// their external ids.
func adoptCaptured(ctx context.Context, t *Trace) {
	replays := t.GraphReplays()
	slices.SortStableFunc(replays, func(x, y GraphReplay) int { return compareReplays(t, x.Launch, y.Launch) })
	for _, r := range replays {
		l := &t.Launches[r.Launch]
		from, _ := slices.BinarySearchFunc(t.Ops, l, func(o Op, l *Launch) int {
			if c := cmp.Or(cmp.Compare(o.Thread, l.Thread), cmp.Compare(o.Start, l.Start)); c != 0 {
				return c
			}
			return -1 // what begins with the launch encloses it
		})
		to := from
		for to < len(t.Ops) && t.Ops[to].Thread == l.Thread && t.Ops[to].End() <= l.End() &&
			(to == from || t.Ops[to-1].ExternalID < t.Ops[to].ExternalID) {
			to++
		}
		adopt(t, r, from, to)
	}
}

// adopt makes the operators from … to copies below the launch of a replay, unless that breaks their order.
func adopt(t *Trace, r GraphReplay, from, to int) {
	l := &t.Launches[r.Launch]
	if from == to || t.Ops[from].ExternalID == 0 {
		return
	}
	first := t.Ops[from]
	first.Start, first.Dur = l.Start, l.Dur
	if from > 0 && compareOps(t.Ops[from-1], first) > 0 {
		return
	}
	ids := make(map[int64]OpID, to-from)
	for i := from; i < to; i++ {
		o := &t.Ops[i]
		o.Start, o.Dur, o.Captured = l.Start, l.Dur, true
		ids[o.ExternalID] = OpID(i)
	}
	inside, _ := slices.BinarySearchFunc(t.Frames, l, func(f Frame, l *Launch) int {
		if c := cmp.Or(cmp.Compare(f.Thread, l.Thread), cmp.Compare(f.Start, l.Start)); c != 0 {
			return c
		}
		return -1 // what begins with the launch encloses it
	})
	for ; inside < len(t.Frames) && t.Frames[inside].Thread == l.Thread && t.Frames[inside].Start < l.End(); inside++ {
		if f := &t.Frames[inside]; f.Start+f.Dur <= l.End() {
			f.Start, f.Dur = l.Start, l.Dur
		}
	}
	for _, id := range r.Events {
		if op, ok := ids[t.GPU[id].ExternalID]; ok {
			t.GPU[id].Op = op
		}
	}
}
