package trace

import (
	"context"
	"time"
)

// jitter is how far a child may reach behind its parent's end and still be its child: the profiler takes the two stamps
// one after the other.
const jitter = time.Microsecond

// A span is when something ran on a thread.
type span struct {
	thread     ThreadID
	start, end time.Duration
}

// nest finds the innermost enclosing span of each of n spans that are sorted by thread, start and descending end, and
// reports it; -1 for none. A span that crosses the end of an earlier one by more than the jitter is not its child.
//
// The open spans end later the earlier they began: one that a later span outlives can enclose nothing that the later one
// does not, so it is dropped. Each span is pushed and popped once, however many cross.
func nest(ctx context.Context, n int, at func(int) span, parent func(i, parent int)) {
	var open []int
	pop := func(when func(top span) bool) {
		for len(open) > 0 && when(at(open[len(open)-1])) {
			open = open[:len(open)-1]
		}
	}
	for i := range each(ctx, n) {
		s := at(i)
		pop(func(top span) bool { return (top.thread != s.thread || s.start >= top.end) && top != s })
		pop(func(top span) bool { return top.end+jitter < s.end })
		p := -1
		if len(open) > 0 {
			p = open[len(open)-1]
		}
		parent(i, p)
		pop(func(top span) bool { return top.end <= s.end })
		open = append(open, i)
	}
}

// enclose finds for each of n instants, sorted by thread and time, the innermost of m spans that holds it, and
// reports those that have one. Innermost is the one that began last.
func enclose(ctx context.Context, n, m int, instant func(int) (ThreadID, time.Duration), at func(int) span, found func(i, s int)) {
	var open []int
	next := 0
	for i := range each(ctx, n) {
		thread, t := instant(i)
		for ; next < m; next++ {
			s := at(next)
			if s.thread > thread || s.thread == thread && s.start > t {
				break
			}
			for len(open) > 0 && ended(at(open[len(open)-1]), s.thread, s.start) {
				open = open[:len(open)-1]
			}
			open = append(open, next)
		}
		for len(open) > 0 && ended(at(open[len(open)-1]), thread, t) {
			open = open[:len(open)-1]
		}
		if len(open) > 0 {
			found(i, open[len(open)-1])
		}
	}
}

// ended tells whether the span is over at an instant of a thread.
func ended(s span, thread ThreadID, t time.Duration) bool {
	return s.thread != thread || s.end <= t && !(s.start == t && s.end == t)
}
