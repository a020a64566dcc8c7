package actions

import (
	"fmt"
	"path"
	"strings"
	"unicode/utf8"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/millrace-go/millrace/fsutil"
)

// filter says which files a search looks into. It is immutable.
type filter struct {
	types   []string // lower case, with the dot
	include []glob
	exclude []glob
}

// glob is a pattern for paths.
type glob struct {
	pattern string
	base    bool // for the last element alone
}

// cleanGlob brings a glob into the form that paths are in.
func cleanGlob(pattern string) glob {
	for strings.HasPrefix(pattern, "./") {
		pattern = strings.TrimLeft(pattern[2:], "/")
	}
	if dir := strings.TrimRight(pattern, "/"); dir != pattern {
		if strings.Contains(dir, "/") {
			return glob{pattern: dir + "/**"}
		}
		return glob{pattern: "**/" + dir + "/**"}
	}
	return glob{pattern: pattern, base: !strings.Contains(pattern, "/")}
}

func (g glob) matches(name string) bool {
	if g.base {
		name = path.Base(name)
	}
	// The pattern is valid, so there is no error.
	ok, _ := doublestar.Match(g.pattern, name)
	return ok
}

func newFilter(types, include, exclude []string) (*filter, error) {
	f := &filter{}
	for _, t := range types {
		t = strings.ToLower(strings.TrimPrefix(t, "*"))
		if !strings.HasPrefix(t, ".") {
			t = "." + t
		}
		f.types = append(f.types, t)
	}
	for _, list := range []struct {
		from []string
		to   *[]glob
	}{{include, &f.include}, {exclude, &f.exclude}} {
		for _, pattern := range list.from {
			if err := checkGlob(pattern); err != nil {
				return nil, err
			}
			*list.to = append(*list.to, cleanGlob(pattern))
		}
	}
	return f, nil
}

func checkGlob(pattern string) error {
	switch {
	case pattern == "":
		return fmt.Errorf("glob cannot be empty")
	case !doublestar.ValidatePattern(pattern):
		return fmt.Errorf("'%s' is not a valid glob", pattern)
	case backwards(pattern) != "":
		return fmt.Errorf("glob '%s' has the range '%s', which goes backwards", pattern, backwards(pattern))
	case strings.HasPrefix(pattern, "/"):
		return fmt.Errorf("glob '%s' begins with a slash, but paths are relative to the root of the tree", pattern)
	}
	return nil
}

// backwards returns a range of characters in a valid glob that has none in it, "" if there is no such. What one would take is not
// the same everywhere: here it is its first character, in git and in a shell it is nothing.
func backwards(pattern string) string {
	const (
		outside = -1 // of brackets
		none    = -2 // character that may begin a range
	)
	first := rune(outside)
	for rest := pattern; rest != ""; {
		c, n := utf8.DecodeRuneInString(rest)
		rest = rest[n:]
		switch {
		case c == '\\':
			c, n = utf8.DecodeRuneInString(rest)
			rest = rest[n:]
			if first != outside {
				first = c
			}
		case first == outside:
			if c == '[' {
				first = none
				if strings.HasPrefix(rest, "!") || strings.HasPrefix(rest, "^") {
					rest = rest[1:]
				}
			}
		case c == ']':
			first = outside
		case c == '-' && first != none && !strings.HasPrefix(rest, "]"):
			last, n := utf8.DecodeRuneInString(strings.TrimPrefix(rest, `\`))
			if last < first {
				return string(first) + "-" + string(last)
			}
			rest, first = strings.TrimPrefix(rest, `\`)[n:], none
		default:
			first = c
		}
	}
	return ""
}

// checkGlobs reports the globs that are not valid.
func checkGlobs(c *Check, param string, globs []string) {
	for i, pattern := range globs {
		if c.Templated(pattern) {
			continue
		}
		if err := checkGlob(pattern); err != nil {
			c.problem(fmt.Sprintf("%s/%d", param, i), codeBadGlob, err)
		}
	}
}

// checkFilter reports what is wrong with the parameters of a filter.
func checkFilter(c *Check, types, include, exclude []string) {
	checkGlobs(c, "/include", include)
	checkGlobs(c, "/exclude", exclude)
	for i, ext := range types {
		if strings.ContainsAny(strings.TrimPrefix(ext, "*"), "/*?[{") && !c.Templated(ext) {
			c.Problemf(fmt.Sprintf("/file_types/%d", i), codeBadGlob, "use include for globs", "'%s' is not a file name extension", ext)
		}
	}
}

// skip returns the walk's Skip.
func (f *filter) skip() func(name string, isDir bool) bool {
	if len(f.exclude) == 0 {
		return nil // then the walk need not know the path of each file
	}
	return func(name string, _ bool) bool { return anyGlob(f.exclude, name) }
}

// chooses reports whether the filter names what it takes.
func (f *filter) chooses() bool { return len(f.include)+len(f.types) > 0 }

// takes reports whether an entry that was not skipped is to be looked into.
func (f *filter) takes(e fsutil.Entry) bool {
	return (len(f.include) == 0 || anyGlob(f.include, e.Path())) && f.takesType(e.Name())
}

// takesPath is takes for a path.
func (f *filter) takesPath(name string) bool {
	return (len(f.include) == 0 || anyGlob(f.include, name)) && f.takesType(path.Base(name))
}

func (f *filter) takesType(base string) bool {
	if len(f.types) == 0 {
		return true
	}
	base = strings.ToLower(base)
	for _, t := range f.types {
		if strings.HasSuffix(base, t) {
			return true
		}
	}
	return false
}

func anyGlob(globs []glob, name string) bool {
	for _, g := range globs {
		if g.matches(name) {
			return true
		}
	}
	return false
}
