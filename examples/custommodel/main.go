// Command custommodel shows how a program of one's own extends the analysis: it models an operator that the library does
// not know, feeds a trace that it recorded itself, and prints where that operator stands under the roofline.
package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"os"
	"time"

	"github.com/ditlens/ditlens/hw"
	"github.com/ditlens/ditlens/perfmodel"
	"github.com/ditlens/ditlens/report"
	"github.com/ditlens/ditlens/trace"
)

func main() {
	if err := run(os.Stdout); err != nil {
		log.Fatal(err)
	}
}

func run(w io.Writer) error {
	// 1. A registry of the shipped models, and the model of one's own on top.
	models := perfmodel.Default()
	if err := models.Add(gatedResidual{}, "mylib::gated_residual"); err != nil {
		return err
	}
	// 2. A trace: from a file with trace.Load, or, as here, from events of one's own.
	t, err := recorded()
	if err != nil {
		return err
	}
	// 3. The analysis.
	a := report.Analyzer{Models: models, Hardware: hw.MI300X()}
	r, err := a.Analyze(context.Background(), t)
	if err != nil {
		return err
	}
	for _, op := range r.Operators {
		fmt.Fprintf(w, "%s by model %q: %d calls, %.0f bytes each, %s bound, %.1f %% of the roof\n",
			op.Name, op.Model, op.Count, float64(op.Bytes), op.Bound, float64(op.Efficiency))
	}
	return nil
}

// gatedResidual models mylib::gated_residual(x, gate, y) = x + gate * y, with a gate that is broadcast over the tokens.
type gatedResidual struct{}

// Info implements perfmodel.OpModel.
func (gatedResidual) Info() perfmodel.Info {
	return perfmodel.Info{Name: "mylib.gated_residual", Doc: "x + gate * y: two FLOPs an element, x and y read and the sum written once, the gate read once."}
}

// Work implements perfmodel.OpModel.
func (gatedResidual) Work(c *perfmodel.Call) (perfmodel.Work, error) {
	x, err := c.Tensor(0)
	if err != nil {
		return perfmodel.Work{}, err
	}
	gate, err := c.Tensor(1)
	if err != nil {
		return perfmodel.Work{}, err
	}
	w := perfmodel.Work{Category: perfmodel.Modulation, Kind: "gated residual"}
	w.Compute[0] = hw.Compute{Unit: hw.Vector, Type: x.Type, FLOPs: 2 * x.Elements()}
	w.Read, w.Written = 2*x.Bytes()+gate.Bytes(), x.BytesWritten()
	return w, nil
}

// recorded is a run of three calls, each launching one kernel.
func recorded() (*trace.Trace, error) {
	var b trace.Builder
	host := b.Thread(0, 1, 1, "main")
	x := trace.Arg{Type: "c10::BFloat16", Dims: []int64{1, 4096, 3072}, Strides: []int64{12582912, 3072, 1}}
	gate := trace.Arg{Type: "c10::BFloat16", Dims: []int64{1, 1, 3072}, Strides: []int64{3072, 3072, 1}}
	in := b.Inputs(trace.Inputs{Args: []trace.Arg{x, gate, x}})
	for i := range 3 {
		at := time.Duration(i) * 100 * time.Microsecond
		id := int64(i + 1)
		b.Op(trace.Op{Name: "mylib::gated_residual", Start: at, Dur: 20 * time.Microsecond, Thread: host, Inputs: in})
		b.Launch(trace.Launch{Name: "hipLaunchKernel", Start: at + 5*time.Microsecond, Dur: 5 * time.Microsecond, Correlation: id, Thread: host})
		b.GPU(trace.GPUEvent{Name: "gated_residual_kernel", Start: at + 15*time.Microsecond, Dur: 24 * time.Microsecond, Correlation: id})
	}
	return b.Build()
}
