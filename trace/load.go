package trace

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/ditlens/ditlens/internal/scan"
)

// LoadOptions change how files are read. The zero value is right for most callers.
type LoadOptions struct {
	// Strict turns the first fault in a file into a *SyntaxError. By default faults are repaired or skipped, and counted.
	Strict bool
	// Stacks keeps Python frames and module paths. They are most of a file; leave them out unless you show them.
	Stacks bool
	// MaxEvent is the size in bytes of the largest event that is read; longer ones are skipped as damage. 0 means 64 MiB.
	MaxEvent int
	// Progress, if not nil, is called about ten times a second with the bytes read so far and in total (on disk).
	Progress func(done, total int64)
}

// Load reads files, all of one process or run, into one Trace. A file that cannot be opened or that holds no trace is an
// error; damage inside a file is counted in [File] and described in Diagnostics. It stops within 100 ms when ctx ends.
//
// The format of a file is told by its first bytes: JSON, or JSON in gzip, zstd, lz4 or zip. Every member of an archive
// that is a trace is read.
func Load(ctx context.Context, opts LoadOptions, paths ...string) (*Trace, error) {
	if len(paths) == 0 {
		return nil, errors.New("no trace file given")
	}
	l := loader{ctx: ctx, opts: opts}
	l.builder.header.Rank = -1
	for _, p := range paths {
		if info, err := os.Stat(p); err == nil {
			l.total += info.Size()
		}
	}
	for _, p := range paths {
		if err := l.file(p); err != nil {
			return nil, err
		}
	}
	l.progress(true)
	return l.builder.build(ctx)
}

// Read reads one trace from r, as [Load] reads a file: JSON, plain or in gzip, zstd or lz4. name stands for it in messages.
func Read(ctx context.Context, opts LoadOptions, name string, r io.Reader) (*Trace, error) {
	l := loader{ctx: ctx, opts: opts}
	l.builder.header.Rank = -1
	l.source = newSource(ctx, r)
	if err := l.text(File{Path: name}, l.source); err != nil {
		return nil, err
	}
	return l.builder.build(ctx)
}

// A loader reads files into a Builder.
type loader struct {
	ctx      context.Context
	opts     LoadOptions
	builder  Builder
	strings  stringTable
	total    int64 // bytes of all files
	done     int64 // bytes of the files before this one
	source   *source
	reported time.Time
}

// file reads one path.
func (l *loader) file(path string) error {
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
		return fmt.Errorf("%s is a folder; choose a trace with FindTraces", path)
	}
	archive, err := isZip(f)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if archive {
		err = l.archive(path, f, info.Size())
	} else {
		l.source = newSource(l.ctx, f)
		err = l.text(File{Path: path, Bytes: info.Size()}, l.source)
	}
	l.done += info.Size()
	return err
}

// archive reads every member of a zip file that is a trace.
func (l *loader) archive(path string, f *os.File, size int64) error {
	list, err := members(f, size)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	whole := newSource(l.ctx, f)
	sum := whole.sum()
	found := false
	for _, m := range list {
		r, err := m.open()
		if err != nil {
			return fmt.Errorf("%s: %s: %w", path, m.name, err)
		}
		l.source = newSource(l.ctx, r)
		err = l.text(File{Path: path + "/" + m.name, Bytes: size, Format: "zip", SHA256: sum}, l.source)
		r.Close()
		switch {
		case errors.Is(err, scan.ErrNotTrace):
			l.builder.Diagnose(Diagnostic{"member_skipped", Info, 1, fmt.Sprintf("%s: %s: %v", path, m.name, err)})
		case err != nil:
			return err
		default:
			found = true
		}
	}
	if !found {
		return fmt.Errorf("%s: %w: no member of the archive is one", path, scan.ErrNotTrace)
	}
	return nil
}

// text reads one trace text.
func (l *loader) text(file File, src *source) error {
	r, format, closeInflater, err := inflate(src)
	if err != nil {
		return fmt.Errorf("%s: byte 0: %w", file.Path, err)
	}
	defer closeInflater()
	if file.Format == "" {
		file.Format = format
	}
	ahead := newReadahead(r)
	p := newPassage(l, file, scan.New(ahead, scan.Options{MaxEvent: l.opts.MaxEvent}))
	err = p.run()
	ahead.Close() // from here on nobody else reads src
	if err == nil {
		err = p.settle(src)
	}
	return err
}

// progress calls the callback at most ten times a second, and once at the end.
func (l *loader) progress(end bool) {
	if l.opts.Progress == nil {
		return
	}
	done := l.done
	if l.source != nil && !end {
		done += l.source.n.Load()
	}
	if now := time.Now(); end || now.Sub(l.reported) >= 100*time.Millisecond {
		l.reported = now
		l.opts.Progress(min(done, l.total), l.total)
	}
}
