package ceiling

// imageVAE is the autoencoder of Stable Diffusion and FLUX: its decoder has residual blocks and one attention at the lowest
// resolution, then levels that double it, each with one residual block more than the encoder's.
func imageVAE(c *config, widths string) vae {
	channels := c.ints(widths, 0)
	layers, latent, out := c.int("layers_per_block"), c.int("latent_channels"), c.intOr("out_channels", 3)
	post := !c.has("use_post_quant_conv") || c.flag("use_post_quant_conv")
	attends := !c.has("mid_block_add_attention") || c.flag("mid_block_add_attention")
	return vae{shrink: 1 << (len(channels) - 1), decode: func(b *builder, batch, _, height, width int64) {
		area, wide := height*width, channels[len(channels)-1]
		if post {
			b.conv("post_quant_conv", 1, batch, latent, latent, 1, area, area, 1)
		}
		b.conv("conv_in", 1, batch, latent, wide, plane, area, area, 1)
		b.residuals("mid", 2, batch, wide, wide, plane, 0, area)
		if attends {
			b.midAttention(Linear, batch, 1, area, wide)
		}
		for i := len(channels) - 1; i >= 0; i-- {
			b.residuals("up", layers+1, batch, wide, channels[i], plane, 0, area)
			wide = channels[i]
			if i > 0 {
				area = b.mul(area, 4)
				b.conv("upsample", 1, batch, wide, wide, plane, area, area, 1)
			}
		}
		b.conv("conv_out", 1, batch, wide, out, plane, area, area, 1)
	}}
}

// tinyVAE is TAESD: blocks of three convolutions, and no attention. Each level ends in an upsampling and a convolution, which
// at the last makes the pixels.
func tinyVAE(c *config) vae {
	channels := c.ints("decoder_block_out_channels", 0)
	blocks := c.ints("num_decoder_blocks", len(channels))
	latent, out, factor := c.int("latent_channels"), c.intOr("out_channels", 3), c.intOr("upsampling_scaling_factor", 2)
	v := vae{shrink: 1}
	for range len(channels) - 1 {
		if v.shrink *= factor; v.shrink < 1 || v.shrink > maxField {
			c.fail("upsampling_scaling_factor", "%d at %d levels is out of range", factor, len(channels))
			v.shrink = 1
		}
	}
	v.decode = func(b *builder, batch, _, height, width int64) {
		area := height * width
		b.conv("conv_in", 1, batch, latent, channels[0], plane, area, area, 1)
		for i, wide := range channels {
			b.conv("block conv", 3*blocks[i], batch, wide, wide, plane, area, area, 1)
			if i < len(channels)-1 {
				area = b.mul(area, factor, factor)
				b.conv("upsample", 1, batch, wide, wide, plane, area, area, 1)
			} else {
				b.conv("conv_out", 1, batch, wide, out, plane, area, area, 1)
			}
		}
	}
	return v
}
