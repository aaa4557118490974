package perfmodel

import "strings"

// Gathers read the index and as much of the table as the result can hold, and write the result. Rows that are asked
// for more than once come from cache.

func gatherModels() []Entry {
	entry := func(name, doc string, wrapper bool, work func(*Call) (Work, error), ops ...string) Entry {
		return forOps(Info{Name: name, Doc: doc, Category: Gather, Wrapper: wrapper}, work, ops...)
	}
	const doc = "the index, the lesser of table and result, and the result once"
	return []Entry{
		entry("gather.gather", doc, false, gather, "aten::gather"),
		entry("gather.index_select", doc, true, indexSelect, "aten::index_select"),
		entry("gather.embedding", doc, true, embedding, "aten::embedding"),
		entry("gather.index", "the result's size follows from the indices, which profilers record rarely", false,
			index, "aten::index"),
		entry("gather.scatter", "the index, the values, and as much written", false, scatter,
			"aten::scatter", "aten::scatter_", "aten::scatter_add", "aten::scatter_add_"),
		entry("gather.index_put", "the values read and written; the indices are rarely recorded, a lower bound", false,
			indexPut,
			"aten::index_put", "aten::index_put_", "aten::_index_put_impl_"),
		forOps(Info{Name: "reduce.sort", Doc: "the tensor once, values and indices once; the passes of a sort are not " +
			"counted", Category: Reduction},
			sorted, "aten::sort"),
		forOps(Info{Name: "reduce.topk", Doc: "the tensor once and what is found", Category: Reduction}, topK, "aten::topk"),
		entry("gather.nonzero", "the tensor once; how much is found is not recorded, a lower bound", false, nonzero,
			"aten::nonzero", "aten::masked_select"),
	}
}

// gather is gather(self, dim, index, sparse_grad, out): the result has the shape of the index.
func gather(c *Call) (Work, error) {
	in := reading{call: c}
	table, index := in.tensor(0), in.tensor(2)
	return gathered(&in, &table, &index, index.Elements())
}

// indexSelect is index_select(self, dim, index): the result has the table's shape but in dimension dim.
func indexSelect(c *Call) (Work, error) {
	in := reading{call: c}
	table, index := in.matrix(0, 1), in.tensor(2)
	dim, ok := c.Int(1)
	if dim < 0 {
		dim += int64(len(table.Dims))
	}
	in.require(ok && dim >= 0 && dim < int64(len(table.Dims)), "dimension that exists")
	if in.err != nil {
		return Work{}, in.err
	}
	n := index.Elements()
	for i, d := range table.Dims {
		if i != int(dim) {
			n = product(n, d)
		}
	}
	return gathered(&in, &table, &index, n)
}

// embedding is embedding(weight, indices, …).
func embedding(c *Call) (Work, error) {
	in := reading{call: c}
	table, index := in.matrix(0, 2), in.tensor(1)
	return gathered(&in, &table, &index, product(index.Elements(), table.last(0)))
}

func gathered(in *reading, table, index *Tensor, n int64) (Work, error) {
	w := Work{Category: Gather}
	w.Read = sum(index.Bytes(), product(min(table.Unique(), n), table.store))
	w.Written = product(n, table.store)
	return in.done(w)
}

// index is index(self, indices). The indices come as a list in which those not given are empty.
func index(c *Call) (Work, error) {
	in := reading{call: c}
	table := in.tensor(0)
	a := c.arg(1)
	in.require(a != nil && len(a.List) > 0, "shape of the indices")
	if in.err != nil {
		return Work{}, in.err
	}
	n, read := int64(1), int64(0)
	for i := range a.List {
		var t Tensor
		if err := c.shape(&a.List[i], int64s, 1, &t); err != nil {
			in.fail(err)
		}
		n, read = max(n, t.Elements()), sum(read, t.Bytes())
	}
	for i := len(a.List); i < len(table.Dims); i++ {
		n = product(n, table.Dims[i])
	}
	w := Work{Category: Gather}
	w.Read, w.Written = sum(read, product(min(table.Unique(), n), table.store)), product(n, table.store)
	w.doubt(Estimated, "the result's size follows from the indices, taken as int64 for the leading dimensions")
	return in.done(w)
}

func nonzero(c *Call) (Work, error) {
	in := reading{call: c}
	x := in.tensor(0)
	w := Work{Category: Gather, Read: x.Bytes()}
	w.doubt(LowerBound, "how much is found depends on the data")
	return in.done(w)
}

// scatter is scatter(self, dim, index, src); out of place, self is copied first. The values may be one number.
func scatter(c *Call) (Work, error) {
	in := reading{call: c}
	self, index := in.tensor(0), in.tensor(2)
	w := Work{Category: Gather}
	w.Read = sum(index.Bytes(), in.bytes(3))
	w.Written = product(index.Elements(), self.store)
	if !strings.HasSuffix(c.op(), "_") {
		w.Read = sum(w.Read, self.Bytes())
		w.Written = sum(w.Written, self.BytesWritten())
	}
	return in.done(w)
}

// indexPut is index_put_(self, indices, values, accumulate).
func indexPut(c *Call) (Work, error) {
	in := reading{call: c}
	self, values := in.tensor(0), in.tensor(2)
	w := Work{Category: Gather, Read: values.Bytes()}
	w.Written = product(values.Elements(), self.store)
	w.doubt(LowerBound, "the indices are not recorded, and values that broadcast are written more often")
	return in.done(w)
}

func sorted(c *Call) (Work, error) {
	in := reading{call: c}
	x := in.tensor(0)
	w := Work{Category: Reduction, Kind: "sort", Read: x.Bytes()}
	w.Written = product(x.Elements(), sum(x.store, 8))
	w.doubt(LowerBound, "a sort passes over the data several times")
	return in.done(w)
}

// topK is topk(self, k, dim, …).
func topK(c *Call) (Work, error) {
	in := reading{call: c}
	x := in.matrix(0, 1)
	k, ok := c.Int(1)
	dim, _ := c.Int(2)
	if dim < 0 {
		dim += int64(len(x.Dims))
	}
	in.require(ok && k >= 0 && dim >= 0 && dim < int64(len(x.Dims)), "number of elements and dimension")
	if in.err != nil {
		return Work{}, in.err
	}
	found := product(x.Elements()/max(1, x.Dims[dim]), k)
	w := Work{Category: Reduction, Kind: "sort", Read: x.Bytes(), Written: product(found, sum(x.store, 8))}
	return in.done(w)
}
