package scan

import "bytes"

// mend handles an element that the strict pass refused: cut off by the end of the text, too long, or broken.
func (s *Scanner) mend(n outcome) Kind {
	switch n {
	case short:
		s.setDamage("the event is cut off by the end of the file")
		s.pos = s.end
		s.state = cutOff
		return IsDamage
	case tooLong:
		return s.resync("the event is longer than the limit")
	}
	n = s.whole(func(b []byte) outcome { return s.event.parseTolerant(b, s.eof) })
	if n > 0 {
		s.pos += n
		return IsEvent
	}
	return s.resync("the event is not valid JSON")
}

// resync reports damage at pos and passes it: on to the next element or the end of the array. Text is dropped as the search goes on, so the damage may
// be longer than any window.
func (s *Scanner) resync(cause string) Kind {
	s.setDamage(cause)
	if s.buf[s.pos] == '{' {
		if n := s.whole(s.leave); n > 0 {
			s.pos += n
			return IsDamage
		}
	}
	if s.buf[s.pos] != '}' { // which may be the last one before the end of the array
		s.pos++
	}
	for {
		i := bytes.IndexAny(s.buf[s.pos:s.end], "{}")
		if i < 0 {
			s.pos = s.end
			if !s.fill() {
				s.state = cutOff
				return IsDamage
			}
			continue
		}
		s.pos += i
		if s.buf[s.pos] == '{' && s.whole(begins) > 0 {
			return IsDamage
		}
		if s.buf[s.pos] == '}' {
			if n := s.whole(s.endsArray); n > 0 {
				s.pos += n
				return IsDamage
			}
		}
		s.pos++
	}
}

// maxMembers bounds the members of the document behind the event array; profilers write a handful. Without a bound a broken
// event of many fields would be looked through from each of them.
const maxMembers = 64

// endsArray returns the index of the bracket that ends the event array if it follows the brace b[0]. It does if nothing
// but a few further members of the document come behind it.
func (s *Scanner) endsArray(b []byte) outcome {
	i := 1
	for i < len(b) && (b[i] <= ' ' || b[i] == ',') {
		i++
	}
	if i >= len(b) {
		return short
	}
	if b[i] != ']' {
		return broken
	}
	var e Event
	j := i + 1
	for range maxMembers {
		if j = e.toKey(b, j, true); j == short && s.eof {
			return i // the document ends here or is cut off
		}
		if j < 0 {
			return j
		}
		if b[j] == '}' {
			return s.onlyBlank(b, j+1, i)
		}
		if _, j = anyKey(b, j); j > 0 {
			j = e.skip(b, j)
		}
		if j == short && s.eof {
			return i
		}
		if j < 0 {
			return j
		}
	}
	return broken
}

// onlyBlank returns found if nothing but white space follows at b[i] up to the end of the text.
func (s *Scanner) onlyBlank(b []byte, i int, found outcome) outcome {
	for i < len(b) && b[i] <= ' ' {
		i++
	}
	switch {
	case i < len(b):
		return broken
	case s.eof:
		return found
	}
	return short
}

// leave returns the index behind a broken event if its braces pair before the next event begins, and the next event or
// the end of the array follows.
func (s *Scanner) leave(b []byte) outcome {
	next := nextEvent(b)
	var e Event
	n := e.skipNested(b[:next], 0)
	switch {
	case n == short && next < len(b):
		return broken
	case n < 0:
		return n
	}
	return follows(b, n, s.eof)
}

// nextEvent returns the index of the first event that begins behind b[0], len(b) if none does.
func nextEvent(b []byte) int {
	for i := 1; i < len(b); i++ {
		n := bytes.IndexByte(b[i:], '{')
		if n < 0 {
			break
		}
		if i += n; begins(b[i:]) > 0 {
			return i
		}
	}
	return len(b)
}

// follows returns i if another element or the end of the array follows at b[i].
func follows(b []byte, i int, eof bool) outcome {
	for j, comma := i, false; j < len(b); j++ {
		switch c := b[j]; {
		case c <= ' ':
		case c == ',' && !comma:
			comma = true
		case c == ']' || c == '{' && comma:
			return i
		default:
			return broken
		}
	}
	if eof {
		return i
	}
	return short
}

// begins tells whether an event begins at b[0] == '{': its first key is "ph", or another envelope key and "ph" comes before
// any brace. An object inside args holds no "ph".
func begins(b []byte) outcome {
	key, end := shortKey(b, 1)
	if end < 0 {
		return end
	}
	switch envelope(key) {
	case 0:
		return broken
	case kPh:
		return 1
	}
	brace := bytes.IndexAny(b[1:], "{}")
	if brace < 0 {
		return short
	}
	if bytes.Contains(b[:1+brace], []byte(`"ph"`)) {
		return 1
	}
	return broken
}

// shortKey reads a key, no longer than envelope keys are, behind white space at b[i]. end is the index of its closing quote.
func shortKey(b []byte, i int) (key []byte, end outcome) {
	for i < len(b) && b[i] <= ' ' {
		i++
	}
	if i >= len(b) {
		return nil, short
	}
	if b[i] != '"' {
		return nil, broken
	}
	start := i + 1
	for i = start; i < len(b) && b[i] != '"'; i++ {
		if i-start > 8 {
			return nil, broken
		}
	}
	if i >= len(b) {
		return nil, short
	}
	return b[start:i], i
}
