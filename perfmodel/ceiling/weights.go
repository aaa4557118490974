package ceiling

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
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

// config tells the architecture by tensors that only it has, and reads its geometry.
func (w weights) config(file string) (*config, error) {
	set := map[string]any{}
	has := func(name string) bool { return w[name] != nil }
	heads := func(q, norm string) {
		d := w.dim(norm, 0)
		set["attention_head_dim"], set["num_attention_heads"] = d, w.dim(q, 0)/max(d, 1)
	}
	const q, norm = "transformer_blocks.0.attn.to_q.weight", "transformer_blocks.0.attn.norm_q.weight"
	switch {
	case has("pos_embed.proj.weight") && has("transformer_blocks.0.norm1_context.linear.weight") && has(norm):
		heads(q, norm)
		set["_class_name"], set["num_layers"] = "SD3Transformer2DModel", w.blocks("transformer_blocks")
		set["in_channels"], set["patch_size"] = w.dim("pos_embed.proj.weight", 1), w.dim("pos_embed.proj.weight", 2)
		set["joint_attention_dim"], set["caption_projection_dim"] = w.dim("context_embedder.weight", 1), w.dim("context_embedder.weight", 0)
		set["pooled_projection_dim"] = w.dim("time_text_embed.text_embedder.linear_1.weight", 1)
		set["dual_attention_layers"] = w.dual()
	case has("x_embedder.weight") && has("context_embedder.weight") && has("time_text_embed.text_embedder.linear_1.weight"):
		heads(q, norm)
		set["_class_name"], set["num_layers"], set["num_single_layers"] = "FluxTransformer2DModel", w.blocks("transformer_blocks"), w.blocks("single_transformer_blocks")
		set["in_channels"], set["joint_attention_dim"] = w.dim("x_embedder.weight", 1), w.dim("context_embedder.weight", 1)
		set["pooled_projection_dim"] = w.dim("time_text_embed.text_embedder.linear_1.weight", 1)
		set["guidance_embeds"] = has("time_text_embed.guidance_embedder.linear_1.weight")
	case has("img_in.weight") && has("txt_in.weight") && has("proj_out.weight"):
		heads(q, norm)
		set["_class_name"], set["num_layers"] = "QwenImageTransformer2DModel", w.blocks("transformer_blocks")
		set["in_channels"], set["joint_attention_dim"] = w.dim("img_in.weight", 1), w.dim("txt_in.weight", 1)
		set["patch_size"], set["out_channels"] = 2, w.dim("proj_out.weight", 0)/4
	default:
		return nil, &ConfigError{file, "_class_name", "no config.json, and the weights are not those of SD3, FLUX.1 or Qwen-Image"}
	}
	data, err := json.Marshal(set)
	if err != nil {
		return nil, fmt.Errorf("ceiling: %s: %w", file, err)
	}
	c := &config{file: file}
	return c, json.Unmarshal(data, &c.fields)
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
