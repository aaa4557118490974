package hw

import (
	"bytes"
	"embed"
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode"
)

// files holds one JSON spec a GPU; the same form that users write.
//
//go:embed data/*.json
var files embed.FS

//go:embed data/README.md
var schema string

// Schema returns the description of the JSON form that [ParseSpec] reads, as Markdown.
func Schema() string { return schema }

// All returns the shipped specs by name. They are fresh values.
func All() []*Spec {
	entries, err := files.ReadDir("data")
	if err != nil {
		panic("hw: " + err.Error()) // the folder is part of the program
	}
	var all []*Spec
	for _, e := range entries {
		if s := shipped(e.Name()); s != nil {
			all = append(all, s)
		}
	}
	return all
}

// shipped reads one embedded spec, nil for a file that is none.
func shipped(name string) *Spec {
	if path.Ext(name) != ".json" {
		return nil
	}
	data, err := files.ReadFile("data/" + name)
	if err != nil {
		return nil
	}
	s, err := ParseSpec(name, bytes.NewReader(data))
	if err != nil {
		panic(err) // the test of the data files fails first
	}
	return s
}

// MI300X returns the spec of the AMD Instinct MI300X.
func MI300X() *Spec { return shipped("mi300x.json") }

// Lookup returns the shipped spec with a name or alias, without regard to case, spaces and punctuation. Names that only
// resemble a shipped one are an *[UnknownError] that lists the nearest. All specs are read anew: keep the result rather
// than look up again.
func Lookup(name string) (*Spec, error) {
	all := All()
	for _, s := range all {
		if s.named(name) {
			return s, nil
		}
	}
	return nil, &UnknownError{Name: name, Near: nearest(name, all)}
}

// Template returns the JSON of a shipped spec, to be changed and given to [ParseSpec]. Errors are those of [Lookup].
func Template(name string) ([]byte, error) {
	s, err := Lookup(name)
	if err != nil {
		return nil, err
	}
	data, err := files.ReadFile("data/" + key(s.Aliases[0]) + ".json")
	if err != nil {
		return nil, fmt.Errorf("hw: template: %w", err)
	}
	return data, nil
}

func (s *Spec) named(name string) bool {
	k := key(name)
	return k != "" && (k == key(s.Product) || slices.ContainsFunc(s.Aliases, func(a string) bool { return key(a) == k }))
}

// key reduces a name to its letters and digits, in lower case.
func key(name string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, name)
}

// nearest returns up to three short names that have at least half of their characters in name, in order.
func nearest(name string, all []*Spec) []string {
	type near struct {
		name   string
		common int
	}
	var found []near
	for _, s := range all {
		short := key(s.Aliases[0])
		if n := common(key(name), short); 2*n >= len(short) {
			found = append(found, near{s.Aliases[0], n})
		}
	}
	slices.SortStableFunc(found, func(a, b near) int { return b.common - a.common })
	var names []string
	for _, f := range found[:min(3, len(found))] {
		names = append(names, f.name)
	}
	return names
}

// common returns the length of the longest common subsequence of two names.
func common(a, b string) int {
	row := make([]int, len(b)+1)
	for i := range len(a) {
		diagonal := 0
		for j := range len(b) {
			above := row[j+1]
			row[j+1] = max(above, row[j])
			if a[i] == b[j] {
				row[j+1] = diagonal + 1
			}
			diagonal = above
		}
	}
	return row[len(b)]
}
