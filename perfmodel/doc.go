// Package perfmodel says what work an operator does: floating-point operations by unit and precision, and the bytes
// that must move at least, from the shapes and types that the profiler recorded.
//
// A [Call] goes in, [Work] comes out, or an error that tells what is missing; nothing is guessed. A [Registry] finds
// the model for a call, and users add their own. [Attribute] finds, for every GPU event of a trace, the one call that
// owns it. What the work costs on a GPU is for package hw, how it is shown for package report.
//
// # Conventions
//
// A multiplication and an addition are two operations; a bias is one more an output. Attention counts the pairs of
// query and key that its mask leaves visible, a causal one the exact triangle, and not its softmax. A convolution
// counts taps on padding. Pointwise operators, norms and reductions count nominal operations; they are bound by
// memory on every GPU.
//
// Bytes are those of each operand read once and the result written once, at the size of its own element type.
// Elements that a stride of 0 repeats are read once. A single value beside a tensor, and a single scale, count
// nothing.
//
// Work that rests on something unrecorded says so in its Certainty, with the reason. A shape or element type that is
// needed and absent is a [MissingError]; sizes that cannot be counted are a [RangeError].
package perfmodel
