package ceiling_test

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/ditlens/ditlens/perfmodel/ceiling"
)

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
		"flux1": {"x_embedder.weight": {h, 64}, "proj_out.weight": {64, h}, "context_embedder.weight": {h, 4096}, pooled: {h, 768},
			"time_text_embed.guidance_embedder.linear_1.weight": {h, 256}, q: {h, h}, norm: {128}},
		"flux2": {"x_embedder.weight": {6144, 128}, "proj_out.weight": {128, 6144}, "context_embedder.weight": {6144, 15360}, q: {6144, 6144}, norm: {128},
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
	const block = "transformer_blocks"
	tests["hunyuan_video"]["time_text_embed.guidance_embedder.linear_1.weight"] = []int64{h, 256}
	tests["hunyuan_video15"] = map[string][]int64{"x_embedder.proj.weight": {2048, 65, 1, 1, 1}, "context_embedder.proj_in.weight": {2048, 3584}, q: {2048, 2048},
		norm: {128}, "image_embedder.linear_1.weight": {1152, 1152}, "context_embedder_2.linear_1.weight": {2048, 1472}, "proj_out.weight": {32, 2048}}
	tests["hunyuan_image"] = map[string][]int64{"x_embedder.proj.weight": {3584, 64, 1, 1}, "context_embedder.proj_in.weight": {3584, 3584}, q: {3584, 3584}, norm: {128},
		"time_guidance_embed.timestep_embedder.linear_1.weight": {3584, 256}, "context_embedder_2.linear_1.weight": {2048, 1472}, "proj_out.weight": {64, 3584}}
	tests["hidream"] = map[string][]int64{"x_embedder.proj.weight": {2560, 64}, "caption_projection.0.linear.weight": {2560, 4096}, "final_layer.linear.weight": {64, 2560},
		"p_embedder.pooled_embedder.linear_1.weight": {2560, 2048}}
	tests["auraflow"] = map[string][]int64{"pos_embed.proj.weight": {h, 16}, "register_tokens": {1, 8, h}, "context_embedder.weight": {h, 2048}, "proj_out.weight": {16, h}}
	tests["pixart"] = map[string][]int64{"pos_embed.proj.weight": {1152, 4, 2, 2}, "adaln_single.linear.weight": {6 * 1152, 1152}, "proj_out.weight": {32, 1152},
		"caption_projection.linear_1.weight": {1152, 4096}}
	tests["sana"] = map[string][]int64{"patch_embed.proj.weight": {2240, 32, 1, 1}, "transformer_blocks.0.ff.conv_inverted.weight": {11200, 2240, 1, 1},
		"proj_out.weight": {32, 2240}, "caption_projection.linear_1.weight": {2240, 2304}}
	tests["z_image"] = map[string][]int64{"all_x_embedder.2-1.weight": {3840, 64}, "cap_embedder.1.weight": {3840, 2560}, "layers.0.attention.norm_q.weight": {128}}
	tests["sdxl"] = map[string][]int64{"conv_in.weight": {320, 4, 3, 3}, "conv_out.weight": {4, 320, 3, 3}, "add_embedding.linear_1.weight": {1280, 2816},
		"mid_block.attentions.0.transformer_blocks.0.attn2.to_k.weight": {1280, 2048}}
	tests["sd15"] = map[string][]int64{"conv_in.weight": {320, 4, 3, 3}, "conv_out.weight": {4, 320, 3, 3},
		"mid_block.attentions.0.transformer_blocks.0.attn2.to_k.weight": {1280, 768}}
	for _, name := range []string{"hunyuan_video15", "hunyuan_image"} {
		layers(tests[name], "context_embedder.token_refiner.refiner_blocks", 2, "attn.to_q.weight", 1)
	}
	layers(tests["hunyuan_video15"], block, 54, "norm1.linear.weight", 1)
	layers(tests["hunyuan_image"], block, 20, "norm1.linear.weight", 1)
	layers(tests["hunyuan_image"], "single_transformer_blocks", 40, "norm.linear.weight", 1)
	layers(tests["hidream"], "double_stream_blocks", 16, "block.attn1.to_q.weight", 1)
	layers(tests["hidream"], "single_stream_blocks", 32, "block.attn1.to_q.weight", 1)
	layers(tests["hidream"], "double_stream_blocks.0.block.ff_i.experts", 4, "w1.weight", 1)
	layers(tests["auraflow"], "joint_transformer_blocks", 4, "norm1.linear.weight", 1)
	layers(tests["auraflow"], "single_transformer_blocks", 32, "norm1.linear.weight", 1)
	layers(tests["pixart"], block, 28, "attn1.to_q.weight", 1)
	layers(tests["sana"], block, 20, "attn1.to_q.weight", 1)
	layers(tests["z_image"], "layers", 30, "attention.to_q.weight", 1)
	layers(tests["z_image"], "noise_refiner", 2, "attention.to_q.weight", 1)
	for name, attends := range map[string][2][]int{"sdxl": {{0, 2, 10}, {10, 2, 0}}, "sd15": {{1, 1, 1, 0}, {0, 1, 1, 1}}} {
		for i, width := range []int64{320, 640, 1280, 1280}[:len(attends[0])] {
			layers(tests[name], fmt.Sprintf("down_blocks.%d.resnets", i), 2, "conv1.weight", width, width, 3, 3)
			layers(tests[name], fmt.Sprintf("up_blocks.%d.resnets", i), 3, "conv1.weight", width, width, 3, 3)
			layers(tests[name], fmt.Sprintf("down_blocks.%d.attentions.0.transformer_blocks", i), attends[0][i], "attn1.to_q.weight", 1)
			layers(tests[name], fmt.Sprintf("up_blocks.%d.attentions.0.transformer_blocks", i), attends[1][i], "attn1.to_q.weight", 1)
		}
	}
	layers(tests["sdxl"], "mid_block.attentions.0.transformer_blocks", 10, "attn1.to_q.weight", 1)
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
			part := "transformer/"
			if shapes["conv_in.weight"] != nil {
				part = "unet/"
			}
			m, err := ceiling.Open(fstest.MapFS{
				part + "diffusion_pytorch_model-00001-of-00002.safetensors": safetensors(t, first),
				part + "diffusion_pytorch_model-00002-of-00002.safetensors": safetensors(t, second),
			})
			if err != nil {
				t.Fatal(err)
			}
			want, usual := open(t, name), m.Defaults()
			size := func(o *ceiling.Options) { o.Height, o.Width = usual.Height, usual.Width } // no weight tells that of training
			if diff := cmp.Diff(work(t, want, size).Parts[0].Call(), work(t, m, size).Parts[0].Call()); diff != "" {
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
