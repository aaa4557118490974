package trace

import (
	"github.com/ditlens/ditlens/internal/scan"
)

// begin keeps a B event until its E comes. Pairs nest on each thread.
func (d *decoder) begin(e *scan.Event) (cause string, kept bool) {
	if !e.HasTS {
		return "the event has no time", false
	}
	if d.pairs == nil {
		d.pairs = make(map[ThreadID][]openEvent)
	}
	t := d.thread(e)
	c := classify(e.Cat.Raw)
	if c == classPython && !d.stacks {
		c = classOther // still pushed: its E must find it
	}
	open := openEvent{class: c}
	if c != classOther {
		open.event = e.Clone()
	}
	open.event.TS = e.TS
	d.pairs[t] = append(d.pairs[t], open)
	return "", false
}

// end completes the last B event of the thread. An end without a time leaves it open.
func (d *decoder) end(e *scan.Event) (cause string, kept bool) {
	t := d.thread(e)
	stack := d.pairs[t]
	if len(stack) == 0 {
		return "an end without a begin", false
	}
	open := stack[len(stack)-1]
	d.pairs[t] = stack[:len(stack)-1]
	if !e.HasTS || !inRange(e) {
		d.unended = append(d.unended, open)
		return "an end without a time", false
	}
	open.event.Dur, open.event.HasDur = e.TS-open.event.TS, true
	return d.complete(&open.event, open.class)
}

// finish takes what began and never ended: it lasts until the last instant seen.
func (d *decoder) finish(last int64) (open int64) {
	left := d.unended
	for _, stack := range d.pairs {
		left = append(left, stack...)
	}
	for _, o := range left {
		if o.class == classOther {
			continue
		}
		open++
		o.event.Dur = max(0, last-o.event.TS)
		d.complete(&o.event, o.class)
	}
	return open
}
