package gocode

import (
	_ "embed" // for the table of the standard library
	"iter"
	"path"
	"slices"
	"strings"
	"sync"
)

// standardText has a line for each package of the standard library: its path, and the names that it exports.
//
//go:embed standard.txt
var standardText string

// standard returns the exports of the packages of the standard library.
var standard = sync.OnceValue(func() map[string]map[string]bool {
	all := make(map[string]map[string]bool)
	for line := range strings.Lines(standardText) {
		words := strings.Fields(line)
		exports := make(map[string]bool, len(words))
		for _, name := range words[1:] {
			exports[name] = true
		}
		all[words[0]] = exports
	}
	return all
})

// standardNamed returns the packages of the standard library with a name, the best first: crypto/rand before math/rand,
// as in goimports, then the shorter path.
func standardNamed(name string) []string {
	var found []string
	for importPath := range standard() {
		if standardName(importPath) == name {
			found = append(found, importPath)
		}
	}
	slices.SortFunc(found, func(a, b string) int { return strings.Compare(rank(a), rank(b)) })
	return found
}

// rank returns a key by which packages with the same name are sorted.
func rank(importPath string) string {
	switch importPath {
	case "crypto/rand":
		return "0"
	case "math/rand/v2":
		return "1"
	case "html/template":
		return "z" // after text/template
	}
	return string(rune('2'+strings.Count(importPath, "/"))) + importPath
}

// standardName returns the name of a package of the standard library.
func standardName(importPath string) string {
	base := path.Base(importPath)
	if isVersion(base) {
		return path.Base(path.Dir(importPath))
	}
	return base
}

// inOrder iterates over the names of a set in sorted order.
func inOrder[T any](set map[string]T) iter.Seq[string] { return slices.Values(sortedNames(set)) }
