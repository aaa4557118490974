package trace

import "github.com/ditlens/ditlens/internal/scan"

// A stringTable keeps one copy of each distinct text, found by its raw bytes. Escapes are resolved and damage is mended
// only the first time.
type stringTable struct {
	seen map[string]internedText
	buf  []byte
	size int // bytes of text held
}

type internedText struct {
	text   string
	faults scan.Fault
}

// get returns the value of a text and what had to be mended in it.
func (t *stringTable) get(x scan.Text) (string, scan.Fault) {
	if s, ok := t.seen[string(x.Raw)]; ok {
		return s.text, s.faults
	}
	if t.seen == nil {
		t.seen = make(map[string]internedText)
	}
	raw := string(x.Raw)
	s := internedText{text: raw}
	if !x.Plain {
		t.buf, s.faults = scan.Decode(t.buf[:0], x.Raw)
		if string(t.buf) != raw {
			s.text = string(t.buf)
		}
	}
	t.seen[raw] = s
	t.size += len(raw)
	return s.text, s.faults
}

// limit forgets everything once more than size bytes of text are held, so that a stream of ever new names stays bounded.
func (t *stringTable) limit(size int) {
	if t.size > size {
		t.seen, t.size = nil, 0
	}
}
