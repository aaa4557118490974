package trace

import (
	"archive/zip"
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"sync/atomic"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

// A source is a file on disk: it counts and hashes what is read from it, and remembers its own errors, so that an error
// of the disk is told from a damaged file.
type source struct {
	r      io.Reader
	ctx    context.Context
	hash   hash.Hash
	member bool // of an archive: errors are damage to it, the disk's own are told by the disk
	n      atomic.Int64
	err    error
}

func newSource(ctx context.Context, r io.Reader) *source {
	return &source{r: r, ctx: ctx, hash: sha256.New()}
}

// Read implements io.Reader.
func (s *source) Read(p []byte) (int, error) {
	if err := s.ctx.Err(); err != nil {
		s.err = err
		return 0, err
	}
	n, err := s.r.Read(p)
	s.hash.Write(p[:n])
	s.n.Add(int64(n))
	if err != nil && err != io.EOF && !s.member {
		s.err = err
	}
	return n, err
}

// sum reads what is left and returns the hash of the whole.
func (s *source) sum() string {
	io.Copy(io.Discard, s)
	return hex.EncodeToString(s.hash.Sum(nil))
}

// Magic numbers of the formats.
const (
	magicGzip = "\x1f\x8b"
	magicZstd = "\x28\xb5\x2f\xfd"
	magicLZ4  = "\x04\x22\x4d\x18"
	magicZip  = "PK\x03\x04"
)

// inflate returns the uncompressed text of r and its format, judged by the first bytes, not by any name. A text that
// was compressed twice is inflated twice. stop frees the decompressors.
func inflate(r io.Reader) (text io.Reader, format string, stop func(), err error) {
	stop = func() {}
	for range 3 {
		buffered := bufio.NewReaderSize(r, 64<<10)
		head, _ := buffered.Peek(4)
		inflated, name, stopOne, err := decompressor(buffered, head)
		if err != nil {
			stop()
			return nil, "", nil, err
		}
		if inflated == nil {
			r = buffered
			break
		}
		r, stop = inflated, chain(stopOne, stop)
		if format == "" {
			format = name
		}
	}
	if format == "" {
		format = "json"
	}
	return r, format, stop, nil
}

func chain(first, second func()) func() {
	return func() {
		first()
		second()
	}
}

// decompressor returns the reader for the format that head begins, nil if it is none.
func decompressor(r io.Reader, head []byte) (text io.Reader, format string, stop func(), err error) {
	stop = func() {}
	switch {
	case bytes.HasPrefix(head, []byte(magicGzip)):
		text, err = gzip.NewReader(r)
		format = "json.gz"
	case bytes.HasPrefix(head, []byte(magicZstd)):
		z, zerr := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(1<<30))
		if zerr != nil {
			return nil, "", nil, zerr
		}
		text, format, stop = z, "json.zst", z.Close
	case bytes.HasPrefix(head, []byte(magicLZ4)):
		text, format = lz4.NewReader(r), "json.lz4"
	}
	return text, format, stop, err
}

// wrongSum tells whether a decompressor found that a text is not the one that was compressed.
func wrongSum(err error) bool {
	for _, sum := range []error{gzip.ErrChecksum, zip.ErrChecksum, zstd.ErrCRCMismatch, lz4.ErrInvalidFrameChecksum, lz4.ErrInvalidBlockChecksum} {
		if errors.Is(err, sum) {
			return true
		}
	}
	return false
}

// eachText opens a file and calls read for the text that it is, or for each member of an archive. The File holds what is
// known before reading; Format and SHA256 are empty unless it is a member.
func eachText(ctx context.Context, path string, read func(File, *source) error) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if info.IsDir() {
		return fmt.Errorf("%s is a folder; FindTraces chooses the traces in it", path)
	}
	file := File{Path: path, Bytes: info.Size()}
	if !info.Mode().IsRegular() || !isZip(f) {
		return read(file, newSource(ctx, f))
	}
	return eachMember(ctx, file, f, read)
}
