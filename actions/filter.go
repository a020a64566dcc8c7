package actions

import (
	"fmt"
	"path"
	"strings"

	"github.com/millrace-go/millrace/internal/walk"
)

// filter says which files a search looks into. It is immutable.
type filter struct {
	types   []string // lower case, with the dot
	include []glob
	exclude []glob
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
	var err error
	if f.include, _, err = compileGlobs(include); err == nil {
		f.exclude, _, err = compileGlobs(exclude)
	}
	if err != nil {
		return nil, err
	}
	return f, nil
}

// checkGlobs reports the globs that are not valid, and that they are too many.
func checkGlobs(c *Check, param string, globs []string) {
	left := maxGlobSteps
	for i, pattern := range globs {
		if c.Templated(pattern) {
			continue
		}
		if _, err := compileGlob(pattern, &left); err != nil {
			c.problem(fmt.Sprintf("%s/%d", param, i), codeBadGlob, err)
			if left <= 0 {
				return
			}
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
func (f *filter) takes(e walk.Entry) bool {
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
