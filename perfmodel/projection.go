package perfmodel

import (
	"math/bits"
	"slices"

	"github.com/ditlens/ditlens/trace"
)

// The linear layers of a transformer look alike; their sizes and their places tell them apart. An MLP widens its tokens and
// narrows them again, the projections of an attention stand before and after it with the width of its heads, and the
// layers that act on the conditioning have a row for each image instead of each token.

// roles is the set of roles that the calls of one operator with the same arguments play.
type roles uint8

const (
	rolesQKV roles = 1 << iota
	rolesOut
	rolesUp
	rolesDown
	rolesJointUp
	rolesJointDown
	rolesModulation
	rolesConditioning
)

// names of the roles, by bit.
var roleNames = [...]string{"q, k, v projection", "attention output projection", "MLP up", "MLP down",
	"q, k, v projection and MLP up", "MLP down with attention output", "adaLN projection", "conditioning"}

// name returns the name of one role, or of the projections of an attention; "" for other sets.
func (r roles) name() string {
	switch {
	case r == rolesQKV|rolesOut:
		return "attention projections"
	case bits.OnesCount8(uint8(r)) != 1:
		return ""
	}
	return roleNames[bits.TrailingZeros8(uint8(r))]
}

// A projection is the sizes of a linear layer: (rows, depth) times (depth, width). Rows is 0 for what is none.
type projection struct {
	rows, depth, width int64
}

// A signature is equal for calls of one operator with the same arguments.
type signature struct {
	name string
	in   *trace.Inputs
}

const mlpReach = 40 // instances between the two layers of an MLP: an attention and other streams may come between

// nameProjections names the linear layers. All calls with the same arguments get one name.
func (s *surrounding) nameProjections() {
	s.projections = make([]projection, len(s.list))
	for i := range s.list {
		if in := s.list[i]; in.Work.Category == GEMM && in.Missing == nil && in.Work.Kind == "" {
			p := &s.projections[i]
			p.rows, p.depth, p.width = productOf(&in.Call)
		}
	}
	s.roles = make([]roles, len(s.list))
	for i := range s.list {
		s.findMLP(i)
	}
	s.findConditioning()
	for i, h := range s.sizes {
		if h != nil {
			s.findOutputs(i, h, s.findInputs(i, h))
		}
	}
	for _, u := range s.unfused {
		if h, ok := s.heads(u); ok {
			s.findOutputs(u.values, &h, s.findInputs(u.scores, &h))
		}
	}
	all := make(map[signature]roles)
	for i, r := range s.roles {
		if r != 0 {
			all[s.signature(i)] |= r
		}
	}
	for i := range s.list {
		if s.projections[i].rows > 0 {
			s.list[i].Work.Kind = all[s.signature(i)].name()
		}
	}
}

func (s *surrounding) signature(i int) signature {
	c := &s.list[i].Call
	return signature{c.Name, c.Inputs}
}

// findMLP finds the first layer to a second, or both where one is the gate of the other. Between them the width may have been
// halved by a gate, or widened by the result of an attention that is projected with it.
func (s *surrounding) findMLP(j int) {
	down := s.projections[j]
	if down.rows == 0 || down.depth <= down.width {
		return
	}
	var up projection
	for i := j - 1; i >= max(0, j-mlpReach); i-- {
		p := s.projections[i]
		switch {
		case p.rows != down.rows:
			continue
		case s.roles[i]&(rolesDown|rolesJointDown) != 0:
			return // the layer before
		case up.rows == 0 && p.depth == down.width && p.width > p.depth:
			if s.roles[i], s.roles[j] = narrowing(down.depth, p); s.roles[j] != 0 {
				up = p
			}
		case p == up:
			s.roles[i] = rolesUp
		}
	}
}

// narrowing returns the roles of a widening layer and of one of some depth that may follow it, 0 when it does not.
func narrowing(depth int64, up projection) (first, second roles) {
	h := up.depth
	switch mlp := up.width - 3*h; depth { // what the MLP gets of a layer that makes q, k and v too
	case up.width, up.width / 2:
		return rolesUp, rolesDown
	case up.width + h, up.width/2 + h:
		return rolesUp, rolesJointDown
	case mlp + h, mlp/2 + h:
		if mlp > 0 {
			return rolesJointUp, rolesJointDown
		}
	}
	return 0, 0
}

// findConditioning finds the layers of the denoiser with a row for each image. Those that make several vectors as wide as the
// hidden state are for adaLN.
func (s *surrounding) findConditioning() {
	if s.first < 0 {
		return
	}
	main := s.sizes[s.first]
	hidden := max(1, product(main.query, main.d))
	var rest []int
	adaLN := false
	for i := max(0, s.first-projectionReach); i < min(len(s.list), s.last+projectionReach); i++ {
		p := s.projections[i]
		switch {
		case p.rows == 0 || p.rows > main.batch || s.roles[i] != 0:
		case p.width >= 2*hidden && p.width%hidden == 0 && p.width <= mostVectors*hidden:
			s.roles[i], adaLN = rolesModulation, true
		default:
			rest = append(rest, i)
		}
	}
	for _, i := range rest {
		if adaLN { // else this is no diffusion transformer
			s.roles[i] = rolesConditioning
		}
	}
}

// findInputs finds the projections before an attention that are as wide as its heads, back to what belongs to the layer before.
// It returns the width of the hidden state that they read, 0 when there are none.
func (s *surrounding) findInputs(i int, h *heads) (hidden int64) {
	q, kv := product(h.query, h.d), product(h.shared, h.d)
	for j := i - 1; j >= max(0, i-projectionReach) && s.sizes[j] == nil; j-- {
		p := s.projections[j]
		switch {
		case s.roles[j]&(rolesDown|rolesJointDown|rolesOut) != 0:
			return hidden
		case s.roles[j] == rolesJointUp:
			return p.depth
		case s.roles[j] != 0 || !p.ofTokens(h, max(h.nq, h.nk)):
			continue
		case p.width == q || p.width == kv || p.width == sum(q, kv, kv) || p.width == sum(kv, kv):
			s.roles[j] = rolesQKV
			if h.nq == h.nk || p.rows == product(h.batch, h.nq) { // not the stream of keys
				hidden = p.depth
			}
		}
	}
	return hidden
}

// ofTokens reports whether a projection is of a stream of at most n tokens for each batch entry of an attention.
func (p projection) ofTokens(h *heads, n int64) bool {
	return p.rows > 0 && (p.rows > h.batch || n == 1) && p.rows <= product(h.batch, n)
}

// findOutputs finds the first projection of each token stream behind an attention, before the stream's MLP, that is back to the
// hidden state.
func (s *surrounding) findOutputs(i int, h *heads, hidden int64) {
	inner := product(h.query, h.e)
	var done []int64 // rows of streams that have gone on
	for j := i + 1; j < min(len(s.list), i+projectionReach) && s.sizes[j] == nil; j++ {
		p := s.projections[j]
		switch {
		case p.rows == 0 || slices.Contains(done, p.rows):
			continue
		case s.roles[j]&(rolesUp|rolesDown|rolesJointUp|rolesJointDown) != 0:
			done = append(done, p.rows)
		case p.depth == inner && p.width == hidden && s.roles[j] == 0 && p.ofTokens(h, h.nq):
			done = append(done, p.rows)
			s.roles[j] = rolesOut
		}
	}
}
