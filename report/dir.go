package report

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// WriteDir writes all files of a report into dir, which it makes if need be: analysis.md, report.json, report.html,
// kernel_candidates.json, kernel_roofline.json, diffusion_roofline.json, unified_perf_summary.csv, ops_summary.csv,
// gpu_timeline.csv and steps.csv. Each file is whole or unchanged: it is written aside and renamed.
func WriteDir(dir string, r *Report) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return fmt.Errorf("report: %w", err)
	}
	for _, f := range []struct {
		name  string
		write func(io.Writer) error
	}{
		{"analysis.md", r.WriteMarkdown},
		{"report.json", r.WriteJSON},
		{"report.html", r.WriteHTML},
		{"kernel_candidates.json", r.WriteCandidates},
		{"kernel_roofline.json", r.WriteKernelRoofline},
		{"diffusion_roofline.json", r.WriteDiffusionRoofline},
		{"unified_perf_summary.csv", r.WritePerfSummary},
		{"ops_summary.csv", r.WriteOpsSummary},
		{"gpu_timeline.csv", r.WriteTimeline},
		{"steps.csv", r.WriteSteps},
	} {
		if err := writeFile(filepath.Join(dir, f.name), f.write); err != nil {
			return fmt.Errorf("report: write %s: %w", f.name, err)
		}
	}
	return nil
}

// writeFile replaces a file by what write gives, or leaves it as it was.
func writeFile(path string, write func(io.Writer) error) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(f.Name()))
		}
	}()
	b := bufio.NewWriter(f)
	err = errors.Join(write(b), b.Flush(), f.Chmod(0o644), f.Close())
	if err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}
