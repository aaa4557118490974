// Package split finds the denoising steps of a diffusion run in a trace: by annotations, by the periodicity of kernel
// signatures when there are none, or by graph launches.
//
// A [trace.Trace] goes in; a [Result] comes out that puts every GPU event into one phase and, in the denoising loop, into
// one step, groups steps into classes by what they launch, and says how sure it is. How long a step should take, and
// what its operators do, is for others.
package split
