// Package ignore decides which paths .gitignore files leave out, exactly as git does.
//
// [Parse] compiles one file. A [Matcher] chains the files met on the way down a tree: [Matcher.Enter] adds the file of
// one more directory and leaves the matcher it was called on as it was, so each directory can keep its own and any
// number of goroutines can walk different parts of a tree at the same time.
//
//	var m *ignore.Matcher // nil: nothing is ignored
//	m = m.Enter(".", rootRules)
//	sub := m.Enter("sub", subRules)
//	sub.Ignored("sub/a.log", false)
//
// As in git, the last rule of a file that matches decides, the deepest file is asked first, and a rule that begins with
// "!" takes a path back in. A matcher judges a path by itself: that nothing below an ignored directory can be taken
// back in follows from never entering one, which is up to the caller. Names are compared byte by byte and case counts.
//
// A file that counts less than any .gitignore, such as .git/info/exclude, is entered before that of the same directory.
package ignore

// Matcher is a chain of .gitignore files, from the top of a tree to some directory in it. It is immutable and safe for
// concurrent use. The nil Matcher is ready to use and matches nothing.
type Matcher struct {
	parent *Matcher
	file   *File
	size   int
}

// Enter returns a matcher that also knows the rules in data, the bytes of the .gitignore file in the directory dir.
// Dir is a canonical slash-separated path, "." for the top. Without any rule in data Enter returns the receiver. Data
// is not kept.
func (m *Matcher) Enter(dir string, data []byte) *Matcher {
	f := Parse(data, dir)
	if len(f.rules) == 0 {
		return m
	}
	return &Matcher{parent: m, file: f, size: m.Size() + len(data)}
}

// Size returns how many bytes the files with the rules have together.
func (m *Matcher) Size() int {
	if m == nil {
		return 0
	}
	return m.size
}

// Match returns the rule that decides about a path, or nil if there is none. The path is canonical, like the
// directories given to Enter; isDir reports whether it is a directory, and must be false for a symbolic link to a
// directory.
func (m *Matcher) Match(path string, isDir bool) *Rule {
	for ; m != nil; m = m.parent {
		if r := m.file.Match(path, isDir); r != nil {
			return r
		}
	}
	return nil
}

// Ignored reports whether the rule that decides about a path leaves it out.
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
	// Text is the line without its line ending and without the trailing spaces that do not count.
	Text string
	// Negated means that the rule takes paths back in: it begins with "!".
	Negated bool
	// DirOnly means that the rule is about directories only: it ends with "/".
	DirOnly bool

	test test
}
