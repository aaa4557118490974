package ceiling

import "slices"

// hunyuanVideo is FLUX's transformer with patches in time and a refiner of the text tokens.
func hunyuanVideo(c *config) *denoiser {
	patch, t := c.int("patch_size"), c.intOr("patch_size_t", 1)
	return hunyuan(c, c.int("num_single_layers"), !c.has("guidance_embeds") || c.flag("guidance_embeds"), nil,
		&denoiser{vae: 8, temporal: 4, patch: [3]int64{t, patch, patch}, text: 256, steps: 50, width: 1280, height: 720, frames: 129})
}

// hunyuanVideo15 has double blocks only. Tokens of glyphs and of an image follow those of the text in each run; without an
// image they are masked.
func hunyuanVideo15(c *config) *denoiser {
	patch, t := c.int("patch_size"), c.intOr("patch_size_t", 1)
	image := c.int("image_embed_dim")
	more := []projection{glyphs(256, c.int("text_embed_2_dim")), {"image context", 729, []int64{image, image}}}
	return hunyuan(c, 0, false, more,
		&denoiser{vae: 16, temporal: 4, patch: [3]int64{t, patch, patch}, text: 1000, guided: true, steps: 50, width: 1280, height: 720, frames: 121})
}

// hunyuanImage works on the latents of a VAE that shrinks by 32.
func hunyuanImage(c *config) *denoiser {
	p := c.ints("patch_size", 0)
	if len(p) == 2 { // the refiner has patches of three dimensions
		p = append([]int64{1}, p...)
	}
	if len(p) != 3 {
		c.fail("patch_size", "has %d entries, want 2 or 3", len(p))
		p = make([]int64, 3)
	}
	var more []projection
	if c.has("text_embed_2_dim") {
		more = append(more, glyphs(128, c.int("text_embed_2_dim")))
	}
	return hunyuan(c, c.int("num_single_layers"), c.flag("guidance_embeds"), more,
		&denoiser{vae: 32, patch: [3]int64(p), text: 1000, guided: true, steps: 50, width: 2048, height: 2048})
}

// A projection brings the tokens of another encoder to the hidden size, through layers of given widths.
type projection struct {
	name   string
	tokens int64
	widths []int64
}

// glyphs are the tokens of ByT5, which reads what is to be written in the image.
func glyphs(tokens, dim int64) projection {
	const wide = 2048
	return projection{"glyph context", tokens, []int64{dim, wide, wide}}
}

func hunyuan(c *config, single int64, guidance bool, more []projection, m *denoiser) *denoiser {
	heads, d, channels := c.int("num_attention_heads"), c.int("attention_head_dim"), c.int("in_channels")
	double, refiners := c.int("num_layers"), c.intOr("num_refiner_layers", 2)
	textDim, pooled := c.int("text_embed_dim"), c.intOr("pooled_projection_dim", 0)
	out, h := c.intOr("out_channels", channels), heads*d
	taps := m.patch[0] * m.patch[1] * m.patch[2]
	m.makes = out
	m.forward = func(b *builder, in input) {
		text := in.batch * in.text
		b.conv("patch embedding", 1, in.batch, channels, h, taps, in.image*taps, in.image, 1)
		b.embedTime("time embedding", in.batch, sinusoid, h)
		if guidance {
			b.embedTime("guidance embedding", in.batch, sinusoid, h)
		}
		if pooled > 0 {
			b.embedTime("pooled text embedding", in.batch, pooled, h)
		}
		b.linear("context embedding", 1, text, textDim, h)
		b.embedTime("refiner time embedding", in.batch, sinusoid, h)
		b.embedTime("refiner text embedding", in.batch, textDim, h)
		b.linear("refiner modulation", refiners, in.batch, h, 2*h)
		b.linear("refiner q k v o", 4*refiners, text, h, h)
		b.linear("refiner MLP", refiners, text, h, 4*h)
		b.linear("refiner MLP out", refiners, text, 4*h, h)
		b.attention("refiner attention", refiners, in.batch, heads, in.text, in.text, d)
		for _, p := range more {
			from := p.widths[0]
			for _, to := range append(slices.Clone(p.widths[1:]), h) {
				b.linear(p.name, 1, in.batch*p.tokens, from, to)
				from = to
			}
			in.text += p.tokens
		}
		b.doubleBlocks(in, double, heads, d)
		b.singleBlocks(in, single, heads, d)
		b.finish(in, h, taps*out)
	}
	return m
}

// hiDream routes image tokens through experts: a shared one of half the size and some of the routed ones, all gated (three products).
// Its text is that of T5 and of the last Llama layer, and in each block that of one Llama layer more.
func hiDream(c *config) *denoiser {
	heads, d, patch := c.int("num_attention_heads"), c.int("attention_head_dim"), c.int("patch_size")
	double, single, channels := c.int("num_layers"), c.int("num_single_layers"), c.int("in_channels")
	experts, active := c.int("num_routed_experts"), c.int("num_activated_experts")
	caption, pooled := c.ints("caption_channels", 0), c.int("text_emb_dim")
	out, h := c.intOr("out_channels", channels), heads*d
	if active > experts {
		c.fail("num_activated_experts", "is %d, but num_routed_experts is %d", active, experts)
	}
	wide, shared := gated(4*h), gated(2*h)
	size := []int64{128, 128} // latents of the largest image
	if c.has("max_resolution") {
		size = c.ints("max_resolution", 2)
	}
	most := size[0] * size[1] / (patch * patch)
	return &denoiser{vae: 8, patch: [3]int64{1, patch, patch}, makes: out, text: 128, guided: true, steps: 50, forward: func(b *builder, in input) {
		if in.height != in.width {
			in.image = max(in.image, most) // what is not square is padded
		}
		perEncoder, blocks := in.text, double+single
		in.text = 3 * perEncoder
		image, text, all := in.batch*in.image, in.batch*in.text, in.image+in.text
		b.linear("image embedding", 1, image, patch*patch*channels, h)
		b.linear("context embeddings", blocks+1, in.batch*perEncoder, caption[0], h)
		b.embedTime("time embedding", in.batch, sinusoid, h)
		b.embedTime("pooled text embedding", in.batch, pooled, h)
		b.linear("double modulation", double, in.batch, h, 12*h)
		b.linear("single modulation", single, in.batch, h, 6*h)
		b.linear("image q k v o", 4*double, image, h, h)
		b.linear("text q k v o", 4*double, text, h, h)
		b.linear("text MLP, 3 products", 3*double, text, h, wide)
		b.linear("single q k v o", 4*single, in.batch*all, h, h)
		b.attention("joint attention", blocks, in.batch, heads, all, all, d)
		for _, part := range []struct {
			name         string
			blocks, rows int64
		}{{"image", double, image}, {"single", single, in.batch * all}} {
			b.linear(part.name+" router", part.blocks, part.rows, h, experts)
			b.linear(part.name+" shared expert, 3 products", 3*part.blocks, part.rows, h, shared)
			b.linear(part.name+" routed experts, 3 products", 3*part.blocks*experts, (part.rows*active+experts-1)/experts, h, wide)
		}
		b.finish(in, h, patch*patch*out)
	}}
}

// gated is the width of a gated MLP that replaces a plain one of n: two thirds, rounded up to 256.
func gated(n int64) int64 { return roundUp(2*n/3, 256) }
