package trace

import (
	"bufio"
	"encoding/json"
	"strconv"
	"strings"
	"time"
)

// An encoder writes a window. The first error stays in its writer.
type encoder struct {
	w    *bufio.Writer
	t    *Trace
	win  *window
	buf  []byte
	more bool // an event was written
}

func (e *encoder) document() {
	e.header()
	e.w.WriteString("\"traceEvents\": [\n")
	e.names()
	for _, id := range e.win.frames {
		e.frame(id)
	}
	for _, id := range e.win.ops {
		e.op(id)
	}
	for _, i := range e.win.annotations {
		e.annotation(&e.t.Annotations[i])
	}
	for _, id := range e.win.launches {
		e.launch(&e.t.Launches[id])
	}
	for _, id := range e.win.gpu {
		e.gpu(&e.t.GPU[id])
	}
	e.w.WriteString("\n]\n}\n")
}

// header writes what the file says of the machine, under the profiler's names.
func (e *encoder) header() {
	h := &e.t.Header
	e.w.WriteString("{\n\"schemaVersion\": 1,\n\"displayTimeUnit\": \"ms\",\n")
	if len(h.Devices) > 0 {
		type device struct {
			ID           int32  `json:"id"`
			Name         string `json:"name"`
			Memory       int64  `json:"totalGlobalMem"`
			Major        int    `json:"computeMajor"`
			Minor        int    `json:"computeMinor"`
			ComputeUnits int    `json:"numSms"`
			Arch         string `json:"gcnArchName,omitempty"`
		}
		var list []device
		for _, d := range h.Devices {
			list = append(list, device{d.ID, d.Name, d.Memory, d.Major, d.Minor, d.ComputeUnits, d.Arch})
		}
		e.value("deviceProperties", list)
	}
	if h.Rank != -1 || h.WorldSize != 0 {
		e.value("distributedInfo", map[string]int{"rank": h.Rank, "world_size": h.WorldSize})
	}
	if h.RecordShapes {
		e.value("record_shapes", 1)
	}
	if h.WithStack && len(e.win.frames) > 0 {
		e.value("with_stack", 1)
	}
	if tool, version, ok := strings.Cut(h.ProfilerVersion, " "); ok {
		e.value(tool+"_version", version)
	}
	if h.TraceID != "" {
		e.value("trace_id", h.TraceID)
	}
	if h.BaseTime != 0 {
		e.value("baseTimeNanoseconds", int64(h.BaseTime))
	}
}

// value writes a key of the document.
func (e *encoder) value(key string, v any) {
	text, err := json.Marshal(v)
	if err != nil { // a value of ours that has no JSON is a mistake of ours; null is still a document
		text = []byte("null")
	}
	e.buf = appendString(e.buf[:0], key)
	e.buf = append(append(append(e.buf, ": "...), text...), ",\n"...)
	e.w.Write(e.buf)
}

// names writes the names of threads, and of devices for viewers.
func (e *encoder) names() {
	for _, id := range e.win.threads {
		if th := &e.t.Threads[id]; th.Name != "" {
			e.metadata("thread_name", "name", th.Name, th.PID, th.TID)
		}
	}
	devices := make(map[int32]bool)
	for _, id := range e.win.gpu {
		devices[e.t.GPU[id].Device] = true
	}
	for _, d := range sortedKeys(devices) {
		e.metadata("process_labels", "labels", "GPU "+strconv.Itoa(int(d)), int64(d), 0)
	}
}

func (e *encoder) metadata(what, key, name string, pid, tid int64) {
	e.next()
	e.buf = append(e.buf, `{"ph": "M", "name": `...)
	e.buf = appendString(e.buf, what)
	e.place(pid, tid)
	e.buf = append(e.buf, `, "args": {`...)
	e.buf = append(appendString(e.buf, key), ": "...)
	e.buf = append(appendString(e.buf, name), "}}"...)
	e.w.Write(e.buf)
}

func (e *encoder) frame(id FrameID) {
	f := &e.t.Frames[id]
	name, start, dur := f.Name, f.Start, f.Dur
	if s, ok := e.win.frameSlots[id]; ok {
		start, dur = s.start, s.dur
	}
	if f.Module {
		name = "nn.Module: " + name + "_0" // readers take the number off
	}
	th := &e.t.Threads[f.Thread]
	e.begin('X', "python_function", name, th.PID, th.TID, start, dur)
	e.end()
}

func (e *encoder) op(id OpID) {
	o := &e.t.Ops[id]
	th := &e.t.Threads[o.Thread]
	start, dur := o.Start, o.Dur
	if s, ok := e.win.slots[id]; ok {
		start, dur = s.start, s.dur
	}
	e.begin('X', "cpu_op", o.Name, th.PID, th.TID, start, dur)
	e.id("External id", e.win.external.get(th.File, o.ExternalID))
	e.inputs(o.Inputs)
	e.end()
}

func (e *encoder) annotation(a *Annotation) {
	switch {
	case a.GPU:
		e.begin('X', "gpu_user_annotation", a.Name, int64(a.Device), a.Stream, a.Start, a.Dur)
	case a.Open:
		th := &e.t.Threads[a.Thread]
		e.begin('B', "user_annotation", a.Name, th.PID, th.TID, a.Start, 0)
	default:
		th := &e.t.Threads[a.Thread]
		e.begin('X', "user_annotation", a.Name, th.PID, th.TID, a.Start, a.Dur)
	}
	e.end()
}

func (e *encoder) launch(l *Launch) {
	th := &e.t.Threads[l.Thread]
	cat := "cuda_runtime"
	if strings.HasPrefix(l.Name, "cu") && !strings.HasPrefix(l.Name, "cuda") {
		cat = "cuda_driver"
	}
	e.begin('X', cat, l.Name, th.PID, th.TID, l.Start, l.Dur)
	if l.Op != None {
		e.id("External id", e.win.external.get(th.File, e.t.Ops[l.Op].ExternalID))
	}
	corr := e.win.correlation.get(th.File, l.Correlation)
	e.id("correlation", corr)
	if l.Kernel != "" {
		e.text("kernel", l.Kernel)
	}
	e.end()
	if corr != 0 && l.GPU > 0 {
		e.flow('s', corr, th.PID, th.TID, l.Start)
	}
}

func (e *encoder) gpu(g *GPUEvent) {
	cat := [...]string{Kernel: "kernel", Memcpy: "gpu_memcpy", Memset: "gpu_memset"}[min(g.Kind, Memset)]
	e.begin('X', cat, g.Name, int64(g.Device), g.Stream, g.Start, g.Dur)
	external := e.win.external.get(g.File, g.ExternalID)
	if op := e.win.operator(e.t, g); op != None && e.t.Ops[op].Captured {
		external = e.win.external.get(e.t.Threads[e.t.Ops[op].Thread].File, e.t.Ops[op].ExternalID)
	}
	e.id("External id", external)
	e.number("device", int64(g.Device))
	e.number("stream", g.Stream)
	corr := e.win.correlation.get(g.File, g.Correlation)
	e.id("correlation", corr)
	if word := [...]string{"", "HtoD", "DtoH", "DtoD", "PtoP", "HtoH"}[min(g.Dir, HostToHost)]; word != "" {
		e.text("kind", word)
	}
	e.id("bytes", g.Bytes)
	e.dim3("grid", g.Grid)
	e.dim3("block", g.Block)
	if g.Inputs != nil {
		e.extras(g.Inputs.Extra)
	}
	e.end()
	if corr != 0 && g.Launch != None && e.t.Launches[g.Launch].Kind != LaunchGraph {
		e.flow('f', corr, int64(g.Device), g.Stream, g.Start)
	}
}

// flow writes one end of the arrow from a launch to its work.
func (e *encoder) flow(phase byte, id, pid, tid int64, at time.Duration) {
	e.next()
	e.buf = append(append(append(e.buf, `{"ph": "`...), phase), `", "cat": "ac2g", "name": "ac2g", "id": `...)
	e.buf = strconv.AppendInt(e.buf, id, 10)
	e.place(pid, tid)
	e.buf = appendMicros(append(e.buf, `, "ts": `...), at)
	if phase == 'f' {
		e.buf = append(e.buf, `, "bp": "e"`...)
	}
	e.buf = append(e.buf, '}')
	e.w.Write(e.buf)
}

// inputs writes the arguments of an operator in the four fields of the profiler.
func (e *encoder) inputs(in *Inputs) {
	if in == nil {
		return
	}
	var strides, values, dims bool
	for i := range in.Args {
		a := &in.Args[i]
		dims = dims || a.Dims != nil || a.List != nil
		values = values || a.Value != ""
		strides = strides || a.Strides != nil
		for k := range a.List {
			strides = strides || a.List[k].Strides != nil
		}
	}
	e.array("Input type", in.Args, func(a *Arg) { e.buf = appendString(e.buf, a.Type) })
	if dims {
		e.array("Input Dims", in.Args, func(a *Arg) { e.numbers(a, func(m *Arg) []int64 { return m.Dims }) })
	}
	if strides {
		e.array("Input Strides", in.Args, func(a *Arg) { e.numbers(a, func(m *Arg) []int64 { return m.Strides }) })
	}
	if values {
		e.array("Concrete Inputs", in.Args, func(a *Arg) { e.buf = appendString(e.buf, a.Value) })
	}
	e.extras(in.Extra)
}

func (e *encoder) array(key string, args []Arg, item func(*Arg)) {
	e.key(key)
	e.buf = append(e.buf, '[')
	for i := range args {
		if i > 0 {
			e.buf = append(e.buf, ", "...)
		}
		item(&args[i])
	}
	e.buf = append(e.buf, ']')
}

// numbers writes the dimensions or strides of an argument, nested for a list of tensors.
func (e *encoder) numbers(a *Arg, of func(*Arg) []int64) {
	if a.List == nil {
		e.buf = appendIntList(e.buf, of(a))
		return
	}
	e.buf = append(e.buf, '[')
	for i := range a.List {
		if i > 0 {
			e.buf = append(e.buf, ", "...)
		}
		e.buf = appendIntList(e.buf, of(&a.List[i]))
	}
	e.buf = append(e.buf, ']')
}

func (e *encoder) extras(m map[string]string) {
	for _, k := range extras(m) {
		e.text(k, m[k])
	}
}

// begin starts an event up to its args.
func (e *encoder) begin(phase byte, cat, name string, pid, tid int64, start, dur time.Duration) {
	e.next()
	e.buf = append(append(append(e.buf, `{"ph": "`...), phase), `", "cat": "`...)
	e.buf = append(append(e.buf, cat...), `", "name": `...)
	e.buf = appendString(e.buf, name)
	e.place(pid, tid)
	e.buf = appendMicros(append(e.buf, `, "ts": `...), start)
	if phase == 'X' {
		e.buf = appendMicros(append(e.buf, `, "dur": `...), dur)
	}
	e.buf = append(e.buf, `, "args": {`...)
}

func (e *encoder) end() {
	e.buf = append(e.buf, "}}"...)
	e.w.Write(e.buf)
}

// next starts a new event.
func (e *encoder) next() {
	e.buf = e.buf[:0]
	if e.more {
		e.buf = append(e.buf, ",\n"...)
	}
	e.more = true
}

func (e *encoder) place(pid, tid int64) {
	e.buf = strconv.AppendInt(append(e.buf, `, "pid": `...), pid, 10)
	e.buf = strconv.AppendInt(append(e.buf, `, "tid": `...), tid, 10)
}

// key writes the key of an arg.
func (e *encoder) key(key string) {
	if e.buf[len(e.buf)-1] != '{' {
		e.buf = append(e.buf, ", "...)
	}
	e.buf = append(appendString(e.buf, key), ": "...)
}

func (e *encoder) text(key, value string) {
	e.key(key)
	e.buf = appendString(e.buf, value)
}

func (e *encoder) number(key string, n int64) {
	e.key(key)
	e.buf = strconv.AppendInt(e.buf, n, 10)
}

// id writes a number that is absent when 0.
func (e *encoder) id(key string, n int64) {
	if n != 0 {
		e.number(key, n)
	}
}

func (e *encoder) dim3(key string, d [3]uint32) {
	if d != [3]uint32{} {
		e.key(key)
		e.buf = appendIntList(e.buf, []int64{int64(d[0]), int64(d[1]), int64(d[2])})
	}
}
