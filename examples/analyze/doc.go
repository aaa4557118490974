// Command analyze tells where the GPU time of a diffusion run goes and how far each operator is from its roofline.
//
//	go run ./examples/analyze [flags] [TRACE | FOLDER]
//
// Without an argument it analyses a small sample trace and prints the report. With -out it writes the report in all forms
// into a folder. Of a FOLDER it takes the main trace of the lowest rank, or of -rank, and compares the others with it.
//
// Exit codes: 0 report written, also of a trace that was cut, unless -strict: its status is then "partial"; 1 the input cannot be
// read; 2 usage; 3 the trace holds no GPU events (the report is written and says why); 4 with -require-steady-state: no steady
// state was found.
package main
