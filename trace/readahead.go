package trace

import (
	"io"
	"sync"
)

const (
	aheadBlocks = 6
	aheadSize   = 128 << 10
	aheadRoom   = 32 << 10 // before the data of a block, for the end of the block before it
)

// A readahead reads from r on a goroutine of its own, a few blocks ahead, so that inflating and scanning run at the same
// time. It hands out its blocks without copying them, see [scan.Blocks]. Close must be called; it waits for the goroutine.
type readahead struct {
	full  chan block
	empty chan []byte
	done  chan struct{}
	held  []byte // the block that the scanner works on
	err   error  // of the last block
	once  sync.Once
}

// A block is read into buf[aheadRoom:]; n bytes of it are there.
type block struct {
	buf []byte
	n   int
	err error
}

func newReadahead(r io.Reader) *readahead {
	a := &readahead{
		full:  make(chan block, aheadBlocks),
		empty: make(chan []byte, aheadBlocks),
		done:  make(chan struct{}),
	}
	go a.run(r)
	return a
}

func (a *readahead) run(r io.Reader) {
	defer close(a.full)
	for made := 0; ; {
		var buf []byte
		if made < aheadBlocks { // a small file needs few blocks
			made++
			buf = make([]byte, aheadRoom+aheadSize)
		} else {
			select {
			case <-a.done:
				return
			case buf = <-a.empty:
			}
		}
		n, err := readBlock(r, buf[aheadRoom:])
		a.full <- block{buf, n, err} // never blocks: there are no more blocks than room
		if err != nil {
			return
		}
	}
}

// readBlock fills buf unless r ends or fails before; the error is that of r.
func readBlock(r io.Reader, buf []byte) (n int, err error) {
	for n < len(buf) && err == nil {
		var m int
		m, err = r.Read(buf[n:])
		n += m
	}
	return n, err
}

// Block implements scan.Blocks.
func (a *readahead) Block(rest []byte) (text []byte, fresh int, err error) {
	if a.err != nil {
		return rest, 0, a.err
	}
	b := <-a.full
	a.err = b.err
	if len(rest) <= aheadRoom {
		start := aheadRoom - len(rest)
		copy(b.buf[start:], rest)
		a.release(a.held)
		a.held = b.buf
		return b.buf[start : aheadRoom+b.n], b.n, b.err
	}
	// A long event: gather as much as there is already, so that reading it again stays cheap.
	text = append(make([]byte, 0, 2*len(rest)+aheadSize), rest...)
	a.release(a.held)
	a.held = nil
	for {
		text = append(text, b.buf[aheadRoom:aheadRoom+b.n]...)
		fresh += b.n
		a.release(b.buf)
		if fresh >= len(rest) || a.err != nil {
			return text, fresh, a.err
		}
		b = <-a.full
		a.err = b.err
	}
}

func (a *readahead) release(buf []byte) {
	if buf != nil {
		a.empty <- buf
	}
}

// Close stops the goroutine and waits for it.
func (a *readahead) Close() {
	a.once.Do(func() { close(a.done) })
	for range a.full {
	}
}
