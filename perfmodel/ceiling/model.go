package ceiling

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"github.com/ditlens/ditlens/hw"
)

// A Model is the geometry of a diffusers model folder. It is read-only and safe for concurrent use.
type Model struct {
	Class    string   // Python class of the denoiser
	Notes    []string // what is not counted, and what was taken from where
	perToken bool     // each image token has a time of its own
	denoiser *denoiser
	vae      vae
	text     []*textEncoder
}

// A denoiser is the network of the denoising loop, with what its pipeline does when nothing is asked for.
type denoiser struct {
	vae, temporal         int64    // shrinking by the VAE, unless its configuration says otherwise
	patch                 [3]int64 // latent frames, rows and columns of a token
	pixels                bool     // no tokens: patch is only what height and width must be multiples of
	text, steps           int64
	makes                 int64 // channels of each latent
	guided                bool
	width, height, frames int64
	sample                [2]int64 // rows and columns of latents, where width and height follow from it
	forward               func(b *builder, in input)
}

// An input is the size of one forward pass. times counts the times of each of the batch: 1, or one for each image token.
type input struct{ batch, image, text, times, frames, height, width int64 }

// readers read the configuration of a denoiser, by its class.
func readers() map[string]func(*config) *denoiser {
	return map[string]func(*config) *denoiser{
		"SD3Transformer2DModel":            sd3,
		"FluxTransformer2DModel":           flux,
		"Flux2Transformer2DModel":          flux2,
		"QwenImageTransformer2DModel":      qwenImage,
		"AuraFlowTransformer2DModel":       auraFlow,
		"HunyuanVideoTransformer3DModel":   hunyuanVideo,
		"HunyuanVideo15Transformer3DModel": hunyuanVideo15,
		"HunyuanImageTransformer2DModel":   hunyuanImage,
		"HiDreamImageTransformer2DModel":   hiDream,
		"WanTransformer3DModel":            wan,
		"ZImageTransformer2DModel":         zImage,
		"PixArtTransformer2DModel":         pixArt,
		"SanaTransformer2DModel":           sana,
		"UNet2DConditionModel":             sdxl,
	}
}

// Classes returns the denoisers that are known, sorted.
func Classes() []string { return slices.Sorted(maps.Keys(readers())) }

// ErrNoDenoiser is wrapped when a folder has neither transformer/ nor unet/.
var ErrNoDenoiser = errors.New("no transformer or unet")

// Open reads a model folder, os.DirFS(path): the configuration of transformer/ or unet/ (or what the headers of its
// safetensors files tell when there is none), and those of vae/ and text_encoder*/ when they are there. Missing and
// contradictory fields are a *[ConfigError].
func Open(folder fs.FS) (*Model, error) {
	c, err := denoiserConfig(folder)
	if err != nil {
		return nil, err
	}
	m, err := newModel(c)
	if err != nil {
		return nil, err
	}
	if strings.HasSuffix(c.file, weightsExt) {
		m.note("geometry from the weights' header " + c.file)
	}
	if err := m.readSecond(folder, c); err != nil {
		return nil, err
	}
	if err := m.readPipeline(folder); err != nil {
		return nil, err
	}
	if err := m.readVAE(folder); err != nil {
		return nil, err
	}
	return m, m.readTextEncoders(folder)
}

// Parse reads a geometry that is given as the configuration of a denoiser alone. name is what errors call it; they are those of [Open].
func Parse(name string, data []byte) (*Model, error) {
	c, err := parseConfig(name, data)
	if err != nil {
		return nil, err
	}
	m, err := newModel(c)
	if err != nil {
		return nil, err
	}
	m.vae.shrink, m.vae.temporal = m.denoiser.vae, m.denoiser.temporal
	m.note("the denoiser alone: decoder and text encoders are not counted")
	return m, nil
}

func newModel(c *config) (*Model, error) {
	read, ok := readers()[c.class()]
	if !ok {
		return nil, &ConfigError{c.file, "_class_name", fmt.Sprintf("%q is not known; known: %s", c.class(), strings.Join(Classes(), ", "))}
	}
	m := &Model{Class: c.class(), denoiser: read(c)}
	return m, c.err
}

// readSecond looks at transformer_2, the expert that takes over when little noise is left: each step runs one of the two, so that
// their geometries must agree.
func (m *Model) readSecond(folder fs.FS, first *config) error {
	second, err := readConfig(folder, "transformer_2/config.json")
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, field := range slices.Sorted(maps.Keys(first.fields)) {
		switch field {
		case "_class_name", "num_layers", "num_attention_heads", "attention_head_dim", "ffn_dim", "in_channels", "patch_size":
			if !sameJSON(first.fields[field], second.fields[field]) {
				second.fail(field, "is %s, but %s in %s", second.fields[field], first.fields[field], first.file)
			}
		}
	}
	m.note("each step runs one of transformer and transformer_2")
	return second.err
}

// sameJSON compares two values without regard to white space.
func sameJSON(a, b json.RawMessage) bool {
	var x, y bytes.Buffer
	return json.Compact(&x, a) == nil && json.Compact(&y, b) == nil && bytes.Equal(x.Bytes(), y.Bytes())
}

// readPipeline reads what the pipeline's own file says of the work: Wan 2.2's small model embeds a time for each token, so that
// those of a given image have none, and PixArt-α, whose transformer is of the same class as PixArt-Σ's, takes shorter prompts.
func (m *Model) readPipeline(folder fs.FS) error {
	c, err := readConfig(folder, "model_index.json")
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	m.perToken = c.flag("expand_timesteps")
	if c.has("_class_name") && c.class() == "PixArtAlphaPipeline" {
		m.denoiser.text = 120
	}
	return nil
}

func denoiserConfig(folder fs.FS) (*config, error) {
	for _, part := range []string{"transformer", "unet"} {
		c, err := readConfig(folder, part+"/config.json")
		if errors.Is(err, fs.ErrNotExist) {
			c, err = fromWeights(folder, part)
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return c, err
		}
	}
	return nil, fmt.Errorf("ceiling: %w in the model folder: %w", ErrNoDenoiser, fs.ErrNotExist)
}

func (m *Model) readVAE(folder fs.FS) error {
	m.vae = vae{note: "no vae/config.json: the decoder is not counted"}
	c, err := readConfig(folder, "vae/config.json")
	if err == nil {
		m.vae, err = readVAE(c)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if n := m.vae.latent; n > 0 && m.denoiser.makes != n && m.denoiser.makes != 2*n { // twice: a variance, too
		return &ConfigError{c.file, m.vae.latentField, fmt.Sprintf("is %d, but the denoiser makes latents of %d channels", n, m.denoiser.makes)}
	}
	if m.vae.note != "" {
		m.note(m.vae.note)
	}
	if m.vae.shrink == 0 {
		m.vae.shrink = m.denoiser.vae
	}
	if m.vae.temporal == 0 || m.denoiser.temporal == 0 { // image models may use a video VAE on one frame
		m.vae.temporal = m.denoiser.temporal
	}
	return nil
}

func (m *Model) readTextEncoders(folder fs.FS) error {
	files, err := fs.Glob(folder, "text_encoder*/config.json")
	if err != nil {
		return fmt.Errorf("ceiling: %w", err)
	}
	if len(files) == 0 {
		m.note("no text_encoder*/config.json: text encoders are not counted")
	}
	for _, file := range files {
		c, err := readConfig(folder, file)
		if err != nil {
			return err
		}
		e, note, err := readText(strings.TrimSuffix(file, "/config.json"), c)
		if err != nil {
			return err
		}
		if e == nil {
			m.note(note)
			continue
		}
		m.text = append(m.text, e)
	}
	return nil
}

func (m *Model) note(s string) { m.Notes = append(m.Notes, s) }

// Options say what is to be made. [Model.Defaults] fills them.
type Options struct {
	Height, Width int64    // pixels
	Frames        int64    // 1 for an image
	Batch         int64    // images, or videos, of one call
	Steps         int64    // denoising steps
	Guided        bool     // classifier-free guidance: each forward has a second half without the prompt
	TextTokens    int64    // of each prompt
	Type          hw.DType // of weights and activations
	Attention     hw.DType // of attention; zero: Type, or BF16 when Type is narrower than 16 bits
}

// Defaults returns what the model's pipeline does when nothing is asked for: one image or video of the size and length that the
// model was trained on, or an image of 1024x1024 where neither its class nor its configuration tells, with BF16 weights.
func (m *Model) Defaults() Options {
	d := m.denoiser
	or := func(n, missing int64) int64 {
		if n == 0 {
			return missing
		}
		return n
	}
	whole := func(n, patch int64) int64 { // of tokens: Wan 2.2's small model makes 704 rows, not 720
		unit := m.vae.shrink * patch
		return max(n/unit, 1) * unit
	}
	height, width := or(d.height, d.sample[0]*m.vae.shrink), or(d.width, d.sample[1]*m.vae.shrink)
	return Options{Height: whole(or(height, 1024), d.patch[1]), Width: whole(or(width, 1024), d.patch[2]), Frames: or(d.frames, 1),
		Batch: 1, Steps: d.steps, Guided: d.guided, TextTokens: d.text, Type: hw.BF16}
}
