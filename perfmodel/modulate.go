package perfmodel

import "github.com/ditlens/ditlens/hw"

// Modulation, rotary embedding and gated activations as fused kernels of libraries. Those of compiled code are
// Inductor kernels; those of eager code are chains of pointwise operators.

func modulationModels() []Entry {
	entry := func(name, doc string, category Category, work func(*Call) (Work, error), ops ...string) Entry {
		return forOps(Info{Name: name, Doc: doc, Category: category}, work, ops...)
	}
	return []Entry{
		forPatterns(Info{Name: "modulation.layer_norm", Doc: "12n; the tensor in and out, scale and shift", Category: Modulation},
			modulate, "*::fused_ln_modulate", "*::fused_layernorm_modulate", "*::adaln_modulate"),
		entry("activation.silu_mul", "5 an output; two halves in, one out", Elementwise, gated(5),
			"aiter::silu_and_mul", "_C::silu_and_mul"),
		entry("activation.scaled_silu_mul", "5 an output; two halves in, one out", Elementwise, gated(5),
			"aiter::scaled_silu_and_mul"),
		entry("activation.gelu_mul", "8 an output; two halves in, one out", Elementwise, gated(8),
			"aiter::gelu_and_mul", "_C::gelu_and_mul"),
		entry("activation.gelu_tanh_mul", "10 an output; two halves in, one out", Elementwise, gated(10),
			"aiter::gelu_tanh_and_mul", "_C::gelu_tanh_and_mul"),
		entry("activation.glu", "5 an output; two halves in, one out", Elementwise, glu, "aten::glu"),
		forPatterns(Info{Name: "rope.in_place", Doc: "3n; every argument once, among them the result", Category: Rope},
			ropeInto, "aiter::rope*_impl"),
		entry("rope.query_key", "3n; query and key in and out, positions, and as much of the table as there are "+
			"positions", Rope,
			ropeQueryKey, "_C::rotary_embedding", "sgl_kernel::rotary_embedding"),
		forPatterns(Info{Name: "rope.functional", Doc: "3n; the tensor in and out, and the tables", Category: Rope},
			rope, "aiter::rope*_fwd"),
	}
}

// modulate is fused_ln_modulate(x, scale, shift).
func modulate(c *Call) (Work, error) {
	in := reading{call: c}
	x, scale, shift := in.matrix(0, 2), in.tensor(1), in.tensor(2)
	n := x.Elements()
	w := Work{Category: Modulation, Kind: "adaLN: layer norm, modulate"}
	w.charge(hw.Vector, x.Type, product(12, n))
	w.Read = sum(x.Bytes(), scale.Bytes(), shift.Bytes())
	w.Written = product(n, x.store)
	return in.done(w)
}

// gated models act_and_mul(out, x): the activation of one half of the last dimension times the other half.
func gated(flops int64) func(*Call) (Work, error) {
	return func(c *Call) (Work, error) {
		in := reading{call: c}
		out, x := in.matrix(0, 1), in.matrix(1, 1)
		in.require(x.last(0)/2 == out.last(0), "input twice as wide as the output")
		w := Work{Category: Elementwise, Kind: "gated activation"}
		w.charge(hw.Vector, x.Type, product(flops, out.Elements()))
		w.Read, w.Written = x.Bytes(), out.BytesWritten()
		return in.done(w)
	}
}

// glu is glu(self, dim), which splits a dimension and returns half of the elements.
func glu(c *Call) (Work, error) {
	in := reading{call: c}
	x := in.matrix(0, 1)
	w := Work{Category: Elementwise, Kind: "gated activation"}
	w.charge(hw.Vector, x.Type, product(5, x.Elements()/2))
	w.Read, w.Written = x.Bytes(), product(x.Elements()/2, x.store)
	return in.done(w)
}

// ropeInto has its results among its arguments: the first of them, with the inputs of the same size behind.
func ropeInto(c *Call) (Work, error) {
	in := reading{call: c}
	out := in.matrix(0, 2)
	all := in.everyTensor(0)
	w := Work{Category: Rope}
	w.charge(hw.Vector, out.Type, product(3, out.Elements()))
	w.Written = out.BytesWritten()
	w.Read = all - min(all, w.Written)
	return in.done(w)
}

// ropeQueryKey is rotary_embedding(positions, query, key, head size, table, …), in place; the key may be absent.
func ropeQueryKey(c *Call) (Work, error) {
	in := reading{call: c}
	positions, query, table := in.tensor(0), in.matrix(1, 1), in.matrix(4, 2)
	key, _ := in.optional(2)
	w := Work{Category: Rope}
	n := sum(query.Elements(), key.count)
	w.charge(hw.Vector, query.Type, product(3, n))
	rows := product(min(positions.Elements(), table.last(1)), table.last(0), table.store)
	w.Read = sum(query.Bytes(), product(key.count, key.store), positions.Bytes(), rows)
	w.Written = product(n, query.store)
	return in.done(w)
}

func rope(c *Call) (Work, error) {
	in := reading{call: c}
	x := in.matrix(0, 2)
	w := Work{Category: Rope}
	w.charge(hw.Vector, x.Type, product(3, x.Elements()))
	w.Read, w.Written = in.everyTensor(0), x.BytesWritten()
	return in.done(w)
}

// everyTensor returns what reading all tensor arguments from the given one on moves.
func (r *reading) everyTensor(from int) int64 {
	var n int64
	for i := from; i < r.call.args(); i++ {
		n = sum(n, r.bytes(i))
	}
	return n
}
