package perfmodel

import "strings"

// Adaptive layer norm (adaLN) of a DiT block: SiLU and a linear layer make scales, shifts and gates of the conditioning,
// then, for each sublayer, y·gate + x, a norm without weights, ·(1+scale) and +shift. Eager PyTorch runs each step as a kernel
// that reads and writes the whole hidden state: the norm 2 passes, scale 2, shift 2, gate 2, residual 3, which makes 11. One
// kernel for all would read x and y and write the new x and the result: 4.

// A ModulationGroup is the instances of one such sequence between two sublayers, in eager or compiled form.
type ModulationGroup struct {
	Members    []int // indices of the instances that pass over the hidden state, ascending
	Projection []int // those of the SiLU and the linear layer that feed it; none when another group has them
	Compiled   bool
	Gated      bool    // it has a gated residual
	Normed     bool    // it has a norm with scale and shift
	Dims       []int64 // of the hidden state
	Tensor     int64   // bytes of the hidden state: one stream
	Bytes      int64   // that the members move at least
	Fused      int64   // that one kernel for all of them would move at least; never more than Bytes
}

// Streams returns how many passes over the hidden state the members make.
func (g *ModulationGroup) Streams() float64 { return float64(g.Bytes) / float64(g.Tensor) }

// FusedStreams returns how many passes one kernel for all members would make.
func (g *ModulationGroup) FusedStreams() float64 { return float64(g.Fused) / float64(g.Tensor) }

// Modulations finds the adaLN groups among the instances of a trace, which must be in the order of [Attribute].
func Modulations(instances []Instance) (groups []ModulationGroup) {
	for _, d := range byDevice(instances) {
		m := modulations{list: make([]*Instance, len(d)), used: make([]bool, len(d))}
		for k, i := range d {
			m.list[k] = &instances[i]
		}
		m.find()
		for _, g := range m.groups {
			groups = append(groups, g.of(d))
		}
	}
	return groups
}

// of returns the group with its indices taken from those of a device.
func (g ModulationGroup) of(device []int) ModulationGroup {
	for _, list := range [...][]int{g.Members, g.Projection} {
		for k, i := range list {
			list[k] = device[i]
		}
	}
	return g
}

func (m *modulations) find() {
	for i, in := range m.list {
		if m.used[i] || in.Missing != nil {
			continue
		}
		switch compiled := strings.HasPrefix(in.Call.Name, "triton_"); {
		case compiled && in.Work.Category == Modulation:
			m.compiled(i)
		case !compiled && in.Work.Category == Norm:
			m.eager(i)
		}
	}
}

const (
	modulationReach = 8  // instances between two steps of a group
	projectionSteps = 64 // instances between a projection and the group that it feeds
	mostConditions  = 64 // rows of a conditioning: one a batch entry
	mostVectors     = 16 // scales, shifts and gates of one projection
)

type modulations struct {
	list   []*Instance // of one device
	used   []bool
	groups []ModulationGroup
	buffer [16]Tensor
}

// A hidden is the hidden state of a group: n elements in rows of width.
type hidden struct {
	n, width int64
}

// eager looks for the steps around a norm.
func (m *modulations) eager(i int) {
	x, err := m.list[i].Call.Tensor(0)
	if err != nil || len(x.Dims) < 2 || x.Elements() == 0 {
		return
	}
	h := hidden{x.Elements(), x.last(0)}
	members, ok := m.scaled(i, h)
	if !ok {
		return
	}
	gate := m.gated(i, h)
	g := ModulationGroup{Members: append(gate, append([]int{i}, members...)...), Gated: len(gate) > 0, Normed: true, Dims: x.Dims}
	m.add(g, h, &x)
}

// scaled returns the scale and the shift behind a norm, and casts on the way.
func (m *modulations) scaled(i int, h hidden) (members []int, ok bool) {
	var casts []int
	for j := i + 1; j < min(len(m.list), i+modulationReach); j++ {
		switch full, row := m.shape(j, h); {
		case full == 0:
			continue // it does not touch the hidden state
		case m.isCast(j):
			casts = append(casts, j)
			continue
		case full == 1 && row == 2 && m.does(j, "addcmul"):
			return append(append(members, casts...), j), true
		case full == 1 && row == 1 && !ok && m.does(j, "mul"):
			members, ok = append(append(members, casts...), j), true
			casts = nil
			i = j
			continue
		case full == 1 && row == 1 && ok && m.does(j, "add"):
			return append(append(members, casts...), j), true
		}
		break
	}
	return members, ok
}

// gated returns the gate and the residual before a norm.
func (m *modulations) gated(i int, h hidden) []int {
	residual := -1
	for j := i - 1; j >= max(0, i-modulationReach); j-- {
		full, row := m.shape(j, h)
		switch {
		case m.used[j]:
			return nil
		case full == 0 || residual < 0 && m.isCast(j):
			continue
		case full == 2 && row == 1 && residual < 0 && m.does(j, "addcmul"):
			return []int{j}
		case full == 2 && row == 0 && residual < 0 && m.does(j, "add"):
			residual = j
			continue
		case full == 1 && row == 1 && residual >= 0 && m.does(j, "mul"):
			return []int{j, residual}
		}
		return nil
	}
	return nil
}

func (m *modulations) does(i int, op string) bool {
	_, base := splitOpName(m.list[i].Call.Name)
	return base == op
}

func (m *modulations) isCast(i int) bool {
	w := &m.list[i].Work
	return w.Category == Copy && m.list[i].Missing == nil
}

// shape counts the tensors of an instance that are as large as the hidden state, and those that give it one row for each
// batch entry or for all.
func (m *modulations) shape(i int, h hidden) (full, row int) {
	for _, t := range m.tensors(i) {
		switch n := t.Elements(); {
		case n >= h.n:
			full++
		case n >= h.width && t.last(0) == h.width && h.n%n == 0:
			row++
		}
	}
	if m.does(i, "copy") && full > 0 {
		full = 1
	}
	return full, row
}

// tensors returns the first few tensors of an instance. They are valid until the next call.
func (m *modulations) tensors(i int) []Tensor {
	list := m.buffer[:0]
	c := &m.list[i].Call
	for k := 0; k < c.args() && len(list) < cap(list); k++ {
		if c.Given(k) {
			if t, err := c.Tensor(k); err == nil {
				list = append(list, t)
			}
		}
	}
	return list
}

// compiled takes a fused kernel, and those beside it that it shares a hidden state with: statistics of the norm before it, or the
// norm behind a gated residual.
func (m *modulations) compiled(i int) {
	x, h, full := m.fusedShape(i)
	if full == 0 {
		return
	}
	g := ModulationGroup{Members: []int{i}, Compiled: true, Gated: full > 2, Dims: x.Dims}
	g.Normed = fusionOf(m.list[i].Call.Name).any(opLayerNorm)
	if g.Normed {
		g.Members = append(m.statistics(i, h), i)
	} else {
		g.Gated = m.list[i].Work.Bytes >= product(3, h.n, x.store) // in place when there is no third tensor
		if j := m.next(i, h); j >= 0 {
			g.Members, g.Normed = append(g.Members, j), true
		}
	}
	m.add(g, h, &x)
}

// fusedShape reads the hidden state off a compiled kernel: its first tensor of the size of the iteration space, or else the
// first larger one, which it reads in part. It counts such tensors.
func (m *modulations) fusedShape(i int) (x Tensor, h hidden, full int) {
	in := reading{call: &m.list[i].Call}
	s := iterations(&in)
	if in.err != nil || s.assumed || s.total == 0 {
		return x, h, 0
	}
	for _, t := range m.tensors(i) {
		if t.Elements() < s.total || len(t.Dims) < 2 {
			continue
		}
		if full == 0 || x.Elements() > s.total && t.Elements() == s.total {
			x, h = t, hidden{s.total, t.last(0)}
		}
		full++
	}
	return x, h, full
}

// statistics returns the kernels just before i that take the statistics of its norm.
func (m *modulations) statistics(i int, h hidden) []int {
	for j := i - 1; j >= max(0, i-2); j-- {
		in := m.list[j]
		if in.Work.Category != Norm || in.Missing != nil || m.used[j] || !fusionOf(in.Call.Name).any(opLayerNorm) {
			continue
		}
		if _, other, full := m.fusedShape(j); full > 0 && other.n == h.n {
			return []int{j}
		}
	}
	return nil
}

// next returns the norm that follows a gated residual, -1 when it is part of another group.
func (m *modulations) next(i int, h hidden) int {
	for j := i + 1; j < min(len(m.list), i+modulationReach); j++ {
		in := m.list[j]
		if in.Work.Category != Modulation || in.Missing != nil {
			continue
		}
		if _, other, full := m.fusedShape(j); full == 2 && other == h && fusionOf(in.Call.Name).any(opLayerNorm) {
			return j
		}
		return -1
	}
	return -1
}

// add completes a group: its traffic, what one kernel would move, and the projection that feeds it.
func (m *modulations) add(g ModulationGroup, h hidden, x *Tensor) {
	passes, vectors := int64(0), int64(0)
	if g.Gated {
		passes, vectors = 3, 1 // x, y and the new x
	}
	if g.Normed {
		vectors += 2
		if passes++; !g.Gated {
			passes++
		}
	}
	g.Tensor = product(h.n, x.store)
	rows := h.width
	if len(x.Dims) > 2 {
		rows = product(x.Dims[0], h.width)
	}
	for _, i := range g.Members {
		m.used[i] = true
		g.Bytes = sum(g.Bytes, m.list[i].Work.Bytes)
	}
	g.Fused = min(g.Bytes, sum(product(passes, g.Tensor), product(vectors, rows, x.store)))
	g.Projection = m.projection(g.Members[0], h)
	m.groups = append(m.groups, g)
}

// projection returns the nearest linear layer before i that makes vectors for h and that no group has, and the SiLU before it.
func (m *modulations) projection(i int, h hidden) []int {
	for j := i - 1; j >= max(0, i-projectionSteps); j-- {
		in := m.list[j]
		if in.Work.Category != GEMM || in.Missing != nil || m.used[j] {
			continue
		}
		rows, depth, width := productOf(&in.Call)
		if rows < 1 || rows > mostConditions || width%h.width != 0 || width < 2*h.width || width > mostVectors*h.width {
			continue
		}
		m.used[j] = true
		if s := m.activation(j, rows*depth); s >= 0 {
			m.used[s] = true
			return []int{s, j}
		}
		return []int{j}
	}
	return nil
}

// activation returns the SiLU just before a projection, -1 when there is none that no group has.
func (m *modulations) activation(j int, n int64) int {
	for s := j - 1; s >= max(0, j-2); s-- {
		c := &m.list[s].Call
		if m.used[s] || !m.does(s, "silu") && !fusionOf(c.Name).any(opSiLU) {
			continue
		}
		if x, err := c.Tensor(0); err == nil && x.Elements() == n {
			return s
		}
	}
	return -1
}

// productOf returns the sizes of a product of two matrices, 0 when it is none.
func productOf(c *Call) (rows, depth, width int64) {
	first := 0
	if a, err := c.Tensor(0); err != nil || len(a.Dims) < 2 {
		first = 1 // a bias comes first
	}
	a, errA := c.Tensor(first)
	b, errB := c.Tensor(first + 1)
	if errA != nil || errB != nil || len(a.Dims) < 2 || len(b.Dims) != 2 {
		return 0, 0, 0
	}
	rows, depth = product(a.Dims[:len(a.Dims)-1]...), a.last(0)
	if b.Dims[0] == depth {
		return rows, depth, b.Dims[1]
	}
	return rows, depth, b.Dims[0]
}
