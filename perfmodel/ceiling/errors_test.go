package ceiling_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/ditlens/ditlens/hw"
	"github.com/ditlens/ditlens/perfmodel/ceiling"
)

// edited returns the configurations of a test model with one field of one of them changed, or removed when to is nil.
func edited(t *testing.T, file, field string, to any) fstest.MapFS {
	t.Helper()
	data, err := os.ReadFile("testdata/models/" + file)
	if err != nil {
		t.Fatal(err)
	}
	var c map[string]any
	if err := json.Unmarshal(data, &c); err != nil {
		t.Fatal(err)
	}
	c[field] = to
	if to == nil {
		delete(c, field)
	}
	if data, err = json.Marshal(c); err != nil {
		t.Fatal(err)
	}
	model, inside, _ := strings.Cut(file, "/")
	folder := fstest.MapFS{}
	files, err := fs.Glob(os.DirFS("testdata/models/"+model), "*/config.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if other, err := os.ReadFile("testdata/models/" + model + "/" + f); err == nil {
			folder[f] = &fstest.MapFile{Data: other}
		}
	}
	folder[inside] = &fstest.MapFile{Data: data}
	return folder
}

// Each error names the file and the field.
func TestConfigErrors(t *testing.T) {
	tests := []struct {
		name, file, field string
		to                any
	}{
		{"missing", "flux1/transformer/config.json", "num_layers", nil},
		{"text for a number", "flux1/transformer/config.json", "num_layers", "19"},
		{"fraction", "flux1/transformer/config.json", "num_layers", 19.5},
		{"negative", "qwen_image/transformer/config.json", "attention_head_dim", -128},
		{"zero", "pixart/transformer/config.json", "patch_size", 0},
		{"beyond reason", "pixart/transformer/config.json", "num_layers", 1e18},
		{"contradiction: caption", "sd35_large/transformer/config.json", "caption_projection_dim", 2048},
		{"contradiction: cross-attention", "pixart/transformer/config.json", "cross_attention_dim", 1000},
		{"contradiction: experts", "hidream/transformer/config.json", "num_activated_experts", 5},
		{"contradiction: heads", "z_image/transformer/config.json", "n_heads", 31},
		{"too few levels", "sdxl/unet/config.json", "attention_head_dim", []int{5, 10}},
		{"unknown class", "flux1/transformer/config.json", "_class_name", "MyTransformer"},
		{"no list", "sdxl/unet/config.json", "block_out_channels", false},
		{"no autoencoder's width", "flux1/vae/config.json", "block_out_channels", nil},
		{"too few kinds of blocks", "sana/vae/config.json", "decoder_block_types", []string{"ResBlock"}},
		{"no lists", "sana/vae/config.json", "decoder_qkv_multiscales", []int{5, 5, 5, 5, 5, 5}},
		{"a level left out", "sana/vae/config.json", "decoder_layers_per_block", []int{3, 0, 3, 3, 3, 3}},
		{"contradiction: levels", "sana/vae/config.json", "encoder_block_out_channels", []int{128, 256}},
		{"contradiction: compression", "hunyuan_image/vae/config.json", "block_out_channels", []int{128, 256}},
		{"contradiction: frames", "hunyuan_video/vae/config.json", "temporal_compression_ratio", 8},
		{"no power of two", "hunyuan_video/vae/config.json", "spatial_compression_ratio", 12},
		{"contradiction: patches", "wan22_ti2v_5b/vae/config.json", "scale_factor_spatial", 8},
		{"contradiction: doublings", "wan22_a14b/vae/config.json", "scale_factor_temporal", 8},
		{"contradiction: latents", "flux1/vae/config.json", "latent_channels", 4},
		{"contradiction: latents of a video", "wan22_ti2v_5b/vae/config.json", "z_dim", 16},
		{"text encoder", "flux1/text_encoder/config.json", "hidden_size", nil},
		{"patch of two", "wan22_a14b/transformer/config.json", "patch_size", []int{2, 2}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := ceiling.Open(edited(t, tt.file, tt.field, tt.to))
			var ce *ceiling.ConfigError
			if !errors.As(err, &ce) {
				t.Fatalf("got %v", err)
			}
			if _, inside, _ := strings.Cut(tt.file, "/"); ce.File != inside || ce.Field != tt.field {
				t.Errorf("got %v", err)
			}
		})
	}
	if _, err := ceiling.Open(fstest.MapFS{}); !errors.Is(err, ceiling.ErrNoDenoiser) || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("empty folder: %v", err)
	}
	if _, err := ceiling.Open(fstest.MapFS{"transformer/config.json": &fstest.MapFile{Data: []byte("{")}}); err == nil || !strings.Contains(err.Error(), "transformer/config.json") {
		t.Errorf("cut file: %v", err)
	}
}

// The two experts of Wan 2.2 have one geometry.
func TestSecondTransformer(t *testing.T) {
	const file = "wan22_a14b/transformer/config.json"
	folder := edited(t, file, "image_dim", nil)
	folder["transformer_2/config.json"] = edited(t, file, "boundary", 0.9)["transformer/config.json"]
	m, err := ceiling.Open(folder)
	if err != nil || !strings.Contains(strings.Join(m.Notes, "\n"), "transformer_2") {
		t.Fatalf("%v", err)
	}
	folder["transformer_2/config.json"] = edited(t, file, "num_layers", 30)["transformer/config.json"]
	var ce *ceiling.ConfigError
	if _, err := ceiling.Open(folder); !errors.As(err, &ce) || ce.File != "transformer_2/config.json" || ce.Field != "num_layers" {
		t.Errorf("got %v", err)
	}
}

func TestOptionErrors(t *testing.T) {
	tests := []struct {
		name, model string
		change      func(o *ceiling.Options)
	}{
		{"size", "flux1", func(o *ceiling.Options) { o.Width = 1000 }},
		{"size of a UNet", "sdxl", func(o *ceiling.Options) { o.Width = 1016 }},
		{"frames of an image model", "flux1", func(o *ceiling.Options) { o.Frames = 5 }},
		{"frames between latent frames", "wan22_a14b", func(o *ceiling.Options) { o.Frames = 80 }},
		{"no steps", "flux1", func(o *ceiling.Options) { o.Steps = 0 }},
		{"no type", "flux1", func(o *ceiling.Options) { o.Type = hw.UnknownType }},
		{"absurd size", "flux1", func(o *ceiling.Options) { o.Width = 1 << 40 }},
	}
	for _, tt := range tests {
		m := open(t, tt.model)
		o := m.Defaults()
		tt.change(&o)
		if _, err := m.Work(o); !errors.Is(err, ceiling.ErrOptions) {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
	m := open(t, "wan22_a14b")
	o := m.Defaults()
	o.Height, o.Width, o.Frames = 1<<20, 1<<20, 1<<18+1
	if _, err := m.Work(o); !errors.Is(err, ceiling.ErrTooLarge) {
		t.Errorf("work beyond 64 bits: %v", err)
	}
}

// No configuration makes the package panic or count negative work.
func FuzzOpen(f *testing.F) {
	models, err := os.ReadDir("testdata/models")
	if err != nil {
		f.Fatal(err)
	}
	for _, dir := range models {
		for _, file := range []string{"/transformer/config.json", "/unet/config.json"} {
			if data, err := os.ReadFile("testdata/models/" + dir.Name() + file); err == nil {
				vae, _ := os.ReadFile("testdata/models/" + dir.Name() + "/vae/config.json") // nil without one
				f.Add(data, vae, int64(1024), int64(1))
			}
		}
	}
	f.Add([]byte(`{"_class_name":"FluxTransformer2DModel","in_channels":1,"num_layers":1,"attention_head_dim":1,"num_attention_heads":1,`+
		`"joint_attention_dim":1,"pooled_projection_dim":1}`), []byte(`{"_class_name":"AutoencoderKL","block_out_channels":false}`), int64(1024), int64(1))
	f.Fuzz(func(t *testing.T, denoiser, vae []byte, size, frames int64) {
		folder := fstest.MapFS{"transformer/config.json": &fstest.MapFile{Data: denoiser}}
		if !bytes.Equal(vae, nil) {
			folder["vae/config.json"] = &fstest.MapFile{Data: vae}
		}
		m, err := ceiling.Open(folder)
		if err != nil {
			return
		}
		o := m.Defaults()
		o.Height, o.Width, o.Frames = size, size, frames
		w, err := m.Work(o)
		if err != nil {
			return
		}
		if a := w.Image(); a.FLOPs < 0 || a.Bytes < 0 || w.Forward().FLOPs < 0 {
			t.Errorf("negative work: %+v, %+v", w.Options, a)
		}
	})
}
