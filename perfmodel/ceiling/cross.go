package ceiling

import "github.com/ditlens/ditlens/hw"

// Transformers whose image tokens attend to each other and, apart from that, to the text.

// crossAttention adds layers of attention of the image to n text tokens of dim channels.
func (b *builder) crossAttention(in input, name string, layers, heads, d, n, dim int64) {
	h, image := heads*d, in.batch*in.image
	b.linear(name+" q o", 2*layers, image, h, h)
	b.linear(name+" k v", 2*layers, in.batch*n, dim, h)
	b.attention(name, layers, in.batch, heads, in.image, n, d)
}

// wan has one modulation for all blocks; image-to-video adds the tokens of an image encoder to the cross-attention.
func wan(c *config) *denoiser {
	heads, d, layers, ffn := c.int("num_attention_heads"), c.int("attention_head_dim"), c.int("num_layers"), c.int("ffn_dim")
	channels, out, textDim := c.int("in_channels"), c.intOr("out_channels", 16), c.int("text_dim")
	patch, freq, h := [3]int64(c.ints("patch_size", 3)), c.intOr("freq_dim", sinusoid), heads*d
	imageDim := c.intOr("image_dim", 0)
	const imageTokens = 257 // of CLIP ViT-H/14 at 224x224, with the class token
	return &denoiser{vae: 8, temporal: 4, patch: patch, makes: out, text: 512, guided: true, steps: 50, width: 1280, height: 720, frames: 81,
		forward: func(b *builder, in input) {
			image, taps := in.batch*in.image, patch[0]*patch[1]*patch[2]
			b.conv("patch embedding", 1, in.batch, channels, h, taps, in.image*taps, in.image, 1)
			b.embedTime("time embedding", in.batch*in.times, freq, h)
			b.linear("modulation", 1, in.batch*in.times, h, 6*h)
			b.embedTime("context embedding", in.batch*in.text, textDim, h)
			b.linear("q k v o", 4*layers, image, h, h)
			b.attention("self-attention", layers, in.batch, heads, in.image, in.image, d)
			b.crossAttention(in, "cross-attention", layers, heads, d, in.text, h)
			if imageDim > 0 {
				b.linear("image context 1", 1, in.batch*imageTokens, imageDim, imageDim)
				b.linear("image context 2", 1, in.batch*imageTokens, imageDim, h)
				b.linear("image cross-attention k v", 2*layers, in.batch*imageTokens, h, h)
				b.attention("image cross-attention", layers, in.batch, heads, in.image, imageTokens, d)
			}
			b.linear("MLP", layers, image, h, ffn)
			b.linear("MLP out", layers, image, ffn, h)
			b.linear("proj_out", 1, image, h, taps*out)
		}}
}

func pixArt(c *config) *denoiser {
	heads, d, layers, patch := c.int("num_attention_heads"), c.int("attention_head_dim"), c.int("num_layers"), c.int("patch_size")
	channels, caption := c.int("in_channels"), c.int("caption_channels")
	out, h := c.intOr("out_channels", channels), heads*d
	c.equal("cross_attention_dim", c.int("cross_attention_dim"), h, "num_attention_heads x attention_head_dim")
	return &denoiser{vae: 8, patch: [3]int64{1, patch, patch}, makes: out, text: 300, guided: true, steps: 20, sample: c.sample(), forward: func(b *builder, in input) {
		image := in.batch * in.image
		b.conv("patch embedding", 1, in.batch, channels, h, patch*patch, in.image*patch*patch, in.image, 1)
		b.embedTime("time embedding", in.batch, sinusoid, h)
		b.linear("modulation", 1, in.batch, h, 6*h)
		b.embedTime("context embedding", in.batch*in.text, caption, h)
		b.linear("q k v o", 4*layers, image, h, h)
		b.attention("self-attention", layers, in.batch, heads, in.image, in.image, d)
		b.crossAttention(in, "cross-attention", layers, heads, d, in.text, h)
		b.linear("MLP", layers, image, h, 4*h)
		b.linear("MLP out", layers, image, 4*h, h)
		b.linear("proj_out", 1, image, h, patch*patch*out)
	}}
}

// sana has linear attention: keys and values are first summed to a d x (d+1) state a head, so that the work grows with the
// number of tokens, not with its square. Its MLP is convolutional with a gate.
func sana(c *config) *denoiser {
	heads, d, layers := c.int("num_attention_heads"), c.int("attention_head_dim"), c.int("num_layers")
	crossHeads, crossD := c.int("num_cross_attention_heads"), c.int("cross_attention_head_dim")
	channels, caption, patch := c.int("in_channels"), c.int("caption_channels"), c.int("patch_size")
	out, h := c.intOr("out_channels", channels), heads*d
	c.equal("num_cross_attention_heads", crossHeads*crossD, h, "num_attention_heads x attention_head_dim")
	wide := int64(c.float("mlp_ratio", 2.5) * float64(h))
	return &denoiser{vae: 32, patch: [3]int64{1, patch, patch}, makes: out, text: 300, guided: true, steps: 20, forward: func(b *builder, in input) {
		image, n := in.batch*in.image, in.image
		b.conv("patch embedding", 1, in.batch, channels, h, patch*patch, n*patch*patch, n, 1)
		b.embedTime("time embedding", in.batch, sinusoid, h)
		if c.flag("guidance_embeds") {
			b.embedTime("guidance embedding", in.batch, sinusoid, h)
		}
		b.linear("modulation", 1, in.batch, h, 6*h)
		b.embedTime("context embedding", in.batch*in.text, caption, h)
		b.linear("q k v o", 4*layers, image, h, h)
		b.linearAttention(layers, in.batch, heads, n, d)
		b.crossAttention(in, "cross-attention", layers, crossHeads, crossD, in.text, h)
		b.gatedConvolutions(layers, in.batch, n, h, wide)
		b.linear("proj_out", 1, image, h, patch*patch*out)
	}}
}

func (b *builder) linearAttention(layers, batch, heads, tokens, d int64) {
	perHead := b.mul(4, tokens, d, d+1)
	bytes := b.size(b.mul(4, batch, tokens, heads, d), b.attentionBits)
	b.term(Term{Name: "linear attention", Kind: Attention, Count: layers, FLOPs: b.mul(batch, heads, perHead), Bytes: bytes, unit: hw.Matrix})
}

// gatedConvolutions adds MLPs of convolutions: one tap to both halves of a gate, 3x3 within each channel, one tap back.
func (b *builder) gatedConvolutions(layers, batch, tokens, h, wide int64) {
	b.conv("MLP in", layers, batch, h, 2*wide, 1, tokens, tokens, 1)
	b.conv("MLP depthwise", layers, batch, 2*wide, 2*wide, plane, tokens, tokens, 2*wide)
	b.conv("MLP out", layers, batch, wide, h, 1, tokens, tokens, 1)
}

// zImage refines image and text apart in a few blocks, then joins them in one stream. Its MLPs are gated, its modulation has four
// parts from at most 256 channels.
func zImage(c *config) *denoiser {
	h, heads, layers := c.int("dim"), c.int("n_heads"), c.int("n_layers")
	refiners, channels, caption := c.intOr("n_refiner_layers", 2), c.int("in_channels"), c.int("cap_feat_dim")
	p, f := c.ints("all_patch_size", 0), c.ints("all_f_patch_size", 0)
	if h%heads != 0 {
		c.fail("n_heads", "%d does not divide dim %d", heads, h)
	}
	d, mlp, taps := h/max(heads, 1), h*8/3, p[0]*p[0]*f[0]
	return &denoiser{vae: 8, patch: [3]int64{f[0], p[0], p[0]}, makes: channels, text: 512, guided: false, steps: 9, forward: func(b *builder, in input) {
		in.image, in.text = roundUp(in.image, 32), roundUp(in.text, 32) // both are padded
		b.linear("image embedding", 1, in.batch*in.image, taps*channels, h)
		b.linear("context embedding", 1, in.batch*in.text, caption, h)
		b.linear("time embedding 1", 1, in.batch, sinusoid, 1024)
		b.linear("time embedding 2", 1, in.batch, 1024, min(h, sinusoid))
		b.linear("modulation", layers+refiners, in.batch, min(h, sinusoid), 4*h)
		for _, part := range []struct {
			name           string
			layers, tokens int64
		}{{"image refiner", refiners, in.image}, {"text refiner", refiners, in.text}, {"joint", layers, in.image + in.text}} {
			rows := in.batch * part.tokens
			b.linear(part.name+" q k v o", 4*part.layers, rows, h, h)
			b.attention(part.name+" attention", part.layers, in.batch, heads, part.tokens, part.tokens, d)
			b.linear(part.name+" MLP, 3 products", 3*part.layers, rows, h, mlp)
		}
		b.linear("norm_out modulation", 1, in.batch, min(h, sinusoid), h)
		b.linear("proj_out", 1, in.batch*in.image, h, taps*channels)
	}}
}
