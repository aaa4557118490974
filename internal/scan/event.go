package scan

import "bytes"

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

// parse reads the event that begins at b[0] == '{' in one strict pass and returns the index behind it.
func (e *Event) parse(b []byte) outcome {
	e.reset()
	i, seen := e.known.match(e, b)
	var at [len(keysOfWording)]int // where the values of the first keys begin
	inOrder := 0                   // how many of the first keys came in the order of a wording
	for behind := seen != 0; ; behind = true {
		// 1. To the key, or to the end.
		if i = e.toKey(b, i, behind); i < 0 {
			return i
		}
		if b[i] == '}' {
			e.Raw = b[:i+1]
			if inOrder == len(at) {
				e.known.learn(e, &at)
			}
			return i + 1
		}
		// 2. Key and colon.
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
		// 3. Value.
		if i = e.value(b, val, bit); i < 0 {
			return i
		}
	}
}

// toKey returns the index of the next key's quote, or of the brace that ends the object. Behind a value a comma is due;
// commas in excess are passed.
func (e *Event) toKey(b []byte, i int, behind bool) outcome {
	for i < len(b) && b[i] <= ' ' {
		i++
	}
	if i >= len(b) {
		return short
	}
	if behind {
		switch b[i] {
		case '}':
			return i
		case ',':
			i++
		default:
			return broken
		}
	}
	for ; i < len(b); i++ {
		switch c := b[i]; {
		case c == '"':
			return i
		case c <= ' ':
		case c == ',':
			e.Faults |= DoubleComma
		case c == '}':
			if behind {
				e.Faults |= DoubleComma
			}
			return i
		default:
			return broken
		}
	}
	return short
}

// reset forgets the event before. It is spelt out since assigning a whole Event costs twice as much.
func (e *Event) reset() {
	e.Phase, e.Faults = 0, 0
	e.Cat, e.Name = Text{}, Text{}
	e.PID, e.TID, e.ID = nil, nil, nil
	e.TS, e.Dur, e.HasTS, e.HasDur = 0, 0, false, false
	e.Raw, e.Fields, e.args = nil, e.Fields[:0], span{}
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
