package report_test

import (
	"fmt"
	"log"
	"os"
	"strings"

	"github.com/ditlens/ditlens/report"
)

// Two reports, as ReadJSON gives them, and what changed between them.
func ExampleCompare() {
	before, err := report.ReadJSON(strings.NewReader(`{"schema_version": "1.0", "throughput_unit": "images/sec", "throughput": {"value": 0.8},
		"trace": {"gpu_time_us": 900, "files": [{"sha256": "aa"}]},
		"operators": [{"name": "aten::mm", "kernel_time_us": 600, "count": 2}, {"name": "aten::add", "kernel_time_us": 300, "count": 1}]}`))
	if err != nil {
		log.Fatal(err)
	}
	after, err := report.ReadJSON(strings.NewReader(`{"schema_version": "1.0", "throughput_unit": "images/sec", "throughput": {"value": 1},
		"trace": {"gpu_time_us": 700, "files": [{"sha256": "bb"}]},
		"operators": [{"name": "aten::mm", "kernel_time_us": 400, "count": 2}, {"name": "aten::add", "kernel_time_us": 300, "count": 1}]}`))
	if err != nil {
		log.Fatal(err)
	}
	c, err := report.Compare(before, after)
	if err != nil {
		log.Fatal(err)
	}
	for _, f := range c.Figures[:1] {
		fmt.Printf("%s %.2f -> %.2f %s (%+.0f %%)\n", f.Name, float64(f.Before), float64(f.After), f.Unit, float64(f.Percent))
	}
	for _, op := range c.Operators {
		fmt.Printf("%s: %s, %v -> %v µs\n", op.Name, op.State, op.Before, op.After)
	}
	_, err = report.Compare(before, before)
	fmt.Println(err)
	// Output:
	// throughput 0.80 -> 1.00 images/sec (+25 %)
	// aten::mm: faster, 600.000 -> 400.000 µs
	// aten::add: same, 300.000 -> 300.000 µs
	// report: both reports are of the same files
}

// One screen of text for a terminal.
func ExampleReport_WriteSummary() {
	r, err := report.ReadJSON(strings.NewReader(`{"schema_version": "1.0", "status": "empty", "workload_type": "unknown", "throughput_unit": "images/sec",
		"throughput": {"value": null, "latency_seconds": null, "basis": "no GPU events"}, "coverage": {"modelled_percent": null},
		"roofline_totals": {"sigma_ideal_roofline_us": null}, "split": {"confidence": null}}`))
	if err != nil {
		log.Fatal(err)
	}
	if err := r.WriteSummary(os.Stdout); err != nil {
		log.Fatal(err)
	}
	// Output:
	// 0 of 0 kernels modelled.
	// The trace holds 0 GPU events, so there is nothing to measure.
	// workload_type                       unknown
	// throughput_unit                     images/sec
	// throughput                          n/a; basis: no GPU events
	// latency                             n/a
	// steps (found / marked / requested)  0 / none / not given
	// step time (median)                  n/a
	// GPU                                 unknown: no efficiencies
	// GPU busy and idle                   n/a
	// coverage                            0 of 0 kernels modelled
	// roofline                            n/a
	// top bottleneck                      n/a
	// status                              empty
}
