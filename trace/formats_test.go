package trace_test

import (
	"archive/zip"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ditlens/ditlens/trace"
	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

// sample is a small whole trace.
func sample() string {
	return document(op("aten::mm", 0, 10, `"Input Dims":[[2,3],[3,4]]`), runtimeCall("hipLaunchKernel", 2, 1, 1), kernel("a", 20, 10, 0, 1), kernel("b", 30, 20, 0, 2))
}

func zipped(tb testing.TB, members ...string) []byte {
	tb.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for i, m := range members {
		w, err := z.Create(fmt.Sprintf("member%d.json", i))
		if err != nil {
			tb.Fatal(err)
		}
		if _, err := w.Write([]byte(m)); err != nil {
			tb.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		tb.Fatal(err)
	}
	return b.Bytes()
}

func zstandard(tb testing.TB, text string) []byte {
	tb.Helper()
	z, err := zstd.NewWriter(nil)
	if err != nil {
		tb.Fatal(err)
	}
	return z.EncodeAll([]byte(text), nil)
}

func lz4ed(tb testing.TB, text string) []byte {
	tb.Helper()
	var b bytes.Buffer
	z := lz4.NewWriter(&b)
	if _, err := z.Write([]byte(text)); err != nil {
		tb.Fatal(err)
	}
	if err := z.Close(); err != nil {
		tb.Fatal(err)
	}
	return b.Bytes()
}

func TestFormatsByContent(t *testing.T) {
	text := sample()
	indented := strings.ReplaceAll(strings.ReplaceAll(text, ",", ",\n    "), "{", "{\n  ")
	array := text[strings.Index(text, "[{") : strings.LastIndex(text, "],")+1]
	want := strip(loadText(t, text))
	for _, c := range []struct {
		name, format string
		data         []byte
	}{
		{"plain", "json", []byte(text)},
		{"line-broken", "json", []byte(indented)},
		{"bare array", "json", []byte(array)},
		{"gzip", "json.gz", gzipped(t, text)},
		{"gzip of two members", "json.gz", append(gzipped(t, text[:100]), gzipped(t, text[100:])...)},
		{"zstd", "json.zst", zstandard(t, text)},
		{"lz4", "json.lz4", lz4ed(t, text)},
		{"zip", "zip", zipped(t, text)},
		{"zip beside another file", "zip", zipped(t, `{"no":"trace"}`, text)},
		{"zip of gzip", "zip", zipped(t, string(gzipped(t, text)))},
		{"gzip of zstd", "json.gz", gzipped(t, string(zstandard(t, text)))},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := write(t, "no_extension", c.data)
			tr := load(t, trace.LoadOptions{}, path)
			got := strip(tr)
			if strings.Contains(c.name, "beside") {
				got.Diagnostics = nil
				if count(tr, "member_skipped") != 1 {
					t.Errorf("diagnostics: %+v", tr.Diagnostics)
				}
				want := *want
				want.Diagnostics = nil
				if diff := cmp.Diff(&want, got); diff != "" {
					t.Errorf("(-plain +got):\n%s", diff)
				}
			} else if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-plain +got):\n%s", diff)
			}
			sum := sha256.Sum256(c.data)
			f := tr.Files[0]
			if f.Format != c.format || f.Bytes != int64(len(c.data)) || f.SHA256 != hex.EncodeToString(sum[:]) || f.Events != 4 || f.Truncated {
				t.Errorf("file is %+v", f)
			}
		})
	}
}

func TestZipOfSeveralTraces(t *testing.T) {
	tr := load(t, trace.LoadOptions{}, write(t, "t.zip", zipped(t, sample(), sample())))
	if len(tr.Files) != 2 || len(tr.GPU) != 4 || tr.Files[1].Path[len(tr.Files[1].Path)-len("t.zip/member1.json"):] != "t.zip/member1.json" {
		t.Errorf("files are %+v", tr.Files)
	}
}

func TestUnreadableFiles(t *testing.T) {
	for _, c := range []struct {
		name string
		data string
		want string
	}{
		{"empty", "", "byte 0: not a trace: the file is empty"},
		{"blank", " \n", "byte 0: not a trace: the file is empty"},
		{"not JSON", "hello", "byte 0: not a trace: the text does not begin with { or ["},
		{"another object", `{"a":1}`, "byte 0: not a trace: there is no traceEvents array"},
		{"an array of other things", `[{"file":"x"}]`, "byte 0: not a trace: no element of the array is an event"},
		{"zip without trace", string(zipped(t, "x")), "not a trace: no member of the archive is one"},
		{"binary", "\x00\x01\x02\x03", "byte 0: not a trace"},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := write(t, "t.json", []byte(c.data))
			_, err := trace.Load(t.Context(), trace.LoadOptions{}, path)
			if err == nil || !strings.HasPrefix(err.Error(), path+": ") || !strings.Contains(err.Error(), c.want) || !errors.Is(err, trace.ErrNotTrace) || strings.Contains(err.Error(), "\n") {
				t.Errorf("error is %v", err)
			}
		})
	}
	if _, err := trace.Load(t.Context(), trace.LoadOptions{}, filepath.Join(t.TempDir(), "absent")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("missing file: %v", err)
	}
	if _, err := trace.Load(t.Context(), trace.LoadOptions{}, t.TempDir()); err == nil || !strings.Contains(err.Error(), "FindTraces") {
		t.Errorf("folder: %v", err)
	}
	if _, err := trace.Load(t.Context(), trace.LoadOptions{}); err == nil {
		t.Error("no path: no error")
	}
}

// TestBL06CutFiles cuts a file of every format at every byte: what came before is there, and the file is truncated.
func TestBL06CutFiles(t *testing.T) {
	t.Parallel()
	text := sample()
	whole := loadText(t, text)
	for name, data := range map[string][]byte{"json": []byte(text), "gz": gzipped(t, text), "zst": zstandard(t, text), "lz4": lz4ed(t, text)} {
		t.Run(name, func(t *testing.T) {
			most := 0
			for n := range len(data) {
				tr, err := trace.Read(t.Context(), trace.LoadOptions{}, "cut", bytes.NewReader(data[:n]))
				if err != nil {
					if n > 40 {
						t.Fatalf("cut at %d: %v", n, err)
					}
					continue
				}
				if err := tr.Check(); err != nil {
					t.Fatalf("cut at %d: %v", n, err)
				}
				if !tr.Files[0].Truncated {
					t.Fatalf("cut at %d of %d: not truncated", n, len(data))
				}
				if len(tr.GPU) < most {
					t.Fatalf("cut at %d: %d GPU events, fewer than before", n, len(tr.GPU))
				}
				most = len(tr.GPU)
			}
			if name == "json" && most != len(whole.GPU) {
				t.Errorf("at most %d GPU events", most)
			}
		})
	}
}

// TestBL06CutArchive cuts archives at every byte. The directory stands at the end, so the members are found without it.
func TestBL06CutArchive(t *testing.T) {
	t.Parallel()
	text := sample()
	var stored bytes.Buffer // with its sizes before the member
	z := zip.NewWriter(&stored)
	for _, name := range []string{"a.json", "b.json"} {
		w, err := z.CreateRaw(&zip.FileHeader{Name: name, Method: zip.Store, CompressedSize64: uint64(len(text)), UncompressedSize64: uint64(len(text)),
			CRC32: crc32.ChecksumIEEE([]byte(text))})
		if err != nil {
			t.Fatal(err)
		}
		io.WriteString(w, text)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{"deflated": zipped(t, text, text), "stored": stored.Bytes(), "beside another": zipped(t, "no trace", text, text)} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "t.zip")
			most := 0
			for n := len(data) % 7; n <= len(data); n += 7 {
				if err := os.WriteFile(path, data[:n], 0o644); err != nil {
					t.Fatal(err)
				}
				tr, err := trace.Load(t.Context(), trace.LoadOptions{}, path)
				if err != nil {
					if most > 0 {
						t.Fatalf("cut at %d: %v", n, err)
					}
					continue
				}
				if last := tr.Files[len(tr.Files)-1]; last.Truncated != (n < len(data)) || len(tr.GPU) < most {
					t.Fatalf("cut at %d: truncated %v, %d GPU events after %d", n, last.Truncated, len(tr.GPU), most)
				}
				most = len(tr.GPU)
			}
			if most != 4 {
				t.Errorf("at most %d GPU events", most)
			}
		})
	}
}

// TestBL06CutGzip drops the last 20 bytes: one event is cut, and no more is counted.
func TestBL06CutGzip(t *testing.T) {
	data := gzipped(t, document(kernel("a", 0, 10, 0, 1), kernel("b", 20, 10, 0, 2), kernel("c", 40, 10, 0, 3)))
	f := load(t, trace.LoadOptions{}, write(t, "t.gz", data[:len(data)-20])).Files[0]
	if !f.Truncated || f.Skipped > 1 || len(f.Damage) == 0 {
		t.Errorf("file is %+v", f)
	}
}

func TestCancel(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := trace.Load(ctx, trace.LoadOptions{}, write(t, "t.json", []byte(sample()))); !errors.Is(err, context.Canceled) {
		t.Errorf("error is %v, want context.Canceled", err)
	}
}

// TestCancelWhileReading ends the context from the progress callback, in the middle of a file.
func TestCancelWhileReading(t *testing.T) {
	path := filepath.Join(t.TempDir(), "big.json")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	line := strings.Repeat(python("f")+",", 100_000)
	for range 4 {
		f.WriteString("[" + line)
	}
	ctx, cancel := context.WithCancel(t.Context())
	calls := 0
	var ended time.Time
	_, err = trace.Load(ctx, trace.LoadOptions{Progress: func(done, total int64) {
		if done < 0 || done > total {
			t.Errorf("progress %d of %d", done, total)
		}
		if calls++; calls == 1 {
			cancel()
			ended = time.Now()
		}
	}}, path)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error is %v, want context.Canceled", err)
	}
	if d := time.Since(ended); d > 5*time.Second {
		t.Errorf("stopped after %v", d)
	}
}

func TestProgressReachesTheEnd(t *testing.T) {
	data := gzipped(t, sample())
	var done, total int64
	load(t, trace.LoadOptions{Progress: func(d, n int64) { done, total = d, n }}, write(t, "t.gz", data))
	if done != int64(len(data)) || total != int64(len(data)) {
		t.Errorf("progress ended at %d of %d, want %d", done, total, len(data))
	}
}
