package trace

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/ditlens/ditlens/internal/scan"
)

// ReadOptions change how a Reader reads. The zero value is right for most callers.
type ReadOptions struct {
	Name     string // of the input, for messages
	Strict   bool   // the first damage ends the reading with a *SyntaxError
	MaxEvent int    // size in bytes of the largest event that is read, 0 means 64 MiB
}

// A Reader streams the raw records of one trace text, in the order of the file: for programs that want more or other than
// [Load] keeps. It reads JSON, plain or in gzip, zstd or lz4, told apart by the first bytes. It is for one goroutine.
//
//	r := trace.NewReader(f, trace.ReadOptions{Name: f.Name()})
//	for r.Scan() {
//		switch x := r.Record().(type) {
//		case *trace.Event:
//		case *trace.Damage:
//		}
//	}
//	if err := r.Err(); err != nil { ... }
type Reader struct {
	opts    ReadOptions
	source  *source
	scanner *scan.Scanner
	close   func()
	ids     decoder // reads ids that may be texts
	strings stringTable

	event   Event
	damage  Damage
	member  Member
	record  Record
	pending bool // the event follows its damage
	err     error
}

// A Record is an *Event, a *Damage or a *Member. It is overwritten by the next Scan.
type Record interface{ record() }

func (*Event) record()  {}
func (*Damage) record() {}
func (*Member) record() {}

// An Event is one element of the event array as the file has it. Its byte slices are valid until the next Scan.
type Event struct {
	Offset   int64  // of the event in the uncompressed text
	Raw      []byte // the whole element; not valid JSON if a Damage came before
	Phase    byte   // "X", "B", "E", "M", "s", "f", "i" …; 0 when absent
	Category string
	Name     string
	PID, TID int64 // a textual id gives the number at its end, or a negative number of its own
	Start    time.Duration
	Dur      time.Duration
	Timed    bool // Start was given and is a number
	Ended    bool // Dur was given and is a number

	raw *scan.Event
}

// Arg returns the value of a key of args as text: the inside of a string, any other value as it stands, "" if absent.
func (e *Event) Arg(key string) string { return e.raw.Arg(key).Text().String() }

// Args returns the args object as it stands in the file, nil if there is none.
func (e *Event) Args() []byte { return e.raw.Args() }

// Clone returns a copy that stays valid.
func (e *Event) Clone() *Event {
	c, raw := *e, e.raw.Clone()
	c.Raw, c.raw = raw.Raw, &raw
	return &c
}

// A Member is a top-level key of the file other than the event array, with its value as it stands.
type Member struct {
	Key   string
	Value []byte
}

// NewReader returns a Reader of a trace text.
func NewReader(r io.Reader, opts ReadOptions) *Reader {
	t := &Reader{opts: opts, source: newSource(context.Background(), r), close: func() {}}
	text, _, stop, err := inflate(t.source)
	if err != nil {
		t.err = t.fault(0, nil, err)
		return t
	}
	t.close = stop
	t.scanner = scan.New(text, scan.Options{MaxEvent: opts.MaxEvent})
	return t
}

// Scan advances to the next record. It returns false at the end and at the first error.
func (r *Reader) Scan() bool {
	if r.pending {
		r.pending, r.record = false, &r.event
		return true
	}
	if r.err != nil || r.scanner == nil {
		return false
	}
	switch r.scanner.Next() {
	case scan.IsEvent:
		return r.takeEvent(r.scanner.Event())
	case scan.IsHeader:
		h := r.scanner.Header()
		r.member = Member{h.Key.String(), h.Value}
		r.record = &r.member
		return true
	case scan.IsDamage:
		d := r.scanner.Damage()
		return r.takeDamage(d.Offset, d.Near, d.Cause, false)
	case scan.Truncated:
		return r.takeDamage(r.scanner.Offset(), nil, io.ErrUnexpectedEOF.Error(), false)
	}
	r.finish()
	return false
}

// Record returns the record that Scan found.
func (r *Reader) Record() Record { return r.record }

// Err returns the error that ended the reading: of the underlying reader or the decompressor, ErrNotTrace, or, in strict
// mode, the first damage. It is nil at the end of the text, also of one that is cut off; its last record is then a Damage.
func (r *Reader) Err() error { return r.err }

func (r *Reader) takeEvent(e *scan.Event) bool {
	name, faults := r.strings.get(e.Name)
	category, more := r.strings.get(e.Cat)
	r.event = Event{
		Offset: e.Offset, Raw: e.Raw, Phase: e.Phase, Category: category, Name: name,
		PID: r.ids.number(e.PID), TID: r.ids.number(e.TID),
		Start: time.Duration(e.TS), Dur: time.Duration(e.Dur), Timed: e.HasTS, Ended: e.HasDur, raw: e,
	}
	r.strings.limit(16 << 20)
	if faults |= more | e.Faults; faults != 0 {
		r.pending = !r.opts.Strict
		return r.takeDamage(e.Offset, e.Raw, faults.String(), true)
	}
	r.record = &r.event
	return true
}

func (r *Reader) takeDamage(offset int64, near []byte, cause string, repaired bool) bool {
	if r.opts.Strict {
		r.err = r.fault(offset, near, errors.New(cause))
		r.close()
		return false
	}
	r.damage = Damage{r.opts.Name, offset, printable(near), cause, repaired}
	r.record = &r.damage
	return true
}

// finish tells why the scanner ended.
func (r *Reader) finish() {
	defer r.close()
	switch err := r.scanner.Err(); {
	case err == nil:
	case r.source.err != nil:
		r.err = fmt.Errorf("%s: %w", r.opts.Name, r.source.err)
	default:
		r.err = r.fault(r.scanner.Offset(), nil, err)
	}
}

func (r *Reader) fault(offset int64, near []byte, err error) error {
	return &SyntaxError{File: r.opts.Name, Offset: offset, Near: printable(near), Err: err}
}
