// Package record helps to record a trace that is worth analysing. It takes what a run is going to do: a profiler schedule,
// a framework, a checkout, the environment; and returns plain values: which steps survive until the trace is written, which
// flags and variables to add, and which patch fits. It changes nothing, starts nothing, and reads the environment only
// through an argument.
package record
