package trace

import (
	"bytes"
	"hash/fnv"
	"strconv"
	"time"

	"github.com/ditlens/ditlens/internal/scan"
)

// A decoder turns the events of one input into calls of a Builder. What it keeps is decided by category: operators,
// runtime calls, GPU work and ranges; Python frames on request.
type decoder struct {
	b       *Builder
	file    int32
	stacks  bool
	strings *stringTable
	lastPID scan.Value // of the last host event, with its thread: most events follow one of the same thread
	lastTID scan.Value
	last    ThreadID
	pairs   map[ThreadID][]openEvent
	unended []openEvent // ranges whose duration was not recorded
	// Thread names are kept aside: a name alone makes no thread.
	threadNames []threadName
}

type threadName struct {
	pid, tid int64
	name     string
}

// An openEvent is a B event that waits for its E.
type openEvent struct {
	event scan.Event // a copy
	class class
}

// event takes one event. If something is wrong with it, cause tells what, and kept whether it was mended.
func (d *decoder) event(e *scan.Event) (cause string, kept bool) {
	switch e.Phase {
	case 'X':
		c := classify(e.Cat.Raw)
		if c == classAnnotation && e.HasTS && !e.HasDur {
			d.unended = append(d.unended, openEvent{e.Clone(), c})
			return "", false
		}
		return d.complete(e, c)
	case 'B':
		return d.begin(e)
	case 'E':
		return d.end(e)
	case 'M':
		d.metadata(e)
	}
	return "", false
}

// maxInstant bounds stamps and durations so that no sum of a few overflows: 73 years in nanoseconds, from the origin.
const maxInstant = 73 * 365 * 24 * 3600 * 1e9

func inRange(e *scan.Event) bool {
	return -maxInstant <= e.TS && e.TS <= maxInstant && e.Dur <= maxInstant
}

// complete takes an event that has a start and a duration.
func (d *decoder) complete(e *scan.Event, c class) (cause string, kept bool) {
	if c == classOther || c == classFlow || c == classSync || c == classPython && !d.stacks {
		return "", false
	}
	if !e.HasTS {
		return "the event has no time", false
	}
	gpu := c == classKernel || c == classCopy || c == classFill
	switch {
	case e.Dur < 0:
		cause = "negative duration"
		if !gpu {
			e.Dur = 0
		}
	case gpu && !e.HasDur:
		cause = "GPU work without duration"
	}
	if !inRange(e) {
		return "the event is beyond the range of time", false
	}
	name, _ := d.strings.get(e.Name)
	start, dur := time.Duration(e.TS), time.Duration(e.Dur)
	switch c {
	case classOp:
		in, broken := d.b.inputs.read(e)
		if broken {
			cause = "arguments that cannot be read"
		}
		d.b.Op(Op{Name: name, Start: start, Dur: dur, Thread: d.thread(e), Inputs: in, ExternalID: d.id(e, "External id", "external id")})
	case classRuntime:
		d.b.Launch(d.launch(e, name, start, dur))
	case classKernel:
		d.b.GPU(d.gpu(e, name, Kernel))
	case classCopy:
		d.b.GPU(d.gpu(e, name, Memcpy))
	case classFill:
		d.b.GPU(d.gpu(e, name, Memset))
	case classAnnotation:
		d.b.Annotation(Annotation{Name: name, Start: start, Dur: dur, Thread: d.thread(e), Open: !e.HasDur})
	case classGPUAnnotation:
		device, stream := d.place(e)
		d.b.Annotation(Annotation{Name: name, Start: start, Dur: dur, GPU: true, Device: device, Stream: stream})
	case classPython:
		d.b.Frame(d.frame(e, name, start, dur))
	}
	return cause, true
}

func (d *decoder) launch(e *scan.Event, name string, start, dur time.Duration) Launch {
	l := Launch{Name: name, Start: start, Dur: dur, Thread: d.thread(e), Correlation: d.id(e, "correlation")}
	if k := e.Arg("kernel"); k.IsString() {
		l.Kernel, _ = d.strings.get(k.Text())
	}
	return l
}

func (d *decoder) gpu(e *scan.Event, name string, kind GPUKind) GPUEvent {
	g := GPUEvent{Name: name, Start: time.Duration(e.TS), Dur: time.Duration(max(0, e.Dur)), RawDur: time.Duration(e.Dur), Kind: kind, File: d.file}
	g.Device, g.Stream = d.place(e)
	g.Correlation = d.id(e, "correlation")
	g.ExternalID = d.id(e, "External id", "external id")
	g.Bytes, _ = e.Arg("bytes").Int()
	if kind == Kernel {
		g.Grid, g.Block = dim3(e.Arg("grid")), dim3(e.Arg("block"))
		g.Inputs = d.collective(e)
	} else {
		word, _ := d.strings.get(e.Arg("kind").Text())
		g.Dir = copyDir(word, name)
	}
	return g
}

// place returns the device and the stream of GPU work: from its args, else from its pid and tid.
func (d *decoder) place(e *scan.Event) (device int32, stream int64) {
	dev, ok := e.Arg("device").Int()
	if !ok {
		dev = d.number(e.PID)
	}
	stream, ok = e.Arg("stream").Int()
	if !ok {
		stream = d.number(e.TID)
	}
	return int32(dev), stream
}

// collective returns the args of a collective's kernel, nil for other kernels.
func (d *decoder) collective(e *scan.Event) *Inputs {
	if e.Arg("Collective name") == nil && e.Arg("Process Group Name") == nil {
		return nil
	}
	var in Inputs
	for _, f := range e.Fields {
		switch key := e.Key(f); string(key) {
		case "device", "stream", "context", "correlation", "queued", "grid", "block", "kind", "registers per thread",
			"shared memory", "blocks per SM", "warps per SM", "est. achieved occupancy %", "External id", "external id", "Seq":
		default:
			in.setExtra(scan.Text{Raw: key}.String(), e.Value(f).Text().String())
		}
	}
	return d.b.inputs.share(in)
}

// frame reads a Python call; the class of a module loses its running number.
func (d *decoder) frame(e *scan.Event, name string, start, dur time.Duration) Frame {
	f := Frame{Name: name, Start: start, Dur: dur, Thread: d.thread(e)}
	const module = "nn.Module: "
	if len(name) > len(module) && name[:len(module)] == module {
		f.Module = true
		f.Name = name[len(module):]
		for i := len(f.Name) - 1; i > 0; i-- {
			if c := f.Name[i]; c == '_' && i < len(f.Name)-1 {
				f.Name = f.Name[:i]
				break
			} else if c < '0' || c > '9' {
				break
			}
		}
	}
	return f
}

// id reads an id under the first of the keys that is there. 0 and -1 (of any width) are no ids.
func (d *decoder) id(e *scan.Event, keys ...string) int64 {
	for _, k := range keys {
		if v, ok := e.Arg(k).Int(); ok {
			if v == -1 || v == 1<<32-1 {
				return 0
			}
			return v
		}
	}
	return 0
}

// thread returns the thread of a host event.
func (d *decoder) thread(e *scan.Event) ThreadID {
	if bytes.Equal(e.TID, d.lastTID) && bytes.Equal(e.PID, d.lastPID) && d.lastPID != nil {
		return d.last
	}
	d.last = d.b.Thread(d.file, d.number(e.PID), d.number(e.TID), "")
	d.lastPID = append(d.lastPID[:0], e.PID...)
	d.lastTID = append(d.lastTID[:0], e.TID...)
	return d.last
}

// number reads a pid or tid. A text gives the number at its end ("stream 7"), or a negative number made of its letters, so
// that the order of events does not matter.
func (d *decoder) number(v scan.Value) int64 {
	if n, ok := v.Int(); ok {
		return n
	}
	if len(v) == 0 {
		return 0
	}
	s := v.Text().String()
	if n, ok := numberAtEnd(s); ok {
		return n
	}
	h := fnv.New64a()
	h.Write([]byte(s))
	return int64(h.Sum64() | 1<<63)
}

func numberAtEnd(s string) (int64, bool) {
	i := len(s)
	for i > 0 && '0' <= s[i-1] && s[i-1] <= '9' {
		i--
	}
	if i == 0 || s[i-1] != ' ' {
		return 0, false
	}
	n, err := strconv.ParseInt(s[i:], 10, 64)
	return n, err == nil
}

// metadata reads the names of threads.
func (d *decoder) metadata(e *scan.Event) {
	if string(e.Name.Raw) != "thread_name" {
		return
	}
	d.threadNames = append(d.threadNames, threadName{d.number(e.PID), d.number(e.TID), e.Arg("name").Text().String()})
}

// dim3 reads [x, y, z]; zero if it is anything else.
func dim3(v scan.Value) (out [3]uint32) {
	if len(v) < 2 || v[0] != '[' {
		return out
	}
	rest := []byte(v[1 : len(v)-1])
	for i := range out {
		part, tail, more := bytes.Cut(rest, []byte(","))
		n, err := strconv.ParseUint(string(bytes.TrimSpace(part)), 10, 32)
		if err != nil || more != (i < 2) {
			return [3]uint32{}
		}
		out[i], rest = uint32(n), tail
	}
	return out
}
