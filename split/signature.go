package split

import (
	"fmt"

	"github.com/ditlens/ditlens/trace"
)

// A signature says what a GPU event launches: its name and launch shape, or a copy's direction and size. Two events of
// equal signature do the same work, as far as a kernel alone can tell.
type signature struct {
	name        string
	grid, block [3]uint32
	bytes       int64
	kind        trace.GPUKind
	dir         trace.CopyDir
}

func signatureOf(g *trace.GPUEvent) signature {
	return signature{g.Name, g.Grid, g.Block, g.Bytes, g.Kind, g.Dir}
}

// refine tells events of one signature apart by the shapes of their operators' arguments, where those were recorded. Values
// are left out: a step's timestep is not the next one's. ok is false when nothing new is told.
func refine(t *trace.Trace, ids []trace.GPUID, sig []int32) (fine []int32, distinct int, ok bool) {
	type key struct{ sig, shape int32 }
	known := make(map[key]int32)
	coarse := make(map[int32]bool)
	args := shapes{make(map[string]int32), make(map[*trace.Inputs]int32)}
	fine = make([]int32, len(sig))
	for i, id := range ids {
		k := key{sig: sig[i]}
		if op := t.GPU[id].Op; op >= 0 {
			k.shape = args.number(t.Ops[op].Inputs)
		}
		n, seen := known[k]
		if !seen {
			n = int32(len(known))
			known[k] = n
		}
		fine[i], coarse[k.sig] = n, true
	}
	return fine, len(known), len(known) > len(coarse)
}

// names numbers events by name alone: a batch of half the size launches the same kernels on other grids.
func names(events []trace.GPUEvent, ids []trace.GPUID) (sig []int32, distinct int) {
	known := make(map[string]int32)
	sig = make([]int32, len(ids))
	for i, id := range ids {
		name := events[id].Name
		n, seen := known[name]
		if !seen {
			n = int32(len(known))
			known[name] = n
		}
		sig[i] = n
	}
	return sig, len(known)
}

// shapes numbers the shapes of arguments.
type shapes struct {
	known map[string]int32
	of    map[*trace.Inputs]int32
}

func (s *shapes) number(in *trace.Inputs) int32 {
	if in == nil {
		return 0
	}
	if n, ok := s.of[in]; ok {
		return n
	}
	var b []byte
	for _, a := range in.Args {
		b = fmt.Append(b, a.Dims, ";")
		for _, m := range a.List {
			b = fmt.Append(b, m.Dims, ",")
		}
	}
	n, ok := s.known[string(b)]
	if !ok {
		n = int32(len(s.known) + 1)
		s.known[string(b)] = n
	}
	s.of[in] = n
	return n
}

// number gives each event the number of its signature, in order of first appearance among ids.
func number(t *trace.Trace, ids []trace.GPUID) (sig []int32, distinct int) {
	known := make(map[signature]int32)
	sig = make([]int32, len(t.GPU))
	for _, id := range ids {
		s := signatureOf(&t.GPU[id])
		n, ok := known[s]
		if !ok {
			n = int32(len(known))
			known[s] = n
		}
		sig[id] = n
	}
	return sig, len(known)
}

// signatures returns the signatures of events in the given order.
func (o *order) signatures(ids []trace.GPUID) []int32 {
	sig := make([]int32, len(ids))
	for i, id := range ids {
		sig[i] = o.sig[id]
	}
	return sig
}

// skeleton returns the indices of the events whose place in the sequence is predictable: their signature recurs and has
// mostly the same neighbour on one side. What it leaves out are strays: autotuning, allocator fills, kernels of another
// stream that fall in at any point. A loop is as visible in the skeleton as in the sequence, and its lag is constant.
func skeleton(sig []int32, distinct int) []int32 {
	count := make([]int32, distinct)
	pairs := make(map[uint64]int32, len(sig)/4)
	for i, s := range sig {
		count[s]++
		if i > 0 {
			pairs[uint64(sig[i-1])<<32|uint64(s)]++
		}
	}
	follows, precedes := make([]int32, distinct), make([]int32, distinct) // most frequent neighbour's count
	for p, n := range pairs {
		a, b := p>>32, p&(1<<32-1)
		follows[b] = max(follows[b], n)
		precedes[a] = max(precedes[a], n)
	}
	keep := make([]int32, 0, len(sig))
	for i, s := range sig {
		if best := max(follows[s], precedes[s]); best > 1 && 5*best >= 3*count[s] {
			keep = append(keep, int32(i))
		}
	}
	if 4*len(keep) >= len(sig) {
		return keep
	}
	keep = keep[:0]
	for i, s := range sig {
		if count[s] > 1 {
			keep = append(keep, int32(i))
		}
	}
	return keep
}
