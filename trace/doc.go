// Package trace reads PyTorch-profiler (Kineto) traces and keeps what an analysis of GPU time needs: operators, launches,
// GPU events and annotations, linked to each other.
//
// A file goes in (JSON, plain or compressed, whole or broken), a [Trace] comes out. [Load] is the way for most callers,
// [NewReader] streams raw events, and [Builder] makes a Trace of events that another profiler recorded.
//
// Times are integer nanoseconds: the decimal microseconds of the file are converted digit by digit, never through a
// float. What an operator costs, and where a denoising step begins, is for packages perfmodel and split to say.
package trace
