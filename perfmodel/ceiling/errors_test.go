package ceiling_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

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

// layers adds a tensor to n blocks.
func layers(shapes map[string][]int64, prefix string, n int, suffix string, shape ...int64) {
	for i := range n {
		shapes[fmt.Sprintf("%s.%d.%s", prefix, i, suffix)] = shape
	}
}

func TestGeometryFromWeights(t *testing.T) {
	const h, q, norm, pooled = 3072, "transformer_blocks.0.attn.to_q.weight", "transformer_blocks.0.attn.norm_q.weight", "time_text_embed.text_embedder.linear_1.weight"
	tests := map[string]map[string][]int64{
		"flux1": {"x_embedder.weight": {h, 64}, "context_embedder.weight": {h, 4096}, pooled: {h, 768},
			"time_text_embed.guidance_embedder.linear_1.weight": {h, 256}, q: {h, h}, norm: {128}},
		"flux2": {"x_embedder.weight": {6144, 128}, "context_embedder.weight": {6144, 15360}, q: {6144, 6144}, norm: {128},
			"double_stream_modulation_img.linear.weight": {6 * 6144, 6144}, "time_guidance_embed.guidance_embedder.linear_1.weight": {6144, 256}},
		"qwen_image": {"img_in.weight": {h, 64}, "txt_in.weight": {h, 3584}, "proj_out.weight": {64, h}, q: {h, h}, norm: {128}},
		"hunyuan_video": {"x_embedder.proj.weight": {h, 16, 1, 2, 2}, "context_embedder.proj_in.weight": {h, 4096}, pooled: {h, 768},
			"proj_out.weight": {64, h}, q: {h, h}, norm: {128}},
		"sd35_medium": {"pos_embed.proj.weight": {1536, 16, 2, 2}, "context_embedder.weight": {1536, 4096}, pooled: {1536, 2048},
			"transformer_blocks.0.norm1_context.linear.weight": {6 * 1536, 1536}, q: {1536, 1536}, norm: {64}},
		"wan21_i2v": {"patch_embedding.weight": {5120, 36, 1, 2, 2}, "condition_embedder.time_proj.weight": {6 * 5120, 5120},
			"condition_embedder.text_embedder.linear_1.weight": {5120, 4096}, "condition_embedder.time_embedder.linear_1.weight": {5120, 256},
			"condition_embedder.image_embedder.ff.net.0.proj.weight": {1280, 1280}, "proj_out.weight": {64, 5120}},
	}
	layers(tests["flux1"], "transformer_blocks", 19, "norm1.linear.weight", 1)
	layers(tests["flux1"], "single_transformer_blocks", 38, "norm.linear.weight", 1)
	layers(tests["flux2"], "transformer_blocks", 8, "ff.linear_in.weight", 1)
	layers(tests["flux2"], "single_transformer_blocks", 48, "attn.to_out.weight", 6144, 4*6144)
	layers(tests["qwen_image"], "transformer_blocks", 60, "img_mod.1.weight", 1)
	layers(tests["hunyuan_video"], "transformer_blocks", 20, "norm1.linear.weight", 1)
	layers(tests["hunyuan_video"], "single_transformer_blocks", 40, "norm.linear.weight", 1)
	layers(tests["hunyuan_video"], "context_embedder.token_refiner.refiner_blocks", 2, "attn.to_q.weight", 1)
	layers(tests["sd35_medium"], "transformer_blocks", 24, "ff.net.2.weight", 1)
	layers(tests["sd35_medium"], "transformer_blocks", 13, "attn2.to_q.weight", 1)
	layers(tests["wan21_i2v"], "blocks", 40, "ffn.net.0.proj.weight", 13824, 5120)
	for name, shapes := range tests {
		t.Run(name, func(t *testing.T) {
			first, second := map[string][]int64{}, map[string][]int64{} // shards, as large models have
			for tensor, shape := range shapes {
				if len(tensor)%2 == 0 {
					first[tensor] = shape
				} else {
					second[tensor] = shape
				}
			}
			m, err := ceiling.Open(fstest.MapFS{
				"transformer/diffusion_pytorch_model-00001-of-00002.safetensors": safetensors(t, first),
				"transformer/diffusion_pytorch_model-00002-of-00002.safetensors": safetensors(t, second),
			})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(work(t, open(t, name), nil).Parts[0].Call(), work(t, m, nil).Parts[0].Call()); diff != "" {
				t.Error(diff)
			}
		})
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
