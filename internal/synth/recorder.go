// Package synth makes traces with known answers: a [Recorder] plays a program on a simulated host and GPU and writes what
// a profiler would have recorded; [Flux] is such a program, a small diffusion pipeline.
//
// The simulation is simple and exact: a host clock that each call advances, and streams on which work runs in order, never
// before it was launched. There is no randomness; the same program gives the same bytes.
package synth

import (
	"bytes"
	"fmt"
	"strconv"
	"time"
)

// A Recorder plays a program and records it. Make one with [New].
type Recorder struct {
	Device  string // name in deviceProperties; "" leaves them out
	host    time.Duration
	streams map[int64]time.Duration // when each stream is free
	events  []string
	nextID  int64 // correlation and External id
	ops     []int64
	Answer  Answer
}

// An Answer is what a reader of the trace should find.
type Answer struct {
	GPUEvents int
	GPUTime   time.Duration // sum of durations
	FLOPs     int64         // of operators with known work
	Bytes     int64
	ByOp      map[string]OpAnswer
}

// An OpAnswer is the known work of all calls of one operator.
type OpAnswer struct {
	Calls int
	FLOPs int64
	Bytes int64
	Time  time.Duration
}

const (
	hostPID = 4242
	hostTID = 4242
	origin  = 2_915_995_397_000_123 * time.Nanosecond // a stamp that float64 microseconds cannot hold exactly
	// hostCost is what a call costs the host; launches cost a little more.
	hostCost   = 1500 * time.Nanosecond
	launchCost = 3200 * time.Nanosecond
	launchLag  = 4100 * time.Nanosecond // from the launch's start to the earliest start of its kernel
)

// New returns a Recorder for an AMD Instinct MI300X.
func New() *Recorder {
	return &Recorder{Device: "AMD Instinct MI300X", host: origin, streams: map[int64]time.Duration{},
		nextID: 1000, Answer: Answer{ByOp: map[string]OpAnswer{}}}
}

// Mark plays body inside a user annotation.
func (r *Recorder) Mark(name string, body func()) {
	start := r.host
	at := r.reserve()
	r.host += hostCost
	body()
	r.host += hostCost
	r.events[at] = r.complete("user_annotation", name, hostPID, hostTID, start, r.host-start, fmt.Sprintf(`"External id": %d`, r.id()))
}

// Op plays body inside an operator call.
func (r *Recorder) Op(name string, args []Arg, body func()) { r.OpWith(name, args, "", body) }

// OpWith is like Op; extra are further fields of the event's args, as JSON without braces.
func (r *Recorder) OpWith(name string, args []Arg, extra string, body func()) {
	start := r.host
	at := r.reserve()
	id := r.id()
	r.host += hostCost
	if body != nil {
		r.ops = append(r.ops, id)
		body()
		r.ops = r.ops[:len(r.ops)-1]
	}
	r.host += hostCost
	fields := fmt.Sprintf(`"External id": %d, "Record function id": 0`, id)
	if args != nil {
		fields += ", " + argsJSON(args)
	}
	if extra != "" {
		fields += ", " + extra
	}
	r.events[at] = r.complete("cpu_op", name, hostPID, hostTID, start, r.host-start, fields)
}

// A Work is one thing that runs on a stream.
type Work struct {
	Name   string
	Dur    time.Duration
	Stream int64
	Bytes  int64  // payload of a copy
	Kind   string // "HtoD" … for a copy, "" for a kernel
}

// Launch launches one kernel, or a copy when w.Kind is set.
func (r *Recorder) Launch(w Work) {
	call, fields := "hipLaunchKernel", fmt.Sprintf(`"kernel": %s`, quote(w.Name))
	if w.Kind != "" {
		call, fields = "hipMemcpyWithStream", fmt.Sprintf(`"bytes": %d, "kind": %q`, w.Bytes, w.Kind)
	}
	corr := r.call(call, launchCost, fields)
	r.run(corr, r.host-launchCost+launchLag, w)
}

// Graph replays a graph of kernels: one launch, many kernels with its correlation.
func (r *Recorder) Graph(works []Work) {
	corr := r.call("hipGraphLaunch", 4*launchCost, "")
	for _, w := range works {
		r.run(corr, r.host-launchCost+launchLag, w)
	}
}

// Capture plays body as the capture of a graph: its launches are recorded but nothing runs.
func (r *Recorder) Capture(body func(launch func(w Work))) {
	r.call("hipStreamBeginCapture", hostCost, "")
	body(func(w Work) { r.call("hipLaunchKernel", launchCost, fmt.Sprintf(`"kernel": %s`, quote(w.Name))) })
	r.call("hipStreamEndCapture", hostCost, "")
}

// Sync waits for all streams.
func (r *Recorder) Sync() {
	end := r.host + hostCost
	for _, t := range r.streams {
		end = max(end, t)
	}
	r.call("hipDeviceSynchronize", end-r.host, "")
}

// Idle lets the host do something else.
func (r *Recorder) Idle(d time.Duration) { r.host += d }

// Raw adds an event as it stands.
func (r *Recorder) Raw(event string) { r.events = append(r.events, event) }

// Known adds the known work of a call of op, whose kernels took d.
func (r *Recorder) Known(op string, flops, bytes int64, d time.Duration) {
	a := r.Answer.ByOp[op]
	r.Answer.ByOp[op] = OpAnswer{a.Calls + 1, a.FLOPs + flops, a.Bytes + bytes, a.Time + d}
	r.Answer.FLOPs += flops
	r.Answer.Bytes += bytes
}

// Events returns the events so far, each a JSON object, in the order in which they began on the host.
func (r *Recorder) Events() []string { return r.events }

// JSON returns the trace.
func (r *Recorder) JSON() []byte { return Document(r.Device, r.events) }

// Document returns a trace of the given events, one a line.
func Document(device string, events []string) []byte {
	var b bytes.Buffer
	b.WriteString("{\n  \"schemaVersion\": 1,\n")
	if device != "" {
		fmt.Fprintf(&b, "  \"deviceProperties\": [\n    {\"id\": 0, \"name\": %s, \"totalGlobalMem\": 206141652992, \"computeMajor\": 9, "+
			"\"computeMinor\": 4, \"numSms\": 304}\n  ],\n", quote(device))
	}
	b.WriteString("  \"record_shapes\": 1,\n  \"distributedInfo\": {\"backend\": \"nccl\", \"rank\": 0, \"world_size\": 1},\n")
	b.WriteString("  \"traceEvents\": [\n")
	for i, e := range events {
		if i > 0 {
			b.WriteString(",\n")
		}
		b.WriteString("  " + e)
	}
	b.WriteString("\n  ]\n}\n")
	return b.Bytes()
}

func (r *Recorder) call(name string, cost time.Duration, fields string) int64 {
	corr := r.id()
	all := fmt.Sprintf(`"cid": 1, "correlation": %d`, corr)
	if n := len(r.ops); n > 0 {
		all += fmt.Sprintf(`, "External id": %d`, r.ops[n-1])
	}
	if fields != "" {
		all += ", " + fields
	}
	r.Raw(r.complete("cuda_runtime", name, hostPID, hostTID, r.host, cost, all))
	r.host += cost
	return corr
}

func (r *Recorder) run(corr int64, earliest time.Duration, w Work) {
	start := max(earliest, r.streams[w.Stream])
	r.streams[w.Stream] = start + w.Dur
	cat := "kernel"
	fields := fmt.Sprintf(`"device": 0, "stream": %d, "correlation": %d`, w.Stream, corr)
	if n := len(r.ops); n > 0 {
		fields = fmt.Sprintf(`"External id": %d, `, r.ops[n-1]) + fields
	}
	if w.Kind != "" {
		cat = "gpu_memcpy"
		fields += fmt.Sprintf(`, "kind": %q, "bytes": %d`, w.Kind, w.Bytes)
	} else {
		fields += `, "grid": [304, 1, 1], "block": [256, 1, 1]`
	}
	r.Raw(r.complete(cat, w.Name, 0, w.Stream, start, w.Dur, fields))
	r.Answer.GPUEvents++
	r.Answer.GPUTime += w.Dur
}

func (r *Recorder) reserve() int { r.events = append(r.events, ""); return len(r.events) - 1 }

func (r *Recorder) id() int64 { r.nextID++; return r.nextID }

func (r *Recorder) complete(cat, name string, pid, tid int64, ts, dur time.Duration, fields string) string {
	return fmt.Sprintf(`{"ph": "X", "cat": %q, "name": %s, "pid": %d, "tid": %d, "ts": %s, "dur": %s, "args": {%s}}`,
		cat, quote(name), pid, tid, micros(ts), micros(dur), fields)
}

func micros(d time.Duration) string { return fmt.Sprintf("%d.%03d", d/1000, d%1000) }

func quote(s string) string { return strconv.QuoteToASCII(s) }
