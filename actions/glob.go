package actions

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/millrace-go/millrace/internal/show"
)

// glob is a pattern for paths. It is immutable.
type glob struct {
	plain []string // the globs it expands to, without braces, so that matching is at most quadratic
	base  bool     // matches only the last element
	deep  bool     // has a **
}

// Limits of globs: the length in bytes, the number of patterns without braces that a glob expands to, and the expansion
// steps for all globs of a list.
const (
	maxGlobBytes  = 4096
	maxGlobPlain  = 1000
	maxGlobSteps  = 20_000
	maxGlobNested = 100
)

func compileGlobs(patterns []string) ([]glob, error) {
	left := maxGlobSteps
	list := make([]glob, len(patterns))
	for i, pattern := range patterns {
		var err error
		if list[i], err = compileGlob(pattern, &left); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// compileGlob compiles a glob, and subtracts its expansion steps from left.
func compileGlob(pattern string, left *int) (glob, error) {
	if err := checkGlob(pattern); err != nil {
		return glob{}, err
	}
	g := glob{base: !strings.Contains(pattern, "/"), deep: doubleStar(pattern)}
	for strings.HasPrefix(pattern, "./") {
		pattern = strings.TrimLeft(pattern[2:], "/")
		g.base = !strings.Contains(pattern, "/")
	}
	if dir := strings.TrimRight(pattern, "/"); dir != pattern {
		g.base, g.deep = false, true
		if pattern = dir + "/**"; !strings.Contains(dir, "/") {
			pattern = "**/" + pattern
		}
	}
	var err error
	g.plain, err = withoutBraces(pattern, left)
	return g, err
}

func (g glob) matches(name string) bool {
	if g.base {
		name = path.Base(name)
	}
	return slices.ContainsFunc(g.plain, func(pattern string) bool { return doublestar.MatchUnvalidated(pattern, name) })
}

// depth returns the number of levels below its start in which the glob can match, 0 for no limit.
func (g glob) depth() int {
	if g.deep {
		return 0
	}
	most := 0
	for _, pattern := range g.plain {
		most = max(most, strings.Count(path.Clean(pattern), "/"))
	}
	return 1 + most
}

func anyGlob(globs []glob, name string) bool {
	return slices.ContainsFunc(globs, func(g glob) bool { return g.matches(name) })
}

// withoutBraces expands the braces of a valid glob: a{b,c} becomes ab and ac.
func withoutBraces(pattern string, left *int) ([]string, error) {
	var all []string
	type rest struct {
		pattern string
		from    int // the text before has no brace
	}
	for todo := []rest{{pattern, 0}}; len(todo) > 0; {
		now := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if *left--; *left < 0 || len(all) == maxGlobPlain {
			return nil, fmt.Errorf("glob '%s' has too many alternatives (max %d in a glob, about %d in a list)",
				show.Pattern(pattern), maxGlobPlain, maxGlobSteps/2)
		}
		open, parts, end := firstBrace(now.pattern, now.from)
		if open < 0 {
			all = append(all, now.pattern)
			continue
		}
		for _, part := range slices.Backward(parts) {
			todo = append(todo, rest{now.pattern[:open] + part + now.pattern[end:], open})
		}
	}
	return all, nil
}

// firstBrace returns the offset of the first open brace at or after an offset, the parts of the brace, and the offset
// of its end. Open is -1 if no brace is found.
func firstBrace(pattern string, from int) (open int, parts []string, end int) {
	depth, start := 0, 0
	for i := from; i < len(pattern); i = behindGlobChar(pattern, i) {
		switch c := pattern[i]; {
		case c == '{':
			if depth++; depth == 1 {
				open, start = i, i+1
			}
		case c == '}' && depth > 0:
			if depth--; depth == 0 {
				return open, append(parts, pattern[start:i]), i + 1
			}
		case c == ',' && depth == 1:
			parts, start = append(parts, pattern[start:i]), i+1
		}
	}
	return -1, nil, 0
}

// behindGlobChar returns the offset after the escaped character, bracket or byte at i.
func behindGlobChar(pattern string, i int) int {
	switch pattern[i] {
	case '\\':
		return i + 2
	case '[':
		for i++; i < len(pattern) && pattern[i] != ']'; i++ {
			if pattern[i] == '\\' {
				i++
			}
		}
	}
	return i + 1
}

// doubleStar reports whether a glob has two special stars in a row.
func doubleStar(pattern string) bool {
	for i := 0; i < len(pattern); i = behindGlobChar(pattern, i) {
		if strings.HasPrefix(pattern[i:], "**") {
			return true
		}
	}
	return false
}
