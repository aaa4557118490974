package scan

import (
	"bytes"
	"fmt"
)

// start decides by the first byte what the text is.
func (s *Scanner) start() Kind {
	for s.end-s.pos < 3 && s.fill() {
	}
	if bytes.HasPrefix(s.buf[s.pos:s.end], []byte("\xef\xbb\xbf")) {
		s.pos += 3
	}
	if !s.blank() {
		return s.fail("the file is empty")
	}
	switch s.buf[s.pos] {
	case '{':
		s.state = inObject
	case '[':
		s.state, s.array, s.events = inRootArray, inRootArray, true
	default:
		return s.fail("the text does not begin with { or [")
	}
	s.pos++
	return again
}

func (s *Scanner) fail(why string) Kind {
	s.state = finished
	if s.err == nil {
		s.err = fmt.Errorf("%w: %s", ErrNotTrace, why)
	}
	return End
}

func (s *Scanner) truncated() Kind {
	s.state = finished
	if s.err != nil {
		return End
	}
	return Truncated
}

// member reads one key of the top-level object. The events are entered, any other value is a header.
func (s *Scanner) member() Kind {
	if !s.blank() {
		return s.truncated()
	}
	switch s.buf[s.pos] {
	case ',':
		s.pos++
		return again
	case '}':
		s.pos++
		s.state = atEnd
		return again
	case '"':
	default:
		return s.lost("a key was expected")
	}
	var key Text
	val := s.whole(func(b []byte) outcome {
		q, plain := stringEnd(b, 1)
		if q < 0 {
			return short
		}
		key = Text{b[1:q], plain}
		return colon(b, q+1)
	})
	if val < 0 {
		return s.lostOr(val, "a key was expected")
	}
	if string(key.Raw) == "traceEvents" && s.buf[s.pos+val] == '[' {
		s.pos += val + 1
		s.state, s.array, s.events = inEvents, inEvents, true
		return again
	}
	var e Event
	end := s.whole(func(b []byte) outcome {
		n := e.skip(b, val)
		key.Raw = b[1 : 1+len(key.Raw)]
		s.header = Header{key, nil}
		if n > 0 {
			s.header.Value = b[val:n]
		}
		return n
	})
	if end < 0 {
		return s.lostOr(end, "the value of a top-level key is broken")
	}
	s.pos += end
	return IsHeader
}

func (s *Scanner) lostOr(o outcome, cause string) Kind {
	switch o {
	case short:
		s.pos = s.end
		return s.truncated()
	case tooLong:
		return s.lost("the value of a top-level key is too long")
	}
	return s.lost(cause)
}

// lost reports damage at the top level and looks for the event array behind it, or for more events if it was read: then a
// broken event held the bracket that seemed to end it.
func (s *Scanner) lost(cause string) Kind {
	s.setDamage(cause)
	s.pos++
	if s.events {
		return s.reenter()
	}
	for {
		text := s.buf[s.pos:s.end]
		if i := bytes.Index(text, []byte(`"traceEvents"`)); i >= 0 {
			s.pos += i
			return IsDamage
		}
		s.pos = max(s.pos, s.end-len(`"traceEvents"`))
		if !s.fill() {
			s.pos = s.end
			s.state = atEnd
			return IsDamage
		}
	}
}

// reenter goes on with the next event, or to the end of the text if there is none.
func (s *Scanner) reenter() Kind {
	for {
		i := bytes.IndexByte(s.buf[s.pos:s.end], '{')
		switch {
		case i >= 0:
			s.pos += i
			if s.whole(begins) > 0 {
				s.state = s.array
				return IsDamage
			}
			s.pos++
		case !s.refill():
			s.state = atEnd
			return IsDamage
		}
	}
}

// refill drops the window and reads on.
func (s *Scanner) refill() bool {
	s.pos = s.end
	return s.fill()
}

// setDamage notes the place at pos.
func (s *Scanner) setDamage(cause string) {
	near := s.buf[s.pos:min(s.end, s.pos+80)]
	s.damage = Damage{s.Offset(), append(s.damage.Near[:0], near...), cause}
}

// element reads one element of the event array.
func (s *Scanner) element() Kind {
	if s.pos >= s.end || s.buf[s.pos] != '{' {
		if k := s.between(); k != again {
			return k
		}
		if s.state != inEvents && s.state != inRootArray {
			return again
		}
	}
	s.event.Offset = s.Offset()
	n := s.whole(s.event.parse)
	if n > 0 {
		s.pos += n
		return IsEvent
	}
	return s.mend(n)
}

// between passes commas and white space up to the next element or the end of the array.
func (s *Scanner) between() Kind {
	for {
		if !s.blank() {
			return s.truncated()
		}
		switch s.buf[s.pos] {
		case ',':
			s.pos++
		case '{':
			return again
		case ']':
			if s.whole(straysBefore) > 0 {
				s.setDamage("a bracket that does not end the events")
				s.pos++
				return IsDamage
			}
			s.pos++
			if s.state == inRootArray {
				s.state = atEnd
			} else {
				s.state = inObject
			}
			return again
		default:
			return s.resync("an event was expected")
		}
	}
}

// straysBefore tells whether the bracket at b[0] is there by mistake: another event, or its inside, follows it.
func straysBefore(b []byte) outcome {
	for i, comma := 1, false; i < len(b); i++ {
		switch c := b[i]; {
		case c == '{' || c == '"' && !comma:
			return i
		case c == ',':
			comma = true
		case c > ' ':
			return broken
		}
	}
	return short
}

// trailer looks at what follows the document: nothing, as a rule. Events there show that a broken one seemed to end it.
func (s *Scanner) trailer() Kind {
	if s.events && s.blank() {
		s.setDamage("text behind the end of the trace")
		s.pos++
		return s.reenter()
	}
	s.state, s.complete = finished, true
	if s.blank() {
		s.setDamage("text behind the end of the trace")
		for s.pos = s.end; s.fill(); s.pos = s.end {
		}
		return IsDamage
	}
	if !s.events && s.err == nil {
		return s.fail("there is no traceEvents array")
	}
	return End
}
