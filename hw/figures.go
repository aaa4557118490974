package hw

import (
	"fmt"
	"slices"
)

// A Spec is one GPU: the [HardwareSpec] that is shipped, and that [ParseSpec] reads from a file. A Spec in use is
// read-only; [Lookup] and [MI300X] return a fresh one each time, which the caller may change before.
type Spec struct {
	Product      string   // full name, as in "AMD Instinct MI300X"
	Aliases      []string // other names that mean it, matched without regard to case and punctuation
	Arch         string   // compiler target: "gfx942", "sm_90"
	Capability   [2]int   // compute capability, major and minor, as PyTorch reports it; zero when unknown
	ComputeUnits Count    // compute units or streaming multiprocessors of the whole product
	Memory       Count    // bytes of device memory
	Cache        Count    // bytes of the last-level cache
	Devices      int      // as how many equal devices the product shows itself (2 for the dies of an MI250X), else 1
	NoMatrix     []DType  // element types that have no matrix unit; a wider one stands in
	Datasheet    Set      // dense peaks by the vendor
	Achievable   Set      // best rates in practice, measured unless the source says otherwise; empty when nobody published them
	Partition    string   // not empty when the figures are those of a part of the product; says which
}

// A Count is an integer property with its origin.
type Count struct {
	Value  int64
	Source string // never empty unless Value is 0, unknown
}

// A Set holds the figures of one ceiling.
type Set struct {
	Matrix    map[DType]Figure // FLOP/s (op/s for integers), dense
	Vector    map[DType]Figure // FLOP/s
	Bandwidth map[Level]Figure // bytes/s; links in one direction
}

// Name returns the product's name, followed by the partition if it is one.
func (s *Spec) Name() string {
	if s.Partition != "" {
		return s.Product + " (" + s.Partition + ")"
	}
	return s.Product
}

// CacheBytes returns the size of the last-level cache, 0 when unknown.
func (s *Spec) CacheBytes() int64 { return s.Cache.Value }

// Set returns the figures of a ceiling.
func (s *Spec) Set(c Ceiling) *Set {
	if c == Datasheet {
		return &s.Datasheet
	}
	return &s.Achievable
}

// Bandwidth returns the bandwidth of a memory level in bytes/s. For a link that nobody measured the data sheet's figure
// stands in, and Figure.Substitute says so; nothing stands in for device memory.
func (s *Spec) Bandwidth(c Ceiling, l Level) (Figure, bool) {
	f, ok := s.Set(c).Bandwidth[l]
	if !ok && c == Achievable && l != DeviceMemory {
		if f, ok = s.Datasheet.Bandwidth[l]; ok {
			f.Substitute = join(fmt.Sprintf("no achievable %s bandwidth is listed for %s: the data sheet's is used", l, s.Name()), f.Substitute)
		}
	}
	return f, ok
}

// Peak returns the dense peak of a unit for an element type. A rate that is missing is taken from its nearest documented
// neighbour of the same set, and Figure.Substitute says so:
//
//   - matrix: FP4 as FP6, then FP8; FP6 and INT8 as FP8; FP8 as BF16, since chips without FP8 units compute it in 16
//     bits; BF16 and FP16 as each other; TF32 as FP32; FP32 and FP64 on the vector unit;
//   - vector: BF16 and FP16 at each other's rate, else as FP32; narrower types and integers as FP32; complex numbers at
//     the rate of their parts.
func (s *Spec) Peak(c Ceiling, u Unit, t DType) (Figure, bool) {
	set := s.Set(c)
	if f, ok := set.unit(u)[t]; ok {
		return f, true
	}
	for _, n := range neighbours(u, t) {
		if f, ok := set.unit(n.unit)[n.typ]; ok {
			f.Substitute = join(s.substitute(u, t, n), f.Substitute)
			return f, true
		}
	}
	return Figure{}, false
}

func (s *Set) unit(u Unit) map[DType]Figure {
	if u == Matrix {
		return s.Matrix
	}
	return s.Vector
}

func (s *Spec) substitute(u Unit, t DType, n neighbour) string {
	if u == Matrix && slices.Contains(s.NoMatrix, t) {
		return fmt.Sprintf("%s has no %s matrix unit: the %s %s peak is used", s.Name(), t, n.typ, n.unit)
	}
	return fmt.Sprintf("no %s %s peak is listed for %s: the %s %s peak is used", t, u, s.Name(), n.typ, n.unit)
}

func join(a, b string) string {
	if b == "" {
		return a
	}
	return a + ", " + b
}

type neighbour struct {
	unit Unit
	typ  DType
}

// neighbours lists what may stand in for a missing peak, nearest first.
func neighbours(u Unit, t DType) []neighbour {
	if u == Matrix {
		return matrixNeighbours(t)
	}
	switch t {
	case BF16:
		return []neighbour{{Vector, FP16}, {Vector, FP32}}
	case FP16:
		return []neighbour{{Vector, BF16}, {Vector, FP32}}
	case Complex128:
		return []neighbour{{Vector, FP64}}
	case FP32, FP64, UnknownType:
		return nil
	default:
		return []neighbour{{Vector, FP32}}
	}
}

func matrixNeighbours(t DType) []neighbour {
	wide := []neighbour{{Matrix, BF16}, {Matrix, FP16}}
	switch t {
	case FP4:
		return append([]neighbour{{Matrix, FP6}, {Matrix, FP8}}, wide...)
	case FP6, Int8:
		return append([]neighbour{{Matrix, FP8}}, wide...)
	case FP8:
		return wide
	case BF16:
		return []neighbour{{Matrix, FP16}}
	case FP16:
		return []neighbour{{Matrix, BF16}}
	case TF32:
		return []neighbour{{Matrix, FP32}, {Vector, FP32}}
	case FP32, Complex64:
		return []neighbour{{Matrix, FP32}, {Vector, FP32}}
	case FP64, Complex128:
		return []neighbour{{Matrix, FP64}, {Vector, FP64}}
	default:
		return nil
	}
}
