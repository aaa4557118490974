package ceiling

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"strings"
)

const weightsExt = ".safetensors"

// fromWeights makes the configuration of a component from the names and shapes in the headers of its safetensors files, for
// the architectures whose weights tell all that counts, or nearly so.
func fromWeights(folder fs.FS, part string) (*config, error) {
	files, err := fs.Glob(folder, part+"/*"+weightsExt)
	if err != nil {
		return nil, fmt.Errorf("ceiling: %w", err)
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("ceiling: %s: no config.json and no weights: %w", part, fs.ErrNotExist)
	}
	w := weights{}
	for _, file := range files {
		if err := w.readHeader(folder, file); err != nil {
			return nil, err
		}
	}
	return w.config(files[0])
}

// weights are the shapes of tensors by name.
type weights map[string][]int64

// maxHeader bounds what is read of a file that only claims to be safetensors; the format's own limit is the same.
const maxHeader = 100 << 20

// readHeader reads the length and the JSON at the start of a file.
func (w weights) readHeader(folder fs.FS, file string) error {
	f, err := folder.Open(file)
	if err != nil {
		return fmt.Errorf("ceiling: %w", err)
	}
	defer f.Close()
	var length [8]byte
	if _, err := io.ReadFull(f, length[:]); err != nil {
		return fmt.Errorf("ceiling: %s: header: %w", file, err)
	}
	n := binary.LittleEndian.Uint64(length[:])
	if n > maxHeader {
		return fmt.Errorf("ceiling: %s: header of %d bytes is no safetensors", file, n)
	}
	var header map[string]struct {
		Shape []int64 `json:"shape"`
	}
	data, err := io.ReadAll(io.LimitReader(f, int64(n)))
	if err == nil && uint64(len(data)) < n {
		err = io.ErrUnexpectedEOF
	}
	if err == nil {
		err = json.Unmarshal(data, &header)
	}
	if err != nil {
		return fmt.Errorf("ceiling: %s: header: %w", file, err)
	}
	for name, t := range header {
		w[name] = t.Shape
	}
	return nil
}

// dim returns a dimension of a tensor, 0 when it is not there.
func (w weights) dim(name string, i int) int64 {
	if s := w[name]; i < len(s) {
		return s[i]
	}
	return 0
}

// blocks counts prefix.0, prefix.1 …
func (w weights) blocks(prefix string) int64 {
	seen := map[string]bool{}
	for name := range w {
		if rest, ok := strings.CutPrefix(name, prefix+"."); ok {
			index, _, _ := strings.Cut(rest, ".")
			seen[index] = true
		}
	}
	return int64(len(seen))
}
