package config

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/bmatcuk/doublestar/v4"
	"golang.org/x/text/unicode/norm"

	"github.com/millrace-go/millrace/fsutil"
)

// Below returns the project's limits for a tree that is a directory of the project, with paths relative to the
// directory. name is the clean path of the directory. The error names a glob that cannot be divided at the directory.
func (c Config) Below(name string) (Config, error) {
	below := Config{project: c.project, Project: c.Project}
	l := &below.Project
	for _, list := range []*[]string{&l.Deny, &l.ReadOnly} {
		var globs []string
		for _, glob := range *list {
			var err error
			if globs, err = appendBelow(globs, glob, name); err != nil {
				return Config{}, err
			}
		}
		*list = globs
	}
	if l.Allow == nil {
		return below, nil
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

// appendBelow converts a glob of the project to globs relative to a directory, and appends them. They match the same
// entries of the directory as the glob.
func appendBelow(globs []string, glob, name string) ([]string, error) {
	clean := glob
	for strings.HasPrefix(clean, "./") {
		clean = strings.TrimLeft(clean[2:], "/")
	}
	clean = strings.TrimRight(clean, "/")
	if !doublestar.ValidatePattern(clean) {
		return append(globs, glob), nil // the executor refuses it
	}
	for at := name; at != "."; at = path.Dir(at) {
		against := at
		if !strings.Contains(clean, "/") {
			against = path.Base(at)
		}
		if takes(clean, against) {
			return append(globs, "*"), nil
		}
	}
	parts := strings.Split(clean, "/")
	if len(parts) == 1 {
		return append(globs, glob), nil // it matches a name at any depth
	}
	end := len(parts) - 1
	if last := parts[end]; last != "**" && !strings.ContainsAny(last, `{\`) {
		for strings.Contains(last, "**") { // within a name they are one
			last = strings.ReplaceAll(last, "**", "*")
		}
		parts[end] = last
	}
	if slices.ContainsFunc(parts, odd) {
		return nil, fmt.Errorf("the glob %q cannot be divided at the directory %q: write each path as a glob of its own",
			glob, name)
	}
	rest := make([]bool, len(parts)) // rest[i]: parts[i:] can match below the directory
	rest[0] = true
	for dir := range strings.SplitSeq(name, "/") {
		next := make([]bool, len(parts))
		for i, part := range parts[:end] {
			switch {
			case !rest[i]:
			case part == "**":
				next[i], rest[i+1] = true, true // ** also matches zero directories
			case takes(part, dir):
				next[i+1] = true
			}
		}
		next[end] = next[end] || rest[end] && parts[end] == "**"
		rest = next
	}
	for i := range parts {
		if !rest[i] {
			continue
		}
		part := strings.Join(parts[i:], "/")
		if i == end {
			part += "/**" // without a slash it would match at any depth
		}
		globs = append(globs, part)
	}
	return globs, nil
}

// odd reports whether a part of a glob is not a valid glob for a single name. An alternative ** stands for several.
func odd(part string) bool {
	return part == "" || part == "." || part == ".." || !doublestar.ValidatePattern(part) ||
		part != "**" && strings.Contains(part, "**") && strings.ContainsAny(part, `{\\`)
}

// takes reports whether a glob matches a path. Like the engine, it also matches other spellings that some file system
// treats as the same name.
func takes(glob, name string) bool {
	if doublestar.MatchUnvalidated(glob, name) {
		return true
	}
	parts := strings.Split(folded(name), "/")
	for i, part := range parts {
		part, _, _ = strings.Cut(part, ":")
		parts[i] = strings.TrimRight(part, ". ")
	}
	return doublestar.MatchUnvalidated(folded(glob), strings.Join(parts, "/"))
}

// spelled returns the same character for all characters that differ only in case, and -1 for an invisible character.
func spelled(r rune) rune {
	if unicode.In(r, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector) {
		return -1
	}
	least := r
	for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
		least = min(least, next)
	}
	if least == '\u0345' { // the iota below a letter, which would join the letter before
		return 'ι'
	}
	return unicode.ToLower(least)
}

func folded(text string) string { return norm.NFC.String(strings.Map(spelled, norm.NFC.String(text))) }
