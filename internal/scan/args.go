package scan

import "bytes"

// readArgs cuts the args object at b[i] into fields.
func (e *Event) readArgs(b []byte, i int) outcome {
	e.Fields = e.Fields[:0]
	if b[i] != '{' {
		return e.skip(b, i)
	}
	start := i
	i++
	for behind := false; ; behind = true {
		if i = e.toKey(b, i, behind); i < 0 {
			return i
		}
		if b[i] == '}' {
			e.args = span{int32(start), int32(i + 1)}
			return i + 1
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
	}
}

// passFlat passes an object at b[i] without looking at its fields. It is broken, or rather not for this function, if it
// holds an object, an escape or an odd number of quotes.
func passFlat(b []byte, i int) outcome {
	if b[i] != '{' {
		return broken
	}
	n := bytes.IndexByte(b[i:], '}')
	if n < 0 {
		return short
	}
	flat := b[i+1 : i+n]
	if bytes.IndexByte(flat, '{') >= 0 || bytes.IndexByte(flat, '\\') >= 0 || bytes.Count(flat, []byte{'"'})%2 != 0 {
		return broken
	}
	return i + n + 1
}
