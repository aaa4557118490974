// Package ditlens is the overview of a library that tells where the GPU time of a diffusion run goes and how far each
// operator is from what the hardware allows. The work is done by its sub-packages, one idea each:
//
//  1. [github.com/ditlens/ditlens/trace] reads a PyTorch-profiler trace and links every kernel to its operator.
//  2. [github.com/ditlens/ditlens/split] finds the denoising steps, by markers, by the periodicity of what is launched, or by
//     graph launches.
//  3. [github.com/ditlens/ditlens/perfmodel] models the FLOPs and bytes of every operator.
//  4. [github.com/ditlens/ditlens/hw] knows the GPUs and draws the roofline.
//  5. [github.com/ditlens/ditlens/report] joins them into a Report and writes it.
//
// The whole way, which is also the runnable example of package report:
//
//	ctx := context.Background()
//	t, err := trace.Load(ctx, trace.LoadOptions{}, "../examples/analyze/sample.json.gz")
//	if err != nil {
//		log.Fatal(err)
//	}
//	r, err := (&report.Analyzer{}).Analyze(ctx, t)
//	if err != nil {
//		log.Fatal(err)
//	}
//	fmt.Printf("%s: %d steps, %.1f %s\n", r.WorkloadType, r.Split.StepCount, float64(r.Throughput.Value), r.ThroughputUnit)
//
// The three interfaces to extend are split.Splitter, perfmodel.OpModel and hw.HardwareSpec. The command is examples/analyze.
package ditlens
