package config

import (
	"fmt"
	"strings"

	"github.com/millrace-go/millrace/fsutil"
	"github.com/millrace-go/millrace/internal/guard"
)

// Below returns the project's limits for a tree that is a directory of the project: their paths count from there. name
// is the clean path of the directory. The error names a glob that cannot be divided at the directory.
func (c Config) Below(name string) (Config, error) {
	below := Config{project: c.project, Project: c.Project}
	l := &below.Project
	err := guard.Policy{Denied: l.Deny, ReadOnly: l.ReadOnly}.Validate()
	for _, list := range []*[]string{&l.Deny, &l.ReadOnly} {
		var globs []string
		for _, glob := range *list {
			if err == nil {
				globs, err = appendBelow(globs, glob, name)
			}
		}
		*list = globs
	}
	if err != nil || l.Allow == nil {
		return below, err
	}
	l.Allow = []string{}
	for _, path := range c.Project.Allow {
		switch {
		case fsutil.Within(name, path):
			l.Allow = nil // the whole tree
			return below, nil
		case fsutil.Within(path, name):
			l.Allow = append(l.Allow, path[len(name)+1:])
		}
	}
	return below, nil
}

// appendBelow appends the globs that match below a directory what a glob matches from above it.
func appendBelow(globs []string, glob, name string) ([]string, error) {
	if takes(glob, name) {
		return append(globs, "*"), nil
	}
	clean := glob
	for strings.HasPrefix(clean, "./") {
		clean = strings.TrimLeft(clean[2:], "/")
	}
	parts := strings.Split(strings.TrimRight(clean, "/"), "/")
	if len(parts) == 1 {
		return append(globs, glob), nil // it matches a name at any place
	}
	odd := func(part string) bool { return part != "**" && strings.Contains(part, "**") }
	if (guard.Policy{Denied: parts}).Validate() != nil || odd(parts[len(parts)-1]) {
		return nil, fmt.Errorf("the glob %q cannot be divided at the directory %q: write each path as a glob of its own",
			glob, name)
	}
	rest := make([]bool, len(parts)) // whether the parts from there on remain to be matched
	rest[0] = true
	for dir := range strings.SplitSeq(name, "/") {
		next := make([]bool, len(parts))
		for i, part := range parts[:len(parts)-1] {
			switch {
			case !rest[i]:
			case part == "**":
				next[i], rest[i+1] = true, true // also no directory
			case takes(part, dir):
				next[i+1] = true
			}
		}
		if parts[len(parts)-1] == "**" && rest[len(parts)-1] {
			next[len(parts)-1] = true
		}
		rest = next
	}
	for i := range parts {
		if !rest[i] {
			continue
		}
		part := strings.Join(parts[i:], "/")
		if i == len(parts)-1 {
			part += "/**" // without a slash it would match at any place
		}
		globs = append(globs, part)
	}
	return globs, nil
}

// takes reports whether a glob of denied paths matches a path, or a directory above it.
func takes(glob, name string) bool {
	g := guard.New(guard.Policy{Denied: []string{glob}})
	return g.Check(name, guard.Look) != nil
}
