package perfmodel_test

import (
	"testing"

	"github.com/ditlens/ditlens/hw"
	"github.com/ditlens/ditlens/perfmodel"
	"github.com/ditlens/ditlens/trace"
)

// BL-68: groups, transposition and the third dimension.
func TestBL68Convolutions(t *testing.T) {
	tail := func(stride, padding, transposed, outPadding, groups string) []trace.Arg {
		return []trace.Arg{absent, list(stride), list(padding), list("[1, 1]"), number(transposed), list(outPadding),
			number(groups)}
	}
	conv := func(x, w trace.Arg, rest []trace.Arg) *perfmodel.Call {
		return call("aten::convolution", append([]trace.Arg{x, w}, rest...)...)
	}
	three := conv(bf16(1, 128, 19, 242, 242), bf16(128, 128, 3, 3, 3),
		[]trace.Arg{absent, list("[1, 1, 1]"), list("[0, 0, 0]"), list("[1, 1, 1]"),
			number("False"), list("[0, 0, 0]"), number("1")})
	wants(t, three, 866_333_491_200, 536_415_232)
	deep := wants(t, conv(bf16(1, 256, 64, 64), bf16(256, 1, 3, 3),
		tail("[1, 1]", "[1, 1]", "False", "[0, 0]", "256")), 18_874_368, 2*(2*1_048_576+2304))
	if deep.Compute[0].Unit != hw.Vector {
		t.Errorf("depthwise convolution on unit %v", deep.Compute[0].Unit)
	}
	wants(t, conv(bf16(1, 512, 128, 128), bf16(512, 256, 3, 3), tail("[2, 2]", "[1, 1]", "True", "[1, 1]", "1")),
		38_654_705_664,
		2*(512*128*128+512*256*9+256*256*256))
	wants(t, call("aten::_conv_depthwise2d", bf16(1, 256, 64, 64), bf16(256, 1, 3, 3), list("[3, 3]"), absent, list("[1, 1]"), list("[1, 1]"),
		list("[1, 1]")), 18_874_368, 2*(2*1_048_576+2304))
	// Grouped and transposed: the weight holds the outputs of one group.
	wants(t, conv(bf16(1, 64, 8, 8), bf16(64, 16, 2, 2), tail("[2]", "[0]", "True", "[0]", "4")), 2*64*64*16*4,
		2*(64*64+64*16*4+64*256))
	// A stride beyond the kernel leaves half of each dimension unread.
	wants(t, conv(bf16(1, 8, 16, 16), bf16(8, 8, 1, 1), tail("[2, 2]", "[0, 0]", "False", "[0, 0]", "1")), 2*8*64*8,
		2*(8*64+64+8*64))
	// Padding in words, and orders of other backends.
	same := call("aten::conv2d", bf16(1, 8, 16, 16), bf16(8, 8, 3, 3), absent, list("[1, 1]"), text("same"),
		list("[1, 1]"), number("1"))
	wants(t, same, 2*8*256*8*9, 2*(2*8*256+8*8*9))
	cudnn := call("aten::cudnn_convolution", bf16(1, 8, 16, 16), bf16(8, 8, 3, 3), list("[1, 1]"), list("[1, 1]"),
		list("[1, 1]"), number("1"))
	wants(t, cudnn, 2*8*256*8*9, 2*(2*8*256+8*8*9))
	refused(t, conv(bf16(1, 8, 2, 2), bf16(8, 8, 3, 3), tail("[1, 1]", "[0, 0]", "False", "[0, 0]", "1")), "kernel")
	refused(t, conv(bf16(1, 9, 8, 8), bf16(8, 8, 3, 3), tail("[1, 1]", "[0, 0]", "False", "[0, 0]", "1")), "channels")
	refused(t, call("aten::convolution", bf16(1, 8, 8, 8), bf16(8, 8, 3, 3)), "stride")
}

// One convolution through every operator that can do it, and one transposed.
func convRows() (rows []worked) {
	x, w, b := bf16(1, 8, 16, 16), bf16(4, 8, 3, 3), bf16(4)
	one, zero, no, size := list("[1, 1]"), list("[0, 0]"), number("False"), list("[3, 3]")
	g := number("1")
	const taps, outs = 2 * 256 * 4 * 8 * 9, 256 * 4
	const moved = 2 * (8*256 + 4*8*9 + outs)
	add := func(flops, bytes int64, name string, args ...trace.Arg) {
		rows = append(rows, worked{call: call(name, args...), flops: flops, bytes: bytes})
	}
	add(taps+outs, moved+8, "aten::convolution", x, w, b, one, one, one, no, zero, g)
	add(taps+outs, moved+8, "aten::_convolution", x, w, b, one, one, one, no, zero, g, no, no, no, no)
	add(taps+outs, moved+8, "aten::conv2d", x, w, b, one, one, one, g)
	add(taps+outs, moved+8, "aten::miopen_convolution", x, w, b, one, one, one, g, no, no)
	add(taps, moved, "aten::cudnn_convolution", x, w, one, one, one, g, no, no, no)
	add(taps+outs, moved+8, "aten::cudnn_convolution_relu", x, w, b, one, one, one, g)
	add(taps+outs, moved+8, "aten::_slow_conv2d_forward", x, w, size, b, one, one)
	add(taps+outs, moved+8, "aten::_conv_depthwise2d", x, w, size, b, one, one, one)
	wT := bf16(8, 4, 3, 3)
	add(taps+outs, moved+8, "aten::convolution", x, wT, b, one, one, one, number("True"), zero, g)
	add(taps+outs, moved+8, "aten::conv_transpose2d", x, wT, b, one, one, zero, g, one)
	add(taps+outs, moved+8, "aten::miopen_convolution_transpose", x, wT, b, one, zero, one, one, g, no, no)
	add(taps, moved, "aten::cudnn_convolution_transpose", x, wT, one, zero, one, one, g, no, no, no)
	add(taps+outs, moved+8, "aten::slow_conv_transpose2d", x, wT, size, b, one, one, zero, one)
	return rows
}

func TestConvolutionOfBackends(t *testing.T) {
	for _, row := range convRows() {
		wants(t, row.call, row.flops, row.bytes)
	}
}
