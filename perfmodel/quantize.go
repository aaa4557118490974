package perfmodel

import "github.com/ditlens/ditlens/hw"

// Quantisation kernels find the range of a tensor, scale it and write it in one byte or half a byte an element, with
// its scales.

func quantizeModels() []Entry {
	doc := "every tensor argument once, 3 an element of the inputs; a result that is no argument is taken as " +
		"one byte an element"
	return []Entry{
		forPatterns(Info{Name: "quantize.kernel", Doc: doc, Category: Quantize},
			quantize, "sage_quant*", "aiter::*quant*", "_C::*quant*", "sgl_kernel::*quant*", "mylib::*quant*",
			"bitsandbytes::int8_vectorwise_quant"),
	}
}

func quantize(c *Call) (Work, error) {
	in := reading{call: c}
	w := Work{Category: Quantize}
	var n int64
	var typ hw.DType
	narrow := false
	for i := range c.args() {
		t, ok := in.optional(i)
		if !ok {
			continue
		}
		switch {
		case t.store == 1 && t.Elements() > 1:
			narrow = true
			w.Written = sum(w.Written, t.BytesWritten())
		case t.Type == hw.FP32 && n > 0:
			w.Written = sum(w.Written, t.Bytes()) // scales
		default:
			n, typ = sum(n, t.Elements()), t.Type
			w.Read = sum(w.Read, t.Bytes())
		}
	}
	in.require(n > 0, "tensor arguments")
	if !narrow {
		w.Written = sum(w.Written, n)
		w.doubt(Estimated, "the result is not among the arguments: one byte an element assumed")
	}
	w.charge(hw.Vector, typ, product(3, n))
	return in.done(w)
}
