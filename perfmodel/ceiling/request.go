package ceiling

import (
	"errors"
	"fmt"

	"github.com/ditlens/ditlens/hw"
)

// ErrOptions is wrapped by the errors about options that do not fit the model.
var ErrOptions = errors.New("options do not fit the model")

// Work is what a request takes.
type Work struct {
	Options
	ImageTokens int64  // of each image in a forward pass, without padding; latent positions for a UNet
	Parts       []Part // the denoiser first
	total       Amount // of all parts and calls
}

// Work returns the work of a request. The error wraps [ErrOptions] or is [ErrTooLarge].
func (m *Model) Work(o Options) (*Work, error) {
	in, err := m.input(o)
	if err != nil {
		return nil, err
	}
	if o.Attention == hw.UnknownType {
		o.Attention = o.Type
		if o.Type.Bits() < 16 {
			o.Attention = hw.BF16
		}
	}
	w := &Work{Options: o, ImageTokens: in.image}
	if err := w.part("denoiser", o.Steps, o.Type, func(b *builder) { m.denoiser.forward(b, in) }); err != nil {
		return nil, err
	}
	const plain = hw.BF16 // quantised models keep these parts in 16 bits
	for _, e := range m.text {
		n := e.tokens
		if n == 0 {
			n = m.encoderTokens(o.TextTokens)
		}
		if err := w.part(e.name, 1, plain, func(b *builder) { e.forward(b, in.batch, n) }); err != nil {
			return nil, err
		}
	}
	if m.vae.decode != nil {
		err = w.part("vae decoder", 1, plain, func(b *builder) { m.vae.decode(b, o.Batch, in.frames, in.height, in.width) })
	}
	return w, err
}

// encoderTokens is the length of the prompt for the text encoder with the longest one: SD3 appends T5's tokens to CLIP's 77.
func (m *Model) encoderTokens(n int64) int64 {
	const clip = 77
	if m.Class == "SD3Transformer2DModel" && n > clip {
		return n - clip
	}
	return n
}

// maxTokens bounds the tokens of a forward pass, so that their products with the sizes of a model stay within 64 bits.
const maxTokens = 1 << 40

// input checks the options and returns the size of a forward pass.
func (m *Model) input(o Options) (input, error) {
	bad := func(format string, args ...any) (input, error) {
		return input{}, fmt.Errorf("ceiling: %w: %s", ErrOptions, fmt.Sprintf(format, args...))
	}
	d := m.denoiser
	frames := int64(1)
	switch unit := m.vae.shrink; {
	case o.Height < 1 || o.Width < 1 || o.Batch < 1 || o.Steps < 1 || o.TextTokens < 1 || o.Frames < 1:
		return bad("sizes must be positive: %+v", o)
	case max(o.Height, o.Width, o.Batch, o.Steps, o.TextTokens, o.Frames) > maxField:
		return bad("sizes above %d: %+v", maxField, o)
	case o.Type.Bits() == 0:
		return bad("no element type")
	case o.Height%(unit*d.patch[1]) != 0 || o.Width%(unit*d.patch[2]) != 0:
		return bad("%dx%d (height x width) is no multiple of %dx%d", o.Height, o.Width, unit*d.patch[1], unit*d.patch[2])
	case o.Frames > 1 && d.temporal == 0:
		return bad("%d frames of an image model", o.Frames)
	case d.temporal > 0:
		if (o.Frames-1)%m.vae.temporal != 0 {
			return bad("%d frames: must be 1 more than a multiple of %d", o.Frames, m.vae.temporal)
		}
		frames = (o.Frames-1)/m.vae.temporal + 1
	}
	in := input{batch: o.Batch, text: o.TextTokens, frames: frames, height: o.Height / m.vae.shrink, width: o.Width / m.vae.shrink}
	if frames%d.patch[0] != 0 {
		return bad("%d latent frames are no multiple of %d", frames, d.patch[0])
	}
	in.image = frames / d.patch[0] * (in.height / d.patch[1]) * (in.width / d.patch[2])
	if d.pixels {
		in.image = in.height * in.width
	}
	in.times = 1
	if m.perToken {
		in.times = in.image
	}
	if o.Guided {
		in.batch *= 2
	}
	if in.image > maxTokens/in.batch {
		return input{}, ErrTooLarge
	}
	return in, nil
}

func (w *Work) part(name string, calls int64, t hw.DType, fill func(b *builder)) error {
	b := builder{bits: t.Bits(), attentionBits: w.Attention.Bits()}
	if fill(&b); b.err != nil {
		return b.err
	}
	w.Parts = append(w.Parts, Part{Name: name, Calls: calls, Type: t, Attention: w.Attention, Terms: b.terms})
	w.total.FLOPs = b.add(w.total.FLOPs, b.mul(calls, b.sum.FLOPs))
	w.total.Bytes = b.add(w.total.Bytes, b.mul(calls, b.sum.Bytes))
	return b.err
}

// Forward returns the work of one forward pass of the denoiser, both halves of guidance included: of a step.
func (w *Work) Forward() Amount { return w.Parts[0].Call() }

// Image returns the work for each image (or video) of the batch: all steps, and the other parts that are counted.
func (w *Work) Image() Amount {
	return Amount{w.total.FLOPs / w.Batch, w.total.Bytes / w.Batch}
}
