package scan

// parseTolerant reads an event that the strict pass refused. It knows the writers that do not escape names: a quote ends
// the string of an envelope key only if the end of the event or another envelope key follows it.
func (e *Event) parseTolerant(b []byte, eof bool) outcome {
	e.reset()
	i := 1
	for first := true; ; first = false {
		comma := false
		for i < len(b) && (b[i] <= ' ' || b[i] == ',') {
			comma = comma || b[i] == ','
			i++
		}
		if i >= len(b) {
			return short
		}
		if b[i] == '}' {
			e.Raw = b[:i+1]
			return i + 1
		}
		if b[i] != '"' {
			return broken
		}
		if !comma && !first {
			e.Faults |= MissingComma
		}
		key := i + 1
		i = key
		for i < len(b) && b[i] != '"' {
			i++
		}
		keyEnd := i
		if i = colon(b, i+1); i < 0 {
			return i
		}
		bit := envelope(b[key:keyEnd])
		if b[i] == '"' {
			q := looseEnd(b, i+1, eof)
			if q < 0 {
				return q
			}
			e.looseValue(b[i:q+1], bit)
			i = q + 1
			continue
		}
		if i = e.value(b, i, bit); i < 0 {
			return i
		}
	}
}

// looseValue takes a string that may hold raw quotes.
func (e *Event) looseValue(v Value, key uint) {
	inside := v[1 : len(v)-1]
	if q, _ := stringEnd(v, 1); q != len(v)-1 {
		e.Faults |= RawQuote
	}
	switch key {
	case kName, kCat, kPh:
		e.setText(key, Text{inside, false})
	case kTs:
		e.TS, e.HasTS = Nanoseconds(inside)
	case kDur:
		e.Dur, e.HasDur = Nanoseconds(inside)
	case kPid:
		e.PID = v
	case kTid:
		e.TID = v
	case kID:
		e.ID = v
	}
}

// looseEnd returns the index of the quote that ends a string whose inside begins at b[i]: the first one that the end of
// the event, or a comma and an envelope key, follow. It stays within the event.
func looseEnd(b []byte, i int, eof bool) outcome {
	for ; i < len(b); i++ {
		if b[i] == '{' { // never run into the next event
			switch begins(b[i:]) {
			case short:
				return short
			case broken:
				continue
			}
			return broken
		}
		if b[i] != '"' {
			continue
		}
		switch n := closes(b, i+1, eof); n {
		case broken:
		case short:
			return short
		default:
			return i
		}
	}
	return short
}

// closes tells whether b[i:] continues an event behind a value.
func closes(b []byte, i int, eof bool) outcome {
	for i < len(b) && b[i] <= ' ' {
		i++
	}
	if i >= len(b) {
		return short
	}
	if b[i] == '}' {
		return follows(b, i+1, eof)
	}
	if b[i] != ',' {
		return broken
	}
	key, end := shortKey(b, i+1)
	if end < 0 {
		return end
	}
	if envelope(key) == 0 && string(key) != "bp" && string(key) != "s" {
		return broken
	}
	return colon(b, end+1)
}
