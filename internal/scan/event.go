package scan

import (
	"bytes"
	"encoding/binary"
)

// An Event is one element of the event array. All its slices point into the scanner's window and are valid until the
// next call of Next.
type Event struct {
	Offset int64  // of the first brace, in the uncompressed text
	Raw    []byte // the element as it stands in the file
	Phase  byte   // the letter of "ph"; 0 when absent or longer than one letter
	Cat    Text
	Name   Text
	PID    Value
	TID    Value
	ID     Value
	TS     int64 // nanoseconds
	Dur    int64 // nanoseconds
	HasTS  bool
	HasDur bool
	Faults Fault
	Fields []Field // of args, in the order of the file; duplicates of a key are all there
	args   span
	unread string // category whose args are passed unread
	known  *wordings
}

// A Value is a value as it stands in the file: a number, a word, a string with its quotes, an array or an object. It is
// empty when the key was absent.
type Value []byte

// IsString tells whether the value is a string.
func (v Value) IsString() bool { return len(v) >= 2 && v[0] == '"' }

// Text returns the inside of a string, or any other value as it stands.
func (v Value) Text() Text {
	if !v.IsString() {
		return Text{v, true}
	}
	inside := v[1 : len(v)-1]
	_, plain := stringEnd(v, 1)
	return Text{inside, plain}
}

// Int reads the value as an integer, also when it is written as a string.
func (v Value) Int() (int64, bool) {
	if v.IsString() {
		v = bytes.TrimSpace(v[1 : len(v)-1])
	}
	return Int(v)
}

// A Field is one key of args with its value.
type Field struct {
	key, keyEnd, val, valEnd int32 // in Event.Raw
}

type span struct{ start, end int32 }

// Key returns the inside of a field's key.
func (e *Event) Key(f Field) []byte { return e.Raw[f.key:f.keyEnd] }

// Value returns a field's value.
func (e *Event) Value(f Field) Value { return Value(e.Raw[f.val:f.valEnd]) }

// Arg returns the value of a key of args, the last one if it is there twice, nil if it is absent.
func (e *Event) Arg(key string) Value {
	for i := len(e.Fields) - 1; i >= 0; i-- {
		if f := e.Fields[i]; string(e.Key(f)) == key {
			return e.Value(f)
		}
	}
	return nil
}

// Args returns the args object as it stands in the file, nil if there is none.
func (e *Event) Args() []byte {
	if e.args.end == 0 {
		return nil
	}
	return e.Raw[e.args.start:e.args.end]
}

// outcome is what a step over the window says: the index behind what it read, or one of the two reasons to stop.
type outcome = int

const (
	short  outcome = -1 // the window ends inside; more bytes are needed
	broken outcome = -2 // this is not what was expected
)

// key indexes the envelope keys, for the detection of duplicates.
const (
	kPh = 1 << iota
	kCat
	kName
	kPid
	kTid
	kTs
	kDur
	kID
	kArgs
)

// parse reads the event that begins at b[0] == '{' in one strict pass and returns the index behind it.
func (e *Event) parse(b []byte) outcome {
	e.reset()
	i, seen := e.known.match(e, b)
	var at [len(keysOfWording)]int // where the values of the first keys begin
	inOrder := 0                   // how many of the first keys came in the order of a wording
	for behind := seen != 0; ; behind = true {
		// 1. A comma or the end behind a value.
		for i < len(b) && b[i] <= ' ' {
			i++
		}
		if i >= len(b) {
			return short
		}
		if behind {
			switch b[i] {
			case ',':
				i++
			case '}':
				e.Raw = b[:i+1]
				if inOrder == len(at) {
					e.known.learn(e, &at)
				}
				return i + 1
			default:
				return broken
			}
		}
		// 2. To the key.
		if i = e.toKey(b, i, behind); i < 0 {
			return i
		}
		if b[i] == '}' {
			e.Raw = b[:i+1]
			return i + 1
		}
		// 3. Key and colon.
		bit, val := commonKey(b, i)
		if val == 0 {
			if bit, val = anyKey(b, i); val < 0 {
				return val
			}
		}
		if seen&bit != 0 {
			e.Faults |= DoubleKey
		}
		seen |= bit
		if inOrder < len(at) && bit == keysOfWording[inOrder] {
			at[inOrder] = val
			inOrder++
		} else if inOrder < len(at) {
			inOrder = len(at) + 1 // no wording
		}
		// 4. Value.
		if i = e.value(b, val, bit); i < 0 {
			return i
		}
	}
}

// toKey returns the index of the next key's quote, or of the brace of an event that ends here though a key was due.
// Commas in excess are passed.
func (e *Event) toKey(b []byte, i int, due bool) outcome {
	for ; i < len(b); i++ {
		switch c := b[i]; {
		case c == '"':
			return i
		case c <= ' ':
		case c == ',':
			e.Faults |= DoubleComma
		case c == '}':
			if due {
				e.Faults |= DoubleComma
			}
			return i
		default:
			return broken
		}
	}
	return short
}

func (e *Event) reset() {
	*e = Event{Offset: e.Offset, Fields: e.Fields[:0], unread: e.unread, known: e.known}
}

// colon returns the index of the value behind the colon at or after b[i].
func colon(b []byte, i int) outcome {
	for i < len(b) && b[i] <= ' ' {
		i++
	}
	if i >= len(b) {
		return short
	}
	if b[i] != ':' {
		return broken
	}
	i++
	for i < len(b) && b[i] <= ' ' {
		i++
	}
	if i >= len(b) {
		return short
	}
	return i
}

// Keys with their quotes and colon as the eight-byte words that they begin, and masks for their lengths.
const (
	wordPh   = '"' | 'p'<<8 | 'h'<<16 | '"'<<24 | ':'<<32
	wordTs   = '"' | 't'<<8 | 's'<<16 | '"'<<24 | ':'<<32
	wordID   = '"' | 'i'<<8 | 'd'<<16 | '"'<<24 | ':'<<32
	wordCat  = '"' | 'c'<<8 | 'a'<<16 | 't'<<24 | '"'<<32 | ':'<<40
	wordPid  = '"' | 'p'<<8 | 'i'<<16 | 'd'<<24 | '"'<<32 | ':'<<40
	wordTid  = '"' | 't'<<8 | 'i'<<16 | 'd'<<24 | '"'<<32 | ':'<<40
	wordDur  = '"' | 'd'<<8 | 'u'<<16 | 'r'<<24 | '"'<<32 | ':'<<40
	wordName = '"' | 'n'<<8 | 'a'<<16 | 'm'<<24 | 'e'<<32 | '"'<<40 | ':'<<48
	wordArgs = '"' | 'a'<<8 | 'r'<<16 | 'g'<<24 | 's'<<32 | '"'<<40 | ':'<<48
	mask5    = 1<<40 - 1
	mask6    = 1<<48 - 1
	mask7    = 1<<56 - 1
)

// commonKey reads an envelope key with its colon at b[i] by one load. It returns the bit of the key and the index of its
// value, or 0 if it is any other key or is written in any other way.
func commonKey(b []byte, i int) (bit uint, val int) {
	if i+10 > len(b) {
		return 0, 0
	}
	w := binary.LittleEndian.Uint64(b[i:])
	switch w & mask6 {
	case wordCat:
		bit, val = kCat, i+6
	case wordPid:
		bit, val = kPid, i+6
	case wordTid:
		bit, val = kTid, i+6
	case wordDur:
		bit, val = kDur, i+6
	default:
		switch w & mask7 {
		case wordName:
			bit, val = kName, i+7
		case wordArgs:
			bit, val = kArgs, i+7
		default:
			switch w & mask5 {
			case wordPh:
				bit, val = kPh, i+5
			case wordTs:
				bit, val = kTs, i+5
			case wordID:
				bit, val = kID, i+5
			default:
				return 0, 0
			}
		}
	}
	if b[val] == ' ' {
		val++
	}
	if b[val] <= ' ' {
		return 0, 0
	}
	return bit, val
}

// anyKey reads any key with its colon at b[i] == '"'.
func anyKey(b []byte, i int) (bit uint, val outcome) {
	end, _ := stringEnd(b, i+1)
	if end < 0 {
		return 0, short
	}
	return envelope(b[i+1 : end]), colon(b, end+1)
}

// envelope returns the bit of an envelope key, 0 for any other.
func envelope(key []byte) uint {
	switch string(key) {
	case "ph":
		return kPh
	case "cat":
		return kCat
	case "name":
		return kName
	case "pid":
		return kPid
	case "tid":
		return kTid
	case "ts":
		return kTs
	case "dur":
		return kDur
	case "id":
		return kID
	case "args":
		return kArgs
	}
	return 0
}

// value reads the value of an envelope key at b[i].
func (e *Event) value(b []byte, i int, key uint) outcome {
	switch key {
	case kName, kCat, kPh:
		return e.text(b, i, key)
	case kTs:
		return e.time(b, i, &e.TS, &e.HasTS)
	case kDur:
		return e.time(b, i, &e.Dur, &e.HasDur)
	case kArgs:
		if e.unread != "" && string(e.Cat.Raw) == e.unread {
			if end := passFlat(b, i); end != broken {
				return end
			}
		}
		return e.readArgs(b, i)
	}
	end := e.skip(b, i)
	if end < 0 {
		return end
	}
	switch key {
	case kPid:
		e.PID = b[i:end]
	case kTid:
		e.TID = b[i:end]
	case kID:
		e.ID = b[i:end]
	}
	return end
}

// passFlat passes an object at b[i] without looking at its fields. It is broken, or rather not for this function, if it
// holds an object, an escape or an odd number of quotes.
func passFlat(b []byte, i int) outcome {
	n := bytes.IndexByte(b[i:], '}')
	if n < 0 {
		return short
	}
	flat := b[i+1 : i+n]
	if b[i] != '{' || bytes.IndexByte(flat, '{') >= 0 || bytes.IndexByte(flat, '\\') >= 0 || bytes.Count(flat, []byte{'"'})%2 != 0 {
		return broken
	}
	return i + n + 1
}

// text reads a name, category or phase. One that is no string is kept as it stands.
func (e *Event) text(b []byte, i int, key uint) outcome {
	end, t := 0, Text{}
	if b[i] == '"' {
		q, plain := stringEnd(b, i+1)
		if q < 0 {
			return short
		}
		end, t = q+1, Text{b[i+1 : q], plain}
	} else {
		if end = e.skip(b, i); end < 0 {
			return end
		}
		t = Text{b[i:end], true}
	}
	e.setText(key, t)
	return end
}

func (e *Event) setText(key uint, t Text) {
	switch key {
	case kName:
		e.Name = t
	case kCat:
		e.Cat = t
	default:
		e.Phase = 0
		if len(t.Raw) == 1 {
			e.Phase = t.Raw[0]
		}
	}
}

// time reads a number of microseconds at b[i].
func (e *Event) time(b []byte, i int, ns *int64, has *bool) outcome {
	if v, end := fastNanoseconds(b, i); end > i {
		if end >= len(b) {
			return short
		}
		if ends(b[end]) {
			*ns, *has = v, true
			return end
		}
	}
	end := e.skip(b, i)
	if end < 0 {
		return end
	}
	num := Value(b[i:end])
	if num.IsString() {
		num = bytes.TrimSpace(num[1 : len(num)-1])
	}
	*ns, *has = Nanoseconds(num)
	if !*has && string(num) != "null" {
		e.Faults |= NumberForm
	}
	return end
}

// readArgs cuts the args object at b[i] into fields.
func (e *Event) readArgs(b []byte, i int) outcome {
	e.Fields = e.Fields[:0]
	start := i
	if b[i] != '{' {
		return e.skip(b, i)
	}
	i++
	for {
		for i < len(b) && b[i] <= ' ' {
			i++
		}
		if i >= len(b) {
			return short
		}
		switch b[i] {
		case '"':
		case '}':
			e.args = span{int32(start), int32(i + 1)}
			return i + 1
		case ',':
			e.Faults |= DoubleComma
			i++
			continue
		default:
			return broken
		}
		key := i + 1
		keyEnd, _ := stringEnd(b, key)
		if keyEnd < 0 {
			return short
		}
		val := colon(b, keyEnd+1)
		if val < 0 {
			return val
		}
		if i = e.skip(b, val); i < 0 {
			return i
		}
		e.Fields = append(e.Fields, Field{int32(key), int32(keyEnd), int32(val), int32(i)})
		for i < len(b) && b[i] <= ' ' {
			i++
		}
		if i >= len(b) {
			return short
		}
		switch b[i] {
		case ',':
			i++
		case '}':
			e.args = span{int32(start), int32(i + 1)}
			return i + 1
		default:
			return broken
		}
	}
}

// Clone returns a copy that stays valid.
func (e *Event) Clone() Event {
	c := *e
	c.Raw = append([]byte(nil), e.Raw...)
	c.Fields = append([]Field(nil), e.Fields...)
	move := func(b []byte) []byte {
		if len(b) == 0 || len(e.Raw) == 0 {
			return nil
		}
		at := cap(e.Raw) - cap(b)
		return c.Raw[at : at+len(b)]
	}
	c.Cat.Raw, c.Name.Raw = move(e.Cat.Raw), move(e.Name.Raw)
	c.PID, c.TID, c.ID = move(e.PID), move(e.TID), move(e.ID)
	return c
}
