package perfmodel

import "github.com/ditlens/ditlens/hw"

// Quantisation kernels find the range of a tensor, scale it and write it in one byte or half a byte an element, with
// its scales.

func quantizeModels() []Entry {
	const doc = "every tensor argument once, 3 an element of the inputs; a result that is no argument is taken as " +
		"one byte an element"
	return []Entry{
		// csrc/torch_bindings.cpp of vLLM and sgl-kernel/csrc/common_extension.cc. Names are told from norms by those of norms.
		forPatterns(Info{Name: "quantize.kernel", Doc: doc, Category: Quantize},
			quantize, "sage_quant*", "_C::*_quant", "_C::*_quant_fp8", "_C::*_quant_int8", "sgl_kernel::*_quant",
			"sgl_kernel::*_quant_fp8", "sgl_kernel::*_quant_int8", "sgl_kernel::*_quant_8bit*"),
		// aiter/ops/quant.py and bitsandbytes/_ops.py.
		forOps(Info{Name: "quantize.tensor", Doc: doc, Category: Quantize}, quantize,
			"aiter::static_per_tensor_quant", "aiter::dynamic_per_tensor_quant", "aiter::dynamic_per_token_scaled_quant",
			"aiter::dynamic_per_group_scaled_quant", "aiter::dynamic_per_group_scaled_quant_fp4",
			"aiter::smooth_per_token_scaled_quant", "aiter::smoothquant_fwd", "aiter::quant_mxfp4",
			"bitsandbytes::int8_vectorwise_quant"),
		forOps(Info{Name: "quantize.wrapper", Doc: doc, Category: Quantize, Wrapper: true}, quantize,
			"aiter::per_token_quant_hip", "aiter::per_group_quant_hip"),
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
