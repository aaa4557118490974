package ceiling_test

import (
	"math"
	"os"
	"strings"
	"testing"

	"github.com/ditlens/ditlens/hw"
	"github.com/ditlens/ditlens/perfmodel/ceiling"
)

func open(t *testing.T, name string) *ceiling.Model {
	t.Helper()
	m, err := ceiling.Open(os.DirFS("testdata/models/" + name))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func work(t *testing.T, m *ceiling.Model, change func(o *ceiling.Options)) *ceiling.Work {
	t.Helper()
	o := m.Defaults()
	if change != nil {
		change(&o)
	}
	w, err := m.Work(o)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func near(t *testing.T, what string, got, want, rel float64) {
	t.Helper()
	if !(math.Abs(got-want) <= rel*math.Abs(want)) {
		t.Errorf("%s: got %.6g, want %.6g (%+.3f %%)", what, got, want, 100*(got/want-1))
	}
}

// A transformer of plain blocks does 24 h^2 FLOPs a token and block in products and 4 S^2 h a block in attention.
func TestClosedForms(t *testing.T) {
	tests := []struct {
		model                               string
		h, layers, image, text, more, batch int64 // more: tokens of other encoders
		change                              func(o *ceiling.Options)
	}{
		{"sd35_large", 2432, 38, 4096, 333, 0, 2, nil},
		{"flux1", 3072, 57, 256, 512, 0, 1, func(o *ceiling.Options) { o.Height, o.Width = 256, 256 }},
		{"flux1", 3072, 57, 4096, 512, 0, 1, nil},
		{"qwen_image", 3072, 60, 4096, 512, 0, 2, nil},
		{"hunyuan_video", 3072, 60, 33 * 45 * 80, 256, 0, 1, nil},
		{"hunyuan_video15", 2048, 54, 31 * 45 * 80, 1000, 256 + 729, 2, nil},
		{"hunyuan_image", 3584, 60, 64 * 64, 1000, 128, 2, nil},
	}
	for _, tt := range tests {
		t.Run(tt.model, func(t *testing.T) {
			w := work(t, open(t, tt.model), tt.change)
			if w.ImageTokens != tt.image || w.TextTokens != tt.text {
				t.Fatalf("tokens: %d + %d", w.ImageTokens, w.TextTokens)
			}
			s := tt.image + tt.text + tt.more
			near(t, "linear", float64(w.Parts[0].FLOPs(ceiling.Linear)), 24*float64(tt.h*tt.h*s*tt.batch*tt.layers), 0.012)
			refiner := int64(0)
			if strings.HasPrefix(tt.model, "hunyuan") {
				refiner = 2 * 4 * tt.text * tt.text * tt.h * tt.batch
			}
			if got, want := w.Parts[0].FLOPs(ceiling.Attention), 4*s*s*tt.h*tt.batch*tt.layers+refiner; got != want {
				t.Errorf("attention: got %d, want %d", got, want)
			}
		})
	}
}

// Totals of one forward pass, against figures worked elsewhere.
func TestForwardTotals(t *testing.T) {
	tests := []struct {
		name, model string
		change      func(o *ceiling.Options)
		want, rel   float64
	}{
		{"BL-73 gated MLPs of FLUX.2 count three products", "flux2", nil, 282.5e12, 0.005},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			near(t, "FLOPs", float64(work(t, open(t, tt.model), tt.change).Forward().FLOPs), tt.want, tt.rel)
		})
	}
}

// What a forward pass reads of weights are the parameters of the published weights, but for biases, norms and tables: at most
// 0.12 %. A product that is missing or counted twice shows. One image and two differ by the activations of one.
func TestParameters(t *testing.T) {
	tests := map[string]float64{
		"sd35_large": 8_056_627_520, "sd35_medium": 2_243_171_520, "flux1": 11_901_408_320, "qwen_image": 20_430_401_088,
		"hunyuan_video": 12_821_012_544, "wan21_1_3b": 1_418_996_800, "wan21_i2v": 16.396e9, "wan22_a14b": 14_288_491_584,
		"wan22_ti2v_5b": 4_999_787_712, "z_image": 6_154_908_736, "pixart": 610_856_096, "sana": 1_604_462_752,
		"sdxl": 2_567_463_684, "sd15": 859_520_964,
	}
	for model, want := range tests {
		if got := weights(t, open(t, model), 0); got > want || got < 0.9988*want {
			t.Errorf("%s: got %.5g, want %.5g (%+.3f %%)", model, got, want, 100*(got/want-1))
		}
	}
	rounded := map[string]struct{ want, half float64 }{ // as their authors state them
		"flux2": {32e9, 0.5e9}, "auraflow": {6.8e9, 0.05e9}, "hunyuan_image": {17e9, 0.5e9}, "hunyuan_video15": {8.3e9, 0.05e9}, "hidream": {17e9, 0.5e9},
	}
	for model, tt := range rounded {
		if got := weights(t, open(t, model), 0); math.Abs(got-tt.want) > tt.half {
			t.Errorf("%s: got %.5g, want %.3g", model, got, tt.want)
		}
	}
}

// weights returns the elements of weights that a call of a part reads.
func weights(t *testing.T, m *ceiling.Model, part int) float64 {
	t.Helper()
	one := work(t, m, func(o *ceiling.Options) { o.Guided = false })
	two := work(t, m, func(o *ceiling.Options) { o.Guided, o.Batch = false, 2 })
	return float64(2*one.Parts[part].Call().Bytes-two.Parts[part].Call().Bytes) / 2
}

// Each token of HiDream runs the shared expert and two of four others, though all are read. What is not square is padded to the
// largest number of tokens.
func TestExperts(t *testing.T) {
	m, all := open(t, "hidream"), edited(t, "hidream/transformer/config.json", "num_activated_experts", 4)
	four, err := ceiling.Open(all)
	if err != nil {
		t.Fatal(err)
	}
	const h, wide, image, text, double, single, batch = 2560, 6912, 4096, 3 * 128, 16, 32, 2
	want := int64(2 * 2 * 3 * h * wide * batch * (double*image + single*(image+text)))
	if got := work(t, four, nil).Forward().FLOPs - work(t, m, nil).Forward().FLOPs; got != want {
		t.Errorf("two experts more: got %d, want %d", got, want)
	}
	wide2to1 := work(t, m, func(o *ceiling.Options) { o.Width, o.Height = 1024, 512 })
	if got, want := wide2to1.Parts[0].FLOPs(ceiling.Attention), work(t, m, nil).Parts[0].FLOPs(ceiling.Attention); got != want {
		t.Errorf("1024x512: attention got %d, want %d", got, want)
	}
}

// A model that fills in parts takes an image and a mask beside the latents, and makes latents only.
func TestMoreChannelsInThanOut(t *testing.T) {
	folder := edited(t, "flux1/transformer/config.json", "in_channels", 384)
	if _, err := ceiling.Open(folder); err == nil {
		t.Error("latents of 96 channels for an autoencoder of 16")
	}
	c := string(folder["transformer/config.json"].Data)
	folder["transformer/config.json"].Data = []byte(strings.Replace(c, "{", `{"out_channels": 64, `, 1))
	m, err := ceiling.Open(folder)
	if err != nil {
		t.Fatal(err)
	}
	want := int64(2 * 4096 * (384 - 64) * 3072)
	if got := work(t, m, nil).Forward().FLOPs - work(t, open(t, "flux1"), nil).Forward().FLOPs; got != want {
		t.Errorf("got %d more, want %d", got, want)
	}
}

// The small model of Wan 2.2 embeds a time for each token: six modulations of each.
func TestTimePerToken(t *testing.T) {
	m := open(t, "wan22_ti2v_5b")
	one, err := ceiling.Open(edited(t, "wan22_ti2v_5b/transformer/config.json", "_class_name", "WanTransformer3DModel")) // without model_index.json
	if err != nil {
		t.Fatal(err)
	}
	const h, tokens, batch = 3072, 21 * 22 * 40, 2
	want := int64(2 * (tokens - 1) * batch * (256*h + h*h + 6*h*h))
	if got := work(t, m, nil).Forward().FLOPs - work(t, one, nil).Forward().FLOPs; got != want {
		t.Errorf("got %d, want %d", got, want)
	}
}

// BL-73: latent frames are (frames-1)/4 + 1, and cross-attention has projections of its own.
func TestWan(t *testing.T) {
	m := open(t, "wan22_a14b")
	w := work(t, m, func(o *ceiling.Options) { o.Guided = false })
	if w.ImageTokens != 75600 {
		t.Errorf("720p, 81 frames: %d tokens", w.ImageTokens)
	}
	small := work(t, m, func(o *ceiling.Options) { o.Width, o.Height = 832, 480 })
	if small.ImageTokens != 32760 {
		t.Errorf("480p, 81 frames: %d tokens", small.ImageTokens)
	}
	const h, ffn, n, text, layers = 5120, 13824, 75600, 512, 40
	linear := 2.0 * layers * (n*(6*h*h+2*h*ffn) + text*2*h*h)
	near(t, "linear", float64(w.Parts[0].FLOPs(ceiling.Linear)), linear, 0.002)
	if got, want := w.Parts[0].FLOPs(ceiling.Attention), int64(4*h*layers)*(n*n+n*text); got != want {
		t.Errorf("attention: got %d, want %d", got, want)
	}
	i2v := work(t, open(t, "wan21_i2v"), func(o *ceiling.Options) { o.Guided = false })
	if got, want := i2v.Parts[0].FLOPs(ceiling.Attention), int64(4*h*layers)*(n*n+n*(text+257)); got != want {
		t.Errorf("attention of image-to-video: got %d, want %d", got, want)
	}
}

// A geometry of one's own is given as a configuration alone.
func TestParse(t *testing.T) {
	m, err := ceiling.Parse("mine", []byte(`{"_class_name": "FluxTransformer2DModel", "in_channels": 64, "num_layers": 1, "num_single_layers": 0,
		"attention_head_dim": 64, "num_attention_heads": 2, "joint_attention_dim": 128, "pooled_projection_dim": 128}`))
	if err != nil {
		t.Fatal(err)
	}
	w := work(t, m, func(o *ceiling.Options) { o.Height, o.Width, o.TextTokens = 256, 256, 16 })
	if got, want := w.Forward().FLOPs-w.Parts[0].FLOPs(ceiling.Linear), int64(4*272*272*128); got != want || len(w.Parts) != 1 {
		t.Errorf("attention of 256 + 16 tokens: %d, want %d; %d parts", got, want, len(w.Parts))
	}
	if _, err := ceiling.Parse("mine", []byte("{}")); err == nil || !strings.Contains(err.Error(), "mine") {
		t.Errorf("no class: %v", err)
	}
}

// The attention of Sana is linear: twice the tokens, twice the work; that of the others is quadratic.
func TestLinearAttention(t *testing.T) {
	double := func(o *ceiling.Options) { o.Width *= 2 }
	growth := func(model string) float64 {
		m := open(t, model)
		return float64(work(t, m, double).Parts[0].FLOPs(ceiling.Attention)) / float64(work(t, m, nil).Parts[0].FLOPs(ceiling.Attention))
	}
	if got := growth("sana"); got != 2 {
		t.Errorf("sana: %g", got)
	}
	if got := growth("pixart"); got < 3.5 {
		t.Errorf("pixart: %g", got)
	}
	const n, h, d, text, layers, batch = 1024, 2240, 32, 300, 20, 2
	if got, want := work(t, open(t, "sana"), nil).Parts[0].FLOPs(ceiling.Attention), int64(batch*layers*(4*n*h*(d+1)+4*n*text*h)); got != want {
		t.Errorf("sana: got %d, want %d", got, want)
	}
}

// What a request scales with, on every model.
func TestScaling(t *testing.T) {
	models, err := os.ReadDir("testdata/models")
	if err != nil {
		t.Fatal(err)
	}
	if len(models) < 15 {
		t.Fatalf("only %d models", len(models))
	}
	for _, dir := range models {
		t.Run(dir.Name(), func(t *testing.T) {
			m := open(t, dir.Name())
			o := m.Defaults()
			o.Guided = false
			one := work(t, m, func(p *ceiling.Options) { *p = o })
			guided := work(t, m, func(p *ceiling.Options) { *p = o; p.Guided = true })
			batch := work(t, m, func(p *ceiling.Options) { *p = o; p.Batch = 2 })
			if guided.Forward() != batch.Forward() || guided.Forward().FLOPs != 2*one.Forward().FLOPs {
				t.Errorf("guidance %v, batch of two %v, one %v", guided.Forward(), batch.Forward(), one.Forward())
			}
			if one.Image().FLOPs != batch.Image().FLOPs || batch.Image().Bytes > one.Image().Bytes {
				t.Errorf("an image of two %v, of one %v", batch.Image(), one.Image())
			}
			more := work(t, m, func(p *ceiling.Options) { *p = o; p.Steps *= 2 })
			if d := more.Image().FLOPs - one.Image().FLOPs; d != o.Steps*one.Forward().FLOPs {
				t.Errorf("steps: %d more", d)
			}
			ideal(t, one)
		})
	}
}

// ideal checks that times are possible: the sum of roofs is at least the roof of the sum.
func ideal(t *testing.T, w *ceiling.Work) {
	t.Helper()
	spec := hw.MI300X()
	got, err := w.Ideal(spec, hw.Achievable)
	if err != nil {
		t.Fatal(err)
	}
	least := max(float64(w.Forward().FLOPs)/708e12, float64(w.Forward().Bytes)/5.3e12)
	if got.Step < least*(1-1e-12) || got.Image < float64(w.Steps)*got.Step || math.Abs(got.ImagesPerSecond*got.Image-1) > 1e-12 {
		t.Errorf("%+v, at least %g a step", got, least)
	}
}

func TestParts(t *testing.T) {
	w := work(t, open(t, "sd35_large"), nil)
	flops := map[string]float64{}
	for i := range w.Parts {
		flops[w.Parts[i].Name] = float64(w.Parts[i].Call().FLOPs)
	}
	// T5-XXL encoder: 24 layers of 4 x 4096^2 + 3 x 4096 x 10240 weights, 256 tokens, two prompts.
	t5 := 2.0*24*(4*4096*4096+3*4096*10240)*512 + 4.0*24*2*64*256*256*64
	near(t, "T5", flops["text_encoder_3"], t5, 1e-9)
	if len(w.Parts) != 5 || flops["vae decoder"] == 0 {
		t.Errorf("parts: %v", flops)
	}
	if m := open(t, "pixart"); len(m.Notes) != 2 {
		t.Errorf("what is not counted must be said: %q", m.Notes)
	}
}

// Later frames of a video cost up to four times as much as the first: two doublings.
func TestVideoDecoder(t *testing.T) {
	m := open(t, "wan22_a14b")
	first, second := decoder(t, m, 480, 832, 1, 1).Call().FLOPs, decoder(t, m, 480, 832, 5, 1).Call().FLOPs
	if r := float64(second-first) / float64(first); r < 3 || r > 4 {
		t.Errorf("four frames cost %.2f times the first", r)
	}
	if len(m.Notes) != 0 {
		t.Errorf("notes: %q", m.Notes)
	}
}

// FP8 halves what products stream and uses its own peak; attention stays in 16 bits.
func TestPrecision(t *testing.T) {
	m := open(t, "flux1")
	bf16, fp8 := work(t, m, nil), work(t, m, func(o *ceiling.Options) { o.Type = hw.FP8 })
	if bf16.Forward().FLOPs != fp8.Forward().FLOPs || fp8.Forward().Bytes >= bf16.Forward().Bytes || fp8.Attention != hw.BF16 {
		t.Errorf("bf16 %+v, fp8 %+v", bf16.Forward(), fp8.Forward())
	}
	a, err := bf16.Ideal(hw.MI300X(), hw.Achievable)
	if err != nil {
		t.Fatal(err)
	}
	b, err := fp8.Ideal(hw.MI300X(), hw.Achievable)
	if err != nil {
		t.Fatal(err)
	}
	linear := float64(bf16.Parts[0].FLOPs(ceiling.Linear))
	near(t, "time saved", a.Step-b.Step, linear/708e12-linear/1273e12, 0.02) // modulations are memory bound
}

func TestReconcile(t *testing.T) {
	for _, tt := range []struct {
		analytic, traced int64
		ratio            float64
		warns            bool
	}{{100, 100, 1, false}, {109, 100, 1.09, false}, {112, 100, 1.12, true}, {50, 100, 0.5, true}, {100, 0, 0, true}} {
		ratio, warning := ceiling.Reconcile(tt.analytic, tt.traced)
		if ratio != tt.ratio || (warning != "") != tt.warns {
			t.Errorf("%d / %d: %g %q", tt.analytic, tt.traced, ratio, warning)
		}
	}
}
