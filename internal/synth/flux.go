package synth

import (
	"fmt"
	"time"
)

// A FluxConfig sizes a FLUX-like pipeline. The zero value of a field takes the default in its comment.
type FluxConfig struct {
	Steps   int   // 4
	Double  int   // joint blocks, 2
	Single  int   // single-stream blocks, 4
	Hidden  int64 // 3072
	Image   int64 // image tokens, 1024: a 512x512 image
	Text    int64 // text tokens, 512
	Images  int   // pipeline calls, 1
	Unnamed bool  // no annotations at all
}

func (c FluxConfig) withDefaults() FluxConfig {
	def := func(v *int, d int) {
		if *v == 0 {
			*v = d
		}
	}
	def64 := func(v *int64, d int64) {
		if *v == 0 {
			*v = d
		}
	}
	def(&c.Steps, 4)
	def(&c.Double, 2)
	def(&c.Single, 4)
	def(&c.Images, 1)
	def64(&c.Hidden, 3072)
	def64(&c.Image, 1024)
	def64(&c.Text, 512)
	return c
}

// Flux plays a FLUX-like pipeline: text encoder, denoising steps of joint and single blocks with eager adaLN, VAE decode.
func Flux(c FluxConfig) *Recorder {
	c = c.withDefaults()
	r := New()
	f := &flux{c, r}
	for range c.Images {
		f.mark("pipeline_call", f.image)
		r.Idle(200 * time.Microsecond)
	}
	return r
}

type flux struct {
	FluxConfig
	*Recorder
}

func (f *flux) mark(name string, body func()) {
	if f.Unnamed {
		body()
		return
	}
	f.Mark(name, body)
}

func (f *flux) image() {
	f.mark("encode_prompt", f.encode)
	for i := range f.Steps {
		f.mark(fmt.Sprintf("denoise_step_%d", i), func() {
			f.mark("transformer_forward", f.forward)
			f.mark("scheduler_step", f.schedule)
		})
	}
	f.mark("vae_decode", f.decode)
	f.Sync()
}

// encode is a small T5-like encoder: 4 layers.
func (f *flux) encode() {
	const h, heads = 2048, 32
	n := f.Text
	for range 4 {
		f.LayerNorm(1, n, h)
		for range 3 {
			f.Addmm(n, h, h)
		}
		f.Attention(1, heads, n, n, h/heads)
		f.Addmm(n, h, h)
		f.Addmm(n, h, 4*h)
		f.Unary("aten::gelu", Tensor(BF16, 1, n, 4*h), 8, Scalar("none"))
		f.Addmm(n, 4*h, h)
		f.Binary("aten::add", Tensor(BF16, 1, n, h), Tensor(BF16, 1, n, h))
	}
}

func (f *flux) forward() {
	f.Addmm(f.Image, 64, f.Hidden) // patch embedding
	f.Addmm(1, 256, f.Hidden)      // time embedding
	f.Unary("aten::silu", Tensor(BF16, 1, f.Hidden), 5)
	f.Addmm(1, f.Hidden, f.Hidden)
	for range f.Double {
		f.double()
	}
	f.Cat(1, f.Text, f.Image, f.Hidden)
	for range f.Single {
		f.single()
	}
	f.modulation(2)
	f.modulate(f.Image)
	f.Addmm(f.Image, f.Hidden, 64)
}

// modulation makes n vectors of scale, shift and gate from the conditioning.
func (f *flux) modulation(n int64) {
	f.Unary("aten::silu", Tensor(BF16, 1, f.Hidden), 5)
	f.Addmm(1, f.Hidden, n*f.Hidden)
}

// modulate is x = norm(x) * scale + shift.
func (f *flux) modulate(tokens int64) {
	x, v := Tensor(BF16, 1, tokens, f.Hidden), Tensor(BF16, 1, 1, f.Hidden)
	f.LayerNorm(1, tokens, f.Hidden)
	f.Binary("aten::mul", x, v)
	f.Binary("aten::add", x, v)
}

// gate is x = x + gate * y.
func (f *flux) gate(tokens int64) {
	x, v := Tensor(BF16, 1, tokens, f.Hidden), Tensor(BF16, 1, 1, f.Hidden)
	f.Binary("aten::mul", x, v)
	f.Binary("aten::add", x, x)
}

func (f *flux) double() {
	streams := []int64{f.Image, f.Text}
	for range streams {
		f.modulation(6)
	}
	for _, n := range streams {
		f.modulate(n)
		for range 3 {
			f.Addmm(n, f.Hidden, f.Hidden)
		}
	}
	f.Cat(1, f.Text, f.Image, f.Hidden)
	f.attend()
	for _, n := range streams {
		f.Addmm(n, f.Hidden, f.Hidden)
		f.gate(n)
		f.modulate(n)
		f.Addmm(n, f.Hidden, 4*f.Hidden)
		f.Unary("aten::gelu", Tensor(BF16, 1, n, 4*f.Hidden), 10, Scalar("tanh"))
		f.Addmm(n, 4*f.Hidden, f.Hidden)
		f.gate(n)
	}
}

func (f *flux) single() {
	n := f.Text + f.Image
	f.modulation(3)
	f.modulate(n)
	f.Addmm(n, f.Hidden, 7*f.Hidden)
	f.Unary("aten::gelu", Tensor(BF16, 1, n, 4*f.Hidden), 10, Scalar("tanh"))
	f.attend()
	f.Cat(1, n, 4*n, f.Hidden)
	f.Addmm(n, 5*f.Hidden, f.Hidden)
	f.gate(n)
}

func (f *flux) attend() {
	n := f.Text + f.Image
	f.Attention(1, f.Hidden/128, n, n, 128)
}

func (f *flux) schedule() {
	x := Tensor(BF16, 1, f.Image, 64)
	f.Binary("aten::mul", x, Tensor(BF16, 1, 1, 1))
	f.Binary("aten::add", x, x)
}

// decode is a small VAE decoder from the latent grid to 8x its size.
func (f *flux) decode() {
	hw := int64(2) // latent height: two per token of the patchified grid
	for hw*hw < 4*f.Image {
		hw *= 2
	}
	c := int64(512)
	f.Conv2d(16, c, hw)
	for range 3 {
		f.resnet(c, hw)
		f.Upsample(c, hw)
		hw *= 2
		f.Conv2d(c, c/2, hw)
		c /= 2
	}
	f.Conv2d(c, 3, hw)
	f.Download(2 * 3 * hw * hw)
}

func (f *flux) resnet(c, hw int64) {
	x := Tensor(BF16, 1, c, hw, hw)
	for range 2 {
		f.GroupNorm(c, hw)
		f.Unary("aten::silu", x, 5)
		f.Conv2d(c, c, hw)
	}
	f.Binary("aten::add", x, x)
}
