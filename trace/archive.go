package trace

import (
	"archive/zip"
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/klauspost/compress/flate"
)

// isZip tells whether a file is an archive.
func isZip(f io.ReaderAt) bool {
	var head [4]byte
	f.ReadAt(head[:], 0)
	return string(head[:]) == magicZip
}

// A disk remembers its own errors, so that they are told from a damaged archive.
type disk struct {
	io.ReaderAt
	err error
}

// ReadAt implements io.ReaderAt.
func (d *disk) ReadAt(p []byte, at int64) (int, error) {
	n, err := d.ReaderAt.ReadAt(p, at)
	if err != nil && err != io.EOF {
		d.err = err
	}
	return n, err
}

// eachMember calls read for each file of an archive, in their order.
func eachMember(ctx context.Context, file File, f *os.File, read func(File, *source) error) error {
	whole := newSource(ctx, f)
	file.Format, file.SHA256 = "zip", whole.sum()
	if whole.err != nil {
		return fmt.Errorf("%s: %w", file.Path, whole.err)
	}
	d := &disk{ReaderAt: f}
	member := func(name string, text io.Reader) error {
		m := file
		m.Path += "/" + name
		src := newSource(ctx, text)
		src.member = true
		err := read(m, src)
		if d.err != nil {
			err = fmt.Errorf("%s: %w", m.Path, d.err)
		}
		return err
	}
	z, err := zip.NewReader(d, file.Bytes)
	if err != nil {
		file.Truncated = true
		found, failed := eachInOrder(ctx, io.NewSectionReader(d, 0, file.Bytes), member)
		if !found {
			return fmt.Errorf("%s: %w", file.Path, err)
		}
		return failed
	}
	z.RegisterDecompressor(zip.Deflate, func(r io.Reader) io.ReadCloser { return flate.NewReader(r) })
	for _, m := range z.File {
		if m.FileInfo().IsDir() {
			continue
		}
		r, err := open(m)
		if err != nil {
			r = io.NopCloser(broken{err})
		}
		err = member(m.Name, r)
		r.Close()
		if err != nil {
			return err
		}
	}
	return nil
}

// open opens a member. One that is encrypted looks like one with damage to the reader of the archive.
func open(m *zip.File) (io.ReadCloser, error) {
	if m.Flags&encrypted != 0 {
		return nil, errors.New("it is encrypted")
	}
	return m.Open()
}

// broken is a text of which nothing can be read.
type broken struct{ err error }

// Read implements io.Reader.
func (b broken) Read([]byte) (int, error) { return 0, b.err }

// eachInOrder calls read for each member of an archive whose directory, which stands at its end, is lost: it goes by the headers
// before the members. It reports whether there was one; the error is that of read, or of ctx.
func eachInOrder(ctx context.Context, r io.Reader, read func(name string, text io.Reader) error) (found bool, err error) {
	b := bufio.NewReader(r)
	for {
		name, text := nextMember(b)
		if text == nil {
			return found, nil
		}
		if !strings.HasSuffix(name, "/") {
			found = true
			if err := read(name, text); err != nil {
				return true, err
			}
		}
		if cut := pass(ctx, text); cut != nil {
			return found, ctx.Err() // if it is not ctx, the member knows
		}
		passDescriptor(b)
	}
}

// pass reads to the end of a text, which may be a thousand times as long as the archive.
func pass(ctx context.Context, text io.Reader) error {
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		switch _, err := io.CopyN(io.Discard, text, 1<<20); err {
		case nil:
		case io.EOF:
			return nil
		default:
			return err
		}
	}
}

// Fields of a member's header, by offset.
const (
	headerFlags  = 6
	headerMethod = 8
	headerSize   = 18
	headerName   = 26
	headerExtra  = 28
	headerBytes  = 30
)

// Flags of a member.
const (
	encrypted   = 1
	sizeFollows = 8
)

// nextMember reads the header of a member and returns its name and its text, nil if there is none that can be read.
func nextMember(b *bufio.Reader) (name string, text io.Reader) {
	var h [headerBytes]byte
	if _, err := io.ReadFull(b, h[:]); err != nil || string(h[:4]) != magicZip {
		return "", nil
	}
	u16 := func(at int) int { return int(binary.LittleEndian.Uint16(h[at:])) }
	rest := make([]byte, u16(headerName)+u16(headerExtra))
	if _, err := io.ReadFull(b, rest); err != nil {
		return "", nil
	}
	name = string(rest[:u16(headerName)])
	switch size := binary.LittleEndian.Uint32(h[headerSize:]); {
	case u16(headerFlags)&encrypted != 0:
		return name, nil
	case u16(headerMethod) == int(zip.Deflate):
		return name, flate.NewReader(b)
	case u16(headerMethod) != int(zip.Store):
		return name, nil
	case u16(headerFlags)&sizeFollows != 0 || size == 1<<32-1:
		return name, b // where it ends cannot be told, so it takes what there is
	default:
		return name, io.LimitReader(b, int64(size))
	}
}

// passDescriptor passes the sizes that follow a member which was written before they were known: with or without a signature, in 32
// bits or 64.
func passDescriptor(b *bufio.Reader) {
	next, _ := b.Peek(28)
	for _, n := range []int{0, 12, 16, 20, 24} {
		if len(next) >= n+4 && string(next[n:n+2]) == magicZip[:2] && string(next[n:n+4]) != "PK\x07\x08" {
			b.Discard(n)
			return
		}
	}
}
