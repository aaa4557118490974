package ceiling

import "fmt"

// A vae is what is known of the autoencoder: how much it shrinks, and its decoder when that can be modelled.
type vae struct {
	shrink   int64                                                // in height and width
	temporal int64                                                // in time: (frames-1)/temporal + 1 latent frames; 0 for images
	decode   func(b *builder, batch, frames, height, width int64) // from latents of this size; nil when it is not modelled
	note     string                                               // why decode is nil
}

// readVAE reads the configuration of an autoencoder, by its class.
func readVAE(c *config) (vae, error) {
	v := vae{note: fmt.Sprintf("the decoder (%s) is not counted", c.class())}
	switch c.class() {
	case "AutoencoderKL", "AutoencoderKLFlux2":
		channels := c.ints("block_out_channels", 0)
		v.shrink = 1 << (len(channels) - 1)
		v.decode, v.note = decoderKL(c, channels), ""
	case "AutoencoderDC":
		v.shrink = 1 << (len(c.ints("encoder_block_out_channels", 0)) - 1)
	case "AutoencoderKLWan", "AutoencoderKLQwenImage":
		v.shrink, v.temporal = c.intOr("scale_factor_spatial", 8), c.intOr("scale_factor_temporal", 4)
		if !c.flag("is_residual") { // the other form works on patches, with shortcuts of its own
			v.decode, v.note = decoderWan(c), ""
		}
	case "AutoencoderKLHunyuanVideo", "AutoencoderKLHunyuanImage", "AutoencoderKLHunyuanVideo15":
		v.shrink, v.temporal = c.int("spatial_compression_ratio"), c.intOr("temporal_compression_ratio", 0)
		v.note += ": its attention depends on the tiles that it works in"
	default:
		v.note = fmt.Sprintf("%s: class %q is not known, its decoder is not counted", c.file, c.class())
	}
	return v, c.err
}

// decoderKL is the decoder of the image autoencoder: residual blocks and one attention at the lowest resolution, then levels
// that double it, each with one residual block more than the encoder's.
func decoderKL(c *config, channels []int64) func(b *builder, batch, frames, height, width int64) {
	layers, latent, out := c.int("layers_per_block"), c.int("latent_channels"), c.intOr("out_channels", 3)
	post := !c.has("use_post_quant_conv") || c.flag("use_post_quant_conv")
	attends := !c.has("mid_block_add_attention") || c.flag("mid_block_add_attention")
	return func(b *builder, batch, _, height, width int64) {
		area, wide := height*width, channels[len(channels)-1]
		if post {
			b.conv("post_quant_conv", 1, batch, latent, latent, 1, area, area, 1)
		}
		b.conv("conv_in", 1, batch, latent, wide, plane, area, area, 1)
		b.residual("mid", batch, wide, wide, plane, 0, area)
		if attends {
			b.linear("mid q k v o", 4, b.mul(batch, area), wide, wide)
			b.attention("mid attention", 1, batch, 1, area, area, wide)
		}
		b.residual("mid", batch, wide, wide, plane, 0, area)
		for i := len(channels) - 1; i >= 0; i-- {
			for range layers + 1 {
				b.residual("up", batch, wide, channels[i], plane, 0, area)
				wide = channels[i]
			}
			if i > 0 {
				area = b.mul(area, 4)
				b.conv("upsample", 1, batch, wide, wide, plane, area, area, 1)
			}
		}
		b.conv("conv_out", 1, batch, wide, out, plane, area, area, 1)
	}
}

// Taps of a 3x3 kernel, of one that also spans three frames, and of one that only does.
const plane, cube, line = 9, 27, 3

// decoderWan is the causal video decoder: convolutions over three frames, attention within each, and levels that double the
// resolution and some of them the frames, of which the first stays one.
func decoderWan(c *config) func(b *builder, batch, frames, height, width int64) {
	base, latent, blocks := c.intOr("base_dim", 96), c.intOr("z_dim", 16), c.intOr("num_res_blocks", 2)
	mult := []int64{1, 2, 4, 4}
	if c.has("dim_mult") {
		mult = c.ints("dim_mult", 0)
	}
	doubles := c.flags("temperal_downsample", len(mult)-1) // so diffusers spells it
	return func(b *builder, batch, frames, height, width int64) {
		area, wide := height*width, base*mult[len(mult)-1]
		b.conv("post_quant_conv", 1, batch, latent, latent, 1, b.mul(frames, area), b.mul(frames, area), 1)
		b.conv("conv_in", 1, batch, latent, wide, cube, b.mul(frames, area), b.mul(frames, area), 1)
		b.residual("mid", batch, wide, wide, cube, 0, b.mul(frames, area))
		b.conv("mid q k v", 1, batch, wide, 3*wide, 1, b.mul(frames, area), b.mul(frames, area), 1)
		b.attention("mid attention", 1, batch*frames, 1, area, area, wide)
		b.conv("mid o", 1, batch, wide, wide, 1, b.mul(frames, area), b.mul(frames, area), 1)
		b.residual("mid", batch, wide, wide, cube, 0, b.mul(frames, area))
		for i := len(mult) - 1; i >= 0; i-- {
			out := base * mult[i]
			for range blocks + 1 {
				b.residual("up", batch, wide, out, cube, 0, b.mul(frames, area))
				wide = out
			}
			if i == 0 {
				continue
			}
			if later := frames - 1; doubles[i-1] && later > 0 {
				b.conv("upsample in time", 1, batch, wide, 2*wide, line, b.mul(later, area), b.mul(later, area), 1)
				frames += later
			}
			area = b.mul(area, 4)
			b.conv("upsample", 1, batch, wide, wide/2, plane, b.mul(frames, area), b.mul(frames, area), 1)
			wide /= 2
		}
		b.conv("conv_out", 1, batch, wide, 3, cube, b.mul(frames, area), b.mul(frames, area), 1)
	}
}
