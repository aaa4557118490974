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
// error; damage inside a file is counted in [File] and described in Diagnostics. When ctx ends it stops within 100 ms, be
// it reading, sorting or linking.
//
// The format of a file is told by its first bytes: JSON, or JSON in gzip, zstd, lz4 or zip. Every member of an archive
// that is a trace is read; one that cannot be read (encrypted, compressed in another way) is an error only if none can, or
// with Strict.
func Load(ctx context.Context, opts LoadOptions, paths ...string) (*Trace, error) {
	if len(paths) == 0 {
		return nil, errors.New("no trace file given")
	}
	l := loader{ctx: ctx, opts: opts}
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
	var other, unreadable []error // members of an archive
	before := len(l.builder.files)
	err := eachText(l.ctx, path, func(f File, src *source) error {
		l.source = src
		err := l.text(f, src)
		switch {
		case err == nil || f.Format != "zip" || l.ctx.Err() != nil:
			return err
		case errors.Is(err, ErrNotTrace):
			other = append(other, err)
		case l.opts.Strict:
			return err
		default:
			unreadable = append(unreadable, err)
		}
		return nil
	})
	l.skipped("member_skipped", Info, other)
	l.skipped("member_unreadable", Warning, unreadable)
	if err == nil && len(l.builder.files) == before {
		switch {
		case len(unreadable) > 0:
			err = unreadable[0]
		case len(other) > 0:
			err = fmt.Errorf("%s: %w: no member of the archive is one", path, ErrNotTrace)
		}
	}
	if info, statErr := os.Stat(path); statErr == nil {
		l.done += info.Size()
	}
	return err
}

// skipped tells of members of an archive that were left out.
func (l *loader) skipped(code string, severity Severity, why []error) {
	if len(why) == 0 {
		return
	}
	message := why[0].Error()
	if n := len(why) - 1; n > 0 {
		message += fmt.Sprintf("; so are %d more members", n)
	}
	l.builder.diagnose(Diagnostic{code, severity, int64(len(why)), message})
}

// text reads one trace text.
func (l *loader) text(file File, src *source) error {
	r, format, closeInflater, err := inflate(src)
	if err != nil {
		return fmt.Errorf("%s: byte 0: the compressed data: %w", file.Path, err)
	}
	defer closeInflater()
	if file.Format == "" {
		file.Format = format
	}
	ahead := newReadahead(r)
	p := newPassage(l, file, scan.NewBlocks(ahead, l.scanOptions()))
	err = p.run()
	ahead.Close() // from here on nobody else reads src
	if err == nil {
		err = p.ended()
	}
	if err == nil {
		err = p.settle(src)
	}
	return err
}

// scanOptions leave the args of Python frames unread unless they are of use; a strict reading looks at all.
func (l *loader) scanOptions() scan.Options {
	o := scan.Options{MaxEvent: l.opts.MaxEvent}
	if !l.opts.Strict && !l.opts.Stacks {
		o.Unread = "python_function"
	}
	return o
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
