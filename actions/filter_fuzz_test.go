package actions

import (
	"path"
	"strings"
	"testing"
	"unicode/utf8"
)

// FuzzGlob: a glob that is accepted can be matched with any path, its other spellings take the same ones, and one
// that says nothing package path does not know takes what that takes.
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
			return // a slash at the beginning, or brackets that mean something else now
		}
		if takesPath(filter, name) != takesPath(dotted, name) {
			t.Fatalf("%q takes %q: %v, %q: %v", glob, name, takesPath(filter, name), "./"+glob, takesPath(dotted, name))
		}
		// Bytes that are no UTF-8 are all the same to a glob.
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
			return // package path takes what is left of a character, behind a part that the star has taken, for one
		}
		if err == nil && takes != takesPath(filter, name) {
			t.Fatalf("%q takes %q: %v, but package path says %v", glob, name, takesPath(filter, name), takes)
		}
	})
}

func takesPath(f *filter, name string) bool {
	return f.takes(func() string { return name }, path.Base(name))
}
