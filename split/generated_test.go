package split_test

import (
	"errors"
	"flag"
	"testing"

	"github.com/ditlens/ditlens/split"
	"github.com/google/go-cmp/cmp"
)

var (
	scenes = flag.Int("scenes", 10, "scenes of each family that TestGeneratedScenes plays")
	seed   = flag.Uint64("seed", 0, "seed of the first of them")
)

// TestGeneratedScenes runs the autocorrelation on random pipelines. At least 99 % must be split exactly, event by event; the
// rest must be given up, not be wrong.
func TestGeneratedScenes(t *testing.T) {
	total, exact, unsure, wrong := 0, 0, 0, 0
	for _, family := range families {
		e, u, w := exact, unsure, wrong
		for i := range *scenes {
			s := randomScene(family, *seed+uint64(i))
			tr, truth, noise := s.make()
			r, err := split.Autocorrelation{}.Split(t.Context(), &split.Input{Trace: tr})
			var no *split.NoSteadyStateError
			total++
			switch {
			case errors.As(err, &no) && s.other != "":
				exact++
				continue
			case errors.As(err, &no):
				unsure++
				t.Logf("%s/%d given up: %v: %+v", family, s.seed, err, s)
				continue
			case err != nil:
				t.Fatal(err)
			}
			if got := agreement(s, r, truth, noise); got != "exact" {
				wrong++
				t.Logf("%s/%d wrong: %s, confidence %.2f: %+v", family, s.seed, got, r.Confidence, s)
				continue
			}
			exact++
		}
		t.Logf("%-9s %d exact, %d given up, %d wrong", family, exact-e, unsure-u, wrong-w)
	}
	t.Logf("%d scenes: %d exact, %d given up, %d wrong", total, exact, unsure, wrong)
	if 100*exact < 99*total || wrong > 0 {
		t.Errorf("%d of %d scenes exact, %d given up, %d wrong", exact, total, unsure, wrong)
	}
}

// TestSameTraceSameSteps splits scenes with several passes a step again and again: nothing is left to chance.
func TestSameTraceSameSteps(t *testing.T) {
	for _, family := range []string{"guided", "interval", "perturbed"} {
		for i := range uint64(4) {
			tr, _, _ := randomScene(family, i).make()
			var first *split.Result
			for range 6 {
				r, err := split.Autocorrelation{}.Split(t.Context(), &split.Input{Trace: tr})
				if err != nil {
					break // given up, which TestGeneratedScenes counts
				}
				if first == nil {
					first = r
				}
				if diff := cmp.Diff(first, r); diff != "" {
					t.Fatalf("%s/%d (-first +again):\n%s", family, i, diff)
				}
			}
		}
	}
}

// TestOtherWorkloadsAreNotTakenForDenoising plays decoding of a language model and training, which repeat as well.
func TestOtherWorkloadsAreNotTakenForDenoising(t *testing.T) {
	decode := func(layers int) []string {
		return cat([]string{"embedding"}, repeat(layers, "rms_norm", "qkv_gemm", "rope", "reshape_and_cache_kernel", "paged_attention_v2", "o_gemm", "silu_mul", "mlp_gemm"),
			[]string{"rms_norm", "lm_head", "softmax", "top_p_sampling"})
	}
	train := func(layers int) []string {
		return cat([]string{"copy"}, repeat(layers, "norm", "gemm", "attn_fwd", "gemm2"), []string{"loss"}, repeat(layers, "gemm_b", "attn_bwd", "norm_backward"),
			[]string{"multi_tensor_apply_kernel_adam", "zero"})
	}
	for name, steps := range map[string][]string{
		"decode": repeat(20, decode(32)...), "one decode step": decode(40), "training": repeat(3, train(12)...),
		"layers alone": repeat(36, "norm", "gemm", "attn", "gemm2", "act", "gemm3"),
	} {
		t.Run(name, func(t *testing.T) {
			x := newTape(t)
			x.row(10, steps...)
			_, err := split.Auto{}.Split(t.Context(), &split.Input{Trace: x.trace()})
			var no *split.NoSteadyStateError
			if !errors.As(err, &no) {
				t.Errorf("error %v, want *NoSteadyStateError", err)
			}
		})
	}
}
