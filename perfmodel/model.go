package perfmodel

import (
	"fmt"

	"github.com/ditlens/ditlens/hw"
	"github.com/ditlens/ditlens/trace"
)

// A Call is one operator call as a model sees it. Further fields may be added.
type Call struct {
	Name   string        // operator name ("aten::mm"), or the kernel's name when no operator is known
	Inputs *trace.Inputs // recorded arguments, nil when there are none
	Kernel string        // name of the longest GPU event of the call, "" when there is none
	Kind   trace.GPUKind // kind of that event
	Dir    trace.CopyDir // direction of that event, if it is a copy
	Bytes  int64         // payload of copies and fills, 0 when not recorded
}

// OpModel says what work a call does. Work must be pure: the same Call gives the same Work, and nothing of the Call
// is retained. It must be safe for concurrent use. It returns a *[MissingError] when the Call lacks what the formula
// needs.
type OpModel interface {
	// Info names and documents the model.
	Info() Info
	// Work returns the work of one call.
	Work(c *Call) (Work, error)
}

// Info describes a model. Name and Doc must not be empty.
type Info struct {
	Name string // unique in a registry, as in "gemm.mm"
	Doc  string // one sentence: what it counts and by which formula

	// Category is that of its calls while their arguments cannot be read; Other when empty.
	Category Category
	// Wrapper marks models of operators that leave their work to operators below them as a rule, as aten::linear does
	// to aten::addmm. Such a model should speak only when no operator below the call has a model that can.
	Wrapper bool
}

// Func makes an OpModel of a function, which must do what [OpModel] asks of its Work method.
func Func(i Info, work func(*Call) (Work, error)) OpModel { return &funcModel{i, work} }

type funcModel struct {
	info Info
	work func(*Call) (Work, error)
}

func (m *funcModel) Info() Info                 { return m.info }
func (m *funcModel) Work(c *Call) (Work, error) { return m.work(c) }

// Work is what one call asks of the hardware. Bytes may be left 0 where Read and Written are known: it is then their sum.
type Work struct {
	hw.Demand
	Read, Written int64 // parts of Bytes, when known apart
	Category      Category
	Kind          string // finer than the category: "joint self-attention", "patch embedding"; may be empty
	Certainty     Certainty
	Why           string // why Certainty is not Exact; empty when it is
}

// Certainty tells how sure the numbers of a Work are.
type Certainty uint8

// Certainties.
const (
	Exact Certainty = iota
	LowerBound
	UpperBound
	Estimated
)

// String returns "exact", "lower bound", "upper bound" or "estimated".
func (c Certainty) String() string {
	return [...]string{"exact", "lower bound", "upper bound", "estimated"}[min(c, Estimated)]
}

// Category is the family of an operator or kernel. It is an open set: users' models may use their own.
type Category string

// Categories of the shipped models.
const (
	GEMM           Category = "gemm"
	Attention      Category = "attention"
	CrossAttention Category = "cross-attention"
	Modulation     Category = "modulation" // adaLN: scale, shift, gate
	Norm           Category = "norm"
	Conv           Category = "conv"
	Elementwise    Category = "elementwise"
	Reduction      Category = "reduction"
	Softmax        Category = "softmax"
	Copy           Category = "copy" // device copies, casts, cat, pad, layout
	Memcpy         Category = "memcpy"
	Fill           Category = "fill"
	Gather         Category = "gather"
	Rope           Category = "rope"
	Quantize       Category = "quantize"
	Communication  Category = "communication"
	Triton         Category = "triton" // compiled kernels of no class of their own
	Other          Category = "other"
)

// MissingError is returned by a model when the call lacks something that the formula needs. The call is then reported
// as unmodelled, with What as the reason.
type MissingError struct {
	Op   string
	What string // "shape of argument 1", "element type \"c10::Foo\""
}

// Error implements error.
func (e *MissingError) Error() string {
	return fmt.Sprintf("perfmodel: %s: missing %s", e.Op, e.What)
}

// RangeError is returned by a model when sizes are so great that their product does not fit 63 bits: the record is
// damaged.
type RangeError struct {
	Op   string
	What string // what does not fit
}

// Error implements error.
func (e *RangeError) Error() string {
	return fmt.Sprintf("perfmodel: %s: %s beyond 63 bits", e.Op, e.What)
}
