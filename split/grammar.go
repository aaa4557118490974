package split

import "regexp"

// Meaning is what an annotation's name says of its range.
type Meaning uint8

// Meanings of annotations.
const (
	StepMarker      Meaning = iota // one denoising step, or a boundary between steps: told by what it holds
	SchedulerMarker                // the scheduler's update, which closes a step
	ForwardMarker                  // one forward pass of the denoiser; a step may have several
	ImageMarker                    // one call of the pipeline
	PhaseMarker                    // a phase outside the steps, see Pattern.Phase
	WindowMarker                   // a window of the profiler: an image, a step, or neither
	OtherWork                      // a step of another kind of workload: a language model's, an optimizer's
	NoMarker                       // no part of a diffusion run; hides a pattern before it
)

// A Pattern gives annotations a meaning by name. Groups of the expression named batch, height and width say what an
// [ImageMarker] claims of its image, a group named index which step of its image a [StepMarker] is.
type Pattern struct {
	Regexp  *regexp.Regexp
	Meaning Meaning
	Phase   PhaseName // of a PhaseMarker
}

// A Grammar is what annotations mean. The last pattern that matches a name counts, so that a caller appends their own:
//
//	g := append(split.DefaultGrammar(), split.Pattern{Regexp: regexp.MustCompile(`^my_step`), Meaning: split.StepMarker})
type Grammar []Pattern

// DefaultGrammar returns the markers that diffusion frameworks are known to write: torch.profiler schedules, xDiT and patches of it,
// diffusers' profiling examples, sglang and vLLM-omni.
func DefaultGrammar() Grammar {
	p := func(expr string, m Meaning) Pattern { return Pattern{Regexp: regexp.MustCompile(expr), Meaning: m} }
	phase := func(expr string, name PhaseName) Pattern {
		return Pattern{Regexp: regexp.MustCompile(expr), Meaning: PhaseMarker, Phase: name}
	}
	return Grammar{
		p(`^ProfilerStep#\d+$`, WindowMarker),
		p(`(?i)^execute_.*context_.*generation|^step\[(DECODE|EXTEND|PREFILL|MIXED)|^Optimizer\.(step|zero_grad)#|_dummy_run$`, OtherWork),
		p(`(?i)^(model_inference|pipeline_call|inference_total)$`, ImageMarker),
		p(`^execute_diffusion_(?P<batch>\d+)_(?P<height>\d+)x(?P<width>\d+)$`, ImageMarker),
		p(`(?i)^(diffusion_|sampling_)?denois(e|ing)_step[_#]?(?P<index>\d+)?(_t.*)?$`, StepMarker),
		p(`(?i)^(diffusion|sampling)_step[_#]?(?P<index>\d+)?$`, StepMarker),
		p(`(?i)^scheduler[_.]step$`, SchedulerMarker),
		p(`(?i)^(transformer|unet|dit)(_\d+)?[_.]forward$`, ForwardMarker),
		p(`(?i)^(predict_noise|denoise_dit_forward)$`, ForwardMarker),
		phase(`(?i)^(encode_prompt|prompt_encode|text_encod(e|er|ing).*|stage_TextEncodingStage)$`, TextEncode),
		phase(`(?i)^(vae[_.]decode|stage_DecodingStage)$`, VAEDecode),
		phase(`(?i)^(vae[_.]encode|stage_(InputValidation|Conditioning|TimestepPreparation|LatentPreparation)Stage)$`, OtherPhase),
	}
}

// a mark is an annotation with its meaning.
type mark struct {
	*Pattern
	name  string
	found []string // submatches
}

// read returns the meaning of a name, ok false if it has none.
func (g Grammar) read(name string) (m mark, ok bool) {
	for i := len(g) - 1; i >= 0; i-- {
		if found := g[i].Regexp.FindStringSubmatch(name); found != nil {
			return mark{&g[i], name, found}, g[i].Meaning != NoMarker
		}
	}
	return mark{}, false
}

// group returns what a named group matched, "" if there is none.
func (m *mark) group(name string) string {
	if i := m.Regexp.SubexpIndex(name); i > 0 {
		return m.found[i]
	}
	return ""
}
