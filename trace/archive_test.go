package trace_test

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"

	"github.com/ditlens/ditlens/trace"
)

// TestMembersThatCannotBeRead cost themselves, not the archive.
func TestMembersThatCannotBeRead(t *testing.T) {
	archive := func(change func(*zip.FileHeader), beside ...string) []byte {
		var b bytes.Buffer
		z := zip.NewWriter(&b)
		h := zip.FileHeader{Name: "bad.json.gz", CompressedSize64: 11, UncompressedSize64: 11}
		change(&h)
		w, err := z.CreateRaw(&h)
		if err != nil {
			t.Fatal(err)
		}
		io.WriteString(w, "\x1f\x8b\x00garbled!")
		for _, text := range beside {
			w, err := z.Create("good.json")
			if err != nil {
				t.Fatal(err)
			}
			io.WriteString(w, text)
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	for name, c := range map[string]struct {
		change func(*zip.FileHeader)
		why    string
	}{
		"broken gzip":    {func(*zip.FileHeader) {}, "invalid header"},
		"unknown method": {func(h *zip.FileHeader) { h.Method = 14 }, "unsupported compression algorithm"},
		"encrypted":      {func(h *zip.FileHeader) { h.Flags |= 1; h.Method = zip.Deflate }, "it is encrypted"},
		"broken deflate": {func(h *zip.FileHeader) { h.Method = zip.Deflate }, "corrupt input"},
		"sizes that lie": {func(h *zip.FileHeader) { h.Method = zip.Deflate; h.UncompressedSize64 = 1 << 60 }, "corrupt input"},
	} {
		t.Run(name, func(t *testing.T) {
			path := write(t, "t.zip", archive(c.change, sample(), "no trace", "nor this"))
			tr := load(t, trace.LoadOptions{}, path)
			if len(tr.GPU) != 2 || count(tr, "member_unreadable") != 1 || count(tr, "member_skipped") != 2 || tr.Files[0].Truncated {
				t.Errorf("%d GPU events, diagnostics %+v", len(tr.GPU), tr.Diagnostics)
			}
			if _, err := trace.Load(t.Context(), trace.LoadOptions{Strict: true}, path); err == nil || !strings.Contains(err.Error(), c.why) {
				t.Errorf("strict: %v", err)
			}
			alone := write(t, "t.zip", archive(c.change))
			if _, err := trace.Load(t.Context(), trace.LoadOptions{}, alone); err == nil || !strings.Contains(err.Error(), "bad.json.gz: byte 0: ") ||
				!strings.Contains(err.Error(), c.why) {
				t.Errorf("alone: %v", err)
			}
			list, err := trace.FindTraces(t.Context(), folder(t, map[string][]byte{"t.zip": archive(c.change, sample())}))
			if err != nil || len(list) != 1 || list[0].Role != trace.RoleMain {
				t.Errorf("in a folder: %+v, %v", list, err)
			}
		})
	}
}

// TestChecksum: data that were changed are read, but not in silence.
func TestChecksum(t *testing.T) {
	z := gzipped(t, sample())
	z[len(z)-8] ^= 1 // the sum stands before the length
	a := zipped(t, sample())
	for at := 0; ; { // in the descriptor behind the member and in the directory
		i := bytes.Index(a[at:], []byte("PK"))
		if i < 0 {
			break
		}
		at += i + 4
		switch string(a[at-2 : at]) {
		case "\x07\x08":
			a[at] ^= 1
		case "\x01\x02":
			a[at+12] ^= 1
		}
	}
	for name, data := range map[string][]byte{"gzip": z, "zip": a} {
		tr := load(t, trace.LoadOptions{}, write(t, "t", data))
		if len(tr.GPU) != 2 || count(tr, "checksum_mismatch") != 1 {
			t.Errorf("%s: %d GPU events, diagnostics %+v", name, len(tr.GPU), tr.Diagnostics)
		}
		if _, err := trace.Load(t.Context(), trace.LoadOptions{Strict: true}, write(t, "t", data)); !errors.Is(err, gzip.ErrChecksum) && !errors.Is(err, zip.ErrChecksum) {
			t.Errorf("%s, strict: %v", name, err)
		}
	}
}

// TestCancelledInAnArchive: a member of little may inflate to much; passing it ends with the context.
func TestCancelledInAnArchive(t *testing.T) {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	w, err := z.Create("x")
	if err != nil {
		t.Fatal(err)
	}
	zeros := make([]byte, 1<<20)
	for i := range 256 {
		if zeros[0] = 0; i == 0 {
			zeros[0] = 'x' // no trace
		}
		w.Write(zeros)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	path := write(t, "t.zip", b.Bytes()[:b.Len()-60]) // its directory is lost
	left, err := loadFor(t, plenty, path)
	if !errors.Is(err, trace.ErrNotTrace) {
		t.Errorf("error %v", err)
	}
	all := plenty - left
	if all < 64 {
		t.Errorf("Load looks at its context %d times", all)
	}
	if left, err := loadFor(t, all/2, path); !errors.Is(err, context.Canceled) || left < -40 {
		t.Errorf("%d looks followed, error %v", -left, err)
	}
}
