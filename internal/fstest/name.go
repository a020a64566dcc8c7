package fstest

import (
	"os"
	"strings"
)

// everyCall calls every method that has a name as argument, and returns the errors.
func (t tree) everyCall(name string) map[string]error {
	_, statErr := t.fs.Stat(name)
	_, lstatErr := t.lstat(name)
	_, createErr := t.fs.Create(name)
	_, openErr := t.fs.Open(name)
	return map[string]error{
		"Stat": statErr, "Lstat": lstatErr, "Create": createErr, "Open": openErr,
		"OpenFile":    t.openErr(name, rw|os.O_CREATE),
		"Mkdir":       t.fs.Mkdir(name, 0o755),
		"MkdirAll":    t.fs.MkdirAll(name, 0o755),
		"Remove":      t.fs.Remove(name),
		"RemoveAll":   t.fs.RemoveAll(name),
		"Chmod":       t.fs.Chmod(name, 0o600),
		"Chown":       t.fs.Chown(name, os.Getuid(), os.Getgid()),
		"Chtimes":     t.fs.Chtimes(name, when(), when()),
		"Rename from": t.fs.Rename(name, "new"),
		"Rename to":   t.fs.Rename("f", name),
	}
}

// refused fails the test unless every method refuses each of the names.
func (t tree) refused(what string, kind func(error) bool, names ...string) {
	t.Helper()
	t.write("f", "x")
	for _, name := range names {
		for method, err := range t.everyCall(name) {
			if err == nil || !kind(err) {
				t.Errorf("%s of %.40q: error %v, want an error with %s", method, name, err, what)
			}
		}
	}
	t.has("f", "x")
	t.lists(".", "f")
}

// works fails the test unless a file and a directory can have each of the names.
func (t tree) works(names ...string) {
	t.Helper()
	t.mkdir("d")
	for _, name := range names {
		t.write(name, "as a file "+name)
		t.has(name, "as a file "+name)
		t.lists(".", sorted("d", name)...)
		t.must(t.fs.Rename(name, "d/"+name))
		t.lists("d", name)
		t.must(t.fs.Remove("d/" + name))
		t.mkdir(name)
		t.write(name+"/"+name, "in a directory")
		t.has(name+"/"+name, "in a directory")
		t.must(t.fs.RemoveAll(name))
		t.lists(".", "d")
	}
}

func sorted(a, b string) []string {
	if b < a {
		return []string{b, a}
	}
	return []string{a, b}
}

func nameChecks() []check {
	return []check{
		{"empty", confinement, func(t tree) { t.refused("empty", IsEmptyName, "") }},
		{"out of the tree", confinement, func(t tree) {
			t.refused("escapes", IsEscape, "..", "../f", "a/../../f", "./../f", "../../../../etc/passwd")
		}},
		{"absolute", confinement, func(t tree) { t.refused("absolute", IsAbsolute, "/f", "/", "/etc/passwd") }},
		{"with a NUL byte", confinement, func(t tree) { t.refused("NUL byte", IsBadName, "a\x00b", "\x00") }},
		{"too long", confinement, func(t tree) {
			t.refused("too long", IsTooLong, strings.Repeat("n", 256), strings.Repeat("d/", 2100)+"f")
		}},
		{"as long as can be", 0, func(t tree) {
			name := strings.Repeat("n", 255)
			t.write(name, "x")
			t.has(name, "x")
			t.lists(".", name)
		}},
		{"not clean", 0, func(t tree) {
			t.mkdir("a", "a/b")
			t.write("a/./b//../b/f", "x")
			t.has("a/b/f", "x")
			t.has("./a/b/f", "x")
			t.has("a/../a/b/f", "x")
			t.has(strings.Repeat("./", 2000)+"a/b/f", "x")
			t.lists("a/b", "f")
			t.lists("a/b/", "f")
		}},
		{"a slash at the end", confinement, func(t tree) {
			t.write("f", "x")
			_, err := t.fs.Stat("f/")
			t.want(err, "not a directory", IsNotDir)
			_, err = t.fs.Open("f/")
			t.want(err, "not a directory", IsNotDir)
			t.want(t.fs.Remove("f/"), "not a directory", IsNotDir)
			t.want(t.fs.Rename("f/", "g"), "not a directory", IsNotDir)
			t.has("f", "x")
			t.must(t.fs.Mkdir("d/", 0o755))
			t.must(t.fs.Rename("d/", "e/"))
			t.lists(".", "e", "f")
			t.must(t.fs.Remove("e/"))
		}},
		{"with dots", 0, func(t tree) { t.works("...", ".hidden", "a..b", "..a", "a.", ".a.") }},
		{"with spaces and signs", 0, func(t tree) { t.works("a b", " a", "-rf", "~", "$HOME", "%2e%2e", "a,b", "*", "[x]", "{{x}}", "#") }},
		{"with UTF-8", 0, func(t tree) { t.works("é", "日本", "\u202egnp", "a\u200bb", "😀") }},
		{"with control characters", oddNames, func(t tree) { t.works("a\nb", "a\tb", "\x01", "a\\b", "C:", "a\r") }},
		{"with bytes that are no UTF-8", oddNames, func(t tree) { t.works("\xff", "a\xc3", "\xe9t\xe9") }},
		{"upper and lower case", oddNames, func(t tree) {
			t.write("Foo", "1")
			t.write("foo", "2")
			t.has("Foo", "1")
			t.has("foo", "2")
		}},
		{"composed and decomposed", oddNames, func(t tree) {
			t.write("\u00e9", "1")
			t.write("e\u0301", "2")
			t.has("\u00e9", "1")
			t.lists(".", "e\u0301", "\u00e9")
		}},
		{"one that begins like another", 0, func(t tree) {
			t.mkdir("a")
			t.write("a/f", "1")
			t.write("ab", "2")
			t.write("a.b", "3")
			t.must(t.fs.RemoveAll("a"))
			t.lists(".", "a.b", "ab")
		}},
	}
}
