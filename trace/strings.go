package trace

import "github.com/ditlens/ditlens/internal/scan"

// A stringTable keeps one copy of each distinct text, found by its raw bytes. Escapes are resolved and damage is mended
// only the first time.
type stringTable struct {
	seen map[string]internedText
	buf  []byte
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
		s.text = string(t.buf)
	}
	t.seen[raw] = s
	return s.text, s.faults
}

// bytes returns the value of a text that is known to be plain.
func (t *stringTable) bytes(b []byte) string {
	s, _ := t.get(scan.Text{Raw: b, Plain: true})
	return s
}
