package ceiling

import (
	"fmt"
	"math/bits"
)

// A vae is what is known of the autoencoder: how much it shrinks, and its decoder when that can be modelled.
type vae struct {
	shrink      int64   // in height and width
	temporal    int64   // in time: (frames-1)/temporal + 1 latent frames; 0 for images
	latent      int64   // channels of a latent, 0 when unknown; latentField names them
	decode      decoder // nil when it is not modelled
	latentField string
	note        string // why decode is nil, or what it leaves out
}

// A decoder adds the work of decoding latents of a size: latent frames (1 for an image), rows and columns. Nothing is tiled in
// space, as in diffusers unless one asks for it.
type decoder func(b *builder, batch, frames, height, width int64)

// Taps of a 3x3 kernel, of one that also spans three frames, and of one that only does.
const plane, cube, line = 9, 27, 3

// readVAE reads the configuration of an autoencoder, by its class.
func readVAE(c *config) (vae, error) {
	var v vae
	switch c.class() {
	case "AutoencoderKL":
		v = imageVAE(c, "block_out_channels")
	case "AutoencoderKLFlux2":
		v = imageVAE(c, "block_out_channels")
		if c.has("decoder_block_out_channels") { // a smaller decoder for the same latents
			v = imageVAE(c, "decoder_block_out_channels")
		}
	case "AutoencoderTiny":
		v = tinyVAE(c)
	case "AutoencoderDC":
		v = deepVAE(c)
	case "AutoencoderKLWan", "AutoencoderKLQwenImage":
		v = wanVAE(c)
	case "AutoencoderKLHunyuanVideo":
		v = hunyuanVideoVAE(c)
	case "AutoencoderKLHunyuanImage":
		v = shuffleVAE(c, plane, false)
	case "AutoencoderKLHunyuanImageRefiner":
		v = shuffleVAE(c, cube, false)
	case "AutoencoderKLHunyuanVideo15":
		v = shuffleVAE(c, cube, true)
	default:
		v.note = fmt.Sprintf("%s: class %q is not known, its decoder is not counted", c.file, c.class())
	}
	v.latentField = "latent_channels"
	if c.has("z_dim") {
		v.latentField = "z_dim"
	}
	v.latent = c.intOr(v.latentField, 0)
	return v, c.err
}

// log2 returns the logarithm of a power of two.
func (c *config) log2(field string) int {
	n := c.int(field)
	if n&(n-1) != 0 {
		c.fail(field, "%d is no power of two", n)
	}
	return bits.Len64(uint64(n)) - 1
}

// midAttention adds attention of one head among all tokens of a group, with projections of a kind.
func (b *builder) midAttention(projections Kind, batch, groups, tokens, wide int64) {
	all := b.mul(groups, tokens)
	if projections == Linear {
		b.linear("mid q k v o", 4, b.mul(batch, all), wide, wide)
	} else {
		b.conv("mid q k v o", 4, batch, wide, wide, 1, all, all, 1)
	}
	b.attention("mid attention", 1, b.mul(batch, groups), 1, tokens, tokens, wide)
}
