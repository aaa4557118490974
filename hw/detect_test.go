package hw_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/ditlens/ditlens/hw"
)

func TestDetect(t *testing.T) {
	const gib = 1 << 30
	tests := []struct {
		name   string
		device hw.DeviceInfo
		want   string
	}{
		{"by name", hw.DeviceInfo{Name: "AMD Instinct MI300X", ComputeUnits: 304, Memory: 206141652992, Major: 9, Minor: 4}, "AMD Instinct MI300X"},
		{"by name alone", hw.DeviceInfo{Name: "NVIDIA H100 80GB HBM3"}, "NVIDIA H100 SXM5 80GB"},
		{"by properties", hw.DeviceInfo{Name: "AMD Radeon Graphics", Arch: "gfx942:sramecc+:xnack-", ComputeUnits: 304, Memory: 191 * gib}, "AMD Instinct MI300X"},
		{"target for a name", hw.DeviceInfo{Name: "gfx942:sramecc+:xnack-", ComputeUnits: 304, Memory: 206141652992}, "AMD Instinct MI300X"},
		{"more memory", hw.DeviceInfo{Name: "AMD Radeon Graphics", Arch: "gfx942", ComputeUnits: 304, Memory: 255 * gib}, "AMD Instinct MI325X"},
		{"fewer units, same memory", hw.DeviceInfo{Name: "AMD Radeon Graphics", Arch: "gfx942", ComputeUnits: 80, Memory: 206141652992}, "AMD Instinct MI308X"},
		{"board name", hw.DeviceInfo{Name: "NVIDIA A100-PG509-200", ComputeUnits: 108, Memory: 42297524224, Major: 8}, "NVIDIA A100 40GB"},
		{"by capability", hw.DeviceInfo{Name: "AMD Radeon Graphics", Major: 9, Minor: 4, ComputeUnits: 228, Memory: 127 * gib}, "AMD Instinct MI300A"},
		{"partition", hw.DeviceInfo{Name: "AMD Instinct MI300X", ComputeUnits: 38}, "AMD Instinct MI300X (38 of 304 compute units)"},
		{"die", hw.DeviceInfo{Name: "AMD Instinct MI250X/MI250", ComputeUnits: 110}, "AMD Instinct MI250X (110 of 220 compute units)"},
		{"the other die of two names", hw.DeviceInfo{Name: "AMD Instinct MI250X / MI250", ComputeUnits: 104}, "AMD Instinct MI250 (104 of 208 compute units)"},
		{"die by properties", hw.DeviceInfo{Name: "AMD Radeon Graphics", Major: 9, ComputeUnits: 104, Memory: 68702699520}, "AMD Instinct MI250 (104 of 208 compute units)"},
		{"slice", hw.DeviceInfo{Name: "NVIDIA A100-SXM4-80GB MIG 1g.10gb", ComputeUnits: 14}, "NVIDIA A100 SXM4 80GB (14 of 108 compute units)"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, err := hw.Detect([]hw.DeviceInfo{tt.device, tt.device})
			if err != nil {
				t.Fatal(err)
			}
			if s.Name() != tt.want {
				t.Errorf("got %s, want %s", s.Name(), tt.want)
			}
		})
	}
}

func TestPartitionFigures(t *testing.T) {
	cpx, err := hw.Detect([]hw.DeviceInfo{{Name: "AMD Instinct MI300X", ComputeUnits: 38}})
	if err != nil {
		t.Fatal(err)
	}
	if f, ok := cpx.Peak(hw.Achievable, hw.Matrix, hw.BF16); !ok || f.Value != 708e12/8 || !strings.Contains(f.Substitute, "38 of 304") {
		t.Errorf("compute is not scaled: %+v", f)
	}
	for _, level := range []hw.Level{hw.DeviceMemory, hw.HostLink, hw.PeerLink} {
		_, err = hw.Roofline(cpx, hw.Datasheet, hw.Demand{Bytes: 1, Level: level})
		var missing *hw.MissingError
		if !errors.As(err, &missing) {
			t.Errorf("%v bandwidth of a partition must be unknown: %v", level, err)
		}
	}
	if cpx.CacheBytes() != 0 {
		t.Errorf("cache of a partition: %d", cpx.CacheBytes())
	}
	die, err := hw.Detect([]hw.DeviceInfo{{Name: "AMD Instinct MI250X", ComputeUnits: 110}})
	if err != nil {
		t.Fatal(err)
	}
	if f, ok := die.Bandwidth(hw.Datasheet, hw.DeviceMemory); !ok || f.Value != 3276.8e9/2 || die.CacheBytes() != 8<<20 {
		t.Errorf("a die has its own memory: %+v, cache %d", f, die.CacheBytes())
	}
	if f, ok := die.Bandwidth(hw.Datasheet, hw.HostLink); !ok || f.Value != 32e9 {
		t.Errorf("a die has its own link to the host: %+v", f)
	}
	if f, ok := die.Bandwidth(hw.Datasheet, hw.PeerLink); ok {
		t.Errorf("links between GPUs are the product's: %+v", f)
	}
	if f, _ := hw.MI300X().Peak(hw.Achievable, hw.Matrix, hw.BF16); f.Value != 708e12 {
		t.Error("the shipped spec was changed")
	}
}

func TestDetectRefuses(t *testing.T) {
	gfx942 := hw.DeviceInfo{Name: "AMD Radeon Graphics", Arch: "gfx942", Major: 9, Minor: 4}
	var (
		unknown   *hw.UnknownError
		ambiguous *hw.AmbiguousError
		mixed     *hw.MixedError
	)
	tests := []struct {
		name    string
		devices []hw.DeviceInfo
		as      any
		says    string
	}{
		{"BL-81 unknown", []hw.DeviceInfo{{Name: "AMD Instinct MI999X"}}, &unknown, "MI999X"},
		{"BL-83 generic name", []hw.DeviceInfo{gfx942}, &ambiguous, "MI325X"},
		{"target for a name", []hw.DeviceInfo{{Name: "gfx942:sramecc+:xnack-"}}, &ambiguous, "MI300X, MI308X, MI325X"},
		{"unknown target", []hw.DeviceInfo{{Name: "AMD Radeon Graphics", Arch: "gfx1201"}}, &unknown, "gfx1201"},
		{"generic name of a partition", []hw.DeviceInfo{{Name: "AMD Radeon Graphics", Arch: "gfx942", ComputeUnits: 38}}, &ambiguous, "MI300A"},
		{"no name and nothing else", []hw.DeviceInfo{{}}, &ambiguous, "MI300X"},
		{"too many units", []hw.DeviceInfo{{Name: "NVIDIA H100 PCIe", ComputeUnits: 132}}, &ambiguous, "more compute units"},
		{"two names in one", []hw.DeviceInfo{{Name: "AMD Instinct MI250X / MI250", ComputeUnits: 60}}, &ambiguous, "MI250"},
		{"two unknown names in one", []hw.DeviceInfo{{Name: "AMD Instinct MI888/MI999"}}, &unknown, "MI888"},
		{"two kinds", []hw.DeviceInfo{{Name: "AMD Instinct MI300X"}, {Name: "AMD Instinct MI300A"}}, &mixed, "MI300A"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, err := hw.Detect(tt.devices)
			if err == nil || !errors.As(err, tt.as) || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("got %v, %v", s, err)
			}
		})
	}
	if _, err := hw.Detect([]hw.DeviceInfo{{Name: "AMD Radeon Graphics", Major: 9}}); err == nil || strings.Contains(err.Error(), "H100") {
		t.Errorf("AMD's generic name is no H100: %v", err)
	}
	_, err := hw.Detect([]hw.DeviceInfo{{Name: "AMD Instinct MI300X"}, {Name: "NVIDIA L40S"}, {Name: "AMD Instinct MI300X"}})
	if errors.As(err, &mixed); len(mixed.Names) != 2 {
		t.Errorf("each kind is named once: %v", err)
	}
	if _, err := hw.Detect(nil); !errors.Is(err, hw.ErrNoDevices) {
		t.Errorf("no devices: %v", err)
	}
}
