package guard

import (
	"errors"
	"fmt"
	"path"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/millrace-go/millrace/internal/names"
)

// glob is a glob of a Policy.
type glob struct {
	pattern string
	folded  string // pattern, folded like the paths of names.FoldPath
	base    bool   // matches only the last element
	bad     bool   // invalid, so it matches everything
}

// Validate returns an error that names the first invalid glob: it is empty, begins with a slash, leads out of the tree,
// or has a bracket or brace that is not closed.
func (g Policy) Validate() error {
	for _, list := range [][]string{g.Denied, g.ReadOnly} {
		for _, pattern := range list {
			if _, err := newGlob(pattern); err != nil {
				return fmt.Errorf("glob %q: %w", pattern, err)
			}
		}
	}
	return nil
}

func newGlobs(patterns []string) []glob {
	var globs []glob
	for _, pattern := range patterns {
		g, err := newGlob(pattern)
		g.bad = err != nil
		globs = append(globs, g)
	}
	return globs
}

func newGlob(pattern string) (glob, error) {
	for strings.HasPrefix(pattern, "./") {
		pattern = strings.TrimLeft(pattern[2:], "/")
	}
	if strings.HasPrefix(pattern, "/") {
		return glob{}, names.ErrAbsolute
	}
	pattern = strings.TrimRight(pattern, "/")
	switch {
	case pattern == "" || pattern == ".":
		return glob{}, names.ErrEmptyPath
	case pattern == ".." || strings.HasPrefix(pattern, "../") || strings.Contains(pattern, "/../") ||
		strings.HasSuffix(pattern, "/.."):
		return glob{}, names.ErrEscape
	case !doublestar.ValidatePattern(pattern):
		return glob{}, errBadGlob
	}
	return glob{pattern: pattern, folded: names.FoldText(pattern),
		base: !strings.Contains(pattern, "/")}, nil
}

var errBadGlob = errors.New("not a valid glob")

// takes reports whether the glob matches the path, or another spelling that may name the same file.
func (g glob) takes(name string) bool {
	if g.bad {
		return true
	}
	if g.base {
		name = path.Base(name)
	}
	if g.matches(g.pattern, name) {
		return true
	}
	folded := names.FoldPath(name)
	return (folded != name || g.folded != g.pattern) && g.matches(g.folded, folded)
}

func (g glob) matches(pattern, name string) bool {
	ok, err := doublestar.Match(pattern, name)
	return ok || err != nil
}

// anyTakesAt reports whether any of the globs matches the path or a directory above it.
func anyTakesAt(globs []glob, name string) bool {
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
