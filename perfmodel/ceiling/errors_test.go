package ceiling_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/ditlens/ditlens/hw"
	"github.com/ditlens/ditlens/perfmodel/ceiling"
)

// edited returns the configuration of a test model with one field changed, or removed when to is nil.
func edited(t *testing.T, file, field string, to any) fstest.MapFS {
	t.Helper()
	data, err := os.ReadFile("testdata/" + file)
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
	_, inside, _ := strings.Cut(file, "/")
	return fstest.MapFS{inside: &fstest.MapFile{Data: data}}
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

// safetensors writes a file that has a header and no data.
func safetensors(t *testing.T, shapes map[string][]int64) *fstest.MapFile {
	t.Helper()
	header := map[string]any{"__metadata__": map[string]string{"format": "pt"}}
	for name, shape := range shapes {
		header[name] = map[string]any{"dtype": "BF16", "shape": shape, "data_offsets": []int{0, 0}}
	}
	data, err := json.Marshal(header)
	if err != nil {
		t.Fatal(err)
	}
	return &fstest.MapFile{Data: append(binary.LittleEndian.AppendUint64(nil, uint64(len(data))), data...)}
}

func TestGeometryFromWeights(t *testing.T) {
	const h = 3072
	first, second := map[string][]int64{
		"x_embedder.weight": {h, 64}, "context_embedder.weight": {h, 4096},
		"time_text_embed.text_embedder.linear_1.weight":     {h, 768},
		"time_text_embed.guidance_embedder.linear_1.weight": {h, 256},
	}, map[string][]int64{}
	for i := range 19 {
		first["transformer_blocks."+string(rune('A'+i))+".attn.to_k.weight"] = []int64{h, h}
	}
	first["transformer_blocks.0.attn.to_q.weight"], first["transformer_blocks.0.attn.norm_q.weight"] = []int64{h, h}, []int64{128}
	delete(first, "transformer_blocks.A.attn.to_k.weight")
	for i := range 38 {
		second["single_transformer_blocks."+string(rune('A'+i))+".proj_out.weight"] = []int64{h, 5 * h}
	}
	m, err := ceiling.Open(fstest.MapFS{
		"transformer/diffusion_pytorch_model-00001-of-00002.safetensors": safetensors(t, first),
		"transformer/diffusion_pytorch_model-00002-of-00002.safetensors": safetensors(t, second),
	})
	if err != nil {
		t.Fatal(err)
	}
	got, want := work(t, m, nil), work(t, open(t, "flux1"), nil)
	if diff := cmp.Diff(want.Forward(), got.Forward()); diff != "" {
		t.Error(diff)
	}
}

func TestBadWeights(t *testing.T) {
	files := map[string][]byte{
		"cut":     {1, 2, 3},
		"lying":   binary.LittleEndian.AppendUint64(nil, 1<<60),
		"short":   binary.LittleEndian.AppendUint64(nil, 100),
		"no JSON": append(binary.LittleEndian.AppendUint64(nil, 3), "abc"...),
		"foreign": safetensors(t, map[string][]int64{"a": {1}}).Data,
	}
	for name, data := range files {
		_, err := ceiling.Open(fstest.MapFS{"transformer/model.safetensors": &fstest.MapFile{Data: data}})
		if err == nil || !strings.Contains(err.Error(), "transformer/model.safetensors") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// No configuration makes the package panic or count negative work.
func FuzzOpen(f *testing.F) {
	models, err := os.ReadDir("testdata")
	if err != nil {
		f.Fatal(err)
	}
	for _, dir := range models {
		for _, file := range []string{"/transformer/config.json", "/unet/config.json"} {
			if data, err := os.ReadFile("testdata/" + dir.Name() + file); err == nil {
				vae, _ := os.ReadFile("testdata/" + dir.Name() + "/vae/config.json") // nil without one
				f.Add(data, vae, int64(1024), int64(1))
			}
		}
	}
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
