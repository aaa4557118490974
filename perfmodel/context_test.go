package perfmodel_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ditlens/ditlens/internal/realtraces"
	"github.com/ditlens/ditlens/perfmodel"
	"github.com/ditlens/ditlens/trace"
)

// linear launches a projection of rows tokens.
func (s *scene) linear(rows int64) { s.run("aten::mm", "Cijk_", []int64{rows, 64}, []int64{64, 64}) }

// attend launches a scaled_dot_product attention. Causal and mask are arguments of the masked form.
func (s *scene) attend(batch, heads, nq, nk, d int64, causal, masked bool) {
	tensor := func(n int64) trace.Arg { return trace.Arg{Type: "c10::BFloat16", Dims: []int64{batch, heads, n, d}} }
	flag := "False"
	if causal {
		flag = "True"
	}
	mask := trace.Arg{}
	if masked {
		mask = trace.Arg{Type: "c10::BFloat16", Dims: []int64{batch, heads, nq, nk}}
	}
	args := []trace.Arg{tensor(nq), tensor(nk), tensor(nk), mask, {Type: "Scalar", Value: "False"}, {Type: "Scalar", Value: "0."},
		{Type: "Scalar", Value: flag}, {}}
	s.t.Ops = append(s.t.Ops, trace.Op{Name: "aten::_scaled_dot_product_efficient_attention", Parent: trace.None,
		Inputs: &trace.Inputs{Args: args}})
	s.kernel(trace.OpID(len(s.t.Ops)-1), "attn_fwd", 50)
}

func (s *scene) selfAttend(batch, n int64) { s.attend(batch, 16, n, n, 64, false, false) }

func TestKindsOfAttention(t *testing.T) {
	main := func(s *scene) { // a plain block of the denoiser, which does most of the work
		s.linear(4096)
		s.selfAttend(1, 4096)
		s.linear(4096)
	}
	for _, test := range []struct {
		name  string
		build func(s *scene)
		at    int // index of the attention that is asked for, among attentions
		want  string
	}{
		{"joint: two streams add up", func(s *scene) {
			s.linear(2 * 4096)
			s.linear(2 * 333)
			s.selfAttend(2, 4429)
		}, 0, "joint self-attention of 4096 + 333 tokens"},
		{"joint, though a single block follows", func(s *scene) {
			s.linear(512)
			s.linear(256)
			s.selfAttend(1, 768)
			s.linear(768)
		}, 0, "joint self-attention of 512 + 256 tokens"},
		{"single block after double blocks", func(s *scene) {
			s.linear(512)
			s.linear(256)
			s.linear(768)
			s.selfAttend(1, 768)
		}, 0, "self-attention"},
		{"the conditioning is no stream of tokens", func(s *scene) {
			s.linear(2)
			s.linear(2 * 4096)
			s.selfAttend(2, 4096)
		}, 0, "self-attention"},
		{"cross to text", func(s *scene) {
			main(s)
			s.attend(1, 16, 4096, 512, 64, false, false)
			main(s)
		}, 1, "cross-attention"},
		{"CLIP", func(s *scene) {
			s.linear(77)
			s.attend(1, 12, 77, 77, 64, true, false)
			main(s)
		}, 0, "causal text-encoder self-attention"},
		{"a text encoder with a mask", func(s *scene) {
			s.linear(351)
			s.attend(1, 32, 351, 351, 128, false, true)
			main(s)
		}, 0, "text-encoder self-attention"},
		{"a token refiner in each step", func(s *scene) {
			main(s)
			s.linear(256)
			s.attend(1, 24, 256, 256, 128, false, true)
			s.attend(1, 24, 256, 256, 128, false, true)
			main(s)
		}, 1, "token-refiner self-attention"},
		{"the text encoder of a second image", func(s *scene) {
			main(s)
			for range 12 {
				s.linear(256)
				s.attend(1, 24, 256, 256, 128, false, true)
			}
			main(s)
		}, 5, "text-encoder self-attention"},
		{"sequence parallel: a part of each stream on each of four ranks", func(s *scene) {
			s.run("ncclDevKernel_SendRecv", "ncclDevKernel_SendRecv")
			s.linear(1024)
			s.linear(128)
			s.selfAttend(1, 4608)
		}, 0, "joint self-attention of 4096 + 512 tokens"},
		{"sequence parallel: the text whole on every rank", func(s *scene) {
			s.run("ncclDevKernel_SendRecv", "ncclDevKernel_SendRecv")
			s.linear(1024)
			s.linear(512)
			s.selfAttend(1, 4608)
		}, 0, "joint self-attention of 4096 + 512 tokens"},
		{"without communication there are no other ranks", func(s *scene) {
			s.linear(1024)
			s.linear(512)
			s.selfAttend(1, 4608)
		}, 0, "self-attention"},
		{"ring step with text", func(s *scene) {
			s.run("ncclDevKernel_SendRecv", "ncclDevKernel_SendRecv")
			s.linear(1024)
			s.linear(333)
			s.attend(1, 16, 1024, 1357, 64, false, false)
		}, 0, "self-attention, ring step with text"},
		{"VAE mid-block", func(s *scene) {
			main(s)
			s.attend(1, 1, 16384, 16384, 512, false, false)
		}, 1, "VAE mid-block"},
		{"decode", func(s *scene) { s.attend(1, 32, 1, 900, 128, false, false) }, 0, "attention of one new token"},
		{"a causal language model", func(s *scene) { s.attend(1, 32, 2048, 2048, 128, true, false) }, 0, "causal self-attention"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var s scene
			test.build(&s)
			var kinds []string
			for _, in := range perfmodel.Attribute(&s.t, perfmodel.Default()) {
				if in.Missing != nil && in.Work.Category != perfmodel.Communication {
					t.Fatal(in.Missing)
				}
				if in.Work.Category == perfmodel.Attention || in.Work.Category == perfmodel.CrossAttention {
					kinds = append(kinds, in.Work.Kind)
				}
			}
			if kinds[test.at] != test.want {
				t.Errorf("%q, want %q", kinds[test.at], test.want)
			}
		})
	}
}

func TestUnfusedAttentionOfATextEncoder(t *testing.T) {
	var s scene
	s.run("aten::bmm", "Cijk_", []int64{64, 256, 64}, []int64{64, 64, 256})
	s.run("aten::add_", "elementwise", []int64{1, 64, 256, 256}, []int64{1, 64, 256, 256})
	s.run("aten::_softmax", "softmax_warp_forward", []int64{1, 64, 256, 256})
	s.run("aten::bmm", "Cijk_", []int64{64, 256, 256}, []int64{64, 256, 64})
	list := perfmodel.Attribute(&s.t, perfmodel.Default())
	got := []string{list[0].Work.Kind, list[3].Work.Kind}
	if d := cmp.Diff([]string{"attention scores, unfused", "attention values, unfused"}, got); d != "" {
		t.Error(d)
	}
}

// The attentions of the real traces by kind: calls of each.
func TestKindsOfAttentionOfRealTraces(t *testing.T) {
	for _, test := range []struct {
		trace, capture string
		want           map[string]int
	}{
		{realtraces.SD35, "", map[string]int{
			"joint self-attention of 4096 + 333 tokens": 4 * 38,
			"causal text-encoder self-attention":        2 * (12 + 32),
			"VAE mid-block":                             1,
		}},
		{realtraces.Flux, realtraces.FluxCapture, map[string]int{
			"joint self-attention of 512 + 256 tokens": 4 * 19,
			"self-attention":                     4 * 38,
			"causal text-encoder self-attention": 12,
			"VAE mid-block":                      1,
		}},
	} {
		got := map[string]int{}
		for _, in := range perfmodel.Attribute(loadReal(t, test.trace, test.capture), perfmodel.Default()) {
			if in.Work.Category == perfmodel.Attention || in.Work.Category == perfmodel.CrossAttention {
				got[in.Work.Kind]++
			}
		}
		if d := cmp.Diff(test.want, got); d != "" {
			t.Errorf("%s: %s", test.trace, d)
		}
	}
}

// Each event belongs to one instance and no time is lost, with models, without, and whatever the trace.
func TestAttributeConserves(t *testing.T) {
	for _, test := range []struct {
		trace, capture string
		sum            time.Duration // 0: whatever it is
	}{
		{realtraces.SD35, "", 712489971},
		{realtraces.Flux, "", 201351762},
		{realtraces.Flux, realtraces.FluxCapture, 201351762},
		{"other/mi250_train_rocm62.json.gz", "", 0},
		{"other/h100_vit_classifier.json.gz", "", 0},
		{"other/llm_sglang_decode.json.gz", "", 0},
		{"other/cuda_multi_stream_sync.json.gz", "", 0},
		{"other/triton_example.json.gz", "", 0},
		{"other/cpu_only_rank-34.pt.trace.json.gz", "", 0},
	} {
		tr := loadReal(t, test.trace, test.capture)
		for _, models := range []*perfmodel.Registry{nil, perfmodel.Default()} {
			sum := conserved(t, tr, perfmodel.Attribute(tr, models))
			if test.sum != 0 && sum != test.sum {
				t.Errorf("%s: %v, want %v", test.trace, sum, test.sum)
			}
		}
	}
}

// conserved checks that instances own each event once, in order, and returns their time.
func conserved(t *testing.T, tr *trace.Trace, list []perfmodel.Instance) (sum time.Duration) {
	t.Helper()
	owners := make([]int, len(tr.GPU))
	first := trace.GPUID(-1)
	for _, in := range list {
		if len(in.GPU) == 0 || len(in.Core) == 0 || in.Work.Category == "" || in.Leaf == "" {
			t.Errorf("%s: %d events, %d core, category %q, leaf %q", in.Call.Name, len(in.GPU), len(in.Core), in.Work.Category, in.Leaf)
			continue
		}
		if in.GPU[0] <= first {
			t.Errorf("%s stands behind a later instance", in.Call.Name)
		}
		first = in.GPU[0]
		for i, g := range in.GPU {
			owners[g]++
			sum += tr.GPU[g].Dur
			if i > 0 && g <= in.GPU[i-1] {
				t.Errorf("%s: events out of order", in.Call.Name)
			}
		}
	}
	for g, n := range owners {
		if n != 1 {
			t.Errorf("event %d is owned %d times", g, n)
		}
	}
	return sum
}

// Two ranks in one trace: what one device does is no surrounding of the other's.
func TestSurroundingsAreOfOneDevice(t *testing.T) {
	var one scene
	one.linear(2 * 4096)
	one.linear(2 * 333)
	one.selfAttend(2, 4429)
	eagerBlock(&one, 2, 128, 64)
	var both scene
	both.t.Ops = one.t.Ops
	for _, g := range one.t.GPU {
		for device := range int32(2) {
			g.Device = device
			both.t.Ops = append(both.t.Ops, one.t.Ops[g.Op])
			e := g
			e.Op = trace.OpID(len(both.t.Ops) - 1)
			both.t.GPU = append(both.t.GPU, e)
		}
	}
	list := perfmodel.Attribute(&both.t, perfmodel.Default())
	for i, in := range list {
		if i%2 != int(in.Device) {
			t.Errorf("instance %d is of device %d", i, in.Device)
		}
		if in.Work.Category == perfmodel.Attention && in.Work.Kind != "joint self-attention of 4096 + 333 tokens" {
			t.Errorf("device %d: %s", in.Device, in.Work.Kind)
		}
	}
	groups := perfmodel.Modulations(list)
	if len(groups) != 2 {
		t.Fatalf("%d groups, want 2", len(groups))
	}
	for d, g := range groups {
		for _, i := range append(g.Members, g.Projection...) {
			if int(list[i].Device) != d {
				t.Errorf("group %d has an instance of device %d", d, list[i].Device)
			}
		}
	}
}
