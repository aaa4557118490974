package trace

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode"

	"github.com/ditlens/ditlens/internal/scan"
)

const (
	maxDamage = 16 // records of damage kept for a file
	maxNear   = 80 // bytes of text kept in one
)

// A passage is the reading of one text: it counts events and damage and hands the events to the decoder.
type passage struct {
	loader  *loader
	file    File
	header  Header
	scanner *scan.Scanner
	decoder decoder
	phases  bool  // an element of the array was an event
	last    int64 // latest instant seen, for events that never end
	since   mark  // what the builder held before
}

func newPassage(l *loader, file File, s *scan.Scanner) *passage {
	p := &passage{loader: l, file: file, scanner: s, header: Header{Rank: -1}, since: l.builder.mark()}
	p.decoder = decoder{b: &l.builder, file: int32(len(l.builder.files)), stacks: l.opts.Stacks, strings: &l.strings}
	return p
}

// run reads to the end of the text; ended judges it.
func (p *passage) run() error {
	for n := 0; ; n++ {
		if n&1023 == 0 {
			if err := p.loader.ctx.Err(); err != nil {
				return err
			}
			p.loader.progress(false)
		}
		var err error
		switch p.scanner.Next() {
		case scan.IsEvent:
			err = p.event(p.scanner.Event())
		case scan.IsHeader:
			h := p.scanner.Header()
			p.header.read(h.Key.String(), h.Value)
		case scan.IsDamage:
			d := p.scanner.Damage()
			err = p.damage(d.Offset, d.Near, d.Cause, false)
		case scan.Truncated:
			p.file.Truncated = true
			if p.loader.opts.Strict {
				err = p.syntax(p.scanner.Offset(), nil, io.ErrUnexpectedEOF)
			}
		case scan.End:
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// event decodes one event and counts what was wrong with it.
func (p *passage) event(e *scan.Event) error {
	p.file.Events++
	p.phases = p.phases || e.Phase != 0
	faults := e.Faults
	if !e.Name.Plain && len(e.Name.Raw) > 0 {
		faults |= p.nameFaults(e)
	}
	if e.HasTS && inRange(e) {
		p.last = max(p.last, e.TS, e.TS+max(0, e.Dur))
	}
	if cause, kept := p.decoder.event(e); cause != "" {
		return p.damage(e.Offset, e.Raw, cause, kept)
	}
	if faults != 0 {
		return p.damage(e.Offset, e.Raw, faults.String(), true)
	}
	return nil
}

// nameFaults looks for damage in a name that is not plain, also of events that are not kept.
func (p *passage) nameFaults(e *scan.Event) scan.Fault {
	var f scan.Fault
	p.loader.strings.buf, f = scan.Decode(p.loader.strings.buf[:0], e.Name.Raw)
	return f
}

// damage counts a repair or a skip. In strict mode it is an error.
func (p *passage) damage(offset int64, near []byte, cause string, repaired bool) error {
	if p.loader.opts.Strict {
		return p.syntax(offset, near, errors.New(cause))
	}
	if repaired {
		p.file.Repaired++
	} else {
		p.file.Skipped++
	}
	p.note(offset, near, cause, repaired)
	return nil
}

// note keeps a record of damage, if there is room for it.
func (p *passage) note(offset int64, near []byte, cause string, repaired bool) {
	if len(p.file.Damage) < maxDamage {
		p.file.Damage = append(p.file.Damage, Damage{p.file.Path, offset, printable(near), cause, repaired})
	}
}

func (p *passage) syntax(offset int64, near []byte, cause error) error {
	return &SyntaxError{File: p.file.Path, Offset: offset, Near: printable(near), Err: cause}
}

// ended tells a complete text from one that the disk or the inflater broke off.
func (p *passage) ended() error {
	err := p.scanner.Err()
	switch {
	case err == nil && p.file.Events > 0 && !p.phases:
		return &SyntaxError{File: p.file.Path, Err: fmt.Errorf("%w: no element of the array is an event", ErrNotTrace)}
	case err == nil:
		return nil
	case p.loader.source.err != nil:
		return fmt.Errorf("%s: byte %d on disk: %w", p.file.Path, p.loader.source.n.Load(), p.loader.source.err)
	case errors.Is(err, scan.ErrNotTrace):
		return &SyntaxError{File: p.file.Path, Err: err}
	case p.loader.opts.Strict, p.file.Events == 0 && p.scanner.Offset() == 0 && !errors.Is(err, io.ErrUnexpectedEOF):
		return p.syntax(p.scanner.Offset(), nil, err)
	}
	// The compressed data end too early or are damaged. What follows a complete text does not matter, but its checksum does.
	if wrongSum(err) {
		p.loader.builder.diagnose(Diagnostic{"checksum_mismatch", Warning, 1,
			p.file.Path + ": the data do not match their checksum: they were changed after they were written, and so may be any figure"})
	}
	p.file.Truncated = !p.scanner.Complete() || errors.Is(err, io.ErrUnexpectedEOF)
	p.note(p.scanner.Offset(), nil, "the compressed data are broken: "+err.Error(), false)
	return nil
}

// settle completes the file's record after the last byte.
func (p *passage) settle(src *source) error {
	if open := p.decoder.finish(p.last); open > 0 {
		p.loader.builder.diagnose(Diagnostic{"unclosed_events", Warning, open, p.file.Path + ": events began and never ended"})
	}
	p.file.JSONBytes = p.scanner.Offset()
	if p.file.SHA256 == "" {
		p.file.SHA256 = src.sum()
		if src.err != nil {
			return fmt.Errorf("%s: %w", p.file.Path, src.err)
		}
	}
	b := &p.loader.builder
	index := b.AddFile(p.file)
	for _, n := range p.decoder.threadNames {
		if id, ok := b.threadIDs[threadKey{index, n.pid, n.tid}]; ok {
			b.threads[id].Name = n.name
		}
	}
	b.mergeHeader(p.header, p.file.Path, p.since)
	return nil
}

// printable returns the first bytes of a text without control characters.
func printable(near []byte) string {
	s := strings.ToValidUTF8(string(near[:min(len(near), maxNear)]), "\uFFFD")
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return ' '
	}, s)
}
