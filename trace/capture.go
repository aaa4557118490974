package trace

import "errors"

// CaptureMatch tells how the replays of a trace were matched to a capture-phase trace.
type CaptureMatch struct {
	Replays   int // graph launches in the trace
	Matched   int // of them, those that a captured graph explains
	Launches  int // captured launches, over all matched replays
	Paired    int // of them, those that own a replayed kernel
	Unpaired  []UnpairedLaunch
	Agreement float64 // share of replayed kernels whose name and order agree with the capture
}

// An UnpairedLaunch is a captured launch that no replayed kernel answers.
type UnpairedLaunch struct {
	Op     OpID // in the merged trace; it owns no GPU time
	Kernel string
	Count  int // replays in which it went unpaired
}

// MergeCapture returns a Trace in which every kernel of a graph replay belongs to the operator that launched it when the
// graph was captured. The capture traces are those recorded while the graphs were built. t is not changed. It returns
// an error, and no trace, when the captures do not belong to t.
func MergeCapture(t *Trace, captures ...*Trace) (*Trace, *CaptureMatch, error) {
	return nil, nil, errors.New("not yet")
}
