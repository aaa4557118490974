package record

import (
	"fmt"
	"slices"
	"strings"
)

// A Change is a schedule and a number of steps that keep what was to be recorded.
type Change struct {
	Schedule Schedule
	Steps    int
	Kept     []int  // steps that survive
	Text     string // what to change, as in "repeat=1" or "wait=1 and 4 steps"
}

// Advise returns the changes that keep the events of a loop of n steps, the smallest first and one for each schedule, and nil
// when they are kept as it is. A change of one setting is smaller than one of two, and one by 1 smaller than one by 2. All Active steps
// survive in each.
func (s Schedule) Advise(n int) ([]Change, error) {
	r, err := s.Simulate(n)
	if err != nil || len(r.Kept) > 0 {
		return nil, err
	}
	var found []Change
	for _, c := range s.candidates(max(n, 0)) {
		known := slices.ContainsFunc(found, func(f Change) bool { return f.Schedule == c.Schedule })
		r, err := c.Schedule.Simulate(c.Steps)
		if err == nil && !known && len(r.Kept) == s.Active {
			c.Kept, c.Text = r.Kept, s.difference(n, c)
			found = append(found, c)
		}
	}
	return found, nil
}

// candidates lists the changes that are tried, in order of size: repeat first, since it needs no further step.
func (s Schedule) candidates(n int) []Change {
	once := s
	once.Repeat = 1
	list := []Change{{Schedule: once, Steps: n}}
	for more := range s.SkipFirst + s.Wait + s.Warmup + s.Active + 2 {
		list = append(list, Change{Schedule: s, Steps: n + more + 1})
	}
	waits := s
	waits.Wait = max(s.Wait, 1)
	for more := range s.SkipFirst + waits.Wait + s.Warmup + s.Active + 2 {
		list = append(list, Change{Schedule: waits, Steps: n + more}, Change{Schedule: once, Steps: n + more + 1})
	}
	slices.SortStableFunc(list, func(a, b Change) int { return s.cost(n, a) - s.cost(n, b) })
	return list
}

func (s Schedule) cost(n int, c Change) int {
	cost := 0
	for _, d := range []int{c.Schedule.Repeat - s.Repeat, c.Schedule.Wait - s.Wait, c.Steps - n} {
		if d != 0 {
			cost += 1000 + max(d, -d)
		}
	}
	return cost
}

func (s Schedule) difference(n int, c Change) string {
	var parts []string
	if c.Schedule.Repeat != s.Repeat {
		parts = append(parts, fmt.Sprintf("repeat=%d", c.Schedule.Repeat))
	}
	if c.Schedule.Wait != s.Wait {
		parts = append(parts, fmt.Sprintf("wait=%d", c.Schedule.Wait))
	}
	if c.Steps != n {
		parts = append(parts, fmt.Sprintf("%d steps", c.Steps))
	}
	return strings.Join(parts, " and ")
}
