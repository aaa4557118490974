package perfmodel

import "github.com/ditlens/ditlens/hw"

// Pooling reads the tensor once and writes one element a window, with one operation for each element that a window
// covers.

func poolModels() []Entry {
	entry := func(name string, spatial int, p pooling, ops ...string) Entry {
		work := func(c *Call) (Work, error) { return p.work(c, spatial) }
		const doc = "the tensor read and the result written once, one operation an element of each window"
		return forOps(Info{Name: name, Doc: doc, Category: Reduction}, work, ops...)
	}
	average := pooling{stride: 2, padding: 3, dilation: none, ceil: 4}
	most := pooling{stride: 2, padding: 3, dilation: 4, ceil: 5}
	indices := most
	indices.indices = true
	return []Entry{
		entry("pool.average1d", 1, average, "aten::avg_pool1d"),
		entry("pool.average2d", 2, average, "aten::avg_pool2d"),
		entry("pool.average3d", 3, average, "aten::avg_pool3d"),
		entry("pool.max2d", 2, most, "aten::max_pool2d"),
		entry("pool.max2d_indices", 2, indices, "aten::max_pool2d_with_indices"),
		entry("pool.max3d_indices", 3, indices, "aten::max_pool3d_with_indices"),
		forOps(Info{Name: "pool.adaptive2d", Doc: "the tensor read and the result written once, one operation an element", Category: Reduction},
			adaptivePool, "aten::adaptive_avg_pool2d", "aten::_adaptive_avg_pool2d"),
	}
}

// A pooling says where an operator keeps its arguments; the window is argument 1.
type pooling struct {
	stride, padding, dilation, ceil int
	indices                         bool // int64 indices are written too
}

func (p pooling) work(c *Call, spatial int) (Work, error) {
	in := reading{call: c}
	x := in.matrix(0, spatial+1)
	if in.err != nil {
		return Work{}, in.err
	}
	w := window{n: spatial}
	in.spatial(1, spatial, &w.kernel, 1, 1)
	in.spatial(p.stride, spatial, &w.stride, 0, 1)
	in.spatial(p.padding, spatial, &w.padding, 0, 0)
	in.spatial(p.dilation, spatial, &w.dilation, 1, 1)
	for i := range spatial {
		w.in[i] = x.last(spatial - 1 - i)
		if w.stride[i] == 0 {
			w.stride[i] = w.kernel[i] // an empty list
		}
		if up, _ := c.Bool(p.ceil); up {
			w.surplus[i] = max(0, w.stride[i]-1)
		}
	}
	if in.err != nil {
		return Work{}, in.err
	}
	w.size(&in, false)
	out := product(x.Elements()/max(1, w.product(&w.in)), w.product(&w.out))
	k := Work{Category: Reduction, Kind: "pooling"}
	k.charge(hw.Vector, x.Type, product(out, w.product(&w.kernel)))
	k.Read, k.Written = x.Bytes(), product(out, x.store)
	if p.indices {
		k.Written = sum(k.Written, product(out, 8))
	}
	return in.done(k)
}

// adaptivePool is adaptive_avg_pool2d(self, output size).
func adaptivePool(c *Call) (Work, error) {
	in := reading{call: c}
	x := in.matrix(0, 3)
	var buf [4]int64
	size, ok := c.Ints(1, buf[:0])
	in.require(ok && len(size) == 2 && size[0] >= 0 && size[1] >= 0, "output size")
	if in.err != nil {
		return Work{}, in.err
	}
	out := product(x.Elements()/max(1, product(x.last(0), x.last(1))), size[0], size[1])
	w := Work{Category: Reduction, Kind: "pooling"}
	w.charge(hw.Vector, x.Type, x.Elements())
	w.Read, w.Written = x.Bytes(), product(out, x.store)
	return in.done(w)
}
