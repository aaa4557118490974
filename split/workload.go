package split

import (
	"fmt"
	"strings"

	"github.com/ditlens/ditlens/trace"
)

// Language models and training repeat as denoising does. What they launch in each step and denoising never does speaks against it.
var otherWork = [...]struct{ part, of string }{
	{"reshape_and_cache", "a language model"}, {"paged_attention", "a language model"}, {"paged_kv", "a language model"},
	{"decode_attention", "a language model"}, {"BatchDecode", "a language model"}, {"flash_decod", "a language model"},
	{"top_p_", "a language model"}, {"topp", "a language model"}, {"TopK", "a language model"}, {"sampling_from", "a language model"},
	{"backward", "training"}, {"Backward", "training"}, {"_bwd", "training"}, {"multi_tensor_apply", "training"},
	{"adam", "training"}, {"Adam", "training"}, {"optimizer", "training"},
}

// speaksAgainst returns why the steps may be no denoising steps, "" if nothing says so: at least half of them launch what another
// workload does. A decoder behind the loop is stronger evidence for images than any name against them.
func speaksAgainst(t *trace.Trace, r *Result, o *order) string {
	for _, p := range r.Phases {
		if p.Name == VAEDecode {
			return ""
		}
	}
	of := make([]string, o.distinct) // by signature
	known := make([]bool, o.distinct)
	seen := make([]bool, len(r.Steps))
	n := 0
	why := ""
	for _, id := range o.ids {
		s, sig := r.StepOf[id], o.sig[id]
		if s < 0 || seen[s] {
			continue
		}
		if !known[sig] {
			known[sig], of[sig] = true, otherWorkload(t.GPU[id].Name)
		}
		if of[sig] != "" {
			seen[s], why = true, fmt.Sprintf("steps launch %s, as those of %s do", short(t.GPU[id].Name), of[sig])
			n++
		}
	}
	if 2*n < len(r.Steps) {
		return ""
	}
	return why
}

func otherWorkload(kernel string) string {
	for _, w := range otherWork {
		if strings.Contains(kernel, w.part) {
			return w.of
		}
	}
	return ""
}

// short cuts a kernel's name to a length that fits into a sentence.
func short(name string) string {
	if r := []rune(name); len(r) > 60 {
		return string(r[:59]) + "…"
	}
	return name
}
