package scan

import (
	"errors"
	"io"
)

// Options of a Scanner. The zero value is right for files.
type Options struct {
	Window   int // initial size of the window in bytes, 0 means 256 KiB
	MaxEvent int // longest element that is read, 0 means 64 MiB; at most 1 GiB

	// Unread is a category whose args are passed without a look at their fields, which takes a fraction of the time. Its
	// events have no Fields, and departures from JSON inside its args go unnoticed as long as quotes and braces pair.
	Unread string
}

// Defaults of Options.
const (
	defaultWindow   = 256 << 10
	defaultMaxEvent = 64 << 20
	limitMaxEvent   = 1 << 30
)

// A Kind is what Next found.
type Kind uint8

// Kinds of records.
const (
	End       Kind = iota // nothing more; see Err
	IsEvent               // an event, see Event
	IsDamage              // bytes that could not be read, see Damage
	IsHeader              // a top-level key other than traceEvents, see Header
	Truncated             // the text ended before its end; End follows
)

// A Damage is a stretch of text that was left out.
type Damage struct {
	Offset int64
	Near   []byte // its first bytes, valid until the next call of Next
	Cause  string
}

// A Header is a top-level key and its value.
type Header struct {
	Key   Text
	Value Value
}

// ErrNotTrace says that a text is not a trace: neither a JSON array nor an object with a traceEvents array.
var ErrNotTrace = errors.New("not a trace")

// A Scanner reads the records of one trace. It is for one goroutine.
type Scanner struct {
	in    Blocks
	buf   []byte // the window; buf[pos:end] is unread; it belongs to in
	pos   int
	end   int
	base  int64 // offset of buf[0] in the text
	eof   bool
	err   error // of the reader, nil for io.EOF
	limit int

	state    state
	event    Event
	damage   Damage
	header   Header
	array    state // that of the event array, to enter it again
	events   bool  // an event array was seen
	complete bool  // the end of the document was seen
}

// state is where in the document the scanner is.
type state uint8

const (
	atStart state = iota
	inObject
	inEvents
	inRootArray
	atEnd
	cutOff // inside an event
	finished
)

// New returns a Scanner that reads from r.
func New(r io.Reader, opts Options) *Scanner {
	if opts.Window <= 0 {
		opts.Window = defaultWindow
	}
	return NewBlocks(&window{r: r, buf: make([]byte, max(opts.Window, 16))}, opts)
}

// NewBlocks returns a Scanner that reads from in; Options.Window does not matter.
func NewBlocks(in Blocks, opts Options) *Scanner {
	if opts.MaxEvent <= 0 {
		opts.MaxEvent = defaultMaxEvent
	}
	s := &Scanner{in: in, limit: min(opts.MaxEvent, limitMaxEvent)}
	s.event.unread, s.event.known = opts.Unread, new(wordings)
	return s
}

// Event returns the event that Next found; it is valid until the next call of Next.
func (s *Scanner) Event() *Event { return &s.event }

// Damage returns the damage that Next found.
func (s *Scanner) Damage() *Damage { return &s.damage }

// Header returns the top-level key that Next found.
func (s *Scanner) Header() *Header { return &s.header }

// Offset returns how many bytes of the text have been passed.
func (s *Scanner) Offset() int64 { return s.base + int64(s.pos) }

// Complete tells whether the end of the document was seen.
func (s *Scanner) Complete() bool { return s.complete }

// Err returns the first error of the reader, or an error that wraps ErrNotTrace. It is nil when the text ended.
func (s *Scanner) Err() error { return s.err }

// Next advances to the next record.
func (s *Scanner) Next() Kind {
	for {
		var k Kind
		switch s.state {
		case atStart:
			k = s.start()
		case inObject:
			k = s.member()
		case inEvents, inRootArray:
			k = s.element()
		case atEnd:
			k = s.trailer()
		case cutOff:
			return s.truncated()
		default:
			return End
		}
		if k != again {
			return k
		}
	}
}

// again is the answer of a state that found no record but moved on.
const again Kind = 255

// fill gets more text behind the unread part. It reports false when there is no more.
func (s *Scanner) fill() bool {
	if s.eof {
		return false
	}
	text, fresh, err := s.in.Block(s.buf[s.pos:s.end])
	s.base += int64(s.pos)
	s.buf, s.pos, s.end = text, 0, len(text)
	if err != nil {
		s.eof = true
		if err != io.EOF {
			s.err = err
		}
	}
	return fresh > 0
}

// blank passes white space and reports false at the end of the text.
func (s *Scanner) blank() bool {
	for {
		for ; s.pos < s.end; s.pos++ {
			if s.buf[s.pos] > ' ' {
				return true
			}
		}
		if !s.fill() {
			return false
		}
	}
}

// whole runs step over the unread text until the window holds all that it needs. It returns short only at the end of the
// text, and tooLong if the limit is reached first.
func (s *Scanner) whole(step func(b []byte) outcome) outcome {
	for {
		n := step(s.buf[s.pos:s.end])
		if n > s.limit || n == short && s.end-s.pos > s.limit {
			return tooLong
		}
		if n != short || s.eof {
			return n
		}
		s.fill() // and once more, even without more text: the end may decide
	}
}

const tooLong outcome = -3
