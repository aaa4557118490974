// Command sample writes the two sample traces that the analyze example embeds: the same FLUX-like run with and without
// annotations. Run it with go generate in examples/analyze.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"github.com/klauspost/compress/gzip"

	"github.com/ditlens/ditlens/internal/synth"
)

func main() {
	dir := flag.String("dir", ".", "folder to write to")
	flag.Parse()
	for name, unnamed := range map[string]bool{"sample.json.gz": false, "sample_unmarked.json.gz": true} {
		r := synth.Flux(synth.FluxConfig{Unnamed: unnamed})
		if err := write(filepath.Join(*dir, name), r.JSON()); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
}

func write(path string, data []byte) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	z, err := gzip.NewWriterLevel(f, gzip.BestCompression)
	if err != nil {
		return err
	}
	if _, err := z.Write(data); err != nil {
		return err
	}
	if err := z.Close(); err != nil {
		return err
	}
	return f.Close()
}
