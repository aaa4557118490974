package ceiling

import (
	"encoding/json"
	"fmt"
)

// A textEncoder is a transformer over the tokens of a prompt. The language head is not run.
type textEncoder struct {
	name                      string
	hidden, heads, kvHeads, d int64
	layers, ffn               int64
	products                  int64 // in the MLP: 3 when gated
	tokens                    int64 // fixed length of the prompt, 0: that of the denoiser's text
}

// readText reads a text encoder by its model_type, nil with a note when the type is not known.
func readText(name string, c *config) (*textEncoder, string, error) {
	kind := c.text("model_type")
	if c.has("text_config") { // vision-language models keep the language part apart
		inner := &config{file: c.file}
		if err := json.Unmarshal(c.fields["text_config"], &inner.fields); err != nil {
			return nil, "", &ConfigError{c.file, "text_config", "must be an object"}
		}
		if inner.has("hidden_size") {
			c = inner
		}
	}
	e := &textEncoder{name: name, products: 2}
	switch kind {
	case "t5", "umt5":
		e.hidden, e.heads, e.d = c.int("d_model"), c.int("num_heads"), c.int("d_kv")
		e.layers, e.ffn, e.kvHeads = c.int("num_layers"), c.int("d_ff"), e.heads
		if c.flag("is_gated_act") || string(c.fields["feed_forward_proj"]) == `"gated-gelu"` {
			e.products = 3
		}
	case "clip_text_model", "clip":
		e.language(c)
		e.tokens = c.intOr("max_position_embeddings", 77)
	case "llama", "mistral", "mistral3", "qwen2", "qwen3", "qwen2_5_vl", "qwen2_5_vl_text", "gemma2":
		e.language(c)
		e.products = 3
	default:
		return nil, fmt.Sprintf("%s: text encoder of type %q is not counted", c.file, kind), nil
	}
	return e, "", c.err
}

func (e *textEncoder) language(c *config) {
	e.hidden, e.ffn, e.layers, e.heads = c.int("hidden_size"), c.int("intermediate_size"), c.int("num_hidden_layers"), c.int("num_attention_heads")
	e.kvHeads, e.d = c.intOr("num_key_value_heads", e.heads), c.intOr("head_dim", e.hidden/e.heads)
}

// forward adds one pass over n tokens of each prompt, attention in full: padding and causality save nothing in dense kernels.
func (e *textEncoder) forward(b *builder, batch, n int64) {
	rows := batch * n
	b.linear("q o", 2*e.layers, rows, e.hidden, e.heads*e.d)
	b.linear("k v", 2*e.layers, rows, e.hidden, e.kvHeads*e.d)
	b.attention("attention", e.layers, batch, e.heads, n, n, e.d)
	b.linear("MLP", e.products*e.layers, rows, e.hidden, e.ffn)
}
