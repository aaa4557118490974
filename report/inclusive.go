package report

import "github.com/ditlens/ditlens/trace"

// include gives each operator the time of those it called. One that calls itself counts an event once: its outermost call has all.
// Every call is entered and left once, however deep they nest.
func (s *operatorSums) include() {
	ops, top := s.trace.Ops, trace.OpID(len(s.trace.Ops))
	first, next := make([]trace.OpID, top+1), make([]trace.OpID, top) // child of a call, and its sibling; top is around all
	for i := range first {
		first[i] = trace.None
	}
	for op := top - 1; op >= 0; op-- {
		around := top
		if p := ops[op].Parent; p != trace.None {
			around = p
			s.below[p] += s.below[op]
		}
		next[op], first[around] = first[around], op
	}
	outermost := map[*operatorSum]trace.OpID{} // of the operators that are being passed
	enter := func(op trace.OpID) {
		sum := s.at(s.key(op))
		if _, inside := outermost[sum]; !inside {
			outermost[sum] = op
			sum.Inclusive += s.below[op]
		}
	}
	leave := func(op trace.OpID) {
		if sum := s.at(s.key(op)); outermost[sum] == op {
			delete(outermost, sum)
		}
	}
	for op := first[top]; op != trace.None; {
		if s.below[op] > 0 {
			enter(op)
			if first[op] != trace.None {
				op = first[op]
				continue
			}
			leave(op)
		}
		for next[op] == trace.None && ops[op].Parent != trace.None {
			op = ops[op].Parent
			leave(op)
		}
		op = next[op]
	}
}
