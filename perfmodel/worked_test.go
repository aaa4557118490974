package perfmodel_test

import (
	"math"
	"testing"

	"github.com/ditlens/ditlens/hw"
	"github.com/ditlens/ditlens/perfmodel"
	"github.com/ditlens/ditlens/trace"
)

// A worked row is one call of a diffusion run on an MI300X whose work was computed by hand: operations, bytes and, at the achievable
// peaks, the least time in microseconds (0 where the time says nothing).
type worked struct {
	name  string
	call  *perfmodel.Call
	flops int64
	bytes int64
	us    float64
	bound hw.Bound
}

const anyFLOPs = -1 // a nominal count that no roof depends on

func workedRows() []worked {
	gelu := "triton_poi_fused_addmm_gelu_view_15"
	full := bf16(1, 128, 1024, 1024)
	return []worked{
		{"mm, MLP up", call("aten::mm", bf16(8192, 2432), bf16(2432, 9728), bf16(8192, 9728)), 387_620_798_464,
			246_546_432, 547.487, hw.ComputeBound},
		{"mm without out", call("aten::mm", bf16(8192, 2432), strided(bf16(2432, 9728), 1, 2432)), 387_620_798_464,
			246_546_432, 547.487, hw.ComputeBound},
		{"addmm", call("aten::addmm", bf16(2432), bf16(8192, 2432), bf16(2432, 2432), number("1"), number("1"),
			bf16(8192, 2432)),
			96_925_122_560, 91_525_888, 136.900, hw.ComputeBound},
		{"mm, adaLN projection", call("aten::mm", bf16(2, 2432), bf16(2432, 14592)), 141_950_976, 71_043_584, 13.4044,
			hw.MemoryBound},
		{"mm, text projection", call("aten::mm", bf16(256, 4096), bf16(4096, 4096)), 8_589_934_592, 37_748_736,
			12.133, hw.ComputeBound},
		{"bmm", call("aten::bmm", bf16(64, 256, 256), bf16(64, 256, 64)), 536_870_912, 12_582_912, 2.374,
			hw.MemoryBound},
		{"mm, FLUX adaLN", call("aten::mm", bf16(1, 3072), bf16(3072, 18432)), 113_246_208, 113_289_216, 21.375,
			hw.MemoryBound},
		{"mm, Hunyuan single block", call("aten::mm", bf16(7431, 15360), bf16(15360, 3072)), 701_277_143_040,
			368_308_224, 990.505, hw.ComputeBound},

		{"joint attention", call("aten::_scaled_dot_product_flash_attention", bf16(2, 38, 4429, 64),
			bf16(2, 38, 4429, 64), bf16(2, 38, 4429, 64),
			number("0."), number("False"), number("False"), number("0.125")), 381_649_693_696, 172_341_248, 539.053,
			hw.ComputeBound},
		{"aiter attention", call("aiter::fmha_v3_fwd", bf16(1, 7431, 24, 128), bf16(1, 7431, 24, 128),
			bf16(1, 7431, 24, 128),
			number("0."), number("0.088"), number("False"), number("-1"), number("-1"), number("False"),
			number("False"), number("1")),
			678_540_423_168, 182_624_256, 958.390, hw.ComputeBound},
		{"aiter attention, FLUX", call("aiter::fmha_v3_fwd", bf16(1, 768, 24, 128), bf16(1, 768, 24, 128),
			bf16(1, 768, 24, 128),
			number("0."), number("0.088"), number("False"), number("-1"), number("-1")), 7_247_757_312, 18 << 20,
			10.237, hw.ComputeBound},
		{"Sage attention", sageCall(), 7_247_757_312, 11_809_632, 5.6935, hw.ComputeBound},
		{"Sage quantisation", call("sage_quant_kernel_0", bf16(1, 24, 768, 128), i8(1, 24, 768, 128), f32(1, 24, 3),
			bf16(1, 24, 768, 128),
			i8(1, 24, 768, 128), f32(1, 24, 6), bf16(1, 24, 768, 128), fp8(1, 24, 768, 128), f32(1, 24, 128),
			number("768")),
			anyFLOPs, 21_246_816, 4.0088, hw.MemoryBound},
		{"VAE attention with mask", call("aten::_scaled_dot_product_efficient_attention", bf16(1, 1, 4500, 512),
			bf16(1, 1, 4500, 512),
			bf16(1, 1, 4500, 512), bf16(1, 1, 4500, 4500), number("False"), number("0."), number("False")),
			41_472_000_000, 58_932_000, 58.576, hw.ComputeBound},
		{"Llama attention, mask expanded over heads",
			call("aten::_efficient_attention_forward", bf16(1, 351, 32, 128), bf16(1, 351, 32, 128),
				bf16(1, 351, 32, 128), strided(bf16(1, 32, 351, 351), 123201, 0, 351, 1), absent, absent, absent, absent,
				number("0."), number("0"),
				number("False")), 2_018_525_184, 11_501_568 + 351*351*2, 2.851, hw.ComputeBound},
		{"CLIP, causal", call("aten::_scaled_dot_product_flash_attention", bf16(1, 20, 77, 64), bf16(1, 20, 77, 64),
			bf16(1, 20, 77, 64),
			number("0."), number("True"), number("False")), 15_375_360, 788_480, 0.14877, hw.MemoryBound},

		{"group norm", call("aiter::_groupnorm_run", full, number("32"), bf16(128), bf16(128), number("1e-06")),
			671_089_408, 536_871_424, 101.297, hw.MemoryBound},
		{"layer norm", call("aten::layer_norm", bf16(1, 77, 1280), list("[1280]"), bf16(1280), bf16(1280),
			number("1e-05"), number("True")),
			anyFLOPs, 399_360, 0.075351, hw.MemoryBound},

		{"conv 3x3", call("aten::convolution", full, bf16(128, 128, 3, 3), bf16(128), list("[1, 1]"), list("[1, 1]"),
			list("[1, 1]"),
			number("False"), list("[0, 0]"), number("1")), 309_371_863_040, 537_166_080, 436.966, hw.ComputeBound},
		{"patch embedding", call("aten::convolution", bf16(2, 16, 128, 128), bf16(2432, 16, 2, 2), absent,
			list("[2, 2]"), list("[0, 0]"), list("[1, 1]"),
			number("False"), list("[0, 0]"), number("1")), 2_550_136_832, 41_205_760, 7.775, hw.MemoryBound},
		{"conv to RGB", call("aten::convolution", full, bf16(3, 128, 3, 3), bf16(3), list("[1, 1]"), list("[1, 1]"),
			list("[1, 1]"),
			number("False"), list("[0, 0]"), number("1")), 7_250_903_040, 274_733_830, 51.837, hw.MemoryBound},
		{"conv3d", call("aten::convolution", bf16(1, 128, 19, 242, 242), bf16(128, 128, 3, 3, 3), bf16(128),
			list("[1, 1, 1]"), list("[0, 0, 0]"),
			list("[1, 1, 1]"), number("False"), list("[0, 0, 0]"), number("1")), 866_458_828_800, 536_415_488,
			1223.81, hw.ComputeBound},
		{"conv3d, MIOpen order", call("aten::miopen_convolution", bf16(1, 256, 19, 242, 242), bf16(256, 256, 3, 3, 3),
			bf16(256), list("[0, 0, 0]"),
			list("[1, 1, 1]"), list("[1, 1, 1]"), number("1"), number("False"), number("False")), 3_465_584_640_000,
			1_074_600_448, 4894.89, hw.ComputeBound},

		{"upsample 3-D", call("aten::upsample_nearest3d", bf16(1, 256, 8, 120, 120), absent, list("[2., 2., 2.]")), 0,
			530_841_600, 100.159, hw.MemoryBound},
		{"upsample 2-D", call("aten::upsample_nearest2d", bf16(1, 256, 512, 512), absent, list("[2., 2.]")), 0,
			671_088_640, 126.62, hw.MemoryBound},
		{"upsample 2-D by size", call("aten::upsample_nearest2d", bf16(1, 256, 512, 512), list("[1024, 1024]"),
			number("2."), number("2.")), 0, 671_088_640, 126.62, hw.MemoryBound},
		{"replication pad", call("aten::replication_pad3d", bf16(1, 128, 17, 240, 240), list("[1, 1, 1, 1, 2, 0]")),
			0, 535_530_496, 101.0435, hw.MemoryBound},
		{"cat", with(call("aten::cat", tensors(bf16(1, 256, 1, 240, 240), bf16(1, 256, 16, 240, 240)), number("2")),
			func(c *perfmodel.Call) {
				c.Kernel = "void at::native::(anonymous namespace)::CatArrayBatchedCopy_contig<at::native::(anonymous namespace)::OpaqueType<2u>, unsigned int, 5, 64, 64>"
			}), 0, 1_002_700_800, 189.189, hw.MemoryBound},

		{"add", call("aten::add", full, full, number("1")), 134_217_728, 805_306_368, 151.945, hw.MemoryBound},
		{"silu", call("aten::silu", full), anyFLOPs, 536_870_912, 101.297, hw.MemoryBound},
		{"mul of two types", call("aten::mul", bf16(1, 256, 4096), f32(1, 256, 1)), 1_048_576, 6_292_480, 1.1873,
			hw.MemoryBound},
		{"mul with a single value", call("aten::mul", f32(), bf16(1, 16, 128, 128)), 262_144, 1 << 20, 0.19784,
			hw.MemoryBound},
		{"mean", call("aten::mean", f32(1, 256, 4096), list("[-1]"), number("True"), absent), 1_048_576, 4_195_328,
			0.79157, hw.MemoryBound},
		{"softmax", call("aten::_softmax", f32(1, 64, 256, 256), number("-1"), number("False")), 5 * 4_194_304,
			33_554_432, 6.331, hw.MemoryBound},
		{"gather", call("aten::gather", bf16(32, 64), number("0"), strided(i64(65536, 64), 1, 0), number("False"),
			bf16(65536, 64)), 0, 8_916_992, 1.68245, hw.MemoryBound},
		{"add_ of a permuted bias", call("aten::add_", bf16(1, 64, 256, 256),
			strided(bf16(1, 64, 256, 256), 64, 1, 16384, 64), number("1")), 4_194_304, 25_165_824, 4.748,
			hw.MemoryBound},
		{"add of two layouts", call("aten::add", strided(bf16(1, 512, 128, 128), 8388608, 1, 65536, 512),
			bf16(1, 512, 128, 128), number("1")),
			8_388_608, 50_331_648, 9.497, hw.MemoryBound},
		{"add of one layout", call("aten::add", bf16(1, 512, 128, 128), bf16(1, 512, 128, 128), number("1")),
			8_388_608, 50_331_648, 9.497, hw.MemoryBound},
		{"copy to the host", with(call("aten::copy_", bf16(1, 3, 1024, 1024), bf16(1, 3, 1024, 1024),
			number("False")), func(c *perfmodel.Call) {
			c.Kind, c.Dir, c.Bytes = trace.Memcpy, trace.DeviceToHost, 6_291_456
		}), 0, 6_291_456, 98.304, hw.MemoryBound},
		{"min of two", call("aten::min", i64(256, 256), i64(256, 256)), 65536, 1_572_864, 0.29677, hw.MemoryBound},
		{"expanded copy", call("aten::copy_", bf16(1, 8, 4, 351, 128),
			strided(bf16(1, 8, 4, 351, 128), 359424, 44928, 0, 128, 1), number("False")),
			0, 3_594_240, 0.67816, hw.MemoryBound},

		{"bias and GELU, rule C", fused(gelu, "XBLOCK=512", bf16(2, 4096, 9728), bf16(9728), number("79691776")),
			anyFLOPs, 318_786_560, 0, hw.MemoryBound},
		{"RMS norm and transposition", fused("triton_per_fused__to_copy_add_addmm_mean_mul_pow_rsqrt_transpose_view_8", "XBLOCK=8",
			bf16(8192, 2432), bf16(2432), bf16(64), bf16(2, 38, 4096, 64), number("311296"), number("64")), anyFLOPs,
			79_696_768, 0, hw.MemoryBound},
		{"cat for attention", fused("triton_poi_fused__scaled_dot_product_flash_attention_cat_transpose_view_10",
			"XBLOCK=512",
			bf16(8192, 2432), bf16(666, 2432), bf16(2, 38, 4429, 64), number("21542656")), 0, 86_170_624, 0,
			hw.MemoryBound},
		{"slice", fused("triton_poi_fused__unsafe_view_clone_slice_transpose_13", "XBLOCK=1024",
			bf16(2, 38, 4429, 64), bf16(2, 333, 2432),
			number("1619712")), 0, 6_478_848, 0, hw.MemoryBound},
		{"transposition for fmha", fused("triton_poi_fused_cat_clone_fmha_v3_fwd_permute_transpose_view_8",
			"XBLOCK=1024", bf16(1, 24, 7431, 128),
			bf16(1, 7431, 24, 128), number("22828032")), 0, 91_312_128, 0, hw.MemoryBound},
		{"cat, bias and GELU", fused("triton_poi_fused_addmm_cat_gelu_slice_view_25", "XBLOCK=1024",
			bf16(1, 7431, 24, 128), bf16(7431, 12288), bf16(12288),
			bf16(1, 7431, 15360), number("114140160")), anyFLOPs, 456_585_216, 0, hw.MemoryBound},
		{"split layer norm, three sizes", fused("triton_red_fused__unsafe_view_add_clone_convolution_native_layer_norm_slice_transpose_view_4", "XBLOCK=64,YBLOCK=8,R0_BLOCK=64",
			bf16(2, 2432, 64, 64), bf16(2432), bf16(1, 36864, 2432), f32(2, 4096, 1, 19), f32(2, 4096, 1, 19),
			f32(2, 4096, 1, 19),
			number("8192"), number("19"), number("128")), anyFLOPs, 81_564_416, 0, hw.MemoryBound},
		{"RMS norm apply, two sizes", fused("triton_poi_fused__to_copy_add_addmm_cat_mean_mul_pow_rsqrt_view_9",
			"XBLOCK=64,YBLOCK=64",
			bf16(512, 3072), bf16(3072), f32(1, 512, 24, 1), bf16(128), bf16(256, 3072), bf16(3072),
			f32(1, 256, 24, 1), bf16(128),
			bf16(1, 768, 24, 128), number("18432"), number("128")), 16_515_072, 9_523_712, 0, hw.MemoryBound},
		{"adaLN: gated residual, layer norm, modulate",
			fused("triton_red_fused__unsafe_view_add_addmm_mul_native_layer_norm_split_unsqueeze_19", "XBLOCK=1,R0_BLOCK=1024",
				bf16(2, 4096, 2432), bf16(2, 14592), bf16(14592), bf16(8192, 2432), bf16(2432), bf16(2, 4096, 2432),
				number("8192"), number("2432")), anyFLOPs, 119_630_080, 22.572, hw.MemoryBound},
		{"fp32 only", fused("triton_per_fused__to_copy_add_mean_mul_neg_stack_transpose_unbind_unsqueeze_view_15",
			"XBLOCK=64",
			f32(1, 24, 1, 128, 6), f32(1, 24, 1, 128), number("3072"), number("6")), anyFLOPs, 86_016, 0,
			hw.MemoryBound},
		{"bias and residual update, rule B", fused("triton_poi_fused_add_addmm_0", "XBLOCK=512", bf16(1, 4096, 3072),
			bf16(3072), bf16(1, 4096, 3072), number("12582912")),
			anyFLOPs, 3*25_165_824 + 6_144, 0, hw.MemoryBound},
	}
}

func TestWorkedRows(t *testing.T) {
	gpu := hw.MI300X()
	for _, row := range workedRows() {
		t.Run(row.name, func(t *testing.T) {
			w := work(t, row.call)
			if row.flops != anyFLOPs && w.FLOPs() != row.flops {
				t.Errorf("FLOPs = %d, want %d", w.FLOPs(), row.flops)
			}
			if w.Bytes != row.bytes {
				t.Errorf("Bytes = %d, want %d", w.Bytes, row.bytes)
			}
			ceiling := hw.Achievable
			if w.Level == hw.HostLink {
				ceiling = hw.Datasheet // nobody measured the link
			}
			roof, err := hw.Roofline(gpu, ceiling, w.Demand)
			if err != nil {
				t.Fatal(err)
			}
			if roof.Bound != row.bound {
				t.Errorf("Bound = %v, want %v", roof.Bound, row.bound)
			}
			if us := roof.Time * 1e6; row.us != 0 && math.Abs(us-row.us) > 1e-4*row.us {
				t.Errorf("Time = %.6f us, want %.6f", us, row.us)
			}
		})
	}
}

// The least time is one of arithmetic and memory, at the peaks of the achievable set; here to all digits.
func TestWorkedTimes(t *testing.T) {
	const bf16Peak, fp8Peak, memory = 708e12, 1273e12, 5.3e12
	gpu := hw.MI300X()
	for _, row := range workedRows() {
		w := work(t, row.call)
		if w.Level != hw.DeviceMemory {
			continue
		}
		compute := 0.0
		for _, c := range w.Compute {
			switch {
			case c.FLOPs == 0 || c.Unit == hw.Vector: // far below memory in every row
			case c.Type == hw.BF16:
				compute += float64(c.FLOPs) / bf16Peak
			default:
				compute += float64(c.FLOPs) / fp8Peak
			}
		}
		want := max(compute, float64(w.Bytes)/memory)
		roof, err := hw.Roofline(gpu, hw.Achievable, w.Demand)
		if err != nil || math.Abs(roof.Time-want) > 1e-6*want {
			t.Errorf("%s: time %g, want %g (%v)", row.name, roof.Time, want, err)
		}
	}
}

func sageCall() *perfmodel.Call {
	args := make([]trace.Arg, 62)
	for i := range args {
		args[i] = number("0")
	}
	qkv := []int64{2359296, 128, 3072, 1}
	args[0], args[1] = strided(i8(1, 24, 768, 128), qkv...), strided(i8(1, 24, 768, 128), qkv...)
	args[2] = strided(fp8(1, 24, 768, 128), qkv...)
	args[4], args[5], args[6], args[16] = f32(1, 24, 3), f32(1, 24, 6), f32(1, 24, 128), bf16(1, 24, 768, 128)
	args[52] = tensor("int", 1)
	return call("sage_fwd_1", args...)
}

// In self-attention with equal heads and sizes at two bytes an element the intensity is half the number of tokens.
func TestIntensityOfSelfAttention(t *testing.T) {
	for _, n := range []int64{64, 768, 4429, 7431} {
		w := work(t, call("aten::_scaled_dot_product_flash_attention", bf16(1, 24, n, 128), bf16(1, 24, n, 128),
			bf16(1, 24, n, 128),
			number("0."), number("False")))
		if got := float64(w.FLOPs()) / float64(w.Bytes); got != float64(n)/2 {
			t.Errorf("%d tokens: intensity %g, want %g", n, got, float64(n)/2)
		}
	}
}
