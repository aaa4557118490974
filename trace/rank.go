package trace

import (
	"path/filepath"
	"regexp"
	"strconv"
)

// The ways in which launchers write a rank into a file name. A process id or a time stamp is no rank, so a number
// counts only behind one of these words.
var (
	rankWord = regexp.MustCompile(`(?i)(?:^|[^a-z])rank[-_ ]?(\d{1,6})(?:\D|$)`)
	tpWord   = regexp.MustCompile(`(?i)(?:^|[^a-z])tp[-_](\d{1,6})(?:\D|$)`)
)

// rankInName reads the rank that a file name states, -1 if it states none.
func rankInName(path string) int {
	name := filepath.Base(path)
	for _, word := range []*regexp.Regexp{rankWord, tpWord} {
		if m := word.FindStringSubmatch(name); m != nil {
			n, err := strconv.Atoi(m[1])
			if err == nil {
				return n
			}
		}
	}
	return -1
}
