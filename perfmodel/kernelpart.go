package perfmodel

// A Part is what one kernel does inside the operator that launched it.
type Part uint8

// Parts.
const (
	CorePart   Part = iota // the modelled work itself
	LayoutPart             // transposes and copies around it
	BiasPart               // bias or epilogue in a kernel of its own
	Im2colPart             // explicit im2col before a GEMM
	SplitKPart             // workspace fill, cast and reduction around split-K kernels
	FillPart               // other fills
)

// String returns "core", "layout", "bias", "im2col", "split-K" or "fill".
func (p Part) String() string {
	return [...]string{"core", "layout", "bias", "im2col", "split-K", "fill"}[min(p, FillPart)]
}

// KernelPart tells which part of an operator of category op a kernel (or copy or fill) is, by the kernel's name. What it
// cannot tell is core: an unknown kernel is more likely the work than a helper.
func KernelPart(op Category, kernel string) Part {
	c, kind := classifyKernel(kernel)
	switch op {
	case GEMM:
		return gemmPart(c, kind)
	case Conv:
		return convPart(c, kind)
	case Attention, CrossAttention, Norm, Softmax, Reduction, Rope, Quantize:
		switch {
		case c == Fill:
			return FillPart
		case c == Copy || c == Memcpy || kind == kindLayout:
			return LayoutPart
		}
	case Copy:
		if kind == "" && c == Fill {
			return FillPart
		}
	}
	return CorePart
}

func gemmPart(c Category, kind string) Part {
	switch {
	case kind == kindSplitK:
		return SplitKPart
	case c == Fill:
		return FillPart
	case c == Copy || c == Memcpy || kind == kindLayout:
		return LayoutPart
	case c == Elementwise:
		return BiasPart
	}
	return CorePart
}

func convPart(c Category, kind string) Part {
	switch {
	case kind == kindSplitK || c == Fill:
		return SplitKPart
	case kind == kindIm2col:
		return Im2colPart
	case c == Copy || c == Memcpy || kind == kindLayout:
		return LayoutPart
	case c == Elementwise:
		return BiasPart
	}
	return CorePart
}
