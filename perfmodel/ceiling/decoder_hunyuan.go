package ceiling

// hunyuanVideoVAE is the autoencoder of HunyuanVideo: the image autoencoder with convolutions over three frames. The attention in
// the middle is among the tokens of all frames that are decoded together, masked but done in full.
//
// diffusers decodes parts of five latent frames that begin three apart, and blends them.
func hunyuanVideoVAE(c *config) vae {
	channels := c.ints("block_out_channels", 0)
	layers, latent, out := c.int("layers_per_block"), c.int("latent_channels"), c.intOr("out_channels", 3)
	attends := !c.has("mid_block_add_attention") || c.flag("mid_block_add_attention")
	spatial, temporal, last := c.log2("spatial_compression_ratio"), c.log2("temporal_compression_ratio"), len(channels)-1
	c.levels(max(spatial, temporal), last)
	c.equal("temporal_compression_ratio", 1<<temporal, 4, "the decoder's architecture")
	decode := func(b *builder, batch, frames, height, width int64) {
		area, wide := height*width, channels[last]
		all := b.mul(frames, area)
		b.conv("post_quant_conv", 1, batch, latent, latent, 1, all, all, 1)
		b.conv("conv_in", 1, batch, latent, wide, cube, all, all, 1)
		b.residuals("mid", 2, batch, wide, wide, cube, 0, all)
		if attends {
			b.midAttention(Linear, batch, 1, all, wide)
		}
		for i := range channels {
			next := channels[last-i]
			b.residuals("up", layers+1, batch, wide, next, cube, 0, b.mul(frames, area))
			wide = next
			inSpace, inTime := i < spatial, i >= last-temporal && i < last
			if inSpace {
				area = b.mul(area, 4)
			}
			if inTime {
				frames += frames - 1
			}
			if inSpace || inTime {
				b.conv("upsample", 1, batch, wide, wide, cube, b.mul(frames, area), b.mul(frames, area), 1)
			}
		}
		all = b.mul(frames, area)
		b.conv("conv_out", 1, batch, wide, out, cube, all, all, 1)
	}
	return vae{shrink: 1 << spatial, temporal: 1 << temporal, note: untiled(c), decode: inParts(decode)}
}

// inParts decodes parts of five latent frames, three apart, when there are more than four.
func inParts(decode decoder) decoder {
	const least, stride = 4, 3
	return func(b *builder, batch, frames, height, width int64) {
		if frames <= least {
			decode(b, batch, frames, height, width)
			return
		}
		whole := (frames-least-1)/stride + 1
		b.repeat(whole, func(b *builder) { decode(b, batch, least+1, height, width) })
		for rest := frames - whole*stride; rest > 0; rest -= stride {
			decode(b, batch, rest, height, width)
		}
	}
}

// untiled warns about attention whose work grows with the square of what is decoded at once.
func untiled(c *config) string {
	return c.file + ": decoded without tiles in space; in tiles (enable_tiling) convolutions take more and attention takes less"
}

// levels demands that a decoder has as many levels as it doubles the resolution.
func (c *config) levels(doublings, last int) {
	if doublings > last {
		c.fail("block_out_channels", "%d levels double the resolution at most %d times, but the compression ratio makes %d", last+1, last, doublings)
	}
}

// shuffleVAE is the autoencoder of HunyuanImage, its refiner and HunyuanVideo-1.5. A convolution at the lower resolution makes
// the channels of all pixels that take the place of one; the attention in the middle is among all tokens. The refiner has the
// convolutions of a video but doubles no frames.
func shuffleVAE(c *config, taps int64, video bool) vae {
	channels := c.ints("block_out_channels", 0)
	layers, latent, out := c.int("layers_per_block"), c.int("latent_channels"), c.intOr("out_channels", 3)
	match := !c.has("upsample_match_channel") || c.flag("upsample_match_channel")
	spatial, temporal, last := c.log2("spatial_compression_ratio"), 0, len(channels)-1
	if taps == cube {
		temporal = c.log2("temporal_compression_ratio")
	}
	c.levels(max(spatial, temporal), last)
	v := vae{shrink: 1 << spatial}
	if video {
		v.temporal, v.note = 1<<temporal, untiled(c)
	}
	v.decode = func(b *builder, batch, frames, height, width int64) {
		area, wide := height*width, channels[last]
		all := b.mul(frames, area)
		b.conv("conv_in", 1, batch, latent, wide, taps, all, all, 1)
		b.residuals("mid", 2, batch, wide, wide, taps, 0, all)
		b.midAttention(Convolution, batch, 1, all, wide)
		for i := range channels {
			b.residuals("up", layers+1, batch, wide, channels[last-i], taps, 0, b.mul(frames, area))
			wide = channels[last-i]
			if i >= max(spatial, temporal) {
				continue
			}
			next, pixels := wide, int64(4)
			if match {
				next = channels[last-i-1]
			}
			if i < temporal {
				pixels = 8
			}
			b.conv("upsample", 1, batch, wide, b.mul(pixels, next), taps, b.mul(frames, area), b.mul(frames, area), 1)
			wide, area = next, b.mul(area, 4)
			if video && i < temporal {
				frames += frames - 1
			}
		}
		all = b.mul(frames, area)
		b.conv("conv_out", 1, batch, wide, out, taps, all, all, 1)
	}
	return v
}
