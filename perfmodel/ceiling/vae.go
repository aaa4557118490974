package ceiling

import "fmt"

// A vae is what is known of the autoencoder: how much it shrinks, and its decoder when that can be modelled.
type vae struct {
	shrink   int64 // in height and width
	temporal int64 // in time: (frames-1)/temporal + 1 latent frames; 0 for images
	decode   func(b *builder, batch, height, width int64)
	note     string // why decode is nil
}

// vaeConfigs reads the configurations of the autoencoders, by class.
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
	case "AutoencoderKLHunyuanVideo", "AutoencoderKLHunyuanImage", "AutoencoderKLHunyuanVideo15":
		v.shrink, v.temporal = c.int("spatial_compression_ratio"), c.intOr("temporal_compression_ratio", 0)
	default:
		v.note = fmt.Sprintf("%s: class %q is not known, its decoder is not counted", c.file, c.class())
	}
	return v, c.err
}

// decoderKL is the decoder of the image autoencoder: residual blocks and one attention at the lowest resolution, then levels
// that double it, each with one residual block more than the encoder's.
func decoderKL(c *config, channels []int64) func(b *builder, batch, height, width int64) {
	layers, latent, out := c.int("layers_per_block"), c.int("latent_channels"), c.intOr("out_channels", 3)
	post := !c.has("use_post_quant_conv") || c.flag("use_post_quant_conv")
	attends := !c.has("mid_block_add_attention") || c.flag("mid_block_add_attention")
	return func(b *builder, batch, height, width int64) {
		area, wide := height*width, channels[len(channels)-1]
		if post {
			b.conv("post_quant_conv", 1, batch, latent, latent, 1, area, area, 1)
		}
		b.conv("conv_in", 1, batch, latent, wide, 9, area, area, 1)
		b.residual("mid", batch, wide, wide, 0, area)
		if attends {
			b.linear("mid q k v o", 4, batch*area, wide, wide)
			b.attention("mid attention", 1, batch, 1, area, area, wide)
		}
		b.residual("mid", batch, wide, wide, 0, area)
		for i := len(channels) - 1; i >= 0; i-- {
			for range layers + 1 {
				b.residual("up", batch, wide, channels[i], 0, area)
				wide = channels[i]
			}
			if i > 0 {
				area *= 4
				b.conv("upsample", 1, batch, wide, wide, 9, area, area, 1)
			}
		}
		b.conv("conv_out", 1, batch, wide, out, 9, area, area, 1)
	}
}
