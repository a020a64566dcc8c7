package ignore

import (
	"bytes"
	"strings"
)

// File is one compiled .gitignore file. It is immutable and safe for concurrent use.
type File struct {
	prefix string // prefix of the paths below the file's directory: "", or the directory and a slash
	rules  []Rule // in the order of the file
	index
}

// Parse compiles the bytes of the .gitignore file in the directory dir; "." and "" are the top. It never fails: as in
// git, a malformed line is a rule that matches nothing. Data is not kept.
func Parse(data []byte, dir string) *File {
	f := &File{}
	switch dir {
	case "", ".":
	case "/":
		f.prefix = dir
	default:
		f.prefix = dir + "/"
	}
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	for number := 1; len(data) > 0; number++ {
		var line []byte
		line, data, _ = bytes.Cut(data, []byte{'\n'})
		if len(line) == 0 || line[0] == '#' {
			continue
		}
		line = bytes.TrimSuffix(line, []byte{'\r'})
		// Git reads lines as C strings.
		line, _, _ = bytes.Cut(line, []byte{0})
		line = trimSpaces(line)
		if r, ok := parseRule(string(line)); ok {
			r.Dir, r.Line = dir, number
			f.rules = append(f.rules, r)
		}
	}
	f.index = newIndex(f.rules)
	return f
}

// trimSpaces removes the spaces at the end of a line, except one after a backslash. Tabs stay.
func trimSpaces(line []byte) []byte {
	if !bytes.HasSuffix(line, []byte{' '}) {
		return line
	}
	end := 0
	for i := 0; i < len(line); i++ {
		switch line[i] {
		case ' ':
			continue
		case '\\':
			i++
		}
		end = i + 1
	}
	return line[:end]
}

// parseRule reads one line. It returns false if the line can match nothing.
func parseRule(line string) (Rule, bool) {
	pattern, negated := strings.CutPrefix(line, "!")
	// Only one slash: "a//" means a directory called "a/", which cannot exist.
	pattern, dirOnly := strings.CutSuffix(pattern, "/")
	r := Rule{Text: line, Negated: negated, DirOnly: dirOnly}
	if pattern == "" {
		return r, false
	}
	var ok bool
	r.test, ok = compile(pattern)
	return r, ok
}
