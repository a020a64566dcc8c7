package ignore_test

import (
	"strings"
	"testing"

	"github.com/millrace-go/millrace/internal/ignore"
)

// naive is the definition of a glob for a path, tried in every way, with memoized results. It does not support brackets
// and backslashes. A "**" is special between slashes and at the ends.
func naive(pattern, text string) bool {
	type state struct{ p, t int }
	known := map[state]bool{}
	var match func(p, t int) bool
	match = func(p, t int) (ok bool) {
		if v, seen := known[state{p, t}]; seen {
			return v
		}
		defer func() { known[state{p, t}] = ok }()
		if p == len(pattern) {
			return t == len(text)
		}
		if pattern[p] != '*' {
			return t < len(text) && (text[t] == pattern[p] || pattern[p] == '?' && text[t] != '/') && match(p+1, t+1)
		}
		end := p
		for end < len(pattern) && pattern[end] == '*' {
			end++
		}
		deep := end-p >= 2 && (p == 0 || pattern[p-1] == '/') && (end == len(pattern) || pattern[end] == '/')
		if deep && end < len(pattern) && match(end+1, t) {
			return true
		}
		for ; ; t++ {
			if match(end, t) {
				return true
			}
			if t == len(text) || text[t] == '/' && !deep {
				return false
			}
		}
	}
	return match(0, 0)
}

// FuzzMatch looks for panics, and for globs whose matches differ from their definition.
func FuzzMatch(f *testing.F) {
	for i, rules := range tricky {
		f.Add(rules, commonPaths[i%len(commonPaths)], i%2 == 0)
	}
	f.Add("/a*/**/b*c", "ax/y/z/bc", false)
	f.Fuzz(func(t *testing.T, rules, path string, isDir bool) {
		if len(rules) > 200 || len(path) > 200 {
			return
		}
		file := ignore.Parse([]byte(rules), ".")
		r := file.Match(path, isDir)
		if r != nil && (r.DirOnly && !isDir || r.Line < 1 || r.Line > strings.Count(rules, "\n")+1) {
			t.Errorf("%q: rule %+v decides about %q, directory %v", rules, *r, path, isDir)
		}
		// Only if a special character is first, no literal part is compared separately.
		glob, rooted := strings.CutPrefix(rules, "/")
		if !rooted || glob == "" || !strings.ContainsAny(glob[:1], "*?") || strings.ContainsAny(rules, "[]\\\n\r\x00") ||
			strings.HasSuffix(rules, "/") || strings.HasSuffix(rules, " ") || path == "" || strings.HasSuffix(path, "/") {
			return
		}
		if got, want := r != nil, naive(glob, path); got != want {
			t.Errorf("%q on %q: %v, want %v", rules, path, got, want)
		}
	})
}
