package trace

import "context"

// A pile collects values without moving them as it grows: appending to one slice would allocate and copy several times
// as much.
type pile[T any] struct {
	chunks [][]T
	n      int
}

const pileChunk = 1024

func (p *pile[T]) add(v T) {
	if p.n%pileChunk == 0 {
		p.chunks = append(p.chunks, make([]T, 0, pileChunk))
	}
	last := &p.chunks[len(p.chunks)-1]
	*last = append(*last, v)
	p.n++
}

// at returns the i-th value.
func (p *pile[T]) at(i int) *T { return &p.chunks[i/pileChunk][i%pileChunk] }

// take returns all values in one slice and empties the pile. It stops when ctx ends.
func (p *pile[T]) take(ctx context.Context) []T {
	out := make([]T, 0, p.n)
	for i, c := range p.chunks {
		if ctx.Err() != nil {
			break
		}
		out = append(out, c...)
		p.chunks[i] = nil
	}
	*p = pile[T]{}
	return out
}
