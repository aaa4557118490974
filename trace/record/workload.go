package record

import (
	"fmt"
	"maps"
	"strconv"
	"strings"
)

// ModelName is the variable by which xDiT's registry name of the model is given.
const ModelName = "XDIT_MODEL_NAME"

// FromTrace begins the source of what was found in a trace, rather than told.
const FromTrace = "trace: "

// Workload is what a run is asked to do, or was found to have done. Unknown fields are zero. Source tells where each known
// field is from, by the field's JSON name; what was found in a trace has a source that begins with [FromTrace].
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
	PipeFusion        int               `json:"pipefusion_degree"`
	Tensor            int               `json:"tensor_parallel_degree"`
	Data              int               `json:"data_parallel_degree"`
	Images            int               `json:"images"` // pictures or videos that the trace holds, over all calls
	Source            map[string]string `json:"source"`
}

// Describe completes what was given as options with the environment and with the flags in EXTRA_XDIT_ARGS, which stand for the real run.
// XDIT_MODEL_NAME outranks the option; for all else the option comes first. It reads the environment through env only, nil: nothing is
// set. The error names a flag whose value is no positive number.
func Describe(options Workload, env func(string) string) (Workload, error) {
	if env == nil {
		env = func(string) string { return "" }
	}
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
		{"pipefusion_degree", "--pipefusion_parallel_degree", &w.PipeFusion}, {"tensor_parallel_degree", "--tensor_parallel_degree", &w.Tensor},
		{"data_parallel_degree", "--data_parallel_degree", &w.Data},
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
	if _, split := flagValue(args, "--use_cfg_parallel"); split && w.CFG == 0 {
		w.CFG = 2 // the halves of guidance on a rank each
		w.sourced("cfg_degree", true, ExtraXDiTArgs)
	}
	return w, nil
}

// sourced notes where a known field is from, unless the caller said so.
func (w *Workload) sourced(field string, known bool, source string) {
	if known && w.Source[field] == "" {
		w.Source[field] = source
	}
}

// Or returns w with its unknown fields taken from an earlier run's Workload, which source names. What was found in the earlier
// run's trace is left out: it is true of that trace only.
func (w Workload) Or(earlier Workload, source string) Workload {
	from := map[string]string{}
	maps.Copy(from, w.Source)
	take := func(field string, missing bool, set func()) {
		if told := earlier.Source[field]; missing && told != "" && !strings.HasPrefix(told, FromTrace) {
			set()
			from[field] = source + ": " + told
		}
	}
	take("model", w.Model == "", func() { w.Model = earlier.Model })
	take("precision", w.Precision == "", func() { w.Precision = earlier.Precision })
	for _, f := range []struct {
		name  string
		to    *int
		value int
	}{
		{"num_inference_steps", &w.NumInferenceSteps, earlier.NumInferenceSteps}, {"batch", &w.Batch, earlier.Batch},
		{"height", &w.Height, earlier.Height}, {"width", &w.Width, earlier.Width}, {"frames", &w.Frames, earlier.Frames},
		{"ulysses_degree", &w.Ulysses, earlier.Ulysses}, {"ring_degree", &w.Ring, earlier.Ring}, {"cfg_degree", &w.CFG, earlier.CFG},
		{"pipefusion_degree", &w.PipeFusion, earlier.PipeFusion}, {"tensor_parallel_degree", &w.Tensor, earlier.Tensor},
		{"data_parallel_degree", &w.Data, earlier.Data},
	} {
		take(f.name, *f.to == 0, func() { *f.to = f.value })
	}
	w.Source = from
	return w
}
