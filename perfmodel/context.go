package perfmodel

import "fmt"

// The sizes of an attention tell what it computes, but not what for: 77 tokens in self-attention are a text encoder, 4429 are
// the image and the text of a joint block. What runs around it tells. The projections before an attention have one row a
// token, so their row counts are those of the token streams that it joins; and what runs outside the span of the
// denoiser's own attention encodes the prompt or decodes the image.

// Kinds of attention.
const (
	kindSelf        = "self-attention"
	kindCausal      = "causal self-attention"
	kindCross       = "cross-attention"
	kindRing        = "self-attention, ring step with text"
	kindDecode      = "attention of one new token"
	kindVAE         = "VAE mid-block"
	kindTextEncoder = "text-encoder self-attention"
	kindTextCausal  = "causal text-encoder self-attention"
	kindRefiner     = "token-refiner self-attention"
	kindScores      = "attention scores, unfused"
	kindValues      = "attention values, unfused"
)

const (
	longestPrompt   = 1024 // tokens; no text encoder of a diffusion pipeline takes more
	deepestRefiner  = 4    // attentions in a row of a token refiner; text encoders have a dozen or more
	projectionReach = 64   // instances before an attention that are searched for its projections
	softmaxReach    = 64   // instances between the two products of an unfused attention, each way
)

// A surrounding is the sequence of instances of one device, looked at for what they tell of each other.
type surrounding struct {
	list  []*Instance
	sizes []*heads // of attentions, nil for others
	first int      // of the denoiser's own attention
	last  int
	comm  bool // the trace has collectives

	unfused     []unfused
	projections []projection // of linear layers, zero for others
	roles       []roles      // of linear layers
}

// refine names the attentions and the linear layers of a trace by what surrounds them.
func refine(list []Instance, sizes []*heads) {
	for _, d := range byDevice(list) {
		s := surrounding{list: make([]*Instance, len(d)), sizes: make([]*heads, len(d)), first: -1}
		for k, i := range d {
			s.list[k], s.sizes[k] = &list[i], sizes[i]
		}
		s.nameAttentions()
		s.nameProjections()
	}
}

// byDevice returns the indices of the instances of each device of each input, in order of the devices' first instances.
func byDevice(list []Instance) (sequences [][]int) {
	of := make(map[[2]int32]int)
	for i := range list {
		device := [2]int32{list[i].File, list[i].Device}
		k, ok := of[device]
		if !ok {
			k = len(sequences)
			of[device] = k
			sequences = append(sequences, make([]int, 0, len(list)-i))
		}
		sequences[k] = append(sequences[k], i)
	}
	return sequences
}

func (s *surrounding) nameAttentions() {
	s.findDenoiser()
	for i, h := range s.sizes {
		switch {
		case h != nil:
			s.refine(i)
		case s.list[i].Work.Category == Softmax:
			s.markUnfused(i)
		}
	}
}

// findDenoiser finds the span of the attention that the denoiser spends most of its work on: by FLOPs the greatest of those
// that are neither causal nor of one head.
func (s *surrounding) findDenoiser() {
	work := make(map[heads]int64)
	var most heads
	for i, h := range s.sizes {
		if s.list[i].Work.Category == Communication {
			s.comm = true
		}
		if h == nil || h.causal || h.query == 1 {
			continue
		}
		work[*h] = sum(work[*h], s.list[i].Work.FLOPs())
		if work[*h] > work[most] {
			most = *h
		}
	}
	for i, h := range s.sizes {
		if h != nil && *h == most {
			if s.first < 0 {
				s.first = i
			}
			s.last = i
		}
	}
}

// refine sets category and kind of an attention.
func (s *surrounding) refine(i int) {
	h, w := s.sizes[i], &s.list[i].Work
	switch {
	case h.nq == h.nk && h.query == 1 && h.d >= 256:
		w.Kind = kindVAE
	case h.nq != h.nk:
		w.Category, w.Kind = s.acrossStreams(i)
	case h.causal && s.outside(i) && h.nq <= longestPrompt:
		w.Kind = kindTextCausal
	case h.causal:
		w.Kind = kindCausal
	case s.before(i) && h.nq <= longestPrompt:
		w.Kind = kindTextEncoder
	case h.masked && h.nq <= longestPrompt && !s.outside(i):
		w.Kind = s.refinerOrEncoder(i)
	default:
		w.Kind = s.joinedStreams(i)
	}
}

func (s *surrounding) before(i int) bool { return s.first >= 0 && i < s.first }

// outside reports whether an attention is none of the denoiser. With several images the prompt of the second is encoded within
// the span; a causal attention there is still no part of a denoiser, as its first has none.
func (s *surrounding) outside(i int) bool {
	if s.first < 0 {
		return false
	}
	return i < s.first || i > s.last || s.sizes[i].causal
}

// acrossStreams names an attention whose queries and keys differ in number.
func (s *surrounding) acrossStreams(i int) (Category, string) {
	h := s.sizes[i]
	switch {
	case h.nq == 1 && h.nk > 1:
		return Attention, kindDecode
	case s.comm && h.nk > h.nq && s.hasRows(i, h.nk-h.nq):
		return Attention, kindRing
	}
	return CrossAttention, kindCross
}

// refinerOrEncoder tells a token refiner, which has a few layers, from the text encoder of a further image, which has many.
func (s *surrounding) refinerOrEncoder(i int) string {
	run := 1
	for _, step := range [...]int{-1, 1} {
		for j := i + step; j >= 0 && j < len(s.list) && run <= deepestRefiner; j += step {
			if h := s.sizes[j]; h != nil {
				if *h != *s.sizes[i] {
					break
				}
				run++
			}
		}
	}
	if run <= deepestRefiner {
		return kindRefiner
	}
	return kindTextEncoder
}

// joinedStreams names a self-attention by the projections before it: as many rows as tokens are one stream, two counts that
// add up to the tokens are two streams.
func (s *surrounding) joinedStreams(i int) string {
	h := s.sizes[i]
	var seen [8]int64
	n := 0
	for j := i - 1; j >= max(0, i-projectionReach) && s.sizes[j] == nil; j-- {
		rows := s.tokens(j, h.batch)
		if s.whole(rows, h.nq) {
			return kindSelf
		}
		if rows < 2 || rows > h.nq {
			continue
		}
		for _, other := range seen[:n] {
			if a, b, ok := s.join(rows, other, h.nq); ok {
				return fmt.Sprintf("joint self-attention of %d + %d tokens", max(a, b), min(a, b))
			}
		}
		if n < len(seen) && (n == 0 || seen[n-1] != rows) {
			seen[n] = rows
			n++
		}
	}
	return kindSelf
}

// ranks are the degrees of sequence parallelism that are looked for: each rank projects a part of the tokens, and exchanges heads
// for tokens before the attention.
var ranks = [...]int64{1, 2, 4, 8, 16}

func (s *surrounding) degrees() []int64 {
	if s.comm {
		return ranks[:]
	}
	return ranks[:1]
}

// whole reports whether a stream of rows, on all ranks, is all n tokens of an attention.
func (s *surrounding) whole(rows, n int64) bool {
	for _, p := range s.degrees() {
		if product(rows, p) == n {
			return true
		}
	}
	return false
}

// join returns the tokens of two streams that make n together. Text may be whole on every rank.
func (s *surrounding) join(a, b, n int64) (wholeA, wholeB int64, ok bool) {
	if a == b {
		return 0, 0, false
	}
	for _, p := range s.degrees() {
		for _, w := range [...][2]int64{{a * p, b * p}, {a * p, b}, {a, b * p}} {
			if w[0]+w[1] == n {
				return w[0], w[1], true
			}
		}
	}
	return 0, 0, false
}

// hasRows reports whether a projection before an attention has as many rows.
func (s *surrounding) hasRows(i int, rows int64) bool {
	for j := i - 1; j >= max(0, i-projectionReach) && s.sizes[j] == nil; j-- {
		if s.tokens(j, s.sizes[i].batch) == rows {
			return true
		}
	}
	return false
}

// tokens returns the rows of a projection per batch entry, 0 when the instance is none.
func (s *surrounding) tokens(i int, batch int64) int64 {
	in := s.list[i]
	if in.Work.Category != GEMM || in.Missing != nil || in.Call.Inputs == nil || batch < 1 {
		return 0
	}
	args := in.Call.Inputs.Args
	for k := range args {
		d := args[k].Dims
		if len(d) < 2 {
			continue // a bias
		}
		if k+1 < len(args) && len(args[k+1].Dims) > 2 {
			return 0 // a product of batches is no projection
		}
		rows := product(d[:len(d)-1]...)
		if rows%batch != 0 {
			return 0
		}
		return rows / batch
	}
	return 0
}

// markUnfused names the two products around a softmax, if both are there.
func (s *surrounding) markUnfused(i int) {
	scores, values := s.product(i, -1), s.product(i, 1)
	if scores >= 0 && values >= 0 {
		s.list[scores].Work.Kind, s.list[values].Work.Kind = kindScores, kindValues
		s.unfused = append(s.unfused, unfused{scores, values})
	}
}

// An unfused attention is the two products around a softmax.
type unfused struct{ scores, values int }

// heads returns the sizes of an unfused attention, whose batch counts heads; ok = false when its products have none.
func (s *surrounding) heads(u unfused) (h heads, ok bool) {
	q, errQ := s.list[u.scores].Call.Tensor(0)
	v, errV := s.list[u.values].Call.Tensor(1)
	if errQ != nil || errV != nil || len(q.Dims) < 3 || len(v.Dims) < 3 {
		return h, false
	}
	h = heads{batch: 1, query: q.last(2), shared: v.last(2), nq: q.last(1), nk: v.last(1), d: q.last(0), e: v.last(0)}
	return h, true
}

// product returns the next product of batches in a direction, -1 when there is none near.
func (s *surrounding) product(i, step int) int {
	for n, j := 0, i+step; n < softmaxReach && j >= 0 && j < len(s.list); n, j = n+1, j+step {
		if s.list[j].Work.Category != GEMM {
			continue
		}
		if in := s.list[j].Call.Inputs; in != nil && len(in.Args) > 1 && len(in.Args[0].Dims) > 2 && len(in.Args[1].Dims) > 2 {
			return j
		}
		return -1
	}
	return -1
}
