package scan

// skip returns the index behind the value at b[i]. Brackets must pair, strings must end before a comma, a bracket or a
// colon; words other than null, true and false are taken with a fault if writers are known to print them.
func (e *Event) skip(b []byte, i int) outcome {
	switch c := b[i]; c {
	case '"':
		q, _ := stringEnd(b, i+1)
		if q < 0 {
			return short
		}
		return q + 1
	case '{', '[':
		return e.skipNested(b, i)
	default:
		if c-'0' <= 9 { // a plain integer needs no second look
			end := i + 1
			for end < len(b) && b[end]-'0' <= 9 {
				end++
			}
			if end < len(b) && ends(b[end]) {
				return end
			}
		}
		return e.skipWord(b, i)
	}
}

// maxDepth bounds the nesting of values. Profilers write three or four levels.
const maxDepth = 64

// skipNested skips an array or object at b[i].
func (e *Event) skipNested(b []byte, i int) outcome {
	var closers [maxDepth]byte
	depth := 0
	for i < len(b) {
		switch c := b[i]; c {
		case '"':
			q, _ := stringEnd(b, i+1)
			if q < 0 {
				return short
			}
			if i = q + 1; i >= len(b) {
				return short
			}
			switch b[i] {
			case ',', ']', '}', ':', ' ', '\n', '\r', '\t':
			default:
				return broken
			}
			continue
		case '[', '{':
			if depth == maxDepth {
				return broken
			}
			closers[depth] = c + 2
			depth++
		case ']', '}':
			depth--
			if closers[depth] != c {
				return broken
			}
			if depth == 0 {
				return i + 1
			}
		}
		i++
	}
	return short
}

// skipWord skips a number, a literal, or one of the words that stand for "not a number".
func (e *Event) skipWord(b []byte, i int) outcome {
	end := i
	for end < len(b) && !ends(b[end]) {
		if b[end] == '"' || b[end] == '{' || b[end] == '[' {
			return broken
		}
		end++
	}
	if end >= len(b) {
		return short
	}
	word := b[i:end]
	if len(word) == 0 {
		return broken
	}
	if c := word[0]; c-'0' <= 9 {
		return end
	}
	switch string(word) {
	case "null", "true", "false":
		return end
	}
	if word[0] == '-' && len(word) > 1 && word[1]-'0' <= 9 {
		return end
	}
	if !bareWord(word) {
		return broken
	}
	e.Faults |= BareWord
	return end
}

// bareWord tells whether writers are known to print the word in place of a number, in any case and with any sign.
func bareWord(word []byte) bool {
	if word[0] == '-' || word[0] == '+' {
		word = word[1:]
	}
	var low [16]byte
	if len(word) > len(low) {
		return false
	}
	for i, c := range word {
		low[i] = c | 0x20
	}
	switch string(low[:len(word)]) {
	case "inf", "infinity", "nan", "-nan", "none", "true", "false", "undefined", "nan(ind)", "1.#inf", "1.#ind", "1.#qnan":
		return true
	}
	return false
}
