package synth

import (
	"fmt"
	"time"
)

// The operators below are called as PyTorch calls them, with the kernels a ROCm build launches, and their work is added to
// the Answer by formulas written out here on their own, so that a model can be checked against them.

const (
	matrixPeak = 708e12 // FLOP/s, used only to give kernels believable durations
	bandwidth  = 5.3e12
)

// duration is how long work takes at the given efficiency, with a floor for the kernel itself.
func duration(flops, bytes int64, efficiency float64) time.Duration {
	t := max(float64(flops)/matrixPeak, float64(bytes)/bandwidth) / efficiency
	return 2200*time.Nanosecond + time.Duration(t*1e9)
}

// leaf records an operator with one kernel and known work.
func (r *Recorder) leaf(op, kernel string, args []Arg, flops, bytes int64, efficiency float64) {
	d := duration(flops, bytes, efficiency)
	r.Op(op, args, func() { r.Launch(Work{Name: kernel, Dur: d}) })
	r.Known(op, flops, bytes, d)
}

const gemmKernel = "Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT256x%dx64_MI16x16x1_SN_LDSB0_ISA942"

// Addmm is a linear layer with bias: (m,k) x (k,n) + (n).
func (r *Recorder) Addmm(m, k, n int64) {
	flops := 2*m*n*k + m*n
	bytes := 2 * (m*k + k*n + m*n + n)
	eff := 0.78
	if m < 64 {
		eff = 0.5
	}
	r.leaf("aten::addmm", fmt.Sprintf(gemmKernel, min(256, 16*((n+2047)/2048)*2)),
		[]Arg{Tensor(BF16, n), Tensor(BF16, m, k), Weight(BF16, k, n), Scalar("1"), Scalar("1")}, flops, bytes, eff)
}

// Attention is full attention of b x h heads of nq queries and nk keys of size d.
func (r *Recorder) Attention(b, h, nq, nk, d int64) {
	flops := 4 * b * h * nq * nk * d
	bytes := 2 * b * h * d * (2*nq + 2*nk)
	dur := duration(flops, bytes, 0.42)
	q, k := Tensor(BF16, b, h, nq, d), Tensor(BF16, b, h, nk, d)
	outer := []Arg{q, k, k, Scalar("0."), Scalar("False"), Scalar("False"), Scalar("0.088388347648318447")}
	r.Op("aten::_scaled_dot_product_flash_attention", outer, func() {
		qi, ki := Tensor(BF16, b, nq, h, d), Tensor(BF16, b, nk, h, d)
		inner := []Arg{qi, ki, ki, Absent(), Absent(), Scalar(fmt.Sprint(nq)), Scalar(fmt.Sprint(nk)), Scalar("0."), Scalar("False"),
			Scalar("False"), Scalar("0.088388347648318447"), Absent(), Absent(), Absent(), Absent()}
		r.Op("aten::_flash_attention_forward", inner, func() { r.Launch(Work{Name: "attn_fwd", Dur: dur}) })
	})
	r.Known("aten::_scaled_dot_product_flash_attention", flops, bytes, dur)
}

const vectorized = "void at::native::vectorized_elementwise_kernel<8, at::native::%s, std::array<char*, %dul> >(int, %[1]s, std::array<char*, %[2]dul>)"

// Binary is add or mul of a tensor with one that broadcasts to it.
func (r *Recorder) Binary(op string, a, b Arg) {
	n := a.elements()
	args := []Arg{a, b}
	if op == "aten::add" {
		args = append(args, Scalar("1"))
	}
	r.leaf(op, fmt.Sprintf(vectorized, "CUDAFunctor_"+op[len("aten::"):]+"<c10::BFloat16>", 3), args, n, 2*(2*n+b.elements()), 0.6)
}

// Unary is an activation; flopsEach is its nominal cost an element.
func (r *Recorder) Unary(op string, a Arg, flopsEach int64, extra ...Arg) {
	n := a.elements()
	r.leaf(op, fmt.Sprintf(vectorized, op[len("aten::"):]+"_kernel_cuda", 2), append([]Arg{a}, extra...), flopsEach*n, 4*n, 0.6)
}

// LayerNorm normalises the last dimension of (b,n,c) without weights.
func (r *Recorder) LayerNorm(b, n, c int64) {
	elems, rows := b*n*c, b*n
	x := Tensor(BF16, b, n, c)
	d := duration(0, 4*elems+8*rows, 0.45)
	r.Op("aten::layer_norm", []Arg{x, Ints(c), Absent(), Absent(), Scalar("9.9999999999999995e-07"), Scalar("True")}, func() {
		r.Op("aten::native_layer_norm", []Arg{x, Ints(c), Absent(), Absent(), Scalar("9.9999999999999995e-07")}, func() {
			r.Launch(Work{Name: "void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<c10::BFloat16, float, false>", Dur: d})
		})
	})
}

// Conv2d is a 3x3 convolution with padding 1 and bias on (1,cin,hw,hw), with the layout copies an NCHW model pays.
func (r *Recorder) Conv2d(cin, cout, hw int64) {
	out := cout * hw * hw
	flops := 2*out*cin*9 + out
	bytes := 2 * (cin*hw*hw + cout*cin*9 + out + cout)
	x, w, b := Tensor(BF16, 1, cin, hw, hw), Tensor(BF16, cout, cin, 3, 3), Tensor(BF16, cout)
	core, move := duration(flops, bytes, 0.5), duration(0, 4*cin*hw*hw, 0.6)
	args := []Arg{x, w, b, Ints(1, 1), Ints(1, 1), Ints(1, 1), Scalar("False"), Ints(0, 0), Scalar("1")}
	r.Op("aten::convolution", args, func() {
		r.Op("aten::miopen_convolution", []Arg{x, w, Absent(), Ints(1, 1), Ints(1, 1), Ints(1, 1), Scalar("1"), Scalar("False"), Scalar("False")}, func() {
			r.Launch(Work{Name: "batched_transpose_32x32_half", Dur: move})
			r.Launch(Work{Name: "igemm_fwd_gtcx3_nhwc_bf16_bx0_ex1_bt128x128x32_wt32x32x8_ws1x1_wr2x2", Dur: core})
			r.Launch(Work{Name: "batched_transpose_32x32_half", Dur: move})
		})
	})
	r.Known("aten::convolution", flops, bytes, core+2*move)
}

// GroupNorm is native group norm of (1,c,hw,hw) with weights.
func (r *Recorder) GroupNorm(c, hw int64) {
	n := c * hw * hw
	x, w := Tensor(BF16, 1, c, hw, hw), Tensor(BF16, c)
	d := duration(0, 4*n, 0.4)
	r.Op("aten::native_group_norm", []Arg{x, w, w, Scalar("1"), Scalar(fmt.Sprint(c)), Scalar(fmt.Sprint(hw * hw)), Scalar("32"),
		Scalar("9.9999999999999995e-07")}, func() {
		r.Launch(Work{Name: "void at::native::(anonymous namespace)::RowwiseMomentsCUDAKernel<c10::BFloat16, float>", Dur: d / 2})
		r.Launch(Work{Name: "void at::native::(anonymous namespace)::ComputeFusedParamsCUDAKernel<c10::BFloat16>", Dur: d - d/2})
	})
}

// Upsample doubles height and width of (1,c,hw,hw).
func (r *Recorder) Upsample(c, hw int64) {
	n := c * hw * hw
	r.leaf("aten::upsample_nearest2d", "void at::native::upsample_nearest2d_out_frame<c10::BFloat16, &at::native::nearest_neighbor_compute_source_index>",
		[]Arg{Tensor(BF16, 1, c, hw, hw), Ints(2*hw, 2*hw), Scalar("2."), Scalar("2.")}, 0, 2*(n+4*n), 0.5)
}

// Cat joins two tensors of (b,n1,c) and (b,n2,c) along the tokens.
func (r *Recorder) Cat(b, n1, n2, c int64) {
	n := b * (n1 + n2) * c
	r.leaf("aten::cat", "void at::native::(anonymous namespace)::CatArrayBatchedCopy_contig<at::native::(anonymous namespace)::OpaqueType<2u>, unsigned int, 3, 128, 1>",
		[]Arg{Tensors([]int64{b, n1, c}, []int64{b, n2, c}), Scalar("1")}, 0, 4*n, 0.5)
}

// Download copies bytes to the host.
func (r *Recorder) Download(bytes int64) {
	d := 4*time.Microsecond + time.Duration(float64(bytes)/40) // 40 GB/s
	r.Op("aten::copy_", []Arg{Tensor(BF16, bytes/2), Tensor(BF16, bytes/2), Scalar("False")}, func() {
		r.Launch(Work{Name: "Memcpy DtoH (Device -> Host)", Dur: d, Kind: "DtoH", Bytes: bytes})
	})
}
