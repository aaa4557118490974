package record

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// ErrNoCommit is wrapped when a checkout's files do not say which commit is checked out.
var ErrNoCommit = errors.New("no commit found")

// CheckoutSHA returns the hash of the commit that is checked out in dir. It reads the files of the git folder and runs
// nothing: HEAD, loose and packed references, and the pointers of worktrees and submodules. Files that are not there
// keep their error ([fs.ErrNotExist]).
func CheckoutSHA(dir string) (string, error) {
	git, err := gitFolder(dir)
	if err != nil {
		return "", fmt.Errorf("record: checkout %s: %w", dir, err)
	}
	sha, err := resolve(git, "HEAD", 0)
	if err != nil {
		return "", fmt.Errorf("record: checkout %s: %w", dir, err)
	}
	return sha, nil
}

// gitFolder follows the "gitdir:" file that stands for .git in worktrees and submodules.
func gitFolder(dir string) (string, error) {
	path := filepath.Join(dir, ".git")
	info, err := os.Stat(path)
	if err != nil || info.IsDir() {
		return path, err
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	to, ok := strings.CutPrefix(strings.TrimSpace(string(text)), "gitdir:")
	if !ok {
		return "", fmt.Errorf("%w: %s is neither a folder nor a pointer", ErrNoCommit, path)
	}
	return under(dir, strings.TrimSpace(to)), nil
}

// resolve follows symbolic references, at most a few: a cycle is no commit.
func resolve(git, ref string, depth int) (string, error) {
	const maxDepth = 5
	if depth > maxDepth || strings.Contains(ref, "..") || depth > 0 && !strings.HasPrefix(ref, "refs/") {
		return "", fmt.Errorf("%w: reference %q", ErrNoCommit, ref)
	}
	common := commonFolder(git)
	for _, folder := range []string{git, common} {
		text, err := os.ReadFile(filepath.Join(folder, filepath.FromSlash(ref)))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return "", err
		}
		line := strings.TrimSpace(string(text))
		if next, ok := strings.CutPrefix(line, "ref:"); ok {
			return resolve(git, strings.TrimSpace(next), depth+1)
		}
		if !isHash(line) {
			return "", fmt.Errorf("%w: %s holds no hash", ErrNoCommit, ref)
		}
		return line, nil
	}
	return packed(common, ref)
}

// commonFolder is where a worktree's references are.
func commonFolder(git string) string {
	text, err := os.ReadFile(filepath.Join(git, "commondir"))
	if err != nil {
		return git
	}
	return under(git, strings.TrimSpace(string(text)))
}

func packed(git, ref string) (string, error) {
	text, err := os.ReadFile(filepath.Join(git, "packed-refs"))
	if err != nil {
		return "", fmt.Errorf("%w: reference %s: %w", ErrNoCommit, ref, err)
	}
	for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
		if hash, name, ok := strings.Cut(lines.Text(), " "); ok && name == ref && isHash(hash) {
			return hash, nil
		}
	}
	return "", fmt.Errorf("%w: reference %s is not packed", ErrNoCommit, ref)
}

func under(dir, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}

// isHash tells whether s is a SHA-1 or SHA-256 in hexadecimal.
func isHash(s string) bool {
	return (len(s) == 40 || len(s) == 64) && strings.Trim(s, "0123456789abcdef") == ""
}
