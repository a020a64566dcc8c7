package fsutil

import (
	"errors"
	"fmt"
	"path"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// guardGlob is a glob of a Guard.
type guardGlob struct {
	pattern string
	folded  string // pattern in the spelling that foldName gives names
	base    bool   // for the last element alone
	bad     bool   // takes everything
}

// Validate returns an error that names the first glob that is not valid: one that is empty, begins with a slash, leads out
// of the tree, or has a bracket or brace that is not closed.
func (g Guard) Validate() error {
	for _, list := range [][]string{g.Denied, g.ReadOnly} {
		for _, pattern := range list {
			if _, err := newGuardGlob(pattern); err != nil {
				return fmt.Errorf("glob %q: %w", pattern, err)
			}
		}
	}
	return nil
}

func newGuardGlobs(patterns []string) []guardGlob {
	var globs []guardGlob
	for _, pattern := range patterns {
		g, err := newGuardGlob(pattern)
		g.bad = err != nil
		globs = append(globs, g)
	}
	return globs
}

func newGuardGlob(pattern string) (guardGlob, error) {
	for strings.HasPrefix(pattern, "./") {
		pattern = strings.TrimLeft(pattern[2:], "/")
	}
	if strings.HasPrefix(pattern, "/") {
		return guardGlob{}, ErrAbsolute
	}
	pattern = strings.TrimRight(pattern, "/")
	switch {
	case pattern == "" || pattern == ".":
		return guardGlob{}, ErrEmptyPath
	case pattern == ".." || strings.HasPrefix(pattern, "../") || strings.Contains(pattern, "/../") || strings.HasSuffix(pattern, "/.."):
		return guardGlob{}, ErrEscape
	case !doublestar.ValidatePattern(pattern):
		return guardGlob{}, errBadGlob
	}
	return guardGlob{pattern: pattern, folded: strings.Map(foldRune, pattern), base: !strings.Contains(pattern, "/")}, nil
}

var errBadGlob = errors.New("not a valid glob")

// takes reports whether the glob takes the path itself, in this spelling or another one that may name the same file.
func (g guardGlob) takes(name string) bool {
	if g.bad {
		return true
	}
	if g.base {
		name = path.Base(name)
	}
	if g.matches(g.pattern, name) {
		return true
	}
	folded := foldPath(name)
	return (folded != name || g.folded != g.pattern) && g.matches(g.folded, folded)
}

func (g guardGlob) matches(pattern, name string) bool {
	ok, err := doublestar.Match(pattern, name)
	return ok || err != nil
}

// anyTakesAt reports whether one of the globs takes the path or a directory above it.
func anyTakesAt(globs []guardGlob, name string) bool {
	if len(globs) == 0 || name == "." {
		return false
	}
	for end := 0; end <= len(name); end++ {
		if end < len(name) && name[end] != '/' {
			continue
		}
		for _, g := range globs {
			if g.takes(name[:end]) {
				return true
			}
		}
	}
	return false
}
