package ignore

import "strings"

// testKind is the kind of comparison for a rule: the cheapest correct one.
type testKind uint8

const (
	nameIs     testKind = iota // the last element of the path is text
	pathIs                     // the path below the file's directory is text
	extIs                      // the last element ends in text, which is an extension with its dot
	kindsFound                 // kinds before this one are looked up; the others are tried
	nameSuffix                 // the last element ends in text
	nameGlob                   // the last element matches glob
	pathGlob                   // the path begins with text, and the rest matches glob
)

// test is the compiled pattern of a rule.
type test struct {
	kind testKind
	text string
	glob glob
}

// compile prepares a pattern without its "!" and its trailing "/". It returns false if the pattern can match nothing.
func compile(pattern string) (test, bool) {
	if !strings.Contains(pattern, "/") {
		return compileName(pattern)
	}
	pattern = strings.TrimPrefix(pattern, "/")
	if rest, ok := anywhere(pattern); ok {
		return compileName(rest)
	}
	// Git first compares and removes the part before the first special character, and passes the rest to its matcher as if
	// the pattern began there. This has a visible effect: a "**" directly after that part counts as one at the beginning
	// of a pattern, so that "foo**/bar" matches "foox/y/bar".
	n := literalLen(pattern)
	if n == len(pattern) {
		return test{kind: pathIs, text: pattern}, pattern != ""
	}
	g, ok := compileGlob(pattern[n:], true)
	return test{kind: pathGlob, text: pattern[:n], glob: g}, ok
}

// anywhere returns the rest of a pattern that is "**/" and one element: it means the same without "**/".
func anywhere(pattern string) (rest string, ok bool) {
	rest = strings.TrimLeft(pattern, "*")
	if len(pattern)-len(rest) < 2 || rest == "" || rest[0] != '/' {
		return "", false
	}
	rest = rest[1:]
	return rest, rest != "" && !strings.Contains(rest, "/")
}

// compileName prepares a pattern for the last element of a path.
func compileName(pattern string) (test, bool) {
	n := literalLen(pattern)
	switch {
	case n == len(pattern):
		return test{kind: nameIs, text: pattern}, true
	case pattern[0] == '*' && literalLen(pattern[1:]) == len(pattern)-1:
		if strings.LastIndexByte(pattern, '.') == 1 {
			return test{kind: extIs, text: pattern[1:]}, true
		}
		return test{kind: nameSuffix, text: pattern[1:]}, true
	}
	g, ok := compileGlob(pattern, false)
	return test{kind: nameGlob, glob: g}, ok
}

// literalLen returns the length of the text before the first special character.
func literalLen(pattern string) int {
	if n := strings.IndexAny(pattern, `*?[\`); n >= 0 {
		return n
	}
	return len(pattern)
}

// match reports whether the test holds for a path relative to the file's directory, whose last element is name. The
// kind of the test must be after kindsFound.
func (t *test) match(rel, name string) bool {
	switch t.kind {
	case nameSuffix:
		return strings.HasSuffix(name, t.text)
	case nameGlob:
		return t.glob.match(name)
	default:
		return strings.HasPrefix(rel, t.text) && t.glob.match(rel[len(t.text):])
	}
}
