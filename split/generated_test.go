package split_test

import (
	"errors"
	"flag"
	"fmt"
	"sync"
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
	var all tally
	t.Run("of", func(t *testing.T) { // returns when all families are done
		for _, family := range families {
			t.Run(family, func(t *testing.T) {
				t.Parallel()
				var n tally
				for i := range *scenes {
					n.play(t, family, *seed+uint64(i))
				}
				t.Log(n.String())
				all.add(&n)
			})
		}
	})
	t.Log(all.String())
	if 100*all.exact < 99*all.total() || all.wrong > 0 {
		t.Error("want 99 % exact and none wrong")
	}
}

// A tally counts what came of scenes.
type tally struct {
	sync.Mutex
	exact, unsure, wrong int
}

func (n *tally) total() int { return n.exact + n.unsure + n.wrong }

func (n *tally) String() string {
	return fmt.Sprintf("%d scenes: %d exact, %d given up, %d wrong", n.total(), n.exact, n.unsure, n.wrong)
}

func (n *tally) add(m *tally) {
	n.Lock()
	defer n.Unlock()
	n.exact, n.unsure, n.wrong = n.exact+m.exact, n.unsure+m.unsure, n.wrong+m.wrong
}

// play splits a scene and counts what came of it.
func (n *tally) play(t *testing.T, family string, seed uint64) {
	s := randomScene(family, seed)
	tr, truth, noise := s.make()
	r, err := split.Autocorrelation{}.Split(t.Context(), &split.Input{Trace: tr})
	var no *split.NoSteadyStateError
	switch {
	case errors.As(err, &no) && s.other != "":
		n.exact++
	case errors.As(err, &no):
		n.unsure++
		t.Logf("%s/%d given up: %v: %+v", family, s.seed, err, s)
	case err != nil:
		t.Fatal(err)
	default:
		if got := agreement(s, r, truth, noise); got != "exact" {
			n.wrong++
			t.Logf("%s/%d wrong: %s, confidence %.2f: %+v", family, s.seed, got, r.Confidence, s)
			return
		}
		n.exact++
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
