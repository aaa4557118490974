package perfmodel

import "github.com/ditlens/ditlens/trace"

// An Instance is one call of an operator that owns GPU events, or one GPU event that no operator owns. The instances of a
// trace own each GPU event exactly once.
type Instance struct {
	Call    Call
	Op      trace.OpID    // trace.None for a GPU event without operator
	GPU     []trace.GPUID // events it owns, by start
	Core    []trace.GPUID // those that do the modelled work itself; the others are helpers: layout, bias, im2col, fill
	Leaf    string        // innermost operator that launched the longest event
	Model   string        // name of the model that spoke, "" when none did
	Work    Work          // category is set even when no model spoke
	Missing error         // why there is no Work, nil when there is
}

// Attribute divides the GPU events of a trace among operator calls: each event goes to the outermost operator on its
// path to the root that has a model and whose arguments the model can read, or to its innermost operator when none has.
func Attribute(t *trace.Trace, models *Registry) []Instance { return nil }
