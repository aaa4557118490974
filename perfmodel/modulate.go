package perfmodel

import (
	"strings"

	"github.com/ditlens/ditlens/hw"
)

// Modulation, rotary embedding and gated activations as fused kernels of libraries. Those of compiled code are
// Inductor kernels; those of eager code are chains of pointwise operators.

func modulationModels() []Entry {
	entry := func(name, doc string, category Category, work func(*Call) (Work, error), ops ...string) Entry {
		return forOps(Info{Name: name, Doc: doc, Category: category}, work, ops...)
	}
	return []Entry{
		entry("modulation.layer_norm", "12n; the tensor in and out, scale and shift, mean and deviation of each row in fp32", Modulation,
			modulate, "primus::fused_ln_modulate"),
		entry("activation.silu_mul", "5 an output; two halves in, one out", Elementwise, gated(5),
			"aiter::silu_and_mul", "_C::silu_and_mul", "_C::mul_and_silu", "sgl_kernel::silu_and_mul"),
		entry("activation.scaled_silu_mul", "5 an output; two halves in, one out", Elementwise, gated(5),
			"aiter::scaled_silu_and_mul"),
		entry("activation.gelu_mul", "8 an output; two halves in, one out", Elementwise, gated(8),
			"aiter::gelu_and_mul", "_C::gelu_and_mul", "sgl_kernel::gelu_and_mul"),
		entry("activation.gelu_tanh_mul", "10 an output; two halves in, one out", Elementwise, gated(10),
			"aiter::gelu_tanh_and_mul", "_C::gelu_tanh_and_mul", "sgl_kernel::gelu_tanh_and_mul"),
		entry("activation.glu", "5 an output; two halves in, one out", Elementwise, glu, "aten::glu"),
		// aiter/ops/rope.py: the results come first, two of them for query and key at once.
		forPatterns(Info{Name: "rope.in_place", Doc: "3n; every argument once, among them the results, and as much of the tables as " +
			"there are positions", Category: Rope},
			ropeInto, "aiter::rope*_impl"),
		entry("rope.query_key", "3n; query and key in and out, positions, and as much of the table as there are "+
			"positions", Rope,
			ropeQueryKey, "_C::rotary_embedding", "sgl_kernel::rotary_embedding"),
	}
}

// modulate is fused_ln_modulate(x, scale, shift, eps).
func modulate(c *Call) (Work, error) {
	in := reading{call: c}
	x, scale, shift := in.matrix(0, 2), in.tensor(1), in.tensor(2)
	n := x.Elements()
	w := Work{Category: Modulation, Kind: "adaLN: layer norm, modulate"}
	w.charge(hw.Vector, x.Type, product(12, n))
	w.Read = sum(x.Bytes(), scale.Bytes(), shift.Bytes())
	w.Written = sum(product(n, x.store), product(8, ratio(n, max(1, x.last(0)))))
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

// ropeInto takes the results, as many tensors of the same shapes, tables and, at the end, whole numbers: positions, which
// pick rows of the tables, or the bounds of sequences.
func ropeInto(c *Call) (Work, error) {
	in := reading{call: c}
	results := 1
	if strings.Contains(c.Name, "_2c_") {
		results = 2
	}
	w := Work{Category: Rope}
	for i := range results {
		out := in.matrix(i, 2)
		w.charge(hw.Vector, out.Type, product(3, out.Elements()))
		w.Written = sum(w.Written, out.BytesWritten())
	}
	positions := int64(tooMuch)
	if strings.Contains(c.Name, "_positions_") {
		for i := 2 * results; i < c.args(); i++ {
			if t, ok := in.optional(i); ok && rankOf(t.Type) == intRank {
				positions = t.Elements()
				break
			}
		}
	}
	for i := results; i < c.args(); i++ {
		t, ok := in.optional(i)
		if ok && i >= 2*results && rankOf(t.Type) != intRank {
			w.Read = sum(w.Read, min(t.Bytes(), product(positions, t.last(0), t.store)))
		} else if ok {
			w.Read = sum(w.Read, t.Bytes())
		}
	}
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
