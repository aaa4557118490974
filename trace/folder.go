package trace

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ditlens/ditlens/internal/scan"
)

// Role is what a file of a folder is good for.
type Role uint8

// Roles.
const (
	RoleNone    Role = iota // not to be analysed; Reason says why
	RoleMain                // the trace to analyse of its rank
	RoleCapture             // recorded while graphs were captured: a source of shapes, see MergeCapture
)

// String returns "left out", "main" or "capture".
func (r Role) String() string { return [...]string{"left out", "main", "capture"}[min(r, RoleCapture)] }

// A Candidate is a file of a folder with what was found in it.
type Candidate struct {
	Path   string
	Role   Role
	Reason string // why it has this role, for people
	Rank   int    // -1 when unknown
	Events int64
	GPU    int64 // kernels, copies and fills

	captures int64 // graph captures begun
	replays  int64 // graph launches
	marked   bool  // a range names itself after graph capture
}

// FindTraces looks into every file below dir and tells by its content which is the main trace of each rank, which are
// capture-phase traces, and why the others are left out. The result is sorted by path. The main trace of a rank is the one
// with the most GPU events that is no capture trace; a split-off fragment of it has fewer. A file that cannot be read is left out
// with the reason; the error is that of dir or of ctx.
func FindTraces(ctx context.Context, dir string) ([]Candidate, error) {
	var list []Candidate
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil && path == dir:
			return err
		case err != nil:
			list = append(list, Candidate{Path: path, Rank: -1, Reason: "cannot be read: " + err.Error()})
			return nil
		}
		if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
			return nil
		}
		c, err := survey(ctx, path)
		if err != nil {
			return err
		}
		list = append(list, c)
		return nil
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(list, func(x, y Candidate) int { return strings.Compare(x.Path, y.Path) })
	assignRoles(list)
	return list, nil
}

// survey counts what a file holds. Only the end of ctx is an error.
func survey(ctx context.Context, path string) (Candidate, error) {
	c := Candidate{Path: path, Rank: -1}
	var members error // the first that is not to be read
	err := eachText(ctx, path, func(f File, src *source) error {
		err := c.count(src)
		if err != nil && f.Format == "zip" && ctx.Err() == nil {
			members = cmp.Or(members, err)
			return nil
		}
		return err
	})
	err = cmp.Or(err, members)
	switch {
	case ctx.Err() != nil:
		return c, ctx.Err()
	case errors.Is(err, ErrNotTrace) && c.Events == 0:
		c.Reason = "not a trace"
	case err != nil && c.Events == 0:
		c.Reason = "cannot be read: " + err.Error()
	}
	if c.Rank == -1 {
		c.Rank = rankInName(path)
	}
	return c, nil
}

// count reads one text.
func (c *Candidate) count(src *source) error {
	r, _, stop, err := inflate(src)
	if err != nil {
		return err
	}
	defer stop()
	ahead := newReadahead(r)
	defer ahead.Close()
	s := scan.NewBlocks(ahead, scan.Options{Unread: "python_function"})
	for {
		switch s.Next() {
		case scan.IsEvent:
			c.event(s.Event())
		case scan.IsHeader:
			h := Header{Rank: -1}
			if h.read(s.Header().Key.String(), s.Header().Value); h.Rank != -1 {
				c.Rank = h.Rank
			}
		case scan.End:
			return s.Err()
		}
	}
}

func (c *Candidate) event(e *scan.Event) {
	if e.Phase == 0 {
		return
	}
	c.Events++
	switch classify(e.Cat.Raw) {
	case classKernel, classCopy, classFill:
		c.GPU++
	case classRuntime:
		switch launchKind(string(e.Name.Raw)) {
		case CaptureBegin:
			c.captures++
		case LaunchGraph:
			c.replays++
		}
	case classAnnotation, classPython:
		c.marked = c.marked || strings.HasSuffix(string(e.Name.Raw), "_capture_graph")
	}
}

// isCapture tells a trace of the capture phase: it begins captures and replays no more often, or it says so.
func (c *Candidate) isCapture() (bool, string) {
	switch {
	case filepath.Base(filepath.Dir(c.Path)) == "capture_traces":
		return true, "it lies in capture_traces"
	case c.captures > 0 && c.replays <= c.captures:
		return true, fmt.Sprintf("it captures %d graphs and replays %d", c.captures, c.replays)
	case c.marked && c.replays == 0:
		return true, "a range in it is named after graph capture"
	}
	return false, ""
}

// assignRoles decides over all files together.
func assignRoles(list []Candidate) {
	best := make(map[int]*Candidate) // by rank
	for i := range list {
		c := &list[i]
		capture, why := c.isCapture()
		switch {
		case c.Reason != "":
		case c.Events == 0:
			c.Reason = "no events"
		case c.GPU == 0:
			c.Reason = "no GPU events"
		case capture:
			c.Role, c.Reason = RoleCapture, why
		default:
			b := best[c.Rank]
			if b == nil || c.GPU > b.GPU || c.GPU == b.GPU && c.Events > b.Events {
				best[c.Rank] = c
			}
		}
	}
	if len(best) == 0 {
		promoteCapture(list)
		return
	}
	for i := range list {
		c := &list[i]
		if c.Role != RoleNone || c.Reason != "" {
			continue
		}
		if b := best[c.Rank]; b == c {
			c.Role, c.Reason = RoleMain, fmt.Sprintf("%d GPU events, the most of its rank", c.GPU)
		} else {
			c.Reason = fmt.Sprintf("%d GPU events; %s has %d", c.GPU, filepath.Base(b.Path), b.GPU)
		}
	}
}

// promoteCapture makes the largest capture trace of each rank its main one, if the folder has nothing better.
func promoteCapture(list []Candidate) {
	best := make(map[int]*Candidate)
	for i := range list {
		if c := &list[i]; c.Role == RoleCapture && (best[c.Rank] == nil || c.GPU > best[c.Rank].GPU) {
			best[c.Rank] = c
		}
	}
	for _, c := range best {
		c.Role, c.Reason = RoleMain, "a capture trace, but the folder has no other with GPU events: "+c.Reason
	}
}
