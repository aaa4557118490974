package scan

import "io"

// Blocks is text in pieces. It spares the copy of an io.Reader where the text is in memory anyway.
type Blocks interface {
	// Block returns rest, which is the unread end of the block that it returned last, followed by fresh bytes of further
	// text. The block before it may be used again from then on. At the end of the text, and with it, the error is io.EOF.
	Block(rest []byte) (text []byte, fresh int, err error)
}

// A window makes Blocks of a reader: the unread part moves to the front, and if it fills the window the window doubles.
type window struct {
	r   io.Reader
	buf []byte
}

// Block implements Blocks. Filling the whole window keeps the cost of an event that is started again linear when reads
// are small.
func (w *window) Block(rest []byte) (text []byte, fresh int, err error) {
	if len(rest) == len(w.buf) {
		w.buf = make([]byte, 2*len(rest))
	}
	n := copy(w.buf, rest)
	for n < len(w.buf) && err == nil {
		var m int
		m, err = w.r.Read(w.buf[n:])
		n += m
	}
	return w.buf[:n], n - len(rest), err
}
