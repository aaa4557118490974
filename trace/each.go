package trace

import (
	"context"
	"iter"
	"slices"
)

// stride is how many events are worked on between two looks at the context: a few milliseconds' worth at most.
const stride = 1 << 12

// each yields 0 … n-1 and ends early when ctx does. Every loop over all events of a trace runs by it.
func each(ctx context.Context, n int) iter.Seq[int] {
	return func(yield func(int) bool) {
		for i := range n {
			if i%stride == 0 && ctx.Err() != nil || !yield(i) {
				return
			}
		}
	}
}

// order sorts s. When ctx ends, all that is left counts as equal, so that the sort is over after one more look at it.
func order[T any](ctx context.Context, s []T, compare func(x, y T) int) {
	calls, over := 0, false
	slices.SortFunc(s, func(x, y T) int {
		if calls++; calls%stride == 0 {
			over = ctx.Err() != nil
		}
		if over {
			return 0
		}
		return compare(x, y)
	})
}
