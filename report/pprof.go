package report

import (
	"compress/gzip"
	"encoding/binary"
	"io"
)

// WriteProfile writes the GPU time as a gzipped pprof profile, for "go tool pprof" and flame graphs. A stack is phase, nn.Module
// (when stacks were read), operator, shapes and kernel; the values are the number of GPU events and their time in nanoseconds,
// which add up to the GPU time of the trace. The category is a label.
func (r *Report) WriteProfile(w io.Writer) error {
	p := profile{strings: map[string]int64{}, functions: map[string]uint64{}}
	p.string("")
	p.message(1, p.valueType("events", "count"))
	p.message(1, p.valueType("gpu", "nanoseconds"))
	for i := range r.Operators {
		o := &r.Operators[i]
		for _, k := range o.Kernels {
			p.sample([]string{k.Name, o.shape(), o.Name, o.Module, o.Phase}, int64(k.Count), int64(k.Time), string(o.Category))
		}
	}
	p.int(14, p.string("gpu"))
	p.int(10, int64(r.Timeline.Total))
	z := gzip.NewWriter(w)
	if _, err := z.Write(p.finish()); err != nil {
		return err
	}
	return z.Close()
}

// A profile encodes pprof's profile.proto (github.com/google/pprof/blob/main/proto/profile.proto). Numbers of fields are its.
type profile struct {
	protobuf
	strings   map[string]int64
	table     []string
	functions map[string]uint64 // also the ids of locations: each function has one
	names     []string          // of functions by id - 1
}

// string returns the index of s in the table of strings.
func (p *profile) string(s string) int64 {
	at, ok := p.strings[s]
	if !ok {
		at = int64(len(p.table))
		p.strings[s], p.table = at, append(p.table, s)
	}
	return at
}

func (p *profile) valueType(kind, unit string) *protobuf {
	var m protobuf
	m.int(1, p.string(kind))
	m.int(2, p.string(unit))
	return &m
}

// sample adds a stack, innermost frame first; empty frames are left out.
func (p *profile) sample(stack []string, events, nanoseconds int64, category string) {
	var locations, m protobuf
	for _, frame := range stack {
		if frame != "" {
			locations.varint(p.function(printable(frame)))
		}
	}
	m.message(1, &locations)
	var values, label protobuf
	values.varint(uint64(events))
	values.varint(uint64(nanoseconds))
	m.message(2, &values)
	label.int(1, p.string("category"))
	label.int(2, p.string(printable(category)))
	m.message(3, &label)
	p.message(2, &m)
}

// function returns the id of the function, and location, of a name.
func (p *profile) function(name string) uint64 {
	id, ok := p.functions[name]
	if !ok {
		id = uint64(len(p.names) + 1)
		p.functions[name], p.names = id, append(p.names, name)
	}
	return id
}

// finish adds the tables that samples refer to and returns the profile.
func (p *profile) finish() []byte {
	for i, name := range p.names {
		id := int64(i + 1)
		var line, location, function protobuf
		line.int(1, id)
		location.int(1, id)
		location.message(4, &line)
		p.message(4, &location)
		function.int(1, id)
		function.int(2, p.string(name))
		p.message(5, &function)
	}
	for _, s := range p.table {
		p.bytes(6, []byte(s))
	}
	return p.buf
}

// A protobuf is a message in the wire format of Protocol Buffers.
type protobuf struct{ buf []byte }

func (b *protobuf) varint(v uint64) { b.buf = binary.AppendUvarint(b.buf, v) }

// int adds a field of wire type 0.
func (b *protobuf) int(field uint64, v int64) {
	b.varint(field << 3)
	b.varint(uint64(v))
}

// bytes adds a field of wire type 2.
func (b *protobuf) bytes(field uint64, data []byte) {
	b.varint(field<<3 | 2)
	b.varint(uint64(len(data)))
	b.buf = append(b.buf, data...)
}

func (b *protobuf) message(field uint64, m *protobuf) { b.bytes(field, m.buf) }
