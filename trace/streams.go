package trace

import "github.com/ditlens/ditlens/internal/align"

// The search for an interleaving is bounded in streams, in positions before one node, and in positions altogether.
const (
	maxLanes     = 8
	maxStates    = 4096
	maxAllStates = 1 << 18
)

// A lanes value is a position in each stream of a replay.
type lanes [maxLanes]int32

// pairStreams pairs a replay of several streams. Each stream ran its kernels in order, but how the streams interleave on
// the device says nothing of the order of capture. It looks for the ways to consume the nodes in order from the heads of
// the streams and keeps what all ways agree on. If there is none, it aligns each stream by itself.
func pairStreams(s *sequence, r *region) pairing {
	if p, ok := interleave(s, r); ok {
		return p
	}
	return pairEachStream(s, r)
}

// interleave finds the interleavings of the streams that give the first nodes of the region.
func interleave(s *sequence, r *region) (pairing, bool) {
	p := unpaired(len(s.tokens))
	if len(s.streams) > maxLanes || len(s.tokens) > len(r.nodes) {
		return p, false
	}
	layers, ok := forward(s, r)
	if !ok {
		return p, false
	}
	prune(layers, s, r)
	first := make([]int32, len(s.tokens)) // first node that an event can have
	sure := make([]bool, len(s.tokens))
	for i := range first {
		first[i], sure[i] = None, true
	}
	for i := range s.tokens {
		for at := range layers[i] {
			steps(s, r.nodes[i].token, at, func(event int, next lanes) {
				if _, alive := layers[i+1][next]; !alive {
					return
				}
				if first[event] == None {
					first[event] = int32(i)
				}
				sure[event] = sure[event] && r.nodes[first[event]].class == r.nodes[i].class
			})
		}
	}
	// One way, with the events that are sure.
	at := lanes{}
	for i := range s.tokens {
		var event int
		var next lanes
		found := false
		steps(s, r.nodes[i].token, at, func(e int, n lanes) {
			if _, alive := layers[i+1][n]; alive && !found {
				event, next, found = e, n, true
			}
		})
		if sure[event] {
			p.node[event] = int32(i)
		}
		at = next
	}
	p.matched, p.exact = len(s.tokens), true
	return p, true
}

// forward lists, before each node, the positions that can be reached. It fails when none can or when there are too many.
func forward(s *sequence, r *region) ([]map[lanes]struct{}, bool) {
	layers := make([]map[lanes]struct{}, len(s.tokens)+1)
	layers[0] = map[lanes]struct{}{{}: {}}
	all := 0
	for i := range s.tokens {
		layers[i+1] = make(map[lanes]struct{}, len(layers[i]))
		for at := range layers[i] {
			steps(s, r.nodes[i].token, at, func(_ int, next lanes) { layers[i+1][next] = struct{}{} })
		}
		n := len(layers[i+1])
		if all += n; n == 0 || n > maxStates || all > maxAllStates {
			return nil, false
		}
	}
	return layers, true
}

// prune removes the positions that lead nowhere.
func prune(layers []map[lanes]struct{}, s *sequence, r *region) {
	for i := len(s.tokens) - 1; i >= 0; i-- {
		for at := range layers[i] {
			alive := false
			steps(s, r.nodes[i].token, at, func(_ int, next lanes) {
				_, ok := layers[i+1][next]
				alive = alive || ok
			})
			if !alive {
				delete(layers[i], at)
			}
		}
	}
}

// steps calls f for each stream whose head can come of a node with the given token.
func steps(s *sequence, token int32, at lanes, f func(event int, next lanes)) {
	for k, stream := range s.streams {
		if int(at[k]) == len(stream) {
			continue
		}
		if event := stream[at[k]]; sameToken(s.tokens[event], token) {
			next := at
			next[k]++
			f(event, next)
		}
	}
}

// pairEachStream aligns each stream with the region by itself and drops what two streams claim.
func pairEachStream(s *sequence, r *region) pairing {
	p := unpaired(len(s.tokens))
	claims := make([]int, len(r.nodes))
	for _, stream := range s.streams {
		tokens := make([]int32, len(stream))
		for k, event := range stream {
			tokens[k] = s.tokens[event]
		}
		one := pairLine(tokens, r)
		p.matched += one.matched
		for k, node := range one.node {
			if p.node[stream[k]] = node; node != align.None {
				claims[node]++
			}
		}
	}
	for j, node := range p.node {
		if node != None && claims[node] > 1 {
			p.node[j] = None
		}
	}
	p.matched = min(p.matched, common(s, r))
	p.against = min(len(s.tokens), len(r.nodes)) - p.matched
	return p
}

// common counts the names that a sequence and a region share, whatever their order.
func common(s *sequence, r *region) (n int) {
	counts := make(map[int32]int)
	for i := range r.nodes {
		counts[r.nodes[i].token]++
	}
	for _, x := range s.tokens {
		if counts[x] > 0 {
			counts[x]--
			n++
		}
	}
	return n
}
