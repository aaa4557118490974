package perfmodel

import (
	"strings"

	"github.com/ditlens/ditlens/hw"
)

// Norms read and write the tensor once. Their operation counts are nominal, since no norm comes near the peak of the
// vector unit: 5 an element for mean, variance and normalisation, 2 more for weight and bias, 4 for a root mean
// square.

// A norm says where an operator keeps its arguments.
type norm struct {
	x, weight, bias int
	shape           int // list of normalised sizes, none when the last dimension is
	rms             bool
	statistics      int64 // how many of mean and reciprocal deviation are written, 4 bytes each, a row
}

func (n norm) entry(name, doc string, ops ...string) Entry {
	return forOps(Info{Name: name, Doc: doc, Category: Norm}, n.work, ops...)
}

const quantisedDoc = "7n + 2 a row, of which 3n to quantise; every tensor argument once, the result is argument 0"

func normModels() []Entry {
	layer := norm{weight: 2, bias: 3, shape: 1}
	native := layer
	native.statistics = 2
	rms := norm{weight: 2, bias: none, shape: 1, rms: true}
	fused := rms
	fused.statistics = 1
	rows := norm{weight: 1, bias: none, shape: none, rms: true}
	out := norm{x: 1, weight: 2, bias: none, shape: none, rms: true}
	return []Entry{
		layer.entry("norm.layer", "5n + 2n with weights; the tensor in and out, weight and bias", "aten::layer_norm"),
		native.entry("norm.native_layer", "as norm.layer, and mean and deviation of each row written in fp32",
			"aten::native_layer_norm"),
		rms.entry("norm.rms", "4n + 2 a row; the tensor in and out and the weight", "aten::rms_norm"),
		fused.entry("norm.fused_rms", "as norm.rms, and the reciprocal deviation of each row written in fp32", "aten::_fused_rms_norm"),
		// aiter/ops/rmsnorm.py, csrc/torch_bindings.cpp of vLLM, sgl-kernel/csrc/common_extension.cc.
		rows.entry("norm.rms_rows", "4n + 2 a row; the tensor in and out and the weight", "aiter::rms_norm",
			"aiter::rmsnorm2d_fwd", "aiter::rmsnorm2d_fwd_ck"),
		out.entry("norm.rms_out", "4n + 2 a row; the tensor in and out and the weight; the result is argument 0",
			"aiter::rmsnorm", "aiter::rms_norm_cu", "_C::rms_norm", "sgl_kernel::rmsnorm", "sgl_kernel::gemma_rmsnorm"),
		forOps(Info{Name: "norm.rms_added", Doc: "4n + 2 a row + n; tensor and residual in, sum and result out, and " +
			"the weight", Category: Norm},
			addedRMS, "aiter::rmsnorm2d_fwd_with_add", "aiter::rmsnorm2d_fwd_with_add_ck", "aiter::add_rmsnorm"),
		forOps(Info{Name: "norm.rms_added_in_place", Doc: "4n + 2 a row + n; tensor and residual in and out, and the " +
			"weight", Category: Norm},
			addedRMSInPlace, "_C::fused_add_rms_norm", "aiter::fused_add_rms_norm_cu", "sgl_kernel::fused_add_rmsnorm",
			"sgl_kernel::gemma_fused_add_rmsnorm"),
		forOps(Info{Name: "norm.rms_quantised", Doc: quantisedDoc, Category: Norm}, quantisedRMS(none, none),
			"aiter::rmsnorm_quant", "aiter::rmsnorm2d_fwd_with_dynamicquant", "aiter::rmsnorm2d_fwd_with_dynamicquant_ck",
			"aiter::rmsnorm2d_fwd_with_smoothquant", "aiter::rmsnorm2d_fwd_with_smoothquant_ck", "_C::rms_norm_static_fp8_quant"),
		forOps(Info{Name: "norm.rms_added_quantised", Doc: quantisedDoc + "; n for the residual", Category: Norm},
			quantisedRMS(2, 3),
			"aiter::add_rmsnorm_quant", "aiter::rmsnorm2d_fwd_with_add_dynamicquant", "aiter::rmsnorm2d_fwd_with_add_dynamicquant_ck",
			"aiter::rmsnorm2d_fwd_with_add_smoothquant", "aiter::rmsnorm2d_fwd_with_add_smoothquant_ck"),
		forOps(Info{Name: "norm.rms_added_quantised_in_place", Doc: quantisedDoc + "; n for a residual, in and out", Category: Norm},
			quantisedRMS(2, 2), "_C::fused_add_rms_norm_static_fp8_quant"),
		forOps(Info{Name: "norm.rms_quantised_in_place", Doc: quantisedDoc + "; n for a residual, in and out", Category: Norm},
			quantisedRMS(6, 6), "_C::rms_norm_dynamic_per_token_quant", "_C::rms_norm_per_block_quant"),
		forOps(Info{Name: "norm.group", Doc: "5n and 6 a channel for its scale and shift; the tensor in and out once, " +
			"weight and bias", Category: Norm},
			groupNorm, "aten::native_group_norm", "aten::group_norm", "aiter::_groupnorm_run"),
		forOps(Info{Name: "norm.batch", Doc: "2n at inference; the tensor in and out and four vectors a channel", Category: Norm},
			batchNorm, "aten::batch_norm", "aten::native_batch_norm", "aten::cudnn_batch_norm",
			"aten::miopen_batch_norm", "aten::_batch_norm_impl_index"),
	}
}

func (n norm) work(c *Call) (Work, error) {
	in := reading{call: c}
	x := in.matrix(n.x, 1)
	if in.err != nil {
		return Work{}, in.err
	}
	size := x.last(0)
	if n.shape != none {
		var buf [8]int64
		list, ok := c.Ints(n.shape, buf[:0])
		if w, given := in.optional(n.weight); given {
			size = w.Elements() // the same, and recorded more often
		} else if ok {
			size = normalised(&in, &x, list)
		}
	}
	if n.shape == none {
		w := in.tensor(n.weight)
		in.require(w.Elements() == size, "agreeing shapes of tensor and weight")
	}
	w := Work{Category: Norm}
	w.normalise(x.Elements(), size, x.Type, n.rms, in.call.Given(n.weight) && !n.rms)
	w.Read = sum(x.Bytes(), in.bytes(n.weight), in.bytes(n.bias))
	w.Written = x.BytesWritten()
	w.Written = sum(w.Written, product(4, n.statistics, x.Elements()/max(1, size)))
	return in.done(w)
}

func normalised(in *reading, x *Tensor, list []int64) int64 {
	size := int64(1)
	for i := range list {
		d := x.last(len(list) - 1 - i)
		in.require(list[i] == d, "normalised shape that fits")
		size = product(size, d)
	}
	return size
}

// normalise charges the arithmetic of a norm over rows of the given size.
func (w *Work) normalise(n, size int64, t hw.DType, rms, affine bool) {
	flops := product(5, n)
	if rms {
		flops = sum(product(4, n), product(2, n/max(1, size)))
	}
	if affine {
		flops = sum(flops, product(2, n))
	}
	w.charge(hw.Vector, t, flops)
}

// addedRMS adds a residual, keeps the sum and normalises it: arguments are out, x, residual in, residual out, weight.
func addedRMS(c *Call) (Work, error) {
	in := reading{call: c}
	x, weight := in.matrix(1, 1), in.matrix(4, 1)
	if in.err != nil {
		return Work{}, in.err
	}
	n := x.Elements()
	in.require(weight.Elements() == x.last(0), "agreeing shapes of tensor and weight")
	w := Work{Category: Norm}
	w.normalise(n, x.last(0), x.Type, true, false)
	w.charge(hw.Vector, x.Type, n)
	w.Read = sum(x.Bytes(), product(n, x.store), weight.Bytes())
	w.Written = product(2, n, x.store)
	return in.done(w)
}

// addedRMSInPlace is fused_add_rms_norm(x, residual, weight): both are overwritten, with the result and the sum.
func addedRMSInPlace(c *Call) (Work, error) {
	in := reading{call: c}
	x, residual := in.matrix(0, 1), in.matrix(1, 1)
	n := x.Elements()
	in.require(residual.Elements() == n, "agreeing shapes of tensor and residual")
	w := Work{Category: Norm}
	w.normalise(n, x.last(0), x.Type, true, false)
	w.charge(hw.Vector, x.Type, n)
	w.Read = sum(x.Bytes(), residual.Bytes(), in.bytes(2))
	w.Written = product(n, sum(x.store, residual.store))
	return in.done(w)
}

// quantisedRMS normalises argument 1 and writes it to argument 0 in 8 bits, with the scales, wherever those come. It may
// add a residual first and keep the sum; in place if both are the same argument.
func quantisedRMS(residual, sumAt int) func(*Call) (Work, error) {
	return func(c *Call) (Work, error) {
		in := reading{call: c}
		out, x := in.matrix(0, 1), in.matrix(1, 1)
		if in.err != nil {
			return Work{}, in.err
		}
		n, unread := x.Elements(), none
		in.require(out.Elements() == n || out.Elements() == n/2, "result of the size of the tensor") // packed: half
		w := Work{Category: Norm}
		w.normalise(n, x.last(0), x.Type, true, false)
		w.charge(hw.Vector, x.Type, product(3, n))
		w.Written = out.BytesWritten()
		if added, ok := in.optional(sumAt); ok {
			w.charge(hw.Vector, x.Type, n)
			w.Written = sum(w.Written, added.BytesWritten())
			if residual != sumAt {
				unread = sumAt
			}
		}
		w.Read = in.everyTensor(1, unread)
		return in.done(w)
	}
}

// groupNorm serves four signatures: (x, weight, bias, N, C, HxW, groups, eps), (x, groups, weight, bias, eps) and that with
// the result and a workspace before x (aiter/ops/groupnorm.py). One pass is counted; a group that does not fit on chip
// is read twice, which the certainty says.
func groupNorm(c *Call) (Work, error) {
	in := reading{call: c}
	first, weight, groupArg := 0, 2, 1
	switch {
	case strings.HasSuffix(c.op(), "_groupnorm_run") && c.args() > 5:
		first, weight, groupArg = 2, 4, 3
	case c.args() > 6:
		weight, groupArg = 1, 6
	}
	x := in.matrix(first, 2)
	if in.err != nil {
		return Work{}, in.err
	}
	n, t := x.Elements(), x.Type
	w := Work{Category: Norm}
	w.charge(hw.Vector, t, sum(product(5, n), product(6, x.Dims[0], x.Dims[1])))
	w.Read = sum(x.Bytes(), in.bytes(weight), in.bytes(weight+1))
	w.Written = product(n, x.store)
	if groups, ok := c.Int(groupArg); ok && groups > 0 && n/max(1, x.Dims[0])/groups > onChip/x.store {
		w.doubt(LowerBound, "one pass counted; a group exceeds on-chip memory, so that two passes read it "+
			"twice: half as much again")
	}
	return in.done(w)
}

// onChip is what one group may take to stay on chip between statistics and normalisation: the L2 slice of a chiplet of
// an MI300X, the greatest of the caches near the cores of current GPUs. It decides a note, never a number.
const onChip = 4 << 20

func batchNorm(c *Call) (Work, error) {
	in := reading{call: c}
	x := in.matrix(0, 2)
	if in.err != nil {
		return Work{}, in.err
	}
	n := x.Elements()
	w := Work{Category: Norm}
	w.Read, w.Written = x.Bytes(), product(n, x.store)
	for i := 1; i <= 4; i++ {
		w.Read = sum(w.Read, in.bytes(i))
	}
	flops := int64(2)
	if training, _ := c.Bool(5); training {
		flops = 7
		w.doubt(LowerBound, "training: one pass counted")
	}
	w.charge(hw.Vector, x.Type, product(flops, n))
	return in.done(w)
}
