package hw

import (
	"fmt"
	"slices"
)

var (
	typeNames = [...]string{"unknown", "bool", "uint8", "int8", "int16", "int32", "int64", "fp4", "fp6", "fp8",
		"fp16", "bf16", "tf32", "fp32", "fp64", "complex64", "complex128"}
	typeBits     = [...]int64{0, 8, 8, 8, 16, 32, 64, 4, 6, 8, 16, 16, 32, 32, 64, 64, 128}
	unitNames    = [...]string{"vector", "matrix"}
	ceilingNames = [...]string{"achievable", "datasheet"}
	levelNames   = [...]string{"memory", "host_link", "peer_link"}
	boundNames   = [...]string{"unmodelled", "compute", "memory", "latency"}
)

// String returns the short name that specs and reports use: "bf16", "fp8", "int8", "complex64" …
func (t DType) String() string { return nameOf(typeNames[:], t) }

// Bits returns the size of one element in bits, 0 for UnknownType. TF32 is stored in 32 bits. Sub-byte types are
// dense: n elements of FP4 take n/2 bytes.
func (t DType) Bits() int64 {
	if int(t) >= len(typeBits) {
		return 0
	}
	return typeBits[t]
}

// MarshalText implements [encoding.TextMarshaler] with the name that String gives.
func (t DType) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// UnmarshalText implements [encoding.TextUnmarshaler]. It takes the names that String gives.
func (t *DType) UnmarshalText(b []byte) error { return setByName(t, typeNames[:], "element type", b) }

// String returns "vector" or "matrix".
func (u Unit) String() string { return nameOf(unitNames[:], u) }

// MarshalText implements [encoding.TextMarshaler].
func (u Unit) MarshalText() ([]byte, error) { return []byte(u.String()), nil }

// UnmarshalText implements [encoding.TextUnmarshaler].
func (u *Unit) UnmarshalText(b []byte) error { return setByName(u, unitNames[:], "unit", b) }

// String returns "achievable" or "datasheet".
func (c Ceiling) String() string { return nameOf(ceilingNames[:], c) }

// MarshalText implements [encoding.TextMarshaler].
func (c Ceiling) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// UnmarshalText implements [encoding.TextUnmarshaler].
func (c *Ceiling) UnmarshalText(b []byte) error { return setByName(c, ceilingNames[:], "ceiling", b) }

// String returns "memory", "host_link" or "peer_link".
func (l Level) String() string { return nameOf(levelNames[:], l) }

// MarshalText implements [encoding.TextMarshaler].
func (l Level) MarshalText() ([]byte, error) { return []byte(l.String()), nil }

// UnmarshalText implements [encoding.TextUnmarshaler].
func (l *Level) UnmarshalText(b []byte) error { return setByName(l, levelNames[:], "memory level", b) }

// String returns "compute", "memory", "latency" or "unmodelled".
func (b Bound) String() string { return nameOf(boundNames[:], b) }

// MarshalText implements [encoding.TextMarshaler].
func (b Bound) MarshalText() ([]byte, error) { return []byte(b.String()), nil }

// UnmarshalText implements [encoding.TextUnmarshaler].
func (b *Bound) UnmarshalText(text []byte) error { return setByName(b, boundNames[:], "bound", text) }

func nameOf[T ~uint8](names []string, v T) string {
	if int(v) >= len(names) {
		return fmt.Sprintf("%d", uint8(v))
	}
	return names[v]
}

func setByName[T ~uint8](v *T, names []string, what string, text []byte) error {
	i := slices.Index(names, string(text))
	if i < 0 {
		return fmt.Errorf("hw: unknown %s %q, want one of %q", what, text, names)
	}
	*v = T(i)
	return nil
}
