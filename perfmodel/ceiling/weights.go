package ceiling

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
)

const weightsExt = ".safetensors"

// fromWeights makes the configuration of a component from the names and shapes in the headers of its safetensors files, for
// the architectures whose weights tell all that counts.
func fromWeights(folder fs.FS, part string) (*config, error) {
	files, err := fs.Glob(folder, part+"/*"+weightsExt)
	if err != nil {
		return nil, fmt.Errorf("ceiling: %w", err)
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("ceiling: %s: no config.json and no weights: %w", part, fs.ErrNotExist)
	}
	w := weights{}
	for _, file := range files {
		if err := w.readHeader(folder, file); err != nil {
			return nil, err
		}
	}
	return w.config(files[0])
}

// weights are the shapes of tensors by name.
type weights map[string][]int64

// maxHeader bounds what is read of a file that only claims to be safetensors; the format's own limit is the same.
const maxHeader = 100 << 20

// readHeader reads the length and the JSON at the start of a file.
func (w weights) readHeader(folder fs.FS, file string) error {
	f, err := folder.Open(file)
	if err != nil {
		return fmt.Errorf("ceiling: %w", err)
	}
	defer f.Close()
	var length [8]byte
	if _, err := io.ReadFull(f, length[:]); err != nil {
		return fmt.Errorf("ceiling: %s: header: %w", file, err)
	}
	n := binary.LittleEndian.Uint64(length[:])
	if n > maxHeader {
		return fmt.Errorf("ceiling: %s: header of %d bytes is no safetensors", file, n)
	}
	var header map[string]struct {
		Shape []int64 `json:"shape"`
	}
	data, err := io.ReadAll(io.LimitReader(f, int64(n)))
	if err == nil && uint64(len(data)) < n {
		err = io.ErrUnexpectedEOF
	}
	if err == nil {
		err = json.Unmarshal(data, &header)
	}
	if err != nil {
		return fmt.Errorf("ceiling: %s: header: %w", file, err)
	}
	for name, t := range header {
		w[name] = t.Shape
	}
	return nil
}

// dim returns a dimension of a tensor, 0 when it is not there.
func (w weights) dim(name string, i int) int64 {
	if s := w[name]; i < len(s) {
		return s[i]
	}
	return 0
}

// blocks counts prefix.0, prefix.1 …
func (w weights) blocks(prefix string) int64 {
	seen := map[string]bool{}
	for name := range w {
		if rest, ok := strings.CutPrefix(name, prefix+"."); ok {
			index, _, _ := strings.Cut(rest, ".")
			seen[index] = true
		}
	}
	return int64(len(seen))
}

// An architecture is told by tensors that no other has, and gives the fields of its configuration.
type architecture struct {
	marks []string
	read  func(w weights) map[string]any
}

// architectures are those whose weights tell all that counts. The first whose marks are all there is taken.
func architectures() []architecture {
	const time = "time_text_embed.text_embedder.linear_1.weight"
	return []architecture{
		{[]string{"pos_embed.proj.weight", "transformer_blocks.0.norm1_context.linear.weight", time}, weights.sd3},
		{[]string{"x_embedder.weight", "double_stream_modulation_img.linear.weight"}, weights.flux2},
		{[]string{"x_embedder.weight", "context_embedder.weight", time}, weights.flux},
		{[]string{"x_embedder.proj.weight", "context_embedder.proj_in.weight", time}, weights.hunyuanVideo},
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
	return nil, &ConfigError{file, "_class_name", "no config.json, and the weights are not those of SD3, FLUX.1, FLUX.2, HunyuanVideo, Qwen-Image or Wan"}
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
	return c
}

func (w weights) flux2() map[string]any {
	c := w.joint("Flux2Transformer2DModel")
	h := w.dim("x_embedder.weight", 0)
	c["mlp_ratio"] = float64(w.dim("single_transformer_blocks.0.attn.to_out.weight", 1)-h) / float64(max(h, 1))
	c["guidance_embeds"] = w["time_guidance_embed.guidance_embedder.linear_1.weight"] != nil
	return c
}

func (w weights) hunyuanVideo() map[string]any {
	c := w.joint("HunyuanVideoTransformer3DModel")
	const proj = "x_embedder.proj.weight"
	c["in_channels"], c["patch_size_t"], c["patch_size"] = w.dim(proj, 1), w.dim(proj, 2), w.dim(proj, 3)
	c["text_embed_dim"] = w.dim("context_embedder.proj_in.weight", 1)
	c["num_refiner_layers"] = w.blocks("context_embedder.token_refiner.refiner_blocks")
	c["out_channels"] = w.dim("proj_out.weight", 0) / max(w.dim(proj, 2)*w.dim(proj, 3)*w.dim(proj, 4), 1)
	return c
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
