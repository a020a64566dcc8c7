package match

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/millrace-go/millrace/internal/show"
	"github.com/millrace-go/millrace/internal/structural"
)

// Template is the replacement of a match: text and groups of the match. It is immutable.
type Template struct {
	parts []part
	shape *structural.Replacement // for matches of a structural pattern, in place of parts
	lf    bool                    // the text has a "\n" that does not follow a "\r"
	doubt string
	// escape is the first escape, such as \n, and meaning its meaning.
	escape, meaning string
}

// maxParts is the largest number of pieces of text and groups in a template.
const maxParts = 20_000

type part struct {
	text  string
	group int // -1 for text
	as    Case
}

// Text returns a template of plain text, in which $ has no meaning.
func Text(text string) Template {
	return Template{parts: []part{{text: text, group: -1}}, lf: hasBareLF(text)}
}

// ParseTemplate reads a replacement for matches of the pattern. $1, ${1} and ${name} mean a group, $0 the match, $$ a
// dollar sign; a $ before anything else is a dollar sign. A name without braces is as long as possible, as in package
// regexp. There $1x is the unknown group "1x" and expands to nothing: here that is an error, with a hint, and so is
// every group that the pattern does not have.
//
// A backslash begins an escape: \n, \t and \r, \xHH for an ASCII character, \u{H…} for any character, \\ and \$. As in
// GNU sed, \U and \L change the case of the text up to \E, \u and \l that of the next character. Every other escape is
// an error, with a hint. The error is a *PatternError.
//
// With a structural pattern, :[name] means the match of a hole, and everything else is text.
func ParseTemplate(text string, p *Parsed) (Template, error) {
	if p.shape != nil {
		return shapeTemplate(text, p)
	}
	t := templateParser{source: text, groups: p.Groups()}
	for rest := text; rest != ""; {
		i := strings.IndexAny(rest, `$\`)
		if i < 0 {
			t.plain.WriteString(rest)
			break
		}
		t.plain.WriteString(rest[:i])
		length, err := 0, (*PatternError)(nil)
		if rest = rest[i:]; rest[0] == '$' {
			length, err = t.dollar(rest[1:])
		} else {
			length, err = t.backslash(rest[1:])
		}
		if err != nil {
			return Template{}, err
		}
		rest = rest[1+length:]
	}
	t.flush()
	t.doubtAmpersand()
	return t.Template, nil
}

// templateParser builds a template from its text.
type templateParser struct {
	Template
	source string
	groups []string
	plain  strings.Builder
	as     Case // of the next part
	rest   Case // of the parts after that
}

// add ends the text so far, and appends a group.
func (t *templateParser) add(group int) {
	t.flush()
	t.parts = append(t.parts, part{group: group, as: t.as})
	t.as = t.rest
}

func (t *templateParser) flush() {
	if t.plain.Len() == 0 {
		return
	}
	t.parts = append(t.parts, part{text: t.plain.String(), group: -1, as: t.as})
	t.lf = t.lf || hasBareLF(t.plain.String())
	t.plain.Reset()
	t.as = t.rest
}

// dollar reads the text after a $, and returns the length of what it used.
func (t *templateParser) dollar(after string) (int, *PatternError) {
	name, braced, length := groupName(after)
	switch {
	case strings.HasPrefix(after, "$"):
		t.plain.WriteByte('$')
		return 1, nil
	case braced && length == 0:
		msg := fmt.Sprintf("replacement %q has a '${' without a name and '}'", t.source)
		return 0, &PatternError{Pattern: t.source, Msg: msg, Hint: "write $${ for the text ${"}
	case length == 0:
		t.plain.WriteByte('$')
		return 0, nil
	}
	n, ok := groupNumber(name, t.groups)
	if !ok {
		return 0, unknownGroup(t.source, name, braced, t.groups)
	}
	if len(t.parts) >= maxParts {
		return 0, refused(t.source, "", "replacement %q has too many groups (max %d)", show.Pattern(t.source),
			maxParts/2)
	}
	t.add(n)
	return length, nil
}

// groupName reads the name of a group after a $. length is 0 without a name.
func groupName(s string) (name string, braced bool, length int) {
	if inner, ok := strings.CutPrefix(s, "{"); ok {
		name, _, closed := strings.Cut(inner, "}")
		if !closed || name == "" {
			return "", true, 0
		}
		return name, true, len(name) + 2
	}
	n := 0
	for n < len(s) && isNameByte(s[n]) {
		n++
	}
	return s[:n], false, n
}

func isNameByte(c byte) bool {
	return c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

func groupNumber(name string, groups []string) (int, bool) {
	if n, err := strconv.Atoi(name); err == nil && name[0] != '+' && name[0] != '-' {
		return n, n < len(groups)
	}
	n := slices.Index(groups, name)
	return n, n >= 0
}

func unknownGroup(text, name string, braced bool, groups []string) *PatternError {
	e := &PatternError{Pattern: text}
	written := "$" + name
	if braced {
		written = "${" + name + "}"
	}
	digits := strings.IndexFunc(name, func(r rune) bool { return r < '0' || r > '9' })
	if !braced && digits > 0 {
		e.Msg = fmt.Sprintf("replacement %q: %s would be a group named %q", text, written, name)
		e.Hint = fmt.Sprintf("write ${%s}%s", name[:digits], name[digits:])
		return e
	}
	e.Msg = fmt.Sprintf("replacement %q: the pattern has no group %s", text, written)
	var known []string
	for i, g := range groups {
		if g != "" {
			known = append(known, "${"+g+"}")
		} else {
			known = append(known, "$"+strconv.Itoa(i))
		}
	}
	e.Hint = fmt.Sprintf("write $$ for a dollar sign; the groups are %s", strings.Join(known, ", "))
	return e
}

// hasBareLF reports whether s has a "\n" that does not follow a "\r".
func hasBareLF(s string) bool {
	return strings.Count(s, "\n") > strings.Count(s, "\r\n")
}

// Groups reports whether the template has groups other than $0, which is the match.
func (t Template) Groups() bool {
	return t.shape != nil || slices.ContainsFunc(t.parts, func(p part) bool { return p.group > 0 })
}

// Verbatim is [Text] for text whose line ends are not adapted.
func Verbatim(text string) Template { return Template{parts: []part{{text: text, group: -1}}} }

// shapeTemplate reads a replacement for matches of a structural pattern.
func shapeTemplate(text string, p *Parsed) (Template, error) {
	shape, err := p.shape.ParseReplacement(text)
	if err != nil {
		return Template{}, ofShape(text, err)
	}
	return Template{shape: shape}, nil
}
