package trace

import (
	"io"
	"sync"
)

const (
	aheadBlocks = 4
	aheadSize   = 256 << 10
)

// A readahead reads from r on a goroutine of its own, a few blocks ahead, so that inflating and scanning run at the same
// time. Close must be called; it waits for the goroutine.
type readahead struct {
	full  chan block
	empty chan []byte
	done  chan struct{}
	block block
	rest  []byte
	once  sync.Once
}

type block struct {
	buf []byte
	err error
}

func newReadahead(r io.Reader) *readahead {
	a := &readahead{
		full:  make(chan block, aheadBlocks),
		empty: make(chan []byte, aheadBlocks),
		done:  make(chan struct{}),
	}
	for range aheadBlocks {
		a.empty <- make([]byte, aheadSize)
	}
	go a.run(r)
	return a
}

func (a *readahead) run(r io.Reader) {
	defer close(a.full)
	for {
		select {
		case <-a.done:
			return
		case buf := <-a.empty:
			n, err := readBlock(r, buf)
			a.full <- block{buf[:n], err} // never blocks: there are no more blocks than room
			if err != nil {
				return
			}
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

// Read implements io.Reader.
func (a *readahead) Read(p []byte) (int, error) {
	for len(a.rest) == 0 {
		if a.block.err != nil {
			return 0, a.block.err
		}
		if a.block.buf != nil {
			a.empty <- a.block.buf[:cap(a.block.buf)]
		}
		a.block = <-a.full
		a.rest = a.block.buf
	}
	n := copy(p, a.rest)
	a.rest = a.rest[n:]
	return n, nil
}

// Close stops the goroutine and waits for it.
func (a *readahead) Close() error {
	a.once.Do(func() { close(a.done) })
	for range a.full {
	}
	return nil
}
