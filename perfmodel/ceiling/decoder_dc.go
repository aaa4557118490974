package ceiling

// deepVAE is DC-AE, the autoencoder of Sana: levels of residual blocks or of EfficientViT blocks, which have linear attention and
// a convolutional MLP with a gate.
func deepVAE(c *config) vae {
	channels := c.ints("decoder_block_out_channels", 0)
	layers := c.counts("decoder_layers_per_block", len(channels))
	kinds, scales := c.strings("decoder_block_types", len(channels)), c.lists("decoder_qkv_multiscales", len(channels))
	latent, out, d, last := c.int("latent_channels"), c.intOr("in_channels", 3), c.intOr("attention_head_dim", 32), len(channels)-1
	if c.has("encoder_block_out_channels") {
		c.equal("encoder_block_out_channels", c.length("encoder_block_out_channels"), int64(len(channels)), "the length of decoder_block_out_channels")
	}
	for i, n := range layers {
		if n == 0 && (last == 0 || i > 0 && i < last) {
			c.fail("decoder_layers_per_block", "level %d has none", i)
		}
		if d > channels[i] {
			c.fail("attention_head_dim", "%d exceeds the %d channels of level %d", d, channels[i], i)
		}
	}
	shuffles := c.text("upsample_block_type") != "interpolate"
	return vae{shrink: 1 << last, decode: func(b *builder, batch, _, height, width int64) {
		area := height * width
		double := func(from, to int64) { // by a convolution before or after
			if shuffles {
				b.conv("upsample", 1, batch, from, b.mul(4, to), plane, area, area, 1)
				area = b.mul(area, 4)
			} else {
				area = b.mul(area, 4)
				b.conv("upsample", 1, batch, from, to, plane, area, area, 1)
			}
		}
		b.conv("conv_in", 1, batch, latent, channels[last], plane, area, area, 1)
		for i := last; i >= 0; i-- {
			if i < last && layers[i] > 0 {
				double(channels[i+1], channels[i])
			}
			if kinds[i] == "EfficientViTBlock" {
				b.efficientViT(layers[i], batch, area, channels[i], d, scales[i])
			} else {
				b.residuals("block", layers[i], batch, channels[i], channels[i], plane, 0, area)
			}
		}
		if layers[0] > 0 {
			b.conv("conv_out", 1, batch, channels[0], out, plane, area, area, 1)
		} else {
			double(channels[1], out)
		}
	}}
}

// efficientViT adds blocks of attention and an MLP. Each scale has heads of its own, from q, k and v that a depthwise
// convolution and one within each head make of the first. Attention is linear unless there are fewer tokens than channels of a
// head.
func (b *builder) efficientViT(layers, batch, tokens, wide, d int64, scales []int64) {
	heads, rows := wide/d, b.mul(batch, tokens)
	inner, sets := heads*d, int64(1+len(scales))
	b.linear("q k v", 3*layers, rows, wide, inner)
	for _, k := range scales {
		b.conv("q k v depthwise", layers, batch, 3*inner, 3*inner, b.mul(k, k), tokens, tokens, 3*inner)
		b.conv("q k v by head", layers, batch, 3*inner, 3*inner, 1, tokens, tokens, 3*heads)
	}
	if tokens > d {
		b.linearAttention(layers, batch, sets*heads, tokens, d)
	} else {
		b.attention("attention", layers, batch, sets*heads, tokens, tokens, d)
	}
	b.linear("o", layers, rows, sets*inner, wide)
	b.gatedConvolutions(layers, batch, tokens, wide, 4*wide)
}
