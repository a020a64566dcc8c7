package match

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Template is what a match is replaced by: text, and groups of the match between. It is immutable.
type Template struct {
	parts []part
	lf    bool // the text has a "\n" that follows no "\r"
	doubt string
}

// maxParts is how many pieces of text and groups a template has at most.
const maxParts = 20_000

type part struct {
	text  string
	group int // -1 for text
}

// Text returns a template that is nothing but text, in which $ means nothing.
func Text(text string) Template {
	return Template{parts: []part{{text: text, group: -1}}, lf: hasBareLF(text)}
}

// ParseTemplate reads a replacement for matches of the pattern. $1, ${1} and ${name} stand for what a group matched,
// $0 for the match, $$ for a dollar sign; a $ before anything else is itself. An unbraced name is as long as it can
// be, as in package regexp, where $1x is the unknown group "1x" and gives nothing: here that is an error, with a
// hint, and so is every group that the pattern does not have, and one that is written as other programs have it, such
// as \1. The error is a *PatternError.
func ParseTemplate(text string, p *Parsed) (Template, error) {
	var t Template
	var plain strings.Builder
	flush := func() {
		if plain.Len() > 0 {
			t.parts = append(t.parts, part{text: plain.String(), group: -1})
			t.lf = t.lf || hasBareLF(plain.String())
			plain.Reset()
		}
	}
	groups := p.Groups()
	for rest := text; rest != ""; {
		before, after, found := strings.Cut(rest, "$")
		plain.WriteString(before)
		if !found {
			break
		}
		name, braced, length := groupName(after)
		switch {
		case strings.HasPrefix(after, "$"):
			plain.WriteByte('$')
			rest = after[1:]
		case braced && length == 0:
			msg := fmt.Sprintf("replacement %q has a '${' without a name and '}'", text)
			return Template{}, &PatternError{Pattern: text, Msg: msg, Hint: "write $${ for the text ${"}
		case length == 0:
			plain.WriteByte('$')
			rest = after
		default:
			n, ok := groupNumber(name, groups)
			if !ok {
				return Template{}, unknownGroup(text, name, braced, groups)
			}
			flush()
			if len(t.parts) >= maxParts {
				return Template{}, refused(text, "", "replacement %q has too many groups (max %d)", Short(text), maxParts/2)
			}
			t.parts = append(t.parts, part{group: n})
			rest = after[length:]
		}
	}
	flush()
	if err := t.foreignGroups(text, groups); err != nil {
		return Template{}, err
	}
	return t, nil
}

// groupName reads the name of a group behind a $. length is 0 if there is none.
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

// hasBareLF reports whether a "\n" in s follows no "\r".
func hasBareLF(s string) bool {
	return strings.Count(s, "\n") > strings.Count(s, "\r\n")
}

// Groups reports whether the template has groups but $0, which is the match.
func (t Template) Groups() bool {
	return slices.ContainsFunc(t.parts, func(p part) bool { return p.group > 0 })
}

// Verbatim is [Text] for text of which the line ends stay as they are given.
func Verbatim(text string) Template { return Template{parts: []part{{text: text, group: -1}}} }
