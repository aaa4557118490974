package record

import (
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// An Image is a released build of a framework: its version and the commit of its checkout.
type Image struct {
	Version string // as in "v26.7"
	SHA     string
}

// XDiTImages returns the known xDiT images. The slice is the caller's to extend.
func XDiTImages() []Image {
	return []Image{
		{"v26.7", "c30266378c815c2f31f95b9d21d2818276050547"},
		{"v26.8", "2f74acb12830163d1fe0dd1abb5422f0bff7acf0"},
	}
}

// Status tells whether a patched build can be used.
type Status string

// Statuses. Their text is what other tools read.
const (
	OK           Status = "ok"            // a patch fits
	Unavailable  Status = "unavailable"   // one was looked for; Reason says why none fits
	NotAttempted Status = "not_attempted" // none was looked for; Reason says why
)

// A Patch is the choice of a patch file.
type Patch struct {
	Status  Status
	Reason  string // why not; empty when Status is OK
	Version string // of the image, "" when unknown
	File    string // chosen patch, a path within the folder given
}

// ChoosePatch picks the patch file for a checkout. The commit must be that of a known image. The file of exactly that
// version is taken, else that of the nearest lower version. Files are those with the endings .patch and .diff whose name
// holds a version ("xdit_v26.7.patch").
func ChoosePatch(sha string, images []Image, folder fs.FS) (Patch, error) {
	i := slices.IndexFunc(images, func(m Image) bool { return m.SHA == sha })
	if i < 0 {
		return Patch{Status: Unavailable, Reason: "checkout " + sha + " is no known image"}, nil
	}
	want := parseVersion(images[i].Version)
	p := Patch{Version: images[i].Version}
	entries, err := fs.ReadDir(folder, ".")
	if err != nil {
		return Patch{}, fmt.Errorf("record: patch folder: %w", err)
	}
	var best []int
	for _, e := range entries { // sorted by name: of two files of a version the first is taken
		v := parseVersion(strings.TrimSuffix(e.Name(), path.Ext(e.Name())))
		if ext := path.Ext(e.Name()); e.IsDir() || ext != ".patch" && ext != ".diff" || v == nil || slices.Compare(v, want) > 0 {
			continue
		}
		if best == nil || slices.Compare(v, best) > 0 {
			best, p.File = v, e.Name()
		}
	}
	if best == nil {
		p.Status, p.Reason = Unavailable, "no patch for "+p.Version+" or lower"
		return p, nil
	}
	p.Status = OK
	return p, nil
}

var versionText = regexp.MustCompile(`\d+(\.\d+)+`)

// parseVersion returns the numbers of the first version in a text, without trailing zeros, nil when there is none.
func parseVersion(s string) []int {
	text := versionText.FindString(s)
	if text == "" {
		return nil
	}
	var v []int
	for _, part := range strings.Split(text, ".") {
		n, err := strconv.Atoi(part)
		if err != nil {
			return nil // a number beyond the range of int is no version
		}
		v = append(v, n)
	}
	for len(v) > 1 && v[len(v)-1] == 0 {
		v = v[:len(v)-1]
	}
	return v
}
