package perfmodel

import (
	"strings"

	"github.com/ditlens/ditlens/hw"
)

// Convolutions do 2 operations for each tap of the kernel and output (for a transposed one: and input), with the
// input channels of their group, and one more an output for a bias. The whole input is read once, unless strides step
// over parts of it, the weight and bias once, the output written once. Taps on padding count, as they do in the usual
// convention.

// A conv says where an operator keeps its arguments. Positions are of schema arguments, none for what it lacks.
type conv struct {
	bias, stride, padding, dilation, groups int
	transposed                              int // argument that says so
	outputPadding                           int
	always                                  bool // always transposed
}

func convModels() []Entry {
	entry := func(name, doc string, v conv, wrapper bool, ops ...string) Entry {
		return forOps(Info{Name: name, Doc: doc, Category: Conv, Wrapper: wrapper}, v.work, ops...)
	}
	general := conv{bias: 2, stride: 3, padding: 4, dilation: 5, transposed: 6, outputPadding: 7, groups: 8}
	functional := conv{bias: 2, stride: 3, padding: 4, dilation: 5, groups: 6, transposed: none, outputPadding: none}
	transpose := conv{bias: 2, stride: 3, padding: 4, outputPadding: 5, groups: 6, dilation: 7, transposed: none,
		always: true}
	miopen := conv{bias: 2, padding: 3, stride: 4, dilation: 5, groups: 6, transposed: none, outputPadding: none}
	miopenT := conv{bias: 2, padding: 3, outputPadding: 4, stride: 5, dilation: 6, groups: 7, transposed: none,
		always: true}
	cudnn := conv{bias: none, padding: 2, stride: 3, dilation: 4, groups: 5, transposed: none, outputPadding: none}
	cudnnT := conv{bias: none, padding: 2, outputPadding: 3, stride: 4, dilation: 5, groups: 6, transposed: none,
		always: true}
	slow := conv{bias: 3, stride: 4, padding: 5, dilation: none, groups: none, transposed: none, outputPadding: none}
	dilated := slow
	dilated.dilation = 6
	slowT := conv{bias: 3, stride: 4, padding: 5, outputPadding: 6, dilation: 7, groups: none, transposed: none,
		always: true}
	const formula = "2 N Cout prod(out) Cin/groups prod(kernel) + bias"
	const formulaT = "2 N Cin prod(in) Cout/groups prod(kernel) + bias"
	return []Entry{
		entry("conv.convolution", formula+"; transposed: "+formulaT, general, false, "aten::convolution",
			"aten::_convolution", "aten::convolution_overrideable"),
		entry("conv.functional", formula, functional, true, "aten::conv1d", "aten::conv2d", "aten::conv3d"),
		entry("conv.transpose", formulaT, transpose, true, "aten::conv_transpose1d", "aten::conv_transpose2d",
			"aten::conv_transpose3d"),
		entry("conv.miopen", formula, miopen, false, "aten::miopen_convolution", "aten::miopen_depthwise_convolution"),
		entry("conv.miopen_transpose", formulaT, miopenT, false, "aten::miopen_convolution_transpose"),
		entry("conv.cudnn", formula+" (its bias is a call of its own)", cudnn, false, "aten::cudnn_convolution"),
		entry("conv.cudnn_transpose", formulaT+" (its bias is a call of its own)", cudnnT, false,
			"aten::cudnn_convolution_transpose"),
		entry("conv.cudnn_relu", formula, functional, false, "aten::cudnn_convolution_relu"),
		entry("conv.slow", formula, slow, false, "aten::_slow_conv2d_forward", "aten::slow_conv2d_forward",
			"aten::slow_conv3d_forward",
			"aten::slow_conv3d", "aten::thnn_conv2d"),
		entry("conv.dilated", formula, dilated, false, "aten::_conv_depthwise2d", "aten::conv_depthwise3d",
			"aten::slow_conv_dilated2d", "aten::slow_conv_dilated3d"),
		entry("conv.slow_transpose", formulaT, slowT, false, "aten::slow_conv_transpose2d",
			"aten::slow_conv_transpose3d"),
	}
}

// A window is the shape of a convolution in its spatial dimensions, of which there are at most three.
type window struct {
	n                                  int
	in, kernel, out                    [3]int64
	stride, padding, dilation, surplus [3]int64
	same                               bool // padding that keeps the size
}

func (v conv) work(c *Call) (Work, error) {
	in := reading{call: c}
	x, weight := in.matrix(0, 2), in.matrix(1, 3)
	if in.err != nil {
		return Work{}, in.err
	}
	transposed := v.always
	if v.transposed != none {
		transposed, _ = c.Bool(v.transposed)
	}
	win, n, cin := v.window(&in, &x, &weight)
	groups := v.groupsOf(c, &weight, cin, transposed)
	in.require(groups > 0, "number of groups")
	if in.err != nil {
		return Work{}, in.err
	}
	cout := weight.Dims[0]
	if transposed {
		cout = product(weight.Dims[1], groups)
		in.require(weight.Dims[0] == cin, "agreeing channels")
	} else {
		in.require(weight.Dims[1] == cin/groups, "agreeing channels")
	}
	win.size(&in, transposed)
	outputs := product(n, cout, win.product(&win.out))
	taps := win.product(&win.kernel)
	flops := product(2, outputs, cin/groups, taps)
	touched := x.Bytes()
	if transposed {
		flops = product(2, x.Elements(), cout/groups, taps)
	} else {
		touched = win.touched(touched)
	}
	w := Work{Category: Conv, Kind: convKind(&win, groups, cin, transposed)}
	unit := hw.Matrix
	if groups == cin && groups > 1 {
		unit = hw.Vector // one input channel a group leaves the matrix unit nothing to do
	}
	w.Read, w.Written = sum(touched, weight.Bytes()), product(outputs, x.store)
	if bias, ok := in.optional(v.bias); ok {
		w.Read = sum(w.Read, bias.Bytes())
		flops = sum(flops, outputs)
	}
	w.charge(unit, x.Type, flops)
	return in.done(w)
}

// groupsOf returns the number of groups. Operators without an argument for it have one group, or are depthwise: then
// the weight tells.
func (v conv) groupsOf(c *Call, weight *Tensor, cin int64, transposed bool) int64 {
	if g, ok := c.Int(v.groups); ok {
		return g
	}
	if each := weight.Dims[1]; v.groups == none && !transposed && each > 0 && cin%each == 0 {
		return cin / each
	}
	return 1
}

// window reads the spatial parts. The input may lack the batch dimension.
func (v conv) window(in *reading, x, weight *Tensor) (w window, n, cin int64) {
	w.n = len(weight.Dims) - 2
	n = 1
	if len(x.Dims) == w.n+2 {
		n = x.Dims[0]
	}
	in.require(w.n <= 3 && (len(x.Dims) == w.n+2 || len(x.Dims) == w.n+1),
		"input of one dimension a spatial dimension, channels and batch")
	if in.err != nil {
		return w, 0, 0
	}
	cin = x.last(w.n)
	for i := range w.n {
		w.in[i], w.kernel[i] = x.last(w.n-1-i), weight.Dims[2+i]
	}
	in.spatial(v.stride, w.n, &w.stride, 1, 1)
	in.spatial(v.dilation, w.n, &w.dilation, 1, 1)
	in.spatial(v.outputPadding, w.n, &w.surplus, 0, 0)
	if a := in.call.arg(v.padding); a != nil && strings.EqualFold(a.Value, "same") {
		w.same = true
	} else if a == nil || !strings.EqualFold(a.Value, "valid") {
		in.spatial(v.padding, w.n, &w.padding, 0, 0)
	}
	return w, n, cin
}

// spatial reads a list of n numbers, or of one that stands for all, or of none, which leaves the value given. So does
// an argument that the operator does not have; one that was not recorded is missing.
func (r *reading) spatial(i, n int, to *[3]int64, value, least int64) {
	for k := range to {
		to[k] = value
	}
	if i == none {
		return
	}
	var buf [8]int64
	list, ok := r.call.Ints(i, buf[:0])
	r.require(ok, "stride, padding or dilation")
	for k := range n {
		switch len(list) {
		case 0:
			continue
		case 1:
			to[k] = list[0]
		case n:
			to[k] = list[k]
		default:
			r.require(false, "stride, padding or dilation of the right length")
		}
		r.require(to[k] >= least && to[k] < 1<<31, "sane stride, padding or dilation")
	}
}

// size computes the output.
func (w *window) size(in *reading, transposed bool) {
	for i := range w.n {
		reach := sum(product(w.dilation[i], max(0, w.kernel[i]-1)), 1)
		switch {
		case w.same:
			w.out[i] = w.in[i]
			continue
		case transposed:
			w.out[i] = sum(product(max(0, w.in[i]-1), w.stride[i]), reach, w.surplus[i])
			in.require(w.out[i] < tooMuch, "output size")
			w.out[i] -= 2 * w.padding[i]
		default:
			w.out[i] = sum(w.in[i], 2*w.padding[i], w.surplus[i])
			in.require(w.out[i] >= reach, "input as large as the kernel")
			w.out[i] = (w.out[i]-reach)/max(1, w.stride[i]) + 1
		}
		in.require(w.out[i] >= 0 && w.out[i] < tooMuch, "output size")
		w.out[i] = max(0, w.out[i])
	}
}

func (w *window) product(of *[3]int64) int64 { return product(of[:w.n]...) }

// touched returns the bytes of the input that are read: strides wider than the kernel step over the rest.
func (w *window) touched(bytes int64) int64 {
	for i := range w.n {
		if w.kernel[i] < w.stride[i] {
			bytes = ratio(product(bytes, w.kernel[i]), w.stride[i])
		}
	}
	return bytes
}

func convKind(w *window, groups, cin int64, transposed bool) string {
	switch {
	case transposed:
		return "transposed convolution"
	case groups == cin && groups > 1:
		return "depthwise convolution"
	case w.patches():
		return "patch embedding"
	case w.product(&w.kernel) == 1:
		return "pointwise convolution"
	}
	return [...]string{"", "1-D convolution", "2-D convolution", "3-D convolution"}[w.n]
}

// patches reports whether the kernel covers the input without overlap, as a patch embedding does.
func (w *window) patches() bool {
	wide := false
	for i := range w.n {
		if w.kernel[i] != w.stride[i] || w.padding[i] != 0 {
			return false
		}
		wide = wide || w.kernel[i] > 1
	}
	return wide
}
