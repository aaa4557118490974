package ceiling

// wanVAE is the causal video autoencoder of Wan and Qwen-Image: convolutions over three frames, attention within each frame, and
// levels that double the resolution and some of them the frames, of which the first stays one.
//
// diffusers decodes one latent frame after the other and keeps the last frames of each convolution's input, so that no frame is
// worked on twice: the FLOPs are those of one pass over all frames. The bytes are of one pass, too.
//
// Wan 2.2's residual form (is_residual) keeps the width when it doubles the resolution, has a decoder wider than the encoder, and
// makes patches of pixels, whose channels out_channels includes.
func wanVAE(c *config) vae {
	base, latent, blocks := c.intOr("base_dim", 96), c.intOr("z_dim", 16), c.intOr("num_res_blocks", 2)
	base = c.intOr("decoder_base_dim", base)
	patch, out, residual := max(c.intOr("patch_size", 1), 1), c.intOr("out_channels", c.intOr("input_channels", 3)), c.flag("is_residual")
	mult := []int64{1, 2, 4, 4}
	if c.has("dim_mult") {
		mult = c.ints("dim_mult", 0)
	}
	doubles := c.flags("temperal_downsample", len(mult)-1) // so diffusers spells it
	v := vae{shrink: patch << (len(mult) - 1), temporal: 1}
	for _, d := range doubles {
		if d {
			v.temporal *= 2
		}
	}
	c.equal("scale_factor_spatial", c.intOr("scale_factor_spatial", v.shrink), v.shrink, "dim_mult x patch_size")
	c.equal("scale_factor_temporal", c.intOr("scale_factor_temporal", v.temporal), v.temporal, "temperal_downsample")
	v.decode = func(b *builder, batch, frames, height, width int64) {
		area, wide := height*width, base*mult[len(mult)-1]
		all := b.mul(frames, area)
		b.conv("post_quant_conv", 1, batch, latent, latent, 1, all, all, 1)
		b.conv("conv_in", 1, batch, latent, wide, cube, all, all, 1)
		b.residuals("mid", 2, batch, wide, wide, cube, 0, all)
		b.midAttention(Convolution, batch, frames, area, wide)
		for i := len(mult) - 1; i >= 0; i-- {
			b.residuals("up", blocks+1, batch, wide, base*mult[i], cube, 0, b.mul(frames, area))
			wide = base * mult[i]
			if i == 0 {
				continue
			}
			if later := frames - 1; doubles[i-1] && later > 0 {
				b.conv("upsample in time", 1, batch, wide, 2*wide, line, b.mul(later, area), b.mul(later, area), 1)
				frames += later
			}
			narrow := wide / 2
			if residual {
				narrow = wide
			}
			area = b.mul(area, 4)
			b.conv("upsample", 1, batch, wide, narrow, plane, b.mul(frames, area), b.mul(frames, area), 1)
			wide = narrow
		}
		all = b.mul(frames, area)
		b.conv("conv_out", 1, batch, wide, out, cube, all, all, 1)
	}
	return v
}
