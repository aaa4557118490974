package perfmodel_test

import (
	"fmt"
	"time"

	"github.com/ditlens/ditlens/perfmodel"
	"github.com/ditlens/ditlens/trace"
)

// Three nested operators, one kernel: the product counts once, under the operator that knows its arguments.
func ExampleAttribute() {
	const us = time.Microsecond
	matrix := func(rows, columns int64) trace.Arg {
		return trace.Arg{Type: "c10::BFloat16", Dims: []int64{rows, columns}}
	}
	var b trace.Builder
	host := b.Thread(0, 1, 1, "python")
	b.Op(trace.Op{Name: "aten::linear", Start: 0, Dur: 30 * us, Thread: host,
		Inputs: b.Inputs(trace.Inputs{Args: []trace.Arg{matrix(4096, 2432), matrix(9728, 2432)}})})
	b.Op(trace.Op{Name: "aten::matmul", Start: 5 * us, Dur: 20 * us, Thread: host,
		Inputs: b.Inputs(trace.Inputs{Args: []trace.Arg{matrix(4096, 2432), matrix(2432, 9728)}})})
	b.Op(trace.Op{Name: "aten::mm", Start: 10 * us, Dur: 10 * us, Thread: host,
		Inputs: b.Inputs(trace.Inputs{Args: []trace.Arg{matrix(4096, 2432), matrix(2432, 9728)}})})
	b.Launch(trace.Launch{Name: "hipExtModuleLaunchKernel", Start: 12 * us, Dur: us, Thread: host, Correlation: 7})
	b.GPU(trace.GPUEvent{Name: "Cijk_Alik_Bljk_BBS", Start: 40 * us, Dur: 330 * us, Correlation: 7})
	t, err := b.Build()
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, in := range perfmodel.Attribute(t, perfmodel.Default()) {
		fmt.Printf("%s by %s: %s, %d FLOPs, %d bytes, %d kernel\n",
			in.Call.Name, in.Model, in.Work.Category, in.Work.FLOPs(), in.Work.Bytes, len(in.GPU))
	}
	// Output:
	// aten::mm by gemm.mm: gemm, 193810399232 FLOPs, 146931712 bytes, 1 kernel
}

// The operator decides; the kernel is asked when the operator is unknown.
func ExampleClassify() {
	for _, call := range [][2]string{
		{"aten::miopen_convolution", "Cijk_Ailk_Bljk_BBS_BH"},
		{"", "Cijk_Ailk_Bljk_BBS_BH"},
		{"", "triton_red_fused_add_addmm_mul_native_layer_norm_split_16"},
		{"", "triton_poi_fused_cat_clone_fmha_v3_fwd_permute_transpose_view_8"},
	} {
		category, kind := perfmodel.Classify(call[0], call[1])
		fmt.Printf("%s %q\n", category, kind)
	}
	// Output:
	// conv ""
	// gemm ""
	// modulation "adaLN: gated residual, layer norm, modulate"
	// copy "layout copy"
}
