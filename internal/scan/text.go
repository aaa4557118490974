package scan

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf16"
	"unicode/utf8"
)

// A Fault is a set of departures from JSON that an event was read in spite of.
type Fault uint16

// Faults of an event.
const (
	BadEscape    Fault = 1 << iota // a backslash that begins no JSON escape; all of the string are kept as they are
	RawControl                     // a control character inside a string
	BadUTF8                        // bytes that are no UTF-8; replaced by U+FFFD
	BareWord                       // NaN, inf and the like where a number should be
	RawQuote                       // a quote inside a string that was not escaped
	MissingComma                   // no comma between two keys
	DoubleComma                    // a comma too many
	DoubleKey                      // a key that occurs twice; the last one counts
	NumberForm                     // a number that is written as a string or cannot be read
)

// String names the first fault of the set.
func (f Fault) String() string {
	names := [...]string{"invalid escape in a string", "raw control character in a string", "invalid UTF-8",
		"a bare word (NaN, inf) as value", "unescaped quote in a string", "missing comma", "superfluous comma",
		"duplicate key", "malformed number"}
	if f == 0 {
		return "none"
	}
	return names[min(bits.TrailingZeros16(uint16(f)), len(names)-1)]
}

// Text is the inside of a JSON string as it stands in the file.
type Text struct {
	Raw   []byte
	Plain bool // printable ASCII without escapes: Raw is the value
}

// String returns the decoded text, see [Decode].
func (t Text) String() string {
	if t.Plain {
		return string(t.Raw)
	}
	s, _ := Decode(nil, t.Raw)
	return string(s)
}

const (
	ones   = 0x0101010101010101
	highs  = 0x8080808080808080
	quotes = ones * '"'
	slashs = ones * '\\'
	blanks = ones * ' '
)

// stringEnd returns the index of the quote that closes the string whose inside begins at b[i], and whether the inside is
// printable ASCII without escapes. It returns -1 if b ends before.
//
// Eight bytes are looked at together: each of the four masks is exact at its lowest set bit, which is all that is used.
func stringEnd(b []byte, i int) (int, bool) {
	plain := true
	for i+8 <= len(b) {
		w := binary.LittleEndian.Uint64(b[i:])
		q, s := w^quotes, w^slashs
		m := ((q-ones)&^q | (s-ones)&^s | (w-blanks)&^w | w) & highs
		if m == 0 {
			i += 8
			continue
		}
		i += bits.TrailingZeros64(m) >> 3
		switch b[i] {
		case '"':
			return i, plain
		case '\\':
			i++
		}
		plain = false
		i++
	}
	for ; i < len(b); i++ {
		switch c := b[i]; {
		case c == '"':
			return i, plain
		case c == '\\':
			i++
			plain = false
		case c < ' ' || c >= utf8.RuneSelf:
			plain = false
		}
	}
	return -1, plain
}

// Decode appends the value of a string's inside to dst: escapes are resolved, invalid UTF-8 and lone surrogates become
// U+FFFD. An invalid escape shows that the writer did not escape backslashes: then all are kept, as the path C:\users\new.py needs
// it, but for those before quotes. The faults tell what had to be mended.
func Decode(dst, raw []byte) ([]byte, Fault) {
	text, f := decode(dst, raw, escape)
	if f&BadEscape != 0 {
		text, f = decode(dst, raw, quoteEscape)
		f |= BadEscape
	}
	return text, f
}

// decode is Decode with what reads an escape at the start of a text: its length and its rune. A backslash where there is none is
// kept.
func decode(dst, raw []byte, escape func([]byte) (int, rune, bool)) ([]byte, Fault) {
	var f Fault
	for i := 0; i < len(raw); {
		c := raw[i]
		switch {
		case c == '\\':
			n, r, ok := escape(raw[i:])
			if !ok {
				f |= BadEscape
				dst, i = append(dst, '\\'), i+1
				continue
			}
			dst, i = utf8.AppendRune(dst, r), i+n
		case c < utf8.RuneSelf:
			if c < ' ' {
				f |= RawControl
			}
			dst, i = append(dst, c), i+1
		default:
			r, n := utf8.DecodeRune(raw[i:])
			if r == utf8.RuneError && n == 1 {
				f |= BadUTF8
			}
			dst, i = utf8.AppendRune(dst, r), i+n
		}
	}
	return dst, f
}

// escape reads the escape at the start of b: its length and its rune.
func escape(b []byte) (n int, r rune, ok bool) {
	if len(b) < 2 {
		return 0, 0, false
	}
	switch b[1] {
	case '"', '\\', '/':
		return 2, rune(b[1]), true
	case 'b':
		return 2, '\b', true
	case 'f':
		return 2, '\f', true
	case 'n':
		return 2, '\n', true
	case 'r':
		return 2, '\r', true
	case 't':
		return 2, '\t', true
	case 'u':
		return unicodeEscape(b)
	}
	return 0, 0, false
}

// quoteEscape is escape for texts in which nothing but quotes is escaped.
func quoteEscape(b []byte) (n int, r rune, ok bool) {
	if len(b) > 1 && b[1] == '"' {
		return 2, '"', true
	}
	return 0, 0, false
}

func unicodeEscape(b []byte) (n int, r rune, ok bool) {
	r, ok = hex4(b)
	if !ok {
		return 0, 0, false
	}
	if !utf16.IsSurrogate(r) {
		return 6, r, true
	}
	if low, ok := hex4(b[6:]); ok {
		if pair := utf16.DecodeRune(r, low); pair != utf8.RuneError {
			return 12, pair, true
		}
	}
	return 6, utf8.RuneError, true
}

// hex4 reads \uXXXX at the start of b.
func hex4(b []byte) (rune, bool) {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return 0, false
	}
	var r rune
	for _, c := range b[2:6] {
		switch {
		case '0' <= c && c <= '9':
			r = r<<4 | rune(c-'0')
		case 'a' <= c|0x20 && c|0x20 <= 'f':
			r = r<<4 | rune(c|0x20-'a'+10)
		default:
			return 0, false
		}
	}
	return r, true
}
