package scan

import "bytes"

// Most events repeat the wording of one before them: the same phase and category, the same process and thread, written
// in the same order with the same white space; only the name and the numbers differ. A wording is that repeated text:
//
//	{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 416, "tid": 416, "ts": 2915995397672.546, "dur": …
//	|-------------- head -----------------|         |----------- tail ------------|
//
// Comparing the two parts takes a fraction of the time of reading their keys.
type wording struct {
	head, tail []byte
	phase      byte
	catPlain   bool
	cat        span // in head
	pid, tid   span // in tail
}

// wordings are the last few of them; a file alternates between a handful.
type wordings struct {
	list [4]wording
	last int // the one that matched last
	next int // the one to be replaced next
}

// keysOfWording is the order of keys that a wording stands for.
var keysOfWording = [...]uint{kPh, kCat, kName, kPid, kTid, kTs}

// match reads the beginning of the event at b[0] by one of the wordings. It returns the index behind the time and the keys that were
// read, or 1 and none if no wording fits.
func (w *wordings) match(e *Event, b []byte) (i int, seen uint) {
	for k := range w.list {
		n := (w.last + k) % len(w.list)
		t := &w.list[n]
		if len(t.head) == 0 || !bytes.HasPrefix(b, t.head) {
			continue
		}
		q, plain := stringEnd(b, len(t.head))
		if q < 0 || !bytes.HasPrefix(b[q:], t.tail) {
			continue
		}
		at := q + len(t.tail)
		v, end := fastNanoseconds(b, at)
		if end == at || end >= len(b) || !ends(b[end]) {
			continue
		}
		w.last = n
		e.Phase = t.phase
		e.Cat = Text{b[t.cat.start:t.cat.end], t.catPlain}
		e.Name = Text{b[len(t.head):q], plain}
		e.PID = b[q+int(t.pid.start) : q+int(t.pid.end)]
		e.TID = b[q+int(t.tid.start) : q+int(t.tid.end)]
		e.TS, e.HasTS = v, true
		return end, kPh | kCat | kName | kPid | kTid | kTs
	}
	return 1, 0
}

// learn keeps the wording of an event that was read key by key; at holds where the values of its first keys begin.
func (w *wordings) learn(e *Event, at *[len(keysOfWording)]int) {
	name, nameEnd := at[2]+1, at[2]+1+len(e.Name.Raw)
	if e.Faults != 0 || e.Raw[at[1]] != '"' || e.Raw[at[2]] != '"' || e.Phase == 0 || e.Raw[at[5]] == '"' {
		return
	}
	t := &w.list[w.next]
	w.next = (w.next + 1) % len(w.list)
	t.head = append(t.head[:0], e.Raw[:name]...)
	t.tail = append(t.tail[:0], e.Raw[nameEnd:at[5]]...)
	t.phase, t.catPlain = e.Phase, e.Cat.Plain
	t.cat = span{int32(at[1] + 1), int32(at[1] + 1 + len(e.Cat.Raw))}
	t.pid = span{int32(at[3] - nameEnd), int32(at[3] - nameEnd + len(e.PID))}
	t.tid = span{int32(at[4] - nameEnd), int32(at[4] - nameEnd + len(e.TID))}
}
