package hw

// DType is the element type of a tensor or of an arithmetic unit.
type DType uint8

// Element types. The FP8 formats are one type here: they have one size and one peak.
const (
	UnknownType DType = iota
	Bool
	UInt8
	Int8
	Int16
	Int32
	Int64
	FP4
	FP6
	FP8
	FP16
	BF16
	TF32
	FP32
	FP64
	Complex64
	Complex128
)

// Unit is the kind of arithmetic unit that does the work.
type Unit uint8

// Arithmetic units.
const (
	Vector Unit = iota
	Matrix
)

// Ceiling names one of the two sets of figures of a GPU. They are never mixed.
type Ceiling uint8

// Ceilings.
const (
	Achievable Ceiling = iota // best rates in practice
	Datasheet                 // dense peak by the vendor's data sheet
)

// Level is where the bytes of a piece of work come from.
type Level uint8

// Memory levels.
const (
	DeviceMemory Level = iota // HBM or GDDR
	HostLink                  // PCIe or C2C to the host
	PeerLink                  // xGMI, NVLink to other GPUs
)

// A Figure is a rate with its origin. Value is FLOP/s (or integer op/s) for arithmetic, bytes/s for memory and links.
type Figure struct {
	Value      float64
	Source     string // where the value is from; never empty
	Substitute string // not empty when a documented neighbour stands in for a figure that is missing; says which and why
}

// HardwareSpec is what the roofline needs to know of a GPU. Implementations must be safe for concurrent use and must
// give the same answer each time. [Spec] is the implementation that is shipped.
type HardwareSpec interface {
	// Name is the product's name, as in "AMD Instinct MI300X".
	Name() string
	// Peak returns the dense peak of a unit for an element type, ok = false when there is none nor a stand-in.
	Peak(c Ceiling, u Unit, t DType) (f Figure, ok bool)
	// Bandwidth returns the bandwidth of a memory level, ok = false when it is not known.
	Bandwidth(c Ceiling, l Level) (f Figure, ok bool)
	// CacheBytes is the size of the last-level cache, 0 when unknown.
	CacheBytes() int64
}

// Compute is an amount of arithmetic on one unit.
type Compute struct {
	Unit  Unit
	Type  DType
	FLOPs int64
}

// Demand is what a piece of work asks of the hardware. Unused Compute entries have FLOPs 0.
type Demand struct {
	Compute [3]Compute
	Bytes   int64 // that must move at least, through Level
	Level   Level
}

// FLOPs returns the sum over all units and types.
func (d *Demand) FLOPs() int64 {
	var n int64
	for _, c := range d.Compute {
		n += c.FLOPs
	}
	return n
}

// Bound tells what limits a piece of work.
type Bound uint8

// Bounds. The zero value is for work without a roof.
const (
	Unmodelled   Bound = iota
	ComputeBound       // arithmetic takes longer than memory
	MemoryBound        // memory or link takes longer
	LatencyBound       // too short for either to matter: the launch itself dominates
)

// A Roof is the least time that a Demand can take on a GPU.
type Roof struct {
	ComputeTime float64 // seconds, summed over units and types
	MemoryTime  float64 // seconds
	Time        float64 // seconds, the greater of the two
	Bound       Bound   // ComputeBound or MemoryBound
	Notes       []string
}
