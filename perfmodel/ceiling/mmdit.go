package ceiling

// Transformers whose image and text tokens attend to each other jointly: double blocks keep two streams with weights of their
// own, single blocks one. h is the hidden size, all products are counted per token.

// embedTime adds the two layers that embed a number or a pooled vector.
func (b *builder) embedTime(name string, batch, in, h int64) {
	b.linear(name+" 1", 1, batch, in, h)
	b.linear(name+" 2", 1, batch, h, h)
}

// sinusoid is the size of the sinusoidal embedding of the time step, 256 in all of these models.
const sinusoid = 256

// packed counts the latents of 2x2 whose channels FLUX takes for those of one token.
const packed = 4

// finish adds the last modulation and projection.
func (b *builder) finish(in input, h, out int64) {
	b.linear("norm_out modulation", 1, in.batch, h, 2*h)
	b.linear("proj_out", 1, in.batch*in.image, h, out)
}

func sd3(c *config) *denoiser {
	heads, d, layers := c.int("num_attention_heads"), c.int("attention_head_dim"), c.int("num_layers")
	patch, channels, textDim := c.int("patch_size"), c.int("in_channels"), c.int("joint_attention_dim")
	out, pooled := c.intOr("out_channels", channels), c.int("pooled_projection_dim")
	h := heads * d
	c.equal("caption_projection_dim", c.int("caption_projection_dim"), h, "num_attention_heads x attention_head_dim")
	dual := c.length("dual_attention_layers") // blocks with a second attention among image tokens
	return &denoiser{vae: 8, patch: [3]int64{1, patch, patch}, makes: out, text: 333, guided: true, steps: 28, sample: c.sample(), forward: func(b *builder, in input) {
		image, text, all := in.batch*in.image, in.batch*in.text, in.image+in.text
		b.conv("patch embedding", 1, in.batch, channels, h, patch*patch, in.image*patch*patch, in.image, 1)
		b.linear("context embedding", 1, text, textDim, h)
		b.embedTime("time embedding", in.batch, sinusoid, h)
		b.embedTime("pooled text embedding", in.batch, pooled, h)
		b.linear("image modulation", layers-dual, in.batch, h, 6*h)
		b.linear("image modulation, dual", dual, in.batch, h, 9*h)
		b.linear("text modulation", layers-1, in.batch, h, 6*h)
		b.linear("text modulation, last", 1, in.batch, h, 2*h)
		b.linear("image q k v o", 4*layers, image, h, h)
		b.linear("image q k v o, dual", 4*dual, image, h, h)
		b.linear("text q k v", 3*layers, text, h, h)
		b.linear("text o", layers-1, text, h, h) // the last block needs no text any more
		b.attention("joint attention", layers, in.batch, heads, all, all, d)
		b.attention("image attention, dual", dual, in.batch, heads, in.image, in.image, d)
		b.linear("image MLP", layers, image, h, 4*h)
		b.linear("image MLP out", layers, image, 4*h, h)
		b.linear("text MLP", layers-1, text, h, 4*h)
		b.linear("text MLP out", layers-1, text, 4*h, h)
		b.finish(in, h, patch*patch*out)
	}}
}

func flux(c *config) *denoiser {
	heads, d := c.int("num_attention_heads"), c.int("attention_head_dim")
	double, single := c.int("num_layers"), c.intOr("num_single_layers", 0)
	channels, textDim, pooled := c.int("in_channels"), c.int("joint_attention_dim"), c.int("pooled_projection_dim")
	guidance, h := c.flag("guidance_embeds"), heads*d
	out := c.intOr("out_channels", channels) // fewer than in_channels when those hold an image, too
	return &denoiser{vae: 8, patch: [3]int64{1, 2, 2}, makes: out / packed, text: 512, steps: 28, forward: func(b *builder, in input) {
		b.linear("image embedding", 1, in.batch*in.image, channels, h)
		b.linear("context embedding", 1, in.batch*in.text, textDim, h)
		b.embedTime("time embedding", in.batch, sinusoid, h)
		if guidance {
			b.embedTime("guidance embedding", in.batch, sinusoid, h)
		}
		b.embedTime("pooled text embedding", in.batch, pooled, h)
		b.doubleBlocks(in, double, heads, d)
		b.singleBlocks(in, single, heads, d)
		b.finish(in, h, out)
	}}
}

// doubleBlocks adds joint blocks with an MLP of 4h and a modulation of 6h in each stream.
func (b *builder) doubleBlocks(in input, layers, heads, d int64) {
	h, all := heads*d, in.image+in.text
	b.linear("double modulation", 2*layers, in.batch, h, 6*h)
	for _, stream := range []struct {
		name string
		rows int64
	}{{"image", in.batch * in.image}, {"text", in.batch * in.text}} {
		b.linear(stream.name+" q k v o", 4*layers, stream.rows, h, h)
		b.linear(stream.name+" MLP", layers, stream.rows, h, 4*h)
		b.linear(stream.name+" MLP out", layers, stream.rows, 4*h, h)
	}
	b.attention("joint attention", layers, in.batch, heads, all, all, d)
}

// singleBlocks adds blocks that run attention and an MLP of 4h side by side, with one projection at the end.
func (b *builder) singleBlocks(in input, layers, heads, d int64) {
	h, all := heads*d, in.image+in.text
	b.linear("single modulation", layers, in.batch, h, 3*h)
	b.linear("single q k v", 3*layers, in.batch*all, h, h)
	b.linear("single MLP", layers, in.batch*all, h, 4*h)
	b.linear("single out", layers, in.batch*all, 5*h, h)
	b.attention("single attention", layers, in.batch, heads, all, all, d)
}

// flux2 has gated MLPs (SwiGLU: three products) and modulations that all blocks share.
func flux2(c *config) *denoiser {
	heads, d := c.int("num_attention_heads"), c.int("attention_head_dim")
	double, single := c.int("num_layers"), c.int("num_single_layers")
	channels, textDim, h := c.int("in_channels"), c.int("joint_attention_dim"), heads*d
	mlp, out := int64(c.float("mlp_ratio", 3)*float64(h)), c.intOr("out_channels", channels)
	return &denoiser{vae: 8, patch: [3]int64{1, 2, 2}, makes: out / packed, text: 512, steps: 50, forward: func(b *builder, in input) {
		image, text, all := in.batch*in.image, in.batch*in.text, in.image+in.text
		b.linear("image embedding", 1, image, channels, h)
		b.linear("context embedding", 1, text, textDim, h)
		b.embedTime("time embedding", in.batch, sinusoid, h)
		if !c.has("guidance_embeds") || c.flag("guidance_embeds") {
			b.embedTime("guidance embedding", in.batch, sinusoid, h)
		}
		b.linear("modulation, shared", 1, in.batch, h, 15*h)
		b.linear("image q k v o", 4*double, image, h, h)
		b.linear("text q k v o", 4*double, text, h, h)
		b.linear("image MLP, gated", double, image, h, 2*mlp)
		b.linear("image MLP out", double, image, mlp, h)
		b.linear("text MLP, gated", double, text, h, 2*mlp)
		b.linear("text MLP out", double, text, mlp, h)
		b.attention("joint attention", double, in.batch, heads, all, all, d)
		b.linear("single q k v and gated MLP", single, in.batch*all, h, 3*h+2*mlp)
		b.linear("single out", single, in.batch*all, h+mlp, h)
		b.attention("single attention", single, in.batch, heads, all, all, d)
		b.finish(in, h, out)
	}}
}

func qwenImage(c *config) *denoiser {
	heads, d, layers := c.int("num_attention_heads"), c.int("attention_head_dim"), c.int("num_layers")
	channels, textDim, patch := c.int("in_channels"), c.int("joint_attention_dim"), c.int("patch_size")
	out, h := c.intOr("out_channels", 16), heads*d
	return &denoiser{vae: 8, patch: [3]int64{1, patch, patch}, makes: out, text: 512, guided: true, steps: 50, forward: func(b *builder, in input) {
		b.linear("image embedding", 1, in.batch*in.image, channels, h)
		b.linear("context embedding", 1, in.batch*in.text, textDim, h)
		b.embedTime("time embedding", in.batch, sinusoid, h)
		b.doubleBlocks(in, layers, heads, d)
		b.finish(in, h, patch*patch*out)
	}}
}

// auraFlow has gated MLPs of 8/3 h, rounded up to 256, and adds 8 register tokens to the text.
func auraFlow(c *config) *denoiser {
	heads, d := c.int("num_attention_heads"), c.int("attention_head_dim")
	double, single := c.int("num_mmdit_layers"), c.int("num_single_dit_layers")
	channels, textDim, patch := c.int("in_channels"), c.int("joint_attention_dim"), c.int("patch_size")
	out, h := c.intOr("out_channels", channels), heads*d
	c.equal("caption_projection_dim", c.int("caption_projection_dim"), h, "num_attention_heads x attention_head_dim")
	mlp := roundUp(8*h/3, 256)
	const registers = 8
	return &denoiser{vae: 8, patch: [3]int64{1, patch, patch}, makes: out, text: 256, guided: true, steps: 50, forward: func(b *builder, in input) {
		b.linear("context embedding", 1, in.batch*in.text, textDim, h)
		in.text += registers
		image, text, all := in.batch*in.image, in.batch*in.text, in.image+in.text
		b.linear("patch embedding", 1, image, patch*patch*channels, h)
		b.embedTime("time embedding", in.batch, sinusoid, h)
		b.linear("modulation", 2*double+single, in.batch, h, 6*h)
		b.linear("image q k v o", 4*double, image, h, h)
		b.linear("text q k v o", 4*double, text, h, h)
		b.linear("image MLP, 3 products", 3*double, image, h, mlp)
		b.linear("text MLP, 3 products", 3*double, text, h, mlp)
		b.attention("joint attention", double, in.batch, heads, all, all, d)
		b.linear("single q k v o", 4*single, in.batch*all, h, h)
		b.linear("single MLP, 3 products", 3*single, in.batch*all, h, mlp)
		b.attention("single attention", single, in.batch, heads, all, all, d)
		b.finish(in, h, patch*patch*out)
	}}
}

func roundUp(n, multiple int64) int64 { return (n + multiple - 1) / multiple * multiple }
