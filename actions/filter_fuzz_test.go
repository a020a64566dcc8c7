package actions

import (
	"path"
	"strings"
	"testing"
	"unicode/utf8"
)

// FuzzGlob: an accepted glob can be matched with any path, its other spellings match the same paths, and a glob without
// our extensions matches the same paths as package path.
func FuzzGlob(f *testing.F) {
	for _, glob := range []string{"*.go", "src/**", "**/x", "dist/", "./a/b/", "[a-z]*", "{a,b}/c", "a\\*b", "[", "{",
		"***", "a/**/b", "[^a]", "**", "/abs", "", "[0- ]", "[!a-f\\]-z]"} {
		f.Add(glob, "src/a/b.go")
	}
	f.Fuzz(func(t *testing.T, glob, name string) {
		name = path.Clean(name)
		filter, err := newFilter(nil, []string{glob}, nil)
		if (err == nil) != (checkGlob(glob) == nil) {
			t.Fatalf("check and use disagree: %v", err)
		}
		if err != nil {
			return
		}
		dotted, err := newFilter(nil, []string{"./" + glob}, nil)
		if err != nil {
			return // a slash at the beginning, or brackets with another meaning now
		}
		if takesPath(filter, name) != takesPath(dotted, name) {
			t.Fatalf("%q takes %q: %v, %q: %v", glob, name, takesPath(filter, name), "./"+glob, takesPath(dotted, name))
		}
		// A glob treats all bytes that are not UTF-8 as equal.
		if !utf8.ValidString(glob) || !utf8.ValidString(name) || strings.ContainsAny(glob, "{}!") ||
			strings.Contains(glob, "**") || strings.HasSuffix(glob, "/") || strings.HasPrefix(glob, "./") {
			return
		}
		of := name
		if !strings.Contains(glob, "/") {
			of = path.Base(name)
		}
		takes, err := path.Match(glob, of)
		if takes && strings.Contains(glob, "*") && strings.ContainsAny(glob, "?[") && len(of) != utf8.RuneCountInString(of) {
			return // after a star that has matched a part of a character, package path counts the rest as a character
		}
		if err == nil && takes != takesPath(filter, name) {
			t.Fatalf("%q takes %q: %v, but package path says %v", glob, name, takesPath(filter, name), takes)
		}
	})
}

func takesPath(f *filter, name string) bool {
	return f.takes(func() string { return name }, path.Base(name))
}
