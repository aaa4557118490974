package hw

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// DeviceInfo is what a trace says of a GPU. Zero fields are unknown.
type DeviceInfo struct {
	Name         string
	ComputeUnits int   // compute units or streaming multiprocessors
	Memory       int64 // bytes
	Major, Minor int   // compute capability
	Arch         string
}

// ErrNoDevices is returned by [Detect] when there is nothing to detect.
var ErrNoDevices = errors.New("hw: the trace names no GPU")

// AmbiguousError is returned by [Detect] when a device may be more than one product, or contradicts the one it names.
type AmbiguousError struct {
	Device     DeviceInfo
	Candidates []string // products it may be; may be empty
	Why        string
}

// Error implements error. The text asks for the name.
func (e *AmbiguousError) Error() string {
	s := fmt.Sprintf("hw: GPU %q (arch %q, %d compute units, %d bytes) %s", e.Device.Name, e.Device.Arch,
		e.Device.ComputeUnits, e.Device.Memory, e.Why)
	if len(e.Candidates) > 0 {
		s += "; say which it is: " + strings.Join(e.Candidates, ", ")
	}
	return s
}

// MixedError is returned by [Detect] for devices of different kinds, which no single roofline fits.
type MixedError struct {
	Names []string // one of each kind, in order of appearance
}

// Error implements error.
func (e *MixedError) Error() string {
	return "hw: devices of different kinds: " + strings.Join(e.Names, ", ") + "; say which one the analysis is about"
}

// Detect returns the shipped spec that the devices of a trace are. It does not guess:
//
//   - a name that no shipped spec has is an *[UnknownError];
//   - a generic name ("AMD Radeon Graphics", "gfx942:sramecc+") is resolved only if compute units and memory leave one product, else it is
//     an *[AmbiguousError]; so is a device with more compute units than the product it names;
//   - a device with fewer compute units is a partition: compute is scaled, bandwidth and cache are unknown. One of the
//     equal devices of a product (a die of an MI250X) has its equal part of everything but the links to other GPUs;
//   - devices of different kinds are a *[MixedError]: pass those on which work ran.
func Detect(devices []DeviceInfo) (*Spec, error) {
	if len(devices) == 0 {
		return nil, ErrNoDevices
	}
	all := All()
	var found *Spec
	var names []string
	for _, d := range devices {
		s, err := detect(d, all)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(names, s.Name()) {
			names, found = append(names, s.Name()), s
		}
	}
	if len(names) > 1 {
		return nil, &MixedError{Names: names}
	}
	return found, nil
}

func detect(d DeviceInfo, all []*Spec) (*Spec, error) {
	if target(d.Name) && d.Arch == "" { // HIP's name where no product name is to be had
		d.Arch = d.Name
	}
	if generic(d.Name) || target(d.Name) {
		return byProperties(d, all)
	}
	name, _, _ := strings.Cut(d.Name, " MIG ") // the slice of an NVIDIA GPU keeps the product's name in front
	if first, second, both := strings.Cut(name, "/"); both {
		return eitherOf(d, all, first, second)
	}
	for _, s := range all {
		if s.named(name) {
			return s.fit(d)
		}
	}
	return nil, &UnknownError{Name: d.Name, Near: nearest(d.Name, all)}
}

// eitherOf resolves a driver's name for two products ("AMD Instinct MI250X/MI250") by the number of compute units.
func eitherOf(d DeviceInfo, all []*Spec, names ...string) (*Spec, error) {
	var candidates []string
	for _, s := range all {
		if !slices.ContainsFunc(names, s.named) {
			continue
		}
		if int64(d.ComputeUnits)*int64(s.Devices) == s.ComputeUnits.Value {
			return s.fit(d)
		}
		candidates = append(candidates, s.Aliases[0])
	}
	if candidates == nil {
		return nil, &UnknownError{Name: d.Name, Near: nearest(d.Name, all)}
	}
	return nil, &AmbiguousError{d, candidates, "names two products"}
}

// generic tells whether a driver gave a family's name, or none, instead of the product's.
func generic(name string) bool {
	switch key(name) {
	case "", "amdradeongraphics", "amdinstinct", "amdgpu", "radeongraphics":
		return true
	}
	return false
}

// target tells whether a name is that of a compiler target: "gfx942:sramecc+:xnack-".
func target(name string) bool {
	rest, ok := strings.CutPrefix(name, "gfx")
	base, _, _ := strings.Cut(rest, ":")
	return ok && base != "" && strings.Trim(base, "0123456789abcdef") == ""
}

// byProperties resolves a generic name: only one product may have these compute units and this much memory.
func byProperties(d DeviceInfo, all []*Spec) (*Spec, error) {
	arch, _, _ := strings.Cut(d.Arch, ":") // "gfx942:sramecc+:xnack-"
	var possible []string
	var match []*Spec
	for _, s := range all {
		if d.Name != "" && !strings.HasPrefix(s.Arch, "gfx") { // the generic names are AMD's
			continue
		}
		if arch != "" && arch != s.Arch || d.Major != 0 && s.Capability != [2]int{d.Major, d.Minor} {
			continue
		}
		possible = append(possible, s.Aliases[0])
		if s.is(d) {
			match = append(match, s)
		}
	}
	if len(match) == 1 {
		return match[0].fit(d)
	}
	if len(possible) == 0 {
		return nil, &UnknownError{Name: strings.TrimSpace(d.Name + " " + arch)}
	}
	return nil, &AmbiguousError{d, possible, "does not tell its product"}
}

// is tells whether compute units and memory are those of one device of the product. Drivers keep up to 5 % of the memory.
func (s *Spec) is(d DeviceInfo) bool {
	n := int64(s.Devices)
	memory := s.Memory.Value / n
	return memory > 0 && int64(d.ComputeUnits)*n == s.ComputeUnits.Value && d.Memory > memory/20*19 && d.Memory < memory/20*21
}

// fit returns the spec of a device that is the product or a part of it.
func (s *Spec) fit(d DeviceInfo) (*Spec, error) {
	units, whole := int64(d.ComputeUnits), s.ComputeUnits.Value
	switch {
	case units == 0 || whole == 0 || units == whole:
		return s, nil
	case units > whole:
		return nil, &AmbiguousError{d, nil, fmt.Sprintf("has more compute units than an %s (%d)", s.Product, whole)}
	}
	die := units*int64(s.Devices) == whole
	p := s.part(float64(units)/float64(whole), fmt.Sprintf("%d of %d compute units", units, whole), die)
	p.ComputeUnits.Value = units
	if die {
		p.Cache.Value /= int64(s.Devices)
		p.Memory.Value /= int64(s.Devices)
		return p, nil
	}
	p.Cache, p.Memory = Count{}, Count{}
	return p, nil
}

// part returns a copy with all rates scaled. A die has its own memory and link to the host; of a partition's share in
// them nothing is known. Links to other GPUs belong to the whole product.
func (s *Spec) part(share float64, what string, die bool) *Spec {
	p := *s
	p.Partition = what
	p.Datasheet = s.Datasheet.scaled(share, what, die)
	p.Achievable = s.Achievable.scaled(share, what, die)
	return &p
}

func (s *Set) scaled(share float64, what string, die bool) Set {
	var bandwidth map[Level]Figure
	if die {
		bandwidth = scale(s.Bandwidth, share, what)
		delete(bandwidth, PeerLink)
	}
	return Set{scale(s.Matrix, share, what), scale(s.Vector, share, what), bandwidth}
}

func scale[K comparable](m map[K]Figure, share float64, what string) map[K]Figure {
	out := make(map[K]Figure, len(m))
	for k, f := range m {
		f.Value *= share
		f.Substitute = "scaled to " + what
		out[k] = f
	}
	return out
}
