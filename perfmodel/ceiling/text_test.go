package ceiling_test

import (
	"os"
	"testing"
	"testing/fstest"

	"github.com/ditlens/ditlens/perfmodel/ceiling"
)

// What a text encoder reads of weights and what is looked up (tables of words and positions) or not run (heads of words, eyes)
// are the parameters of the published weights, but for biases and norms.
func TestTextEncoderParameters(t *testing.T) {
	tests := []struct {
		name, config string
		rest         float64
		want         float64
	}{
		{"T5-XXL's encoder", `{"model_type": "t5", "d_model": 4096, "d_kv": 64, "num_heads": 64, "d_ff": 10240, "num_layers": 24, "feed_forward_proj": "gated-gelu"}`,
			32128 * 4096, 4_762_310_656},
		{"UMT5-XXL's encoder", `{"model_type": "umt5", "d_model": 4096, "d_kv": 64, "num_heads": 64, "d_ff": 10240, "num_layers": 24, "is_gated_act": true}`,
			256384 * 4096, 5_680_910_336},
		{"CLIP ViT-L/14", `{"model_type": "clip_text_model", "hidden_size": 768, "intermediate_size": 3072, "num_hidden_layers": 12, "num_attention_heads": 12}`,
			(49408 + 77) * 768, 123_060_480},
		{"OpenCLIP bigG/14", `{"model_type": "clip_text_model", "hidden_size": 1280, "intermediate_size": 5120, "num_hidden_layers": 32, "num_attention_heads": 20}`,
			(49408+77)*1280 + 1280*1280, 694_659_840},
		{"Qwen2.5-VL 7B", `{"model_type": "qwen2_5_vl", "hidden_size": 3584, "intermediate_size": 18944, "num_hidden_layers": 28, "num_attention_heads": 28,
			"num_key_value_heads": 4}`, 2*152064*3584 + 676_550_144, 8_292_166_656},
		{"Llama 3.1 8B", `{"model_type": "llama", "hidden_size": 4096, "intermediate_size": 14336, "num_hidden_layers": 32, "num_attention_heads": 32,
			"num_key_value_heads": 8}`, 2 * 128256 * 4096, 8_030_261_248},
		{"Gemma 2 2B", `{"model_type": "gemma2", "hidden_size": 2304, "intermediate_size": 9216, "num_hidden_layers": 26, "num_attention_heads": 8,
			"num_key_value_heads": 4, "head_dim": 256}`, 256000 * 2304, 2_614_341_888},
		{"Qwen3 4B", `{"model_type": "qwen3", "hidden_size": 2560, "intermediate_size": 9728, "num_hidden_layers": 36, "num_attention_heads": 32,
			"num_key_value_heads": 8, "head_dim": 128}`, 151936 * 2560, 4_022_468_096},
		{"Mistral Small 3 24B", `{"model_type": "mistral3", "text_config": {"hidden_size": 5120, "intermediate_size": 32768, "num_hidden_layers": 40,
			"num_attention_heads": 32, "num_key_value_heads": 8, "head_dim": 128}}`, 2 * 131072 * 5120, 23_572_403_200},
	}
	denoiser, err := os.ReadFile("testdata/models/flux1/transformer/config.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m, err := ceiling.Open(fstest.MapFS{
				"transformer/config.json":  &fstest.MapFile{Data: denoiser},
				"text_encoder/config.json": &fstest.MapFile{Data: []byte(tt.config)},
			})
			if err != nil {
				t.Fatal(err)
			}
			near(t, "parameters", weights(t, m, 1)+tt.rest, tt.want, 0.0012)
		})
	}
}
