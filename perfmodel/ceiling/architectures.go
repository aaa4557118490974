package ceiling

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

// An architecture is told by tensors that no other has, and gives the fields of its configuration.
type architecture struct {
	marks []string
	read  func(w weights) map[string]any
}

// architectures lists all that are known. The first whose marks are all there is taken.
func architectures() []architecture {
	const time, refined = "time_text_embed.text_embedder.linear_1.weight", "context_embedder.proj_in.weight"
	return []architecture{
		{[]string{"pos_embed.proj.weight", "transformer_blocks.0.norm1_context.linear.weight", time}, weights.sd3},
		{[]string{"x_embedder.weight", "double_stream_modulation_img.linear.weight"}, weights.flux2},
		{[]string{"x_embedder.weight", "context_embedder.weight", time}, weights.flux},
		{[]string{"x_embedder.proj.weight", refined, time}, weights.hunyuanVideo},
		{[]string{"x_embedder.proj.weight", refined, "image_embedder.linear_1.weight"}, weights.hunyuanVideo15},
		{[]string{"x_embedder.proj.weight", refined, "time_guidance_embed.timestep_embedder.linear_1.weight"}, weights.hunyuanImage},
		{[]string{"x_embedder.proj.weight", "caption_projection.0.linear.weight", "p_embedder.pooled_embedder.linear_1.weight"}, weights.hiDream},
		{[]string{"pos_embed.proj.weight", "register_tokens"}, weights.auraFlow},
		{[]string{"pos_embed.proj.weight", "adaln_single.linear.weight"}, weights.pixArt},
		{[]string{"patch_embed.proj.weight", "transformer_blocks.0.ff.conv_inverted.weight"}, weights.sana},
		{[]string{"cap_embedder.1.weight", "layers.0.attention.norm_q.weight"}, weights.zImage},
		{[]string{"conv_in.weight", "conv_out.weight", "down_blocks.0.resnets.0.conv1.weight"}, weights.unet},
		{[]string{"img_in.weight", "txt_in.weight", "proj_out.weight"}, weights.qwenImage},
		{[]string{"patch_embedding.weight", "condition_embedder.time_proj.weight", "blocks.0.ffn.net.0.proj.weight"}, weights.wan},
	}
}

// config finds the architecture and returns its configuration.
func (w weights) config(file string) (*config, error) {
	for _, a := range architectures() {
		if slices.ContainsFunc(a.marks, func(name string) bool { return w[name] == nil }) {
			continue
		}
		data, err := json.Marshal(a.read(w))
		if err != nil {
			return nil, fmt.Errorf("ceiling: %s: %w", file, err)
		}
		c := &config{file: file}
		return c, json.Unmarshal(data, &c.fields)
	}
	return nil, &ConfigError{file, "_class_name", "no config.json, and the weights are those of no known architecture"}
}

// joint returns what models of joint attention share. The norm of the queries has the size of a head.
func (w weights) joint(class string) map[string]any {
	h, d := w.dim("transformer_blocks.0.attn.to_q.weight", 0), w.dim("transformer_blocks.0.attn.norm_q.weight", 0)
	return map[string]any{
		"_class_name": class, "attention_head_dim": d, "num_attention_heads": h / max(d, 1),
		"num_layers": w.blocks("transformer_blocks"), "num_single_layers": w.blocks("single_transformer_blocks"),
		"in_channels": w.dim("x_embedder.weight", 1), "joint_attention_dim": w.dim("context_embedder.weight", 1),
		"pooled_projection_dim": w.dim("time_text_embed.text_embedder.linear_1.weight", 1),
	}
}

func (w weights) sd3() map[string]any {
	c := w.joint("SD3Transformer2DModel")
	c["in_channels"], c["patch_size"] = w.dim("pos_embed.proj.weight", 1), w.dim("pos_embed.proj.weight", 2)
	c["caption_projection_dim"], c["dual_attention_layers"] = w.dim("context_embedder.weight", 0), w.dual()
	return c
}

func (w weights) flux() map[string]any {
	c := w.joint("FluxTransformer2DModel")
	c["guidance_embeds"] = w["time_text_embed.guidance_embedder.linear_1.weight"] != nil
	c["out_channels"] = w.dim("proj_out.weight", 0)
	return c
}

func (w weights) flux2() map[string]any {
	c := w.joint("Flux2Transformer2DModel")
	h := w.dim("x_embedder.weight", 0)
	c["mlp_ratio"] = float64(w.dim("single_transformer_blocks.0.attn.to_out.weight", 1)-h) / float64(max(h, 1))
	c["guidance_embeds"] = w["time_guidance_embed.guidance_embedder.linear_1.weight"] != nil
	c["out_channels"] = w.dim("proj_out.weight", 0)
	return c
}

func (w weights) hunyuanVideo() map[string]any {
	c := w.joint("HunyuanVideoTransformer3DModel")
	const proj = "x_embedder.proj.weight"
	c["in_channels"], c["patch_size_t"], c["patch_size"] = w.dim(proj, 1), w.dim(proj, 2), w.dim(proj, 3)
	c["guidance_embeds"] = w["time_text_embed.guidance_embedder.linear_1.weight"] != nil
	return w.refined(c, w.dim(proj, 2)*w.dim(proj, 3)*w.dim(proj, 4))
}

// refined adds what the Hunyuan models share: a refiner of the text, and an output of patches.
func (w weights) refined(c map[string]any, taps int64) map[string]any {
	c["text_embed_dim"] = w.dim("context_embedder.proj_in.weight", 1)
	c["num_refiner_layers"] = w.blocks("context_embedder.token_refiner.refiner_blocks")
	c["out_channels"] = w.dim("proj_out.weight", 0) / max(taps, 1)
	if n := w.dim("context_embedder_2.linear_1.weight", 1); n > 0 {
		c["text_embed_2_dim"] = n
	}
	return c
}

func (w weights) hunyuanVideo15() map[string]any {
	c := w.joint("HunyuanVideo15Transformer3DModel")
	const proj = "x_embedder.proj.weight"
	c["in_channels"], c["patch_size_t"], c["patch_size"] = w.dim(proj, 1), w.dim(proj, 2), w.dim(proj, 3)
	c["image_embed_dim"] = w.dim("image_embedder.linear_1.weight", 1)
	return w.refined(c, w.dim(proj, 2)*w.dim(proj, 3)*w.dim(proj, 4))
}

func (w weights) hunyuanImage() map[string]any {
	c := w.joint("HunyuanImageTransformer2DModel")
	const proj = "x_embedder.proj.weight"
	taps := int64(1)
	for _, n := range w[proj][min(2, len(w[proj])):] {
		taps *= n
	}
	c["in_channels"], c["patch_size"] = w.dim(proj, 1), w[proj][min(2, len(w[proj])):]
	c["guidance_embeds"] = w["time_guidance_embed.guidance_embedder.linear_1.weight"] != nil
	return w.refined(c, taps)
}

func (w weights) qwenImage() map[string]any {
	c := w.joint("QwenImageTransformer2DModel")
	c["in_channels"], c["joint_attention_dim"] = w.dim("img_in.weight", 1), w.dim("txt_in.weight", 1)
	const patch = 2
	c["patch_size"], c["out_channels"] = patch, w.dim("proj_out.weight", 0)/(patch*patch)
	return c
}

// wan: the norms of queries span all heads, so that their size is not told; 128 is that of all releases, and the work does
// not depend on it.
func (w weights) wan() map[string]any {
	const patch, head = "patch_embedding.weight", 128
	h, size := w.dim(patch, 0), []int64{w.dim(patch, 2), w.dim(patch, 3), w.dim(patch, 4)}
	c := map[string]any{
		"_class_name": "WanTransformer3DModel", "attention_head_dim": head, "num_attention_heads": h / head,
		"num_layers": w.blocks("blocks"), "ffn_dim": w.dim("blocks.0.ffn.net.0.proj.weight", 0), "in_channels": w.dim(patch, 1),
		"patch_size": size, "text_dim": w.dim("condition_embedder.text_embedder.linear_1.weight", 1),
		"freq_dim":     w.dim("condition_embedder.time_embedder.linear_1.weight", 1),
		"out_channels": w.dim("proj_out.weight", 0) / max(size[0]*size[1]*size[2], 1),
	}
	if n := w.dim("condition_embedder.image_embedder.ff.net.0.proj.weight", 1); n > 0 {
		c["image_dim"] = n
	}
	return c
}

// dual lists blocks with a second attention.
func (w weights) dual() []int64 {
	list := []int64{}
	for i := range w.blocks("transformer_blocks") {
		if w[fmt.Sprintf("transformer_blocks.%d.attn2.to_q.weight", i)] != nil {
			list = append(list, i)
		}
	}
	return list
}

// The work of the following does not depend on the number of heads, which their weights do not tell: they are given one. Neither do
// weights tell a patch apart from its channels where a product embeds it: two by two is that of all releases.

const side = 2 // of a patch

func (w weights) auraFlow() map[string]any {
	h := w.dim("pos_embed.proj.weight", 0)
	return map[string]any{
		"_class_name": "AuraFlowTransformer2DModel", "attention_head_dim": h, "num_attention_heads": 1, "patch_size": side,
		"in_channels": w.dim("pos_embed.proj.weight", 1) / (side * side), "out_channels": w.dim("proj_out.weight", 0) / (side * side),
		"num_mmdit_layers": w.blocks("joint_transformer_blocks"), "num_single_dit_layers": w.blocks("single_transformer_blocks"),
		"joint_attention_dim": w.dim("context_embedder.weight", 1), "caption_projection_dim": w.dim("context_embedder.weight", 0),
	}
}

// hiDream: which of the experts are run is not told; 2 are in all releases.
func (w weights) hiDream() map[string]any {
	h, caption := w.dim("x_embedder.proj.weight", 0), w.dim("caption_projection.0.linear.weight", 1)
	return map[string]any{
		"_class_name": "HiDreamImageTransformer2DModel", "attention_head_dim": h, "num_attention_heads": 1, "patch_size": side,
		"in_channels": w.dim("x_embedder.proj.weight", 1) / (side * side), "out_channels": w.dim("final_layer.linear.weight", 0) / (side * side),
		"num_layers": w.blocks("double_stream_blocks"), "num_single_layers": w.blocks("single_stream_blocks"),
		"caption_channels": []int64{caption, caption}, "text_emb_dim": w.dim("p_embedder.pooled_embedder.linear_1.weight", 1),
		"num_routed_experts": w.blocks("double_stream_blocks.0.block.ff_i.experts"), "num_activated_experts": 2,
	}
}

func (w weights) pixArt() map[string]any {
	const proj = "pos_embed.proj.weight"
	h, patch := w.dim(proj, 0), w.dim(proj, 2)
	return map[string]any{
		"_class_name": "PixArtTransformer2DModel", "attention_head_dim": h, "num_attention_heads": 1, "patch_size": patch,
		"in_channels": w.dim(proj, 1), "out_channels": w.dim("proj_out.weight", 0) / max(patch*patch, 1), "num_layers": w.blocks("transformer_blocks"),
		"cross_attention_dim": h, "caption_channels": w.dim("caption_projection.linear_1.weight", 1),
	}
}

// sana: the work of linear attention depends on the size of a head, 32 in all releases.
func (w weights) sana() map[string]any {
	const proj, head = "patch_embed.proj.weight", 32
	h, patch := w.dim(proj, 0), w.dim(proj, 2)
	wide := w.dim("transformer_blocks.0.ff.conv_inverted.weight", 0) / 2
	return map[string]any{
		"_class_name": "SanaTransformer2DModel", "attention_head_dim": head, "num_attention_heads": h / head, "patch_size": patch,
		"num_cross_attention_heads": 1, "cross_attention_head_dim": h, "in_channels": w.dim(proj, 1),
		"out_channels": w.dim("proj_out.weight", 0) / max(patch*patch, 1), "num_layers": w.blocks("transformer_blocks"),
		"caption_channels": w.dim("caption_projection.linear_1.weight", 1),
		"mlp_ratio":        (float64(wide) + 0.5) / float64(max(h, 1)), // what is made of it is rounded down
		"guidance_embeds":  w["time_embed.guidance_embedder.linear_1.weight"] != nil,
	}
}

// zImage names its embeddings after their patches, as in all_x_embedder.2-1.weight: 2x2 in one frame.
func (w weights) zImage() map[string]any {
	h, head := w.dim("cap_embedder.1.weight", 0), w.dim("layers.0.attention.norm_q.weight", 0)
	c := map[string]any{
		"_class_name": "ZImageTransformer2DModel", "dim": h, "n_heads": h / max(head, 1), "n_layers": w.blocks("layers"),
		"n_refiner_layers": w.blocks("noise_refiner"), "cap_feat_dim": w.dim("cap_embedder.1.weight", 1),
	}
	for _, name := range slices.Sorted(maps.Keys(w)) {
		var p, f int64
		if _, err := fmt.Sscanf(name, "all_x_embedder.%d-%d.weight", &p, &f); err == nil && p > 0 && f > 0 && p < maxField && f < maxField {
			c["all_patch_size"], c["all_f_patch_size"] = []int64{p}, []int64{f}
			c["in_channels"] = w.dim(name, 1) / (p * p * f)
			break
		}
	}
	return c
}

// unet reads the levels of Stable Diffusion's network from the blocks on the way down; those on the way up mirror them.
func (w weights) unet() map[string]any {
	const mid = "mid_block.attentions.0.transformer_blocks"
	var channels, layers, depth []int64
	var down, up []string
	kind := func(block, plain string) string {
		if w.blocks(block+".attentions") > 0 {
			return "CrossAttn" + plain
		}
		return plain
	}
	for i := range min(w.blocks("down_blocks"), 17) { // one more than a configuration may have
		block := fmt.Sprintf("down_blocks.%d", i)
		channels = append(channels, w.dim(block+".resnets.0.conv1.weight", 0))
		layers = append(layers, w.blocks(block+".resnets"))
		depth = append(depth, max(w.blocks(block+".attentions.0.transformer_blocks"), 1))
		down, up = append(down, kind(block, "DownBlock2D")), append(up, kind(fmt.Sprintf("up_blocks.%d", i), "UpBlock2D"))
	}
	if n := w.blocks(mid); n > 0 {
		depth[len(depth)-1] = n
	}
	c := map[string]any{
		"_class_name": "UNet2DConditionModel", "block_out_channels": channels, "layers_per_block": layers, "transformer_layers_per_block": depth,
		"down_block_types": down, "up_block_types": up, "mid_block_type": kind("mid_block", "MidBlock2D"), "attention_head_dim": 1,
		"cross_attention_dim": w.dim(mid+".0.attn2.to_k.weight", 1), "in_channels": w.dim("conv_in.weight", 1), "out_channels": w.dim("conv_out.weight", 0),
	}
	if n := w.dim("add_embedding.linear_1.weight", 1); n > 0 {
		c["projection_class_embeddings_input_dim"] = n
	}
	return c
}
