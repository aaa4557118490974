package ceiling

import "strings"

// A unet is UNet2DConditionModel, of Stable Diffusion XL and its relatives: levels of residual blocks, some with transformers
// of image tokens that look at the text.
type unet struct {
	channels, layers, depth, heads []int64 // by level: width, residual blocks, transformer layers, attention heads
	down, up                       []bool  // levels with transformers
	mid                            bool    // whether the middle has one
	in, out, text, pooled          int64
}

func sdxl(c *config) *denoiser {
	n := len(c.ints("block_out_channels", 0))
	u := unet{channels: c.ints("block_out_channels", n), layers: c.ints("layers_per_block", n), heads: c.heads(n),
		in: c.int("in_channels"), out: c.int("out_channels"), text: c.int("cross_attention_dim"),
		pooled: c.intOr("projection_class_embeddings_input_dim", 0)}
	u.depth = make([]int64, n)
	for i := range u.depth {
		u.depth[i] = 1
	}
	if c.has("transformer_layers_per_block") {
		u.depth = c.ints("transformer_layers_per_block", n)
	}
	for _, t := range c.strings("down_block_types", n) {
		u.down = append(u.down, strings.Contains(t, "CrossAttn"))
	}
	for _, t := range c.strings("up_block_types", n) {
		u.up = append(u.up, strings.Contains(t, "CrossAttn"))
	}
	u.mid = !c.has("mid_block_type") || strings.Contains(c.text("mid_block_type"), "CrossAttn")
	shrink := int64(1) << max(n-1, 0)
	return &denoiser{vae: 8, patch: [3]int64{1, shrink, shrink}, pixels: true, makes: u.out, text: 77, guided: true, steps: 50, sample: c.sample(), forward: u.forward}
}

// heads reads what diffusers calls attention_head_dim and uses as the number of heads.
func (c *config) heads(n int) []int64 {
	if c.has("num_attention_heads") {
		return c.ints("num_attention_heads", n)
	}
	return c.ints("attention_head_dim", n)
}

func (u *unet) forward(b *builder, in input) {
	area, temb, last := in.height*in.width, 4*u.channels[0], len(u.channels)-1
	b.embedTime("time embedding", in.batch, u.channels[0], temb)
	if u.pooled > 0 {
		b.linear("added embedding 1", 1, in.batch, u.pooled, temb)
		b.linear("added embedding 2", 1, in.batch, temb, temb)
	}
	b.conv("conv_in", 1, in.batch, u.in, u.channels[0], plane, area, area, 1)
	skips, width := []int64{u.channels[0]}, u.channels[0]
	for i, c := range u.channels {
		for range u.layers[i] {
			b.residuals("down", 1, in.batch, width, c, plane, temb, area)
			u.transformer(b, in, u.down[i], i, area)
			skips, width = append(skips, c), c
		}
		if i < last {
			b.conv("downsample", 1, in.batch, c, c, plane, area, area/4, 1)
			skips, area = append(skips, c), area/4
		}
	}
	b.residuals("mid", 1, in.batch, width, width, plane, temb, area)
	u.transformer(b, in, u.mid, last, area)
	b.residuals("mid", 1, in.batch, width, width, plane, temb, area)
	for j := range u.channels {
		i := last - j
		c := u.channels[i]
		for range u.layers[i] + 1 {
			b.residuals("up", 1, in.batch, width+skips[len(skips)-1], c, plane, temb, area)
			skips, width = skips[:len(skips)-1], c
			u.transformer(b, in, u.up[j], i, area)
		}
		if i > 0 {
			area = b.mul(area, 4)
			b.conv("upsample", 1, in.batch, c, c, plane, area, area, 1)
		}
	}
	b.conv("conv_out", 1, in.batch, width, u.out, plane, area, area, 1)
}

// transformer adds the transformer of level i: its layers have self-attention, cross-attention and a gated MLP.
func (u *unet) transformer(b *builder, in input, present bool, i int, tokens int64) {
	if !present {
		return
	}
	c, n, heads := u.channels[i], u.depth[i], u.heads[i]
	rows := b.mul(in.batch, tokens)
	b.linear("transformer proj", 2, rows, c, c)
	b.linear("q k v o", 4*n, rows, c, c)
	b.attention("self-attention", n, in.batch, heads, tokens, tokens, c/heads)
	in.image = tokens
	b.crossAttention(in, "cross-attention", n, heads, c/heads, in.text, u.text)
	b.linear("MLP, gated", n, rows, c, 8*c)
	b.linear("MLP out", n, rows, 4*c, c)
}

// residuals adds n blocks of two convolutions of a number of taps and the projection of the time embedding (temb 0: none). The
// first changes the width, if that changes, and then has a shortcut.
func (b *builder) residuals(name string, n, batch, cin, cout, taps, temb, area int64) {
	b.conv(name+" conv", min(n, 1), batch, cin, cout, taps, area, area, 1)
	b.conv(name+" conv", 2*n-1, batch, cout, cout, taps, area, area, 1)
	if temb > 0 {
		b.linear(name+" time projection", n, batch, temb, cout)
	}
	if cin != cout {
		b.conv(name+" shortcut", min(n, 1), batch, cin, cout, 1, area, area, 1)
	}
}
