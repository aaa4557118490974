package perfmodel

import (
	"slices"
	"strings"
)

// A fusion is what the name of an Inductor kernel tells: "triton_red_fused_add_native_layer_norm_12" fuses add and
// native_layer_norm. Each operator is named once, however often it was fused. An operator that the Inductor calls
// from outside (addmm, an attention) is named too when the kernel is its prologue or epilogue; it makes no class.
type fusion struct {
	ops   fusedOps
	flops int64 // nominal operations an element
	moves bool  // every operator only moves data
}

// fusedOps is the set of operators that a class may turn on.
type fusedOps uint32

const (
	opCos fusedOps = 1 << iota
	opSin
	opConvolution
	opLayerNorm
	opMul
	opAdd
	opSplit
	opUnbind
	opAbs
	opAmax
	opPow
	opMean
	opRsqrt
	opStack
	opNeg
	opComplex
	opGELU
	opSiLU
	opZeros
	opCat
	opAddmm
)

// A fusedOp is what one operator contributes to a kernel.
type fusedOp struct {
	op    fusedOps
	flops int64
	moves bool
}

// knownOps are the operators that mean something in a kernel's name, by name. The arithmetic ones are those of
// pointwise.go.
var knownOps = func() map[string]fusedOp {
	m := map[string]fusedOp{
		"native_layer_norm": {opLayerNorm, 8, false}, "var_mean": {opLayerNorm, 4, false}, "mean": {opMean, 1, false},
		"sum": {0, 1, false}, "amax": {opAmax, 1, false}, "amin": {0, 1, false},
		"convolution": {op: opConvolution}, "addmm": {op: opAddmm}, "mm": {}, "bmm": {},
		"view_as_complex": {op: opComplex},
		"zeros":           {op: opZeros}, "zeros_like": {op: opZeros}, "full": {op: opZeros}, "full_like": {op: opZeros},
	}
	for name, op := range map[string]fusedOps{"split": opSplit, "split_with_sizes": opSplit, "slice": opSplit,
		"chunk":  opSplit,
		"unbind": opUnbind, "stack": opStack, "cat": opCat} {
		m[name] = fusedOp{op: op, moves: true}
	}
	for _, name := range [...]string{"clone", "transpose", "view", "permute", "copy_", "copy", "expand", "unsqueeze",
		"squeeze", "select",
		"reshape", "t", "alias", "detach", "_unsafe_view", "_to_copy", "_reshape_alias", "as_strided", "empty_like",
		"repeat",
		"_scaled_dot_product_flash_attention", "_scaled_dot_product_efficient_attention",
		"_scaled_dot_product_cudnn_attention",
		"fmha_v3_fwd", "mha_fwd", "_flash_attn_forward"} {
		m[name] = fusedOp{moves: true}
	}
	flags := map[string]fusedOps{"cos": opCos, "sin": opSin, "mul": opMul, "add": opAdd, "abs": opAbs, "pow": opPow,
		"rsqrt": opRsqrt,
		"neg":   opNeg, "gelu": opGELU, "silu": opSiLU}
	for _, p := range pointwiseOps {
		m[p.op] = fusedOp{op: flags[p.op], flops: p.flops}
	}
	return m
}()

// A namedOp is a known operator under its name.
type namedOp struct {
	name string
	fusedOp
}

// opsByWord holds the known operators by the first word of their names, the longest first.
var opsByWord = func() map[string][]namedOp {
	m := make(map[string][]namedOp, len(knownOps))
	for name, op := range knownOps {
		word := firstWord(name)
		m[word] = append(m[word], namedOp{name, op})
	}
	for _, list := range m {
		slices.SortFunc(list, func(a, b namedOp) int { return len(b.name) - len(a.name) })
	}
	return m
}()

func firstWord(name string) string {
	for i := 1; i < len(name); i++ {
		if name[i] == '_' {
			return name[:i]
		}
	}
	return name
}

// fusionOf reads the name of an Inductor kernel. Words that belong to no known operator are passed over.
func fusionOf(name string) fusion {
	_, body, ok := strings.Cut(name, "_fused_")
	if !ok {
		return fusion{}
	}
	body = strings.TrimRight(strings.TrimRight(body, "0123456789"), "_")
	f := fusion{moves: body != ""}
	for body != "" {
		n, op, known := nextOp(body)
		f.ops |= op.op
		f.flops += op.flops
		f.moves = f.moves && known && op.moves
		body = strings.TrimPrefix(body[n:], "_")
	}
	return f
}

// nextOp finds the longest known operator at the start of a name, or passes over a word. n is its length.
func nextOp(body string) (n int, op fusedOp, known bool) {
	word := firstWord(body)
	for _, o := range opsByWord[word] {
		n = len(o.name)
		if strings.HasPrefix(body, o.name) && (n == len(body) || body[n] == '_') {
			return n, o.fusedOp, true
		}
	}
	return len(word), fusedOp{}, false
}

func (f fusion) all(ops fusedOps) bool { return f.ops&ops == ops }
func (f fusion) any(ops fusedOps) bool { return f.ops&ops != 0 }

// class tells what the kernel is for. The first rule that fits decides.
func (f fusion) class() (Category, string) {
	rotary := f.any(opComplex) || f.all(opStack) && f.any(opNeg|opUnbind)
	switch {
	case f.all(opCos | opSin):
		return Elementwise, "sine and cosine table"
	case f.all(opConvolution):
		return Elementwise, "patch-embedding epilogue"
	case f.all(opLayerNorm|opMul|opAdd) && f.any(opSplit|opUnbind):
		return Modulation, "adaLN: gated residual, layer norm, modulate"
	case f.all(opLayerNorm | opMul | opAdd):
		return Modulation, "adaLN: layer norm, modulate"
	case f.all(opLayerNorm):
		return Norm, "layer-norm statistics"
	case f.all(opAbs | opAmax):
		return Quantize, "quantisation range"
	case f.all(opPow|opMean|opRsqrt) && rotary:
		return Rope, "q/k RMS norm and RoPE"
	case f.all(opPow | opMean | opRsqrt):
		return Norm, "q/k RMS norm"
	case f.all(opPow | opMean):
		return Norm, "RMS-norm statistics"
	case rotary:
		return Rope, "RoPE"
	case f.all(opGELU | opCat):
		return Elementwise, "bias, GELU and concatenation of the MLP"
	case f.all(opGELU):
		return Elementwise, "bias and GELU of the MLP"
	case f.all(opSiLU):
		return Elementwise, "SiLU of the conditioning"
	case f.all(opZeros):
		return Quantize, "fill or quantisation buffers"
	case f.all(opAdd|opMul) && f.any(opSplit):
		return Modulation, "gated residual, modulate"
	case f.moves:
		return Copy, "layout copy"
	}
	return Triton, ""
}

// classifyCompiled returns the category and kind of an Inductor kernel by its name.
func classifyCompiled(name string) (Category, string) {
	f := fusionOf(name)
	if !strings.HasPrefix(name, "triton_tem_") {
		return f.class()
	}
	switch {
	case strings.Contains(name, "attention"):
		return Attention, "compiled template"
	case f.any(opConvolution):
		return Conv, "compiled template"
	}
	return GEMM, "compiled template"
}
