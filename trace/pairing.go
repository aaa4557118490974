package trace

import "github.com/ditlens/ditlens/internal/align"

// A sequence is the work of a replay as tokens, all of it and by stream. Replays with equal sequences are paired once.
type sequence struct {
	tokens  []int32 // by start
	streams [][]int // positions in tokens
}

// A pairing gives each event of a sequence the node of a region that it came from.
type pairing struct {
	node    []int32 // by position, None where it is not sure
	matched int     // events and nodes that agree in name and order, sure or not
	against int     // events that stand where the region has other nodes
	exact   bool    // the events are the first nodes, one by one
}

// maxAlign bounds the memory of an alignment: bits for each event and node.
const maxAlign = 1 << 29

// pair pairs a sequence with a region. It pairs an event only where every best explanation gives it a node of the same
// operator and arguments: names repeat in a network, so the first that fits may be wrong.
func pair(s *sequence, r *region) pairing {
	var p pairing
	switch {
	case len(s.streams) > 1:
		p = pairStreams(s, r)
	case isPrefix(s.tokens, r.nodes):
		p = pairPrefix(s)
	default:
		p = pairLine(s.tokens, r)
	}
	if !p.exact {
		p.completeByName(s, r)
	}
	return p
}

// accepted tells whether a region explains a sequence: most of both agree and next to nothing contradicts. Damage leaves
// holes on one side; another model, version or size puts other kernels in the place of some.
func (p *pairing) accepted(s *sequence, r *region) bool {
	if r.wild() && !(p.exact && len(r.nodes)-len(s.tokens) <= 1) {
		return false // without names only the count speaks
	}
	return 2*p.matched >= max(len(s.tokens), len(r.nodes)) && 50*p.against <= len(s.tokens)
}

func (p *pairing) agreement(s *sequence, r *region) float64 {
	return float64(p.matched) / float64(max(len(s.tokens), len(r.nodes)))
}

// paired counts the events that have a node.
func (p *pairing) paired() (n int) {
	for _, i := range p.node {
		if i != None {
			n++
		}
	}
	return n
}

func (r *region) wild() bool {
	for i := range r.nodes {
		if r.nodes[i].token == wild {
			return true
		}
	}
	return false
}

// sameToken tells whether a node may be the source of an event.
func sameToken(event, node int32) bool { return event == node || node == wild }

func isPrefix(tokens []int32, nodes []node) bool {
	if len(tokens) > len(nodes) {
		return false
	}
	for i, x := range tokens {
		if !sameToken(x, nodes[i].token) {
			return false
		}
	}
	return true
}

func pairPrefix(s *sequence) pairing {
	p := unpaired(len(s.tokens))
	for i := range p.node {
		p.node[i] = int32(i)
	}
	p.matched, p.exact = len(s.tokens), true
	return p
}

func unpaired(n int) pairing {
	p := pairing{node: make([]int32, n)}
	for i := range p.node {
		p.node[i] = None
	}
	return p
}

// pairLine pairs events of one stream, in order.
func pairLine(tokens []int32, r *region) pairing {
	p := unpaired(len(tokens))
	nodes := make([]int32, len(r.nodes))
	for i := range nodes {
		nodes[i] = r.nodes[i].token
	}
	if len(nodes)*len(tokens) > maxAlign {
		p.against = len(tokens)
		return p
	}
	both := align.LCS(nodes, tokens)
	p.matched = both.Length
	p.against = contradictions(both.First, len(nodes))
	next := r.nextSame()
	for j := range tokens {
		if first, last := both.First[j], both.Last[j]; first != None && last != None && r.sure(both, j, next) {
			p.node[j] = first
		}
	}
	return p
}

// maxCandidates bounds the nodes that are looked at for one event.
const maxCandidates = 256

// sure tells whether all nodes that a longest alignment can give event j are of one class.
func (r *region) sure(x *align.Alignment, j int, next []int32) bool {
	first, last := min(x.First[j], x.Last[j]), max(x.First[j], x.Last[j])
	class := r.nodes[x.First[j]].class
	n := 0
	for i := first; i <= last; i = next[i] {
		if n++; n > maxCandidates {
			return false
		}
		if r.nodes[i].class != class && x.Optimal(int(i), j) {
			return false
		}
	}
	return true
}

// nextSame has, for each node, the next one of its token, or the number of nodes.
func (r *region) nextSame() []int32 {
	next := make([]int32, len(r.nodes))
	later := make(map[int32]int32)
	for i := len(r.nodes) - 1; i >= 0; i-- {
		token := r.nodes[i].token
		next[i] = int32(len(r.nodes))
		if k, ok := later[token]; ok {
			next[i] = k
		}
		later[token] = int32(i)
	}
	return next
}

// contradictions counts, between neighbouring pairs, events that stand against nodes.
func contradictions(partner []int32, nodes int) (n int) {
	from, events := 0, 0
	for _, i := range partner {
		if i == None {
			events++
			continue
		}
		n += min(events, int(i)-from)
		from, events = int(i)+1, 0
	}
	return n + min(events, nodes-from)
}

// completeByName pairs what is left of a name in order, if the name occurs as often in both and its nodes are all of one
// class: then their order does not matter.
func (p *pairing) completeByName(s *sequence, r *region) {
	type tally struct {
		events, nodes int
		class         int32
		mixed         bool
		free          []int32
	}
	names := make(map[int32]*tally)
	used := make([]bool, len(r.nodes))
	for _, i := range p.node {
		if i != None {
			used[i] = true
		}
	}
	for i := range r.nodes {
		n := &r.nodes[i]
		t := names[n.token]
		if t == nil {
			t = &tally{class: n.class}
			names[n.token] = t
		}
		t.nodes++
		t.mixed = t.mixed || t.class != n.class
		if !used[i] {
			t.free = append(t.free, int32(i))
		}
	}
	for _, x := range s.tokens {
		if t := names[x]; t != nil {
			t.events++
		}
	}
	for j, x := range s.tokens {
		t := names[x]
		if p.node[j] == None && t != nil && !t.mixed && t.events == t.nodes {
			p.node[j], t.free = t.free[0], t.free[1:]
		}
	}
}
