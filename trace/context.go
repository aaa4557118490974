package trace

import (
	"regexp"
	"slices"
	"strconv"
)

// contexts names, for each of some launches in ascending order, the operators and host annotations around it. The
// annotations are passed once, whatever the number of launches.
func contexts(t *Trace, launches []LaunchID) []map[string]bool {
	list := make([]map[string]bool, len(launches))
	var open []*Annotation // begun and, as far as is known, not ended
	next := 0
	for i, id := range launches {
		l := &t.Launches[id]
		for ; next < len(t.Annotations) && t.Annotations[next].Start <= l.Start; next++ {
			if a := &t.Annotations[next]; !a.GPU {
				open = append(open, a)
			}
		}
		open = slices.DeleteFunc(open, func(a *Annotation) bool { return a.End() <= l.Start })
		list[i] = make(map[string]bool)
		for op, up := l.Op, 0; op != None && up < deepest; op, up = t.Ops[op].Parent, up+1 {
			list[i][t.Ops[op].Name] = true
		}
		for _, a := range open {
			list[i][a.Name] = true
		}
	}
	return list
}

// deepest is how many operators around a launch are looked at: more than any program nests, which a trace without times does in one
// another by the thousand.
const deepest = 1000

// batchRange matches the ranges in which serving engines run a call: execute_diffusion_2_1024x1024 is one of two images.
var batchRange = regexp.MustCompile(`^execute_[a-z_]*?_(\d{1,6})(_|$)`)

// batchOf reads the batch size from the names of the ranges around a call, 0 if none tells.
func batchOf(names map[string]bool) int {
	batch := 0
	for name := range names {
		if m := batchRange.FindStringSubmatch(name); m != nil {
			n, _ := strconv.Atoi(m[1])
			batch = max(batch, n)
		}
	}
	return batch
}
