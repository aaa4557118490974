package report

import (
	"fmt"
	"maps"
	"strconv"
	"strings"

	"github.com/ditlens/ditlens/hw"
	"github.com/ditlens/ditlens/perfmodel"
	"github.com/ditlens/ditlens/split"
	"github.com/ditlens/ditlens/trace"
	"github.com/ditlens/ditlens/trace/record"
)

// findWorkload says what ran. What the caller knows comes first, then the work itself, then what markers claim; where they
// differ a diagnostic says so, since markers are often wrong (a marker of 256x256 around a run of 1024x1024 has been seen).
func (in *analysis) findWorkload(given record.Workload) {
	w := &in.Workload
	*w = given
	w.Source = map[string]string{}
	maps.Copy(w.Source, given.Source)
	for field, known := range map[string]bool{"model": w.Model != "", "batch": w.Batch > 0, "height": w.Height > 0, "width": w.Width > 0,
		"frames": w.Frames > 0, "num_inference_steps": w.NumInferenceSteps > 0} {
		if known && w.Source[field] == "" {
			w.Source[field] = "given"
		}
	}
	out := in.decoded()
	in.setFrames(out)
	in.setResolution(out)
	in.setBatch(out)
	if w.NumInferenceSteps == 0 {
		w.NumInferenceSteps = in.stepsPerImage()
		if w.NumInferenceSteps > 0 {
			w.Source["num_inference_steps"] = record.FromTrace + "steps found per image"
		}
	}
	w.Images = max(len(in.steps.Images), 0) * max(w.Batch, 1)
	in.ThroughputUnit = "images/sec"
	if w.Frames > 1 {
		in.ThroughputUnit = "videos/sec"
	}
}

// An output is a tensor of pixels that the decoder made.
type output struct {
	batch, frames, height, width int64
	how                          string
}

// decoded finds the decoder's output: the convolution to 3 channels, or, when the decoder works in tiles, the copy of the
// whole picture to the host.
func (in *analysis) decoded() *output {
	var conv, copied *output
	convs := 0
	for i := range in.Operators {
		op := &in.Operators[i]
		if op.Phase != string(split.VAEDecode) && op.Phase != string(split.OtherPhase) {
			continue
		}
		switch {
		case op.Category == perfmodel.Conv && op.Phase == string(split.VAEDecode):
			if o := convOutput(op); o != nil {
				conv = o
				convs += op.Count
			}
		case op.Name == "aten::copy_" && op.Level == hw.HostLink.String():
			if o := picture(op.dims(0)); o != nil {
				copied = o
			}
		}
	}
	if convs > max(1, len(in.steps.Images)) { // tiles
		conv = nil
	}
	if conv != nil {
		return conv
	}
	return copied
}

func (op *Operator) dims(i int) []int64 {
	if i < len(op.InputDims) {
		return op.InputDims[i]
	}
	return nil
}

// convOutput returns the output of a convolution to 3 channels.
func convOutput(op *Operator) *output {
	x, w := op.dims(0), op.dims(1)
	if len(x) < 4 || len(w) != len(x) || w[0] != 3 || len(op.ConcreteInputs) < 6 {
		return nil
	}
	stride, pad := list(op.ConcreteInputs[3], len(x)-2), list(op.ConcreteInputs[4], len(x)-2)
	if stride == nil || pad == nil {
		return nil
	}
	size := make([]int64, len(x)-2)
	for i := range size {
		if stride[i] <= 0 {
			return nil
		}
		size[i] = (x[i+2]+2*pad[i]-w[i+2])/stride[i] + 1
	}
	return picture(append([]int64{x[0], 3}, size...)).named("output of the decoder's last convolution")
}

// picture reads the dims of a tensor of pixels, channels first or last.
func picture(d []int64) *output {
	switch {
	case len(d) == 4 && d[1] == 3:
		return &output{d[0], 1, d[2], d[3], "picture copied to the host"}
	case len(d) == 4 && d[3] == 3:
		return &output{d[0], 1, d[1], d[2], "picture copied to the host"}
	case len(d) == 5 && d[1] == 3:
		return &output{d[0], d[2], d[3], d[4], "video copied to the host"}
	}
	return nil
}

func (o *output) named(how string) *output {
	if o != nil {
		o.how = how
	}
	return o
}

// list reads "[1, 1]"; a single number stands for all n.
func list(s string, n int) []int64 {
	var out []int64
	for _, f := range strings.FieldsFunc(strings.Trim(s, "[]"), func(r rune) bool { return r == ',' || r == ' ' }) {
		v, err := strconv.ParseInt(f, 10, 64)
		if err != nil {
			return nil
		}
		out = append(out, v)
	}
	for len(out) == 1 && n > 1 {
		for len(out) < n {
			out = append(out, out[0])
		}
	}
	if len(out) != n {
		return nil
	}
	return out
}

// found notes where in the trace a field of the workload is from.
func (in *analysis) found(how string, fields ...string) {
	for _, f := range fields {
		in.Workload.Source[f] = record.FromTrace + how
	}
}

func (in *analysis) setFrames(o *output) {
	if in.Workload.Frames == 0 && o != nil && o.frames > 1 {
		in.Workload.Frames = int(o.frames)
		in.found(o.how, "frames")
	}
}

func (in *analysis) setResolution(o *output) {
	w := &in.Workload
	var marker split.Image
	for _, m := range in.steps.Images {
		if m.Height > 0 {
			marker = m
			break
		}
	}
	known := w.Height > 0 && w.Width > 0
	if !known && o != nil {
		w.Height, w.Width = int(o.height), int(o.width)
		in.found(o.how, "height", "width")
	} else if !known && marker.Height > 0 {
		w.Height, w.Width = marker.Height, marker.Width
		in.found("marker "+marker.Marker, "height", "width")
	}
	if marker.Height > 0 && o != nil && (marker.Height != int(o.height) || marker.Width != int(o.width)) {
		in.diagnose(trace.Diagnostic{Code: "resolution_mismatch", Severity: trace.Warning, Count: 1, Message: fmt.Sprintf(
			"the marker %q claims %dx%d; the %s is %dx%d", marker.Marker, marker.Height, marker.Width, o.how, o.height, o.width)})
	}
}

func (in *analysis) setBatch(o *output) {
	w := &in.Workload
	marked := 0
	for _, m := range in.steps.Images {
		if m.Batch > 0 {
			marked = m.Batch
			break
		}
	}
	if w.Batch == 0 && o != nil {
		w.Batch = int(o.batch)
		in.found(o.how, "batch")
	}
	if w.Batch == 0 && marked > 0 {
		w.Batch = marked
		in.found("marker", "batch")
	}
	if marked > 0 && o != nil && int64(marked) != o.batch {
		in.diagnose(trace.Diagnostic{Code: "batch_mismatch", Severity: trace.Warning, Count: 1,
			Message: fmt.Sprintf("the marker claims a batch of %d; the %s holds %d", marked, o.how, o.batch)})
	}
}

// stepsPerImage is the number of steps that every image has, 0 when they differ or there are none.
func (in *analysis) stepsPerImage() int {
	n := 0
	for _, m := range in.steps.Images {
		if n != 0 && m.Steps != n {
			return 0
		}
		n = m.Steps
	}
	return n
}
