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
// How steps are found without markers, in the order in which the code runs:
//
//   - The GPU events that the busiest host thread launched, in launch order (order.go), are read as a sequence of signatures: name, launch
//     shape, bytes (signature.go).
//   - Autocorrelation names lags at which the sequence is like itself; a scan at each finds the regions that repeat (period.go). A lag with its
//     regions is a level of nested loops: layers, blocks, passes, steps, images (nest.go).
//   - Each run of blocks is folded to one unit, so that what is left of a pass are units that occur once in it (fold.go).
//   - A set of units that alternate is a chorus: each is a hypothesis of what the passes are (chorus.go). It is weighed by the GPU time that it
//     explains, which is what its passes have in common with others nearby (explain.go), and the finest of the strong ones is chosen (passes.go).
//   - A folded loop is opened again if it was one of steps, not of blocks: steps that skip most of their pass, and those of a model so small that no block
//     repeats (open.go).
//   - Between the passes lie seams (seam.go). Long ones part images; those without a scheduler's work join passes to steps (join.go); the
//     rest is divided into the tail of a step and the head of the next, by comparison with what surrounds the loop (fit.go, align.go).
//   - If doubts are left, the same is done again on other readings of the sequence: with the shapes of operators, with names alone for loops whose
//     launch shapes change, and on those events alone whose place is predictable, for loops among strays (find.go, signature.go, flesh.go).
//   - The same is done for what other threads launched or other devices ran (devices.go). Loops of as many steps go together, step by step; where
//     devices do not keep step the result says so (instep.go).
//   - What speaks against the outcome lowers the confidence: a loop elsewhere that explains nearly as much, work like that of the steps outside of
//     them, steps that begin amid blocks, begin or end unlike each other or hold unlike work, and work of a boundary that recurs within steps or in every
//     few boundaries only. A decoder that follows at once speaks for steps, a matrix product for layers (evidence.go). Below a confidence of one half no steps are given out (judge.go, autocorrelation.go).
//
// What is said of the steps then (assemble.go: classes in class.go, outliers and the steady state in steady.go, phases in phase.go) is the same for
// every mode.
package split
