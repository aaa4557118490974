package perfmodel

import (
	"strconv"
	"strings"

	"github.com/ditlens/ditlens/hw"
)

// Operators on lists of tensors (aten::_foreach_*), as optimizers and graph runners use them. A list is recorded without
// its element type, but the kernel's name tells it: multi_tensor_apply takes a functor, whose first type argument is that
// of the results and, if it casts, whose second is that of the operands. Lists that the fused kernel does not take fall to
// the operators for single tensors, hence wrappers.

// foreachOps are the arithmetic ones; what each does an element is told by the pointwise operator of the name.
const foreachOps = `add sub mul div neg abs sqrt rsqrt reciprocal exp log pow maximum minimum clamp_min clamp_max sign floor
	ceil round sigmoid tanh lerp addcmul addcdiv`

func foreachModels() []Entry {
	entries := []Entry{
		forOps(Info{Name: "copy.foreach", Doc: "each member of the lists read and written; the element types by the kernel's name",
			Category: Copy, Wrapper: true},
			foreachCopy, "aten::_foreach_copy_"),
		forOps(Info{Name: "fill.foreach", Doc: "each member of the list written; the element type by the kernel's name", Category: Fill, Wrapper: true},
			foreachZero, "aten::_foreach_zero_"),
	}
	arithmetic := " " + strings.Join(strings.Fields(foreachOps), " ") + " "
	for _, p := range pointwiseOps {
		if !strings.Contains(arithmetic, " "+p.op+" ") {
			continue
		}
		doc := "all lists read and as much as the first written, nominal operations an element: " +
			strconv.FormatInt(p.flops, 10) + "; the element type by the kernel's name"
		name := "aten::_foreach_" + p.op
		entries = append(entries, forOps(Info{Name: "foreach." + p.op, Doc: doc, Category: Elementwise, Wrapper: true}, p.foreach, name, name+"_"))
	}
	return entries
}

// foreach is the operator on lists: one or more of them, then numbers.
func (p pointwise) foreach(c *Call) (Work, error) {
	in := reading{call: c}
	typ, _ := in.functorTypes()
	n, unique := in.listSizes(in.list(0))
	for i := 1; i < c.args(); i++ {
		if a := c.arg(i); len(a.List) > 0 {
			_, more := in.listSizes(a.List)
			unique = sum(unique, more)
		}
	}
	w := Work{Category: Elementwise}
	real, flops := realArithmetic(typ.typ, p.flops)
	w.charge(hw.Vector, real, product(flops, n))
	w.Read, w.Written = product(unique, typ.bytes), product(n, typ.bytes)
	return in.done(w)
}

// foreachCopy is _foreach_copy_(self, src).
func foreachCopy(c *Call) (Work, error) {
	in := reading{call: c}
	to, from := in.functorTypes()
	n, unique := in.listSizes(in.list(1))
	w := Work{Category: Copy}
	if to.typ != from.typ {
		w.Kind = "cast"
	}
	w.Read, w.Written = product(unique, from.bytes), product(n, to.bytes)
	return in.done(w)
}

func foreachZero(c *Call) (Work, error) {
	in := reading{call: c}
	typ, _ := in.functorTypes()
	n, _ := in.listSizes(in.list(0))
	return in.done(Work{Category: Fill, Written: product(n, typ.bytes)})
}

// functorTypes reads the element types of results and operands off the name of the kernel, as
// "multi_tensor_apply_kernel<…, CopyFunctor<int, long, 2, 1, 1>, …>" tells them.
func (r *reading) functorTypes() (result, operand storage) {
	before, args, _ := strings.Cut(r.call.Kernel, "Functor<")
	first, rest, _ := strings.Cut(args, ",")
	result, ok := storageOf(first)
	operand = result
	if strings.HasSuffix(before, "Copy") {
		second, _, _ := strings.Cut(rest, ",")
		var known bool
		operand, known = storageOf(strings.TrimSpace(second))
		ok = ok && known
	}
	r.require(ok, "element type of a list of tensors")
	return result, operand
}
