package trace

import (
	"regexp"
	"strconv"
)

// batchRange matches the ranges in which serving engines run a call: execute_diffusion_2_1024x1024 is one of two images.
var batchRange = regexp.MustCompile(`^execute_[a-z_]*?_(\d{1,6})(_|$)`)

// batchOf reads the batch size from the names of the ranges around a call, 0 if none tells.
func batchOf(names map[string]bool) int {
	batch := 0
	for name := range names {
		if m := batchRange.FindStringSubmatch(name); m != nil {
			n, _ := strconv.Atoi(m[1])
			batch = max(batch, n)
		}
	}
	return batch
}
