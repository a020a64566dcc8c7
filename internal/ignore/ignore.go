// Package ignore decides which paths .gitignore files leave out, exactly as git does.
//
// [Parse] compiles one file. A [Matcher] chains the files found on the way down a tree: [Matcher.Enter] adds the file
// of one more directory and does not change its receiver. So each directory can have its own matcher, and any number of
// goroutines can walk different parts of a tree at the same time.
//
//	var m *ignore.Matcher // nil: nothing is ignored
//	m = m.Enter(".", rootRules)
//	sub := m.Enter("sub", subRules)
//	sub.Ignored("sub/a.log", false)
//
// As in git, the last matching rule of a file decides, the deepest file has precedence, and a rule that begins with "!"
// includes a path again. A matcher judges each path alone. The caller must not enter ignored directories; therefore
// nothing below them can be included again. Names are compared byte by byte, and case matters.
//
// A file with lower precedence than any .gitignore, such as .git/info/exclude, is entered before the .gitignore of the
// same directory.
package ignore

// Matcher is a chain of .gitignore files, from the top of a tree to some directory in it. It is immutable and safe for
// concurrent use. The nil Matcher is ready to use and matches nothing.
type Matcher struct {
	parent *Matcher
	file   *File
	size   int
}

// Enter returns a matcher with the additional rules in data, the bytes of the .gitignore file in the directory dir. dir
// is a canonical slash-separated path, "." for the top. If data has no rules, Enter returns the receiver. It does not
// keep data.
func (m *Matcher) Enter(dir string, data []byte) *Matcher {
	f := Parse(data, dir)
	if len(f.rules) == 0 {
		return m
	}
	return &Matcher{parent: m, file: f, size: m.Size() + len(data)}
}

// Size returns the total size of the files with rules, in bytes.
func (m *Matcher) Size() int {
	if m == nil {
		return 0
	}
	return m.size
}

// Match returns the rule that decides about a path, or nil if there is none. The path is canonical, like the
// directories passed to Enter. isDir means that it is a directory; it must be false for a symbolic link to a directory.
func (m *Matcher) Match(path string, isDir bool) *Rule {
	for ; m != nil; m = m.parent {
		if r := m.file.Match(path, isDir); r != nil {
			return r
		}
	}
	return nil
}

// Ignored reports whether the rule that decides about a path ignores it.
func (m *Matcher) Ignored(path string, isDir bool) bool {
	r := m.Match(path, isDir)
	return r != nil && !r.Negated
}

// Rule is one line of a .gitignore file.
type Rule struct {
	// Dir is the directory of the file, as given to Parse.
	Dir string
	// Line is the number of the line, counted from 1.
	Line int
	// Text is the line without its line end and without insignificant trailing spaces.
	Text string
	// Negated means that the rule includes paths again: it begins with "!".
	Negated bool
	// DirOnly means that the rule only applies to directories: it ends with "/".
	DirOnly bool

	test test
}
