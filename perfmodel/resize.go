package perfmodel

import (
	"strconv"
	"strings"

	"github.com/ditlens/ditlens/hw"
)

// Upsampling and padding read the input once and write the output once.

func resizeModels() []Entry {
	upsample := func(name string, flops int64, spatial int, ops ...string) Entry {
		doc := "the input read and the output written once, " + strconv.FormatInt(flops, 10) + " operations an output"
		work := func(c *Call) (Work, error) { return upsampled(c, flops, spatial) }
		return forOps(Info{Name: "resize." + name, Doc: doc, Category: Copy}, work, ops...)
	}
	return []Entry{
		upsample("nearest1d", 0, 1, "aten::upsample_nearest1d", "aten::_upsample_nearest_exact1d"),
		upsample("nearest2d", 0, 2, "aten::upsample_nearest2d", "aten::_upsample_nearest_exact2d"),
		upsample("nearest3d", 0, 3, "aten::upsample_nearest3d", "aten::_upsample_nearest_exact3d"),
		upsample("linear1d", 3, 1, "aten::upsample_linear1d"),
		upsample("bilinear2d", 7, 2, "aten::upsample_bilinear2d", "aten::_upsample_bilinear2d_aa"),
		upsample("trilinear3d", 15, 3, "aten::upsample_trilinear3d"),
		upsample("bicubic2d", 35, 2, "aten::upsample_bicubic2d", "aten::_upsample_bicubic2d_aa"),
		forOps(Info{Name: "resize.pad", Doc: "the input read and the output written once", Category: Copy},
			pad, "aten::constant_pad_nd", "aten::replication_pad1d", "aten::replication_pad2d",
			"aten::replication_pad3d", "aten::reflection_pad1d", "aten::reflection_pad2d",
			"aten::reflection_pad3d", "aten::_pad_circular"),
	}
}

// upsampled finds the output size in the list of argument 1, or scales the input by the list of factors behind it.
func upsampled(c *Call, flops int64, spatial int) (Work, error) {
	in := reading{call: c}
	x := in.matrix(0, spatial+1)
	if in.err != nil {
		return Work{}, in.err
	}
	var size [3]int64
	var buf [8]int64
	if list, ok := c.Ints(1, buf[:0]); ok && len(list) == spatial {
		copy(size[:], list)
	} else {
		size = in.scaled(&x, spatial)
	}
	n := int64(1)
	for i := range x.Dims {
		d := x.Dims[i]
		if k := i - (len(x.Dims) - spatial); k >= 0 {
			d = size[k]
		}
		in.require(d >= 0, "sane output size")
		n = product(n, max(0, d))
	}
	w := Work{Category: Copy, Kind: "upsampling"}
	w.charge(hw.Vector, x.Type, product(flops, n))
	w.Read, w.Written = x.Bytes(), product(n, x.store)
	return in.done(w)
}

// scaled computes a size from scale factors, which follow as a list of floating-point numbers.
func (r *reading) scaled(x *Tensor, spatial int) (size [3]int64) {
	for i := 2; i < r.call.args(); i++ {
		text, ok := strings.CutPrefix(r.call.arg(i).Value, "[")
		if !ok {
			continue
		}
		text = strings.TrimSuffix(text, "]")
		for k := range spatial {
			var item string
			item, text, _ = strings.Cut(text, ",")
			factor, err := strconv.ParseFloat(strings.TrimSpace(item), 64)
			r.require(err == nil && factor >= 0 && factor < 1<<20, "scale factors")
			size[k] = int64(float64(x.last(spatial-1-k)) * factor)
		}
		return size
	}
	r.require(false, "output size or scale factors")
	return size
}

// pad reads the list of argument 1: before and after, innermost dimension first. Negative numbers cut.
func pad(c *Call) (Work, error) {
	in := reading{call: c}
	x := in.matrix(0, 1)
	var buf [16]int64
	list, ok := c.Ints(1, buf[:0])
	in.require(ok && len(list)%2 == 0 && len(list) <= 2*len(x.Dims), "amounts of padding")
	if in.err != nil {
		return Work{}, in.err
	}
	out, kept, idle := int64(1), int64(1), true
	for i := range x.Dims {
		d, k := x.last(i), x.last(i)
		for _, p := range list[min(len(list), 2*i):min(len(list), 2*i+2)] {
			in.require(p > -1<<31 && p < 1<<31, "sane amounts of padding")
			d, k = sum(d, max(0, p))-max(0, -p), k-max(0, -p)
			idle = idle && p == 0
		}
		in.require(k >= 0 && d >= 0, "input larger than what is cut")
		out, kept = product(out, max(0, d)), product(kept, max(0, k))
	}
	w := Work{Category: Copy, Kind: "padding"}
	if idle {
		w.Kind = "padding by nothing: a copy that can go"
	}
	w.Read, w.Written = min(x.Bytes(), product(kept, x.store)), product(out, x.store)
	return in.done(w)
}
