package record

import (
	"fmt"
	"maps"
	"strconv"
)

// ModelName is the variable by which xDiT's registry name of the model is given.
const ModelName = "XDIT_MODEL_NAME"

// Workload is what a run is asked to do. Unknown fields are zero. Source tells where each known field is from, by the
// field's JSON name.
type Workload struct {
	Model             string            `json:"model"` // registry name, never derived from a path
	NumInferenceSteps int               `json:"num_inference_steps"`
	Batch             int               `json:"batch"`
	Height            int               `json:"height"`
	Width             int               `json:"width"`
	Frames            int               `json:"frames"`
	Precision         string            `json:"precision"`
	Ulysses           int               `json:"ulysses_degree"`
	Ring              int               `json:"ring_degree"`
	CFG               int               `json:"cfg_degree"`
	Source            map[string]string `json:"source"`
}

// Describe completes what was given as options with the environment and with the flags in EXTRA_XDIT_ARGS, which stand for the real run.
// XDIT_MODEL_NAME outranks the option; for all else the option comes first. It reads the environment through env only.
func Describe(options Workload, env func(string) string) (Workload, error) {
	w := options
	w.Source = maps.Clone(options.Source)
	if w.Source == nil {
		w.Source = map[string]string{}
	}
	if name := env(ModelName); name != "" {
		w.Model, w.Source["model"] = name, ModelName
	} else {
		w.sourced("model", w.Model != "", "option")
	}
	args := env(ExtraXDiTArgs)
	for _, f := range []struct {
		name, flag string
		to         *int
	}{
		{"num_inference_steps", "--num_inference_steps", &w.NumInferenceSteps}, {"batch", "--batch_size", &w.Batch},
		{"height", "--height", &w.Height}, {"width", "--width", &w.Width}, {"frames", "--num_frames", &w.Frames},
		{"ulysses_degree", "--ulysses_degree", &w.Ulysses}, {"ring_degree", "--ring_degree", &w.Ring},
	} {
		if w.sourced(f.name, *f.to != 0, "option"); *f.to != 0 {
			continue
		}
		text, ok := flagValue(args, f.flag)
		if !ok {
			continue
		}
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			return Workload{}, fmt.Errorf("record: %s in %s: %q is no positive number", f.flag, ExtraXDiTArgs, text)
		}
		*f.to = n
		w.sourced(f.name, true, ExtraXDiTArgs)
	}
	w.sourced("precision", w.Precision != "", "option")
	w.sourced("cfg_degree", w.CFG != 0, "option")
	return w, nil
}

// sourced notes where a known field is from, unless the caller said so.
func (w *Workload) sourced(field string, known bool, source string) {
	if known && w.Source[field] == "" {
		w.Source[field] = source
	}
}
