// Package perfmodel says what work an operator does: floating-point operations by unit and precision, and the bytes
// that must move at least, from the shapes and types that the profiler recorded.
//
// A [Call] goes in, [Work] comes out, or an error that tells what is missing; nothing is guessed. A [Registry] finds
// the model for a call, and users add their own. [Attribute] finds, for every GPU event of a trace, the one call that
// owns it. What the work costs on a GPU is for package hw, how it is shown for package report.
package perfmodel
