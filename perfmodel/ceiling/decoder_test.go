package ceiling_test

import (
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/ditlens/ditlens/perfmodel/ceiling"
)

// withVAE opens a denoiser with an autoencoder of one's own beside it.
func withVAE(t *testing.T, denoiser, vae string) *ceiling.Model {
	t.Helper()
	data, err := os.ReadFile("testdata/models/" + denoiser + "/transformer/config.json")
	if err != nil {
		t.Fatal(err)
	}
	m, err := ceiling.Open(fstest.MapFS{
		"transformer/config.json": &fstest.MapFile{Data: fitted(t, data, []byte(vae))},
		"vae/config.json":         &fstest.MapFile{Data: []byte(vae)},
	})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// fitted returns a denoiser that makes the latents of an autoencoder.
func fitted(t *testing.T, denoiser, vae []byte) []byte {
	t.Helper()
	var d, v map[string]any
	if err := errors.Join(json.Unmarshal(denoiser, &d), json.Unmarshal(vae, &v)); err != nil {
		t.Fatal(err)
	}
	for _, field := range []string{"latent_channels", "z_dim"} {
		if n, ok := v[field].(float64); ok && strings.HasPrefix(d["_class_name"].(string), "Flux") {
			d["out_channels"] = 4 * n // of a token of 2x2 latents
		} else if ok {
			d["out_channels"] = n
		}
	}
	data, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// decoder returns the work of decoding an image, or a video of that many frames.
func decoder(t *testing.T, m *ceiling.Model, height, width, frames, batch int64) *ceiling.Part {
	t.Helper()
	w := work(t, m, func(o *ceiling.Options) { o.Height, o.Width, o.Frames, o.Batch = height, width, frames, batch })
	p := &w.Parts[len(w.Parts)-1]
	if p.Name != "vae decoder" {
		t.Fatalf("no decoder: %q", m.Notes)
	}
	return p
}

// A layer is n convolutions, or products of tokens, from in to out channels. FLOPs are 2 x n x in x out x taps x positions.
type layer struct{ n, in, out, taps, positions int64 }

func count(layers []layer) (flops int64) {
	for _, l := range layers {
		flops += 2 * l.n * l.in * l.out * l.taps * l.positions
	}
	return flops
}

// Small decoders whose layers are listed by hand, in the order in which diffusers runs them.
func TestSmallDecoders(t *testing.T) {
	tests := []struct {
		name, denoiser, vae   string
		height, width, frames int64
		layers                []layer
		attention             int64
	}{
		{"two levels", "flux1", `{"_class_name": "AutoencoderKL", "block_out_channels": [4, 8], "layers_per_block": 1, "latent_channels": 2}`, 8, 8, 1,
			[]layer{{1, 2, 2, 1, 16}, {1, 2, 8, 9, 16}, {4, 8, 8, 9, 16}, {4, 8, 8, 1, 16}, // mid: 2 blocks, q k v o
				{4, 8, 8, 9, 16}, {1, 8, 8, 9, 64}, // 2 blocks, upsampled
				{1, 8, 4, 9, 64}, {1, 8, 4, 1, 64}, {3, 4, 4, 9, 64}, {1, 4, 3, 9, 64}},
			4 * 16 * 16 * 8},
		{"a smaller decoder of FLUX.2", "flux2", `{"_class_name": "AutoencoderKLFlux2", "block_out_channels": [8, 8], "decoder_block_out_channels": [2, 4],
			"layers_per_block": 1, "latent_channels": 32, "mid_block_add_attention": false}`, 8, 8, 1,
			[]layer{{1, 32, 32, 1, 16}, {1, 32, 4, 9, 16}, {4, 4, 4, 9, 16}, {4, 4, 4, 9, 16}, {1, 4, 4, 9, 64},
				{1, 4, 2, 9, 64}, {1, 4, 2, 1, 64}, {3, 2, 2, 9, 64}, {1, 2, 3, 9, 64}}, 0},
		{"three convolutions a block", "flux1", `{"_class_name": "AutoencoderTiny", "decoder_block_out_channels": [6, 6, 6], "num_decoder_blocks": [3, 2, 1],
			"latent_channels": 16}`, 16, 16, 1,
			[]layer{{1, 16, 6, 9, 16}, {9, 6, 6, 9, 16}, {1, 6, 6, 9, 64}, {6, 6, 6, 9, 64}, {1, 6, 6, 9, 256}, {3, 6, 6, 9, 256}, {1, 6, 3, 9, 256}}, 0},
		{"upsampled, then convolved", "sana", `{"_class_name": "AutoencoderDC", "latent_channels": 2, "attention_head_dim": 4, "decoder_block_out_channels": [4, 8],
			"decoder_layers_per_block": [1, 2], "decoder_block_types": ["ResBlock", "EfficientViTBlock"], "decoder_qkv_multiscales": [[], [5]],
			"upsample_block_type": "interpolate"}`, 16, 16, 1,
			[]layer{{1, 2, 8, 9, 64}, {6, 8, 8, 1, 64}, // q k v
				{2, 1, 24, 25, 64}, {2, 4, 24, 1, 64}, {2, 16, 8, 1, 64}, // 5x5 in each channel, within the 2 heads of q, k and v; o
				{2, 8, 64, 1, 64}, {2, 1, 64, 9, 64}, {2, 32, 8, 1, 64}, // MLP
				{1, 8, 4, 9, 256}, {2, 4, 4, 9, 256}, {1, 4, 3, 9, 256}},
			2 * 4 * (2 * 64 * 4 * 5 * 2)}, // 4 heads, 2 products with sums of 5 rows
		{"convolved, then shuffled; quadratic attention", "sana", `{"_class_name": "AutoencoderDC", "latent_channels": 2, "attention_head_dim": 4,
			"decoder_block_out_channels": [4, 4, 8], "decoder_layers_per_block": [0, 1, 1], "decoder_block_types": ["ResBlock", "ResBlock", "EfficientViTBlock"],
			"decoder_qkv_multiscales": [[], [], []]}`, 8, 8, 1,
			[]layer{{1, 2, 8, 9, 4}, {3, 8, 8, 1, 4}, {1, 8, 8, 1, 4}, {1, 8, 64, 1, 4}, {1, 1, 64, 9, 4}, {1, 32, 8, 1, 4},
				{1, 8, 16, 9, 4}, {2, 4, 4, 9, 16}, {1, 4, 12, 9, 16}}, // the last makes 4 pixels of 3 channels
			2 * 4 * 4 * 4 * 4}, // 2 heads of 4 channels, 4 tokens
		{"frames", "hunyuan_video", `{"_class_name": "AutoencoderKLHunyuanVideo", "block_out_channels": [2, 4, 8], "layers_per_block": 1, "latent_channels": 2,
			"spatial_compression_ratio": 4, "temporal_compression_ratio": 4}`, 8, 8, 9, // 3 latent frames of 2x2
			[]layer{{1, 2, 2, 1, 12}, {1, 2, 8, 27, 12}, {4, 8, 8, 27, 12}, {4, 8, 8, 1, 12}, {4, 8, 8, 27, 12},
				{1, 8, 8, 27, 5 * 16}, {1, 8, 4, 27, 5 * 16}, {1, 8, 4, 1, 5 * 16}, {3, 4, 4, 27, 5 * 16},
				{1, 4, 4, 27, 9 * 64}, {1, 4, 2, 27, 9 * 64}, {1, 4, 2, 1, 9 * 64}, {3, 2, 2, 27, 9 * 64}, {1, 2, 3, 27, 9 * 64}},
			4 * 12 * 12 * 8},
		{"pixels in channels", "hunyuan_image", `{"_class_name": "AutoencoderKLHunyuanImage", "block_out_channels": [2, 4, 8], "layers_per_block": 1, "latent_channels": 2,
			"spatial_compression_ratio": 4}`, 8, 8, 1, // the upsampling narrows, the blocks after it do not
			[]layer{{1, 2, 8, 9, 4}, {4, 8, 8, 9, 4}, {4, 8, 8, 1, 4}, {4, 8, 8, 9, 4}, {1, 8, 16, 9, 4},
				{4, 4, 4, 9, 16}, {1, 4, 8, 9, 16}, {4, 2, 2, 9, 64}, {1, 2, 3, 9, 64}},
			4 * 4 * 4 * 8},
		{"a refiner's cubes on one frame", "hunyuan_image", `{"_class_name": "AutoencoderKLHunyuanImageRefiner", "block_out_channels": [2, 8], "layers_per_block": 1,
			"latent_channels": 2, "spatial_compression_ratio": 2, "temporal_compression_ratio": 2, "upsample_match_channel": false}`, 4, 4, 1,
			[]layer{{1, 2, 8, 27, 4}, {4, 8, 8, 27, 4}, {4, 8, 8, 1, 4}, {4, 8, 8, 27, 4}, {1, 8, 64, 27, 4}, // 8 x 8: half of them are not used
				{1, 8, 2, 27, 16}, {1, 8, 2, 1, 16}, {3, 2, 2, 27, 16}, {1, 2, 3, 27, 16}},
			4 * 4 * 4 * 8},
		{"pixels and frames in channels", "hunyuan_video", `{"_class_name": "AutoencoderKLHunyuanVideo15", "block_out_channels": [2, 4, 8], "layers_per_block": 1,
			"latent_channels": 2, "spatial_compression_ratio": 4, "temporal_compression_ratio": 2}`, 8, 8, 5, // 3 latent frames of 2x2
			[]layer{{1, 2, 8, 27, 12}, {4, 8, 8, 27, 12}, {4, 8, 8, 1, 12}, {4, 8, 8, 27, 12}, {1, 8, 32, 27, 12},
				{4, 4, 4, 27, 5 * 16}, {1, 4, 8, 27, 5 * 16}, {4, 2, 2, 27, 5 * 64}, {1, 2, 3, 27, 5 * 64}},
			4 * 12 * 12 * 8},
		{"Wan 2.1 halves the width as it doubles the size", "wan22_a14b", `{"_class_name": "AutoencoderKLWan", "base_dim": 4, "z_dim": 2, "dim_mult": [1, 2, 2],
			"num_res_blocks": 1, "temperal_downsample": [false, true]}`, 8, 8, 5, // 3 latent frames of 2x2
			[]layer{{1, 2, 2, 1, 12}, {1, 2, 8, 27, 12}, {4, 8, 8, 27, 12}, {4, 8, 8, 1, 12}, {4, 8, 8, 27, 12},
				{1, 8, 16, 3, 2 * 4}, {1, 8, 4, 9, 5 * 16}, {1, 4, 8, 27, 5 * 16}, {1, 4, 8, 1, 5 * 16}, {3, 8, 8, 27, 5 * 16},
				{1, 8, 4, 9, 5 * 64}, {4, 4, 4, 27, 5 * 64}, {1, 4, 3, 27, 5 * 64}},
			3 * 4 * 4 * 4 * 8}, // within each frame
		{"Wan 2.2 keeps it, and makes patches", "wan22_ti2v_5b", `{"_class_name": "AutoencoderKLWan", "base_dim": 9, "decoder_base_dim": 4, "z_dim": 2, "dim_mult": [1, 2],
			"num_res_blocks": 1, "temperal_downsample": [true], "is_residual": true, "patch_size": 2, "out_channels": 12, "scale_factor_spatial": 4,
			"scale_factor_temporal": 2}`, 8, 8, 5, // 3 latent frames of 2x2
			[]layer{{1, 2, 2, 1, 12}, {1, 2, 8, 27, 12}, {4, 8, 8, 27, 12}, {4, 8, 8, 1, 12}, {4, 8, 8, 27, 12},
				{1, 8, 16, 3, 2 * 4}, {1, 8, 8, 9, 5 * 16}, {1, 8, 4, 27, 5 * 16}, {1, 8, 4, 1, 5 * 16}, {3, 4, 4, 27, 5 * 16}, {1, 4, 12, 27, 5 * 16}},
			3 * 4 * 4 * 4 * 8},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := decoder(t, withVAE(t, tt.denoiser, tt.vae), tt.height, tt.width, tt.frames, 1)
			if got, want := p.FLOPs(ceiling.Attention), tt.attention; got != want {
				t.Errorf("attention: got %d, want %d", got, want)
			}
			if got, want := p.Call().FLOPs-p.FLOPs(ceiling.Attention), count(tt.layers); got != want {
				t.Errorf("layers: got %d, want %d", got, want)
				for _, term := range p.Terms {
					t.Logf("%3d %-18s %d", term.Count, term.Name, term.FLOPs)
				}
			}
		})
	}
}

// What decoders read of weights. With the weights of the encoders, counted apart, and the biases and norms, they make the sizes
// of the files that the authors publish: 83.7 M parameters for Stable Diffusion's (49.5 M of them the decoder's), 312.3 M for
// DC-AE f32c32 of Sana, 246.5 M for HunyuanVideo, 405.6 M for HunyuanImage, 704.7 M for Wan 2.2's small model.
func TestDecoderWeights(t *testing.T) {
	tests := []struct {
		model  string
		frames int64 // that make all layers run once
		want   float64
	}{
		{"sdxl", 1, 49.49e6}, {"sana", 1, 159.22e6}, {"hunyuan_video", 13, 146.14e6}, {"hunyuan_image", 1, 260.57e6},
		{"wan22_a14b", 5, 73.3e6}, {"wan22_ti2v_5b", 5, 555.05e6},
	}
	for _, tt := range tests {
		m := open(t, tt.model)
		const size = 512
		one, two := decoder(t, m, size, size, tt.frames, 1).Call(), decoder(t, m, size, size, tt.frames, 2).Call()
		near(t, tt.model, float64(2*one.Bytes-two.Bytes)/2, tt.want, 0.002)
	}
}

// HunyuanVideo decodes parts of five latent frames that begin three apart, the last ones shorter.
func TestDecodedInParts(t *testing.T) {
	m := open(t, "hunyuan_video")
	flops := func(latent int64) int64 { return decoder(t, m, 128, 128, 4*(latent-1)+1, 1).Call().FLOPs }
	five := flops(5) - flops(2)
	for latent, want := range map[int64]int64{
		6: five + flops(3), 7: five + flops(4) + flops(1), 8: 2*five + flops(2), 12: 3*five + flops(3), 33: 10*five + flops(3),
	} {
		if got := flops(latent); got != want {
			t.Errorf("%d latent frames: got %d, want %d", latent, got, want)
		}
	}
	if five <= flops(4) {
		t.Errorf("five frames %d, four %d", five, flops(4))
	}
}

// Wan decodes frame by frame and works on none twice, in either form.
func TestDecodedFrameByFrame(t *testing.T) {
	for _, name := range []string{"wan22_a14b", "wan22_ti2v_5b"} {
		m := open(t, name)
		flops := func(frames int64) int64 { return decoder(t, m, 512, 512, frames, 1).Call().FLOPs }
		if a, b := flops(5)-flops(1), flops(81)-flops(77); a != b {
			t.Errorf("%s: the second latent frame costs %d, the last %d", name, a, b)
		}
	}
}
