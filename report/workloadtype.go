package report

import (
	"fmt"
	"strings"

	"github.com/ditlens/ditlens/perfmodel"
	"github.com/ditlens/ditlens/split"
)

func checkWorkloadType(stated string) error {
	switch stated {
	case "", "auto", "diffusion", "llm", "unknown":
		return nil
	}
	return fmt.Errorf("report: workload type %q: want auto, diffusion, llm or unknown", stated)
}

// findWorkloadType tells diffusion from other work, by evidence that it lists. Diffusion needs a marker of it, or denoising
// steps with two witnesses of three: full attention in every step, adaLN modulation, a convolutional decode behind them.
func (in *analysis) findWorkloadType(stated string) {
	if stated != "" && stated != "auto" {
		in.WorkloadType = stated
		in.WorkloadEvidence = []string{"stated by the caller"}
		return
	}
	e := evidence{analysis: in}
	e.markers()
	e.modules()
	e.structure()
	e.against()
	in.WorkloadEvidence = e.found
	switch {
	case e.training:
		in.WorkloadType = "unknown"
	case e.llm > 0 && e.llm >= e.diffusion:
		in.WorkloadType = "llm"
	case e.diffusion >= 2:
		in.WorkloadType = "diffusion"
	default:
		in.WorkloadType = "unknown"
	}
	if len(in.WorkloadEvidence) == 0 {
		in.WorkloadEvidence = []string{"nothing in the trace tells what kind of work it is"}
	}
}

// evidence counts witnesses; a marker that names diffusion counts twice.
type evidence struct {
	*analysis
	diffusion, llm int
	training       bool
	found          []string
}

func (e *evidence) add(n *int, weight int, format string, args ...any) {
	*n += weight
	e.found = append(e.found, fmt.Sprintf(format, args...))
}

// Words in annotation names. "execute_…_context_…_generation_…" is what LLM servers write around an iteration.
var (
	diffusionWords = []string{"denois", "diffusion", "scheduler_step", "vae_decode", "dit_forward", "transformer_forward"}
	llmWords       = []string{"_generation_", "step[decode", "step[extend", "prefill", "decode_step", "generate_token"}
	diffusionNets  = []string{"transformer2d", "dit", "unet", "autoencoder", "vae", "diffusion"}
)

func (e *evidence) markers() {
	seen, told := map[string]bool{}, map[string]bool{} // names, and words found in one
	for i := range e.trace.Annotations {
		name := e.trace.Annotations[i].Name
		if seen[name] {
			continue
		}
		seen[name] = true
		low := strings.ToLower(name)
		if w := wordIn(low, diffusionWords); w != "" && !told[w] {
			told[w] = true
			e.add(&e.diffusion, 2, "the annotation %q", name)
		}
		if w := wordIn(low, llmWords); w != "" && !told[w] {
			told[w] = true
			e.add(&e.llm, 2, "the annotation %q", name)
		}
	}
}

func wordIn(s string, words []string) string {
	for _, w := range words {
		if strings.Contains(s, w) {
			return w
		}
	}
	return ""
}

func (e *evidence) modules() {
	seen := map[string]bool{}
	for i := range e.trace.Frames {
		f := &e.trace.Frames[i]
		if !f.Module || seen[f.Name] {
			continue
		}
		seen[f.Name] = true
		low := strings.ToLower(f.Name)
		for _, w := range diffusionNets {
			if (w != "dit" && strings.Contains(low, w) || strings.HasPrefix(low, "dit") || strings.HasSuffix(f.Name, "DiT")) && !seen[w] {
				seen[w] = true
				e.add(&e.diffusion, 1, "the module %s", f.Name)
				break
			}
		}
	}
}

// structure looks at what the steps do and what follows them.
func (e *evidence) structure() {
	if len(e.Split.Steps) < 2 {
		return
	}
	var full, causal, conv Micros
	for i := range e.Operators {
		op := &e.Operators[i]
		switch {
		case op.Phase == string(split.Denoise) && (op.Category == perfmodel.Attention || op.Category == perfmodel.CrossAttention):
			if strings.Contains(op.Kind, "causal") || strings.Contains(op.Kind, "paged") {
				causal += op.KernelTime
			} else {
				full += op.KernelTime
			}
		case op.Phase == string(split.VAEDecode) && op.Category == perfmodel.Conv:
			conv += op.KernelTime
		}
	}
	if full > 0 && full > causal {
		e.add(&e.diffusion, 1, "%d steps that repeat full-sequence, non-causal attention", len(e.Split.Steps))
	}
	if causal > full {
		e.add(&e.llm, 1, "%d steps whose attention is causal", len(e.Split.Steps))
	}
	adaLN := 0
	for _, m := range e.Modulation {
		if m.Phase == string(split.Denoise) {
			adaLN += m.Count
		}
	}
	if adaLN >= len(e.Split.Steps) {
		e.add(&e.diffusion, 1, "%s adaLN modulations in the steps", count(adaLN))
	}
	if conv > 0 {
		e.add(&e.diffusion, 1, "a convolutional decode of %s behind the steps", duration(conv))
	}
}

// against looks for what diffusion inference never does.
func (e *evidence) against() {
	for i := range e.trace.Ops {
		name := e.trace.Ops[i].Name
		if strings.HasPrefix(name, "autograd::engine::evaluate_function") || strings.HasPrefix(name, "Optimizer.step") {
			e.training = true
			e.found = append(e.found, fmt.Sprintf("the operator %s: a training step", name))
			break
		}
	}
	for i := range e.KernelTotals {
		name := e.KernelTotals[i].Name
		if w := wordIn(strings.ToLower(name), pagedWords); w != "" {
			e.add(&e.llm, 2, "the kernel %.80s: a paged KV cache", name)
			break
		}
	}
}

// pagedWords are parts of the names of kernels that read a paged KV cache.
var pagedWords = []string{"paged", "kv_cache", "kvcache", "batchdecode", "batch_decode"}
