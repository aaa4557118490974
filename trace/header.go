package trace

import (
	"strconv"
	"time"

	"github.com/ditlens/ditlens/internal/scan"
	"github.com/valyala/fastjson"
)

// read takes one top-level key of a file into the header. Keys that it does not know and values that cannot be read are
// left out.
func (h *Header) read(key string, raw scan.Value) {
	switch key {
	case "deviceProperties":
		h.readDevices(raw)
	case "distributedInfo":
		h.readDistributed(raw)
	case "record_shapes":
		h.RecordShapes = flag(raw)
	case "with_stack":
		h.WithStack = flag(raw)
	case "trace_id":
		h.TraceID = raw.Text().String()
	case "baseTimeNanoseconds":
		if v, ok := raw.Int(); ok && -maxInstant <= v && v <= maxInstant {
			h.BaseTime = time.Duration(v)
		}
	case "roctracer_version", "rocprofiler_version", "rocprofiler-sdk_version", "cupti_version":
		h.ProfilerVersion = key[:len(key)-len("_version")] + " " + raw.Text().String()
	}
}

// flag reads 1, true, "1" and the like.
func flag(raw scan.Value) bool {
	t := raw.Text().String()
	return t == "true" || t == "True" || t != "0" && isInt(t)
}

func isInt(s string) bool {
	_, err := strconv.ParseInt(s, 10, 64)
	return err == nil
}

func (h *Header) readDistributed(raw []byte) {
	v, err := new(fastjson.Parser).ParseBytes(raw)
	if err != nil {
		return
	}
	if r := v.Get("rank"); r != nil {
		h.Rank = int(number(r))
	}
	h.WorldSize = int(number(v.Get("world_size")))
}

func (h *Header) readDevices(raw []byte) {
	v, err := new(fastjson.Parser).ParseBytes(raw)
	if err != nil {
		return
	}
	h.Devices = nil
	for _, d := range v.GetArray() {
		h.Devices = append(h.Devices, Device{
			ID:           int32(number(d.Get("id"))),
			Name:         string(d.GetStringBytes("name")),
			Memory:       number(d.Get("totalGlobalMem")),
			ComputeUnits: int(number(d.Get("numSms"))),
			Major:        int(number(d.Get("computeMajor"))),
			Minor:        int(number(d.Get("computeMinor"))),
			Arch:         firstText(d, "gcnArchName", "gcnArch", "arch"),
		})
	}
}

func firstText(v *fastjson.Value, keys ...string) string {
	for _, k := range keys {
		if m := v.Get(k); m != nil {
			return text(m)
		}
	}
	return ""
}

// number reads an integer, also when it is written as a string; 0 if it is absent.
func number(v *fastjson.Value) int64 {
	if v == nil {
		return 0
	}
	n, _ := scan.Value(v.MarshalTo(nil)).Int()
	return n
}
