// Package hw knows what GPUs can do, and draws the roofline: peak rates by unit and data type, memory and link
// bandwidth, each with its source, and from them the least time that a piece of work can take.
//
// A piece of work ([Demand]) and a [HardwareSpec] go in, a [Roof] comes out. Two complete sets of figures are kept
// apart: what the data sheet promises and what can be achieved, measured unless the figure's source says otherwise.
// Nothing here guesses: an unknown GPU is an [UnknownError].
package hw
