package trace

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
)

// detailsName is the file beside capture traces that tells what each was recorded for.
const detailsName = "execution_details.json"

// readDetails completes a capture from the details beside its file. Without them, or if they cannot be read, nothing is
// known.
func (c *Capture) readDetails(file string) {
	text, err := os.ReadFile(filepath.Join(filepath.Dir(file), detailsName))
	if err != nil {
		return
	}
	var list []struct {
		File  string `json:"file"`
		Batch int    `json:"batch_size"`
		Mode  string `json:"mode"`
	}
	if json.Unmarshal(text, &list) != nil {
		return
	}
	for _, d := range list {
		if filepath.Base(d.File) == filepath.Base(file) {
			c.Batch, c.Piecewise = d.Batch, strings.EqualFold(d.Mode, "piecewise")
		}
	}
}
