package perfmodel

import (
	"math"
	"strconv"
)

// Fills write a tensor and read nothing.

func fillModels() []Entry {
	filled := func(kind string) func(*Call) (Work, error) {
		return func(c *Call) (Work, error) {
			in := reading{call: c}
			x := in.tensor(0)
			return in.done(Work{Category: Fill, Kind: kind, Written: x.BytesWritten()})
		}
	}
	return []Entry{
		forOps(Info{Name: "fill.value", Doc: "the tensor written once", Category: Fill},
			filled(""), "aten::fill_"),
		forOps(Info{Name: "fill.zero", Doc: "the tensor written once", Category: Fill, Wrapper: true},
			filled(""), "aten::zero_"),
		forOps(Info{Name: "fill.random", Doc: "the tensor written once", Category: Fill},
			filled("random numbers"), "aten::normal_", "aten::uniform_", "aten::random_", "aten::exponential_",
			"aten::log_normal_", "aten::cauchy_", "aten::geometric_"),
		forOps(Info{Name: "fill.range", Doc: "the numbers from start to end by step written once", Category: Fill},
			arange, "aten::arange"),
	}
}

// arange comes in five forms, told apart by the number of arguments: (end, out), (start, end, step, out), and (end),
// (start, end) or (start, end, step) each followed by dtype, layout, device and pin_memory.
func arange(c *Call) (Work, error) {
	in := reading{call: c}
	start, step := 0.0, 1.0
	out := int64s
	value := func(i int) float64 {
		text := ""
		if a := c.arg(i); a != nil {
			text = a.Value
		}
		x, err := strconv.ParseFloat(text, 64)
		in.require(err == nil, "start, end and step")
		if numberRank(text) == floatRank {
			out = fp32
		}
		return x
	}
	var end float64
	switch n := c.args(); n {
	case 2, 5:
		end = value(0)
	case 6:
		start, end = value(0), value(1)
	case 4, 7:
		start, end, step = value(0), value(1), value(2)
	default:
		in.require(false, "start, end and step")
	}
	if n := c.args(); n == 2 || n == 4 {
		t := in.tensor(n - 1)
		out = t.storage()
	} else if code, ok := c.Int(n - 4); ok {
		s, known := storageOfCode(code)
		in.require(known, "element type")
		out = s
	}
	count := math.Ceil((end - start) / step)
	in.require(count >= 0 && count < 1<<53, "start, end and step that agree")
	if in.err != nil {
		return Work{}, in.err
	}
	w := Work{Category: Fill, Kind: "range", Written: product(int64(count), out.bytes)}
	return in.done(w)
}
