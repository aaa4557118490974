package perfmodel

import (
	"slices"
	"strings"

	"github.com/ditlens/ditlens/hw"
)

// Kernels of the Inductor carry their own arguments: tensors in the order of the kernel's signature, then the sizes
// of the iteration space. Which tensors are written is not recorded, only that in-out pointers come first and output
// pointers last, and a kernel that reads a slice names the whole tensor. So each tensor counts once, with at most as
// many elements as there are iterations. That is a lower bound where a tensor was clamped, or where both the first
// and the last could be written, and exact otherwise.

func tritonModels() []Entry {
	doc := "each tensor once, clamped to the iteration space, an in-place update twice; nominal operations by " +
		"the fused operators"
	return []Entry{forPatterns(Info{Name: "triton.inductor", Doc: doc, Category: Triton},
		inductor, "triton_*")}
}

// A space is the iteration space of a kernel: x (y, z) outputs, each over r elements.
type space struct {
	total, reduced int64
	reduction      bool
	assumed        bool // not recorded: as large as the largest tensor
}

func inductor(c *Call) (Work, error) {
	in := reading{call: c}
	if strings.HasPrefix(c.Name, "triton_tem_") {
		return template(&in)
	}
	s := iterations(&in)
	var w Work
	var scan pointers
	for i := range c.args() {
		if isTensor(c.arg(i)) {
			t := in.tensor(i)
			w.Bytes = sum(w.Bytes, s.bytes(&t))
			scan.add(&t, s)
		}
	}
	in.require(scan.n > 0, "tensor arguments")
	if in.err != nil {
		return Work{}, in.err
	}
	fused := fusionOf(c.Name)
	switch {
	case s.assumed:
		w.doubt(Estimated, "the iteration space is not recorded: every tensor counted whole, once")
	case scan.updatedInPlace(s, fused.any(opAddmm)):
		w.Bytes = sum(w.Bytes, s.bytes(&scan.first))
		w.doubt(Estimated, "the first tensor is taken as updated in place, since no other can be the result")
	case scan.ambiguous(s):
		w.doubt(LowerBound, "which tensors are written is not recorded: an update in place would move one stream more")
	case scan.clamped:
		w.doubt(LowerBound, "a tensor of which a part is used is counted up to the iteration space")
	}
	if !s.assumed {
		w.charge(hw.Vector, scan.first.Type, product(s.total, fused.flops))
	}
	w.Category, w.Kind = fused.class()
	return in.done(w)
}

// bytes is what a kernel moves of one tensor.
func (s *space) bytes(t *Tensor) int64 { return product(min(t.Unique(), s.total), t.store) }

// iterations reads the sizes of the iteration space off the trailing whole numbers. When their count is not recorded
// the space is taken as large as any tensor.
func iterations(in *reading) space {
	c := in.call
	s := space{total: 1, reduced: 1}
	outer, reduced := dimensionsOf(c)
	if outer == 0 {
		return space{total: tooMuch, reduced: 1, assumed: true}
	}
	s.reduction = reduced > 0
	for k := range outer + reduced {
		i := c.args() - 1 - k
		size, ok := c.Int(i)
		in.require(ok && size >= 0 && c.arg(i).Type == "Scalar", "sizes of the iteration space")
		if in.err != nil {
			return s
		}
		s.total = product(s.total, size)
		if k < reduced {
			s.reduced = product(s.reduced, size)
		}
	}
	return s
}

// dimensionsOf counts the dimensions of the iteration space, reduced ones apart: by the names of the blocks, or in
// older traces by the arguments of the grid. A persistent reduction has its reduction block fixed at compile time.
// Outer is 0 when nothing is recorded.
func dimensionsOf(c *Call) (outer, reduced int) {
	if c.Inputs == nil {
		return 0, 0
	}
	blocks := c.Inputs.Extra["kernel_kwargs"]
	for more := blocks != ""; more; {
		var block string
		block, blocks, more = strings.Cut(blocks, ",")
		switch block, _, _ = strings.Cut(block, "="); strings.TrimSpace(block) {
		case "XBLOCK", "YBLOCK", "ZBLOCK":
			outer++
		case "R0_BLOCK", "R1_BLOCK", "RBLOCK":
			reduced++
		}
	}
	persistent := strings.HasPrefix(c.Name, "triton_per_")
	if outer > 0 {
		if persistent {
			reduced++
		}
		return outer, reduced
	}
	grid, ok := strings.CutPrefix(c.Inputs.Extra["grid"], "grid(")
	if !ok {
		return 0, 0
	}
	for piece := range strings.SplitSeq(strings.TrimSuffix(grid, ")"), ",") {
		if strings.TrimSpace(piece) != "" {
			outer++
		}
	}
	if persistent || strings.HasPrefix(c.Name, "triton_red_") {
		reduced = 1
	}
	return outer, reduced
}

// template is a product that the Inductor wrote itself, with its prologue and epilogue: A and B are the first two
// tensors that fit, the result is the last.
func template(in *reading) (Work, error) {
	c := in.call
	var w Work
	var tensors [16]Tensor
	n := 0
	for i := range c.args() {
		if isTensor(c.arg(i)) && n < len(tensors) {
			tensors[n] = in.tensor(i)
			w.Bytes = sum(w.Bytes, tensors[n].Bytes())
			n++
		}
	}
	if in.err != nil {
		return Work{}, in.err
	}
	for i := 0; i+2 < n; i++ {
		a, b, out := &tensors[i], &tensors[i+1], &tensors[n-1]
		rank := len(a.Dims)
		if rank < 2 || len(b.Dims) != rank || b.last(1) != a.last(0) || out.Elements() != product(a.Elements()/max(1,
			a.last(0)), b.last(0)) {
			continue
		}
		w.charge(hw.Matrix, a.Type, product(2, out.Elements(), a.last(0)))
		w.doubt(Estimated, "the first two tensors that fit are taken as the operands")
		w.Category, w.Kind = GEMM, "compiled template"
		return in.done(w)
	}
	return Work{}, c.missing("operands of the template's product")
}

// pointers is what the tensors of a kernel tell of reading and writing.
type pointers struct {
	n           int
	clamped     bool // some tensor is larger than the iteration space
	first, last Tensor
	vectors     [8]int64 // sizes of 1-D tensors
	nVectors    int
	widths      [8]int64 // last dimensions of 2-D tensors
	nWidths     int
}

func (p *pointers) add(t *Tensor, s space) {
	p.clamped = p.clamped || t.Unique() > s.total
	if p.n == 0 {
		p.first = *t
	}
	p.last = *t
	p.n++
	switch len(t.Dims) {
	case 1:
		if p.nVectors < len(p.vectors) {
			p.vectors[p.nVectors] = t.Dims[0]
			p.nVectors++
		}
	case 2:
		if p.nWidths < len(p.widths) {
			p.widths[p.nWidths] = t.Dims[1]
			p.nWidths++
		}
	}
}

// ambiguous reports whether the first tensor and the last are both as large as the iteration space, so that either
// may be the result.
func (p *pointers) ambiguous(s space) bool {
	return p.n > 1 && p.first.Unique() >= s.total && p.last.Unique() >= s.total
}

// updatedInPlace reports whether the first tensor is read and written: when no tensor at the end can be the output, or
// when the result of a product was reinterpreted and got its bias in place.
func (p *pointers) updatedInPlace(s space, addmm bool) bool {
	if s.reduction {
		outputs := s.total / max(1, s.reduced)
		size := p.last.Elements()
		return len(p.last.Dims) == 1 && size != s.total && size != outputs
	}
	if p.last.Elements() < s.total {
		return true
	}
	if !addmm || len(p.first.Dims) < 3 || p.first.Elements() != s.total {
		return false
	}
	width := p.first.last(0)
	return slices.Contains(p.vectors[:p.nVectors], width) && !slices.Contains(p.widths[:p.nWidths], width)
}
