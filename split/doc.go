// Package split finds the denoising steps of a diffusion run in a trace: by annotations, by the periodicity of what is launched when there
// are none, or by graph launches.
//
// A [trace.Trace] goes in; a [Result] comes out that puts every GPU event into one phase and, in the denoising loop, into
// one step, groups steps into classes by what they launch, and says how sure it is. How long a step should take, and
// what its operators do, is for others.
//
// [Auto] is the way for most callers. [Marker], [Autocorrelation] and [Graph] are the modes that it tries and compares. A Splitter
// of one's own needs to know the step of each GPU event only; [Assemble] makes a Result of that.
//
// How steps are found without markers: the GPU events, in the order in which they were launched, are a sequence of
// signatures. Its loops are found by autocorrelation and a scan (period.go, nest.go). Runs of blocks are folded to one unit
// each (fold.go), so that what is left of a forward pass are units that occur once in it; a set of units that alternate marks
// the passes (chorus.go). Each set is a hypothesis. It is weighed by the GPU time that it explains, which is what its passes have in common
// with others nearby (explain.go, passes.go). Between passes lie seams (seam.go), which tell passes from steps (join.go), steps from images,
// and the tail of a step from the head of the next. Where launch shapes change within the loop, or strays of other streams or of autotuning
// hide it, the same is done with names alone, and on the events whose place is predictable (signature.go, flesh.go). What speaks against the
// outcome (a loop elsewhere that explains nearly as much, work like that of the steps outside of them, steps that are unlike each other) lowers
// the confidence, and steps that may as well be layers, tiles or images are not given out (judge.go).
package split
