package main

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/ditlens/ditlens/perfmodel/ceiling"
	"github.com/ditlens/ditlens/report"
	"github.com/ditlens/ditlens/split"
)

// readReport reads the report of a trace and takes from it what ran. It returns nil for no name.
func readReport(name string, o *ceiling.Options) (*report.Report, error) {
	if name == "" {
		return nil, nil
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	r, err := report.ReadJSON(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	w := &r.Workload
	override(&o.Width, int64(w.Width))
	override(&o.Height, int64(w.Height))
	override(&o.Frames, int64(w.Frames))
	override(&o.Batch, int64(w.Batch))
	override(&o.Steps, int64(w.NumInferenceSteps))
	return r, nil
}

// compare sets the matrix work of all denoising steps against what the trace shows of it.
func compare(out io.Writer, w *ceiling.Work, r *report.Report) error {
	p := &w.Parts[0]
	images := max(int64(r.Workload.Images)/w.Batch, 1)
	analytic := images * p.Calls * p.Call().FLOPs
	traced := matrixFLOPs(r)
	ratio, warning := ceiling.Reconcile(analytic, traced)
	_, err := fmt.Fprintf(out, "\ndenoising: %.2f TFLOP by analysis, %.2f TFLOP in the trace, ratio %.4f\n", float64(analytic)/1e12, float64(traced)/1e12, ratio)
	if warning != "" {
		_, err = fmt.Fprintln(out, "warning:", warning)
	}
	return err
}

// matrixFLOPs sums what the denoising phase did on matrix units.
func matrixFLOPs(r *report.Report) int64 {
	var sum int64
	for i := range r.Operators {
		op := &r.Operators[i]
		if op.Phase != string(split.Denoise) {
			continue
		}
		for unit, flops := range op.FLOPsBy {
			if strings.HasPrefix(unit, "matrix_") {
				sum += int64(op.Count) * flops
			}
		}
	}
	return sum
}
