package structural

import (
	"bytes"
	"slices"
	"strings"

	"github.com/millrace-go/millrace/internal/casing"
	"github.com/millrace-go/millrace/internal/show"
)

// Replacement is the replacement of matches of a pattern: text and the matches of its holes. It is immutable.
type Replacement struct {
	parts []part
}

type part struct {
	text  string // if group is -1
	group int
	write func(string) string // changes the match of the group; nil for no change
}

// changes returns the function that changes the match of a hole, nil for an unknown name.
func changes(name string) func(string) string {
	words := func(separator string, first, rest func(string) string) func(string) string {
		join := casing.Joined(separator, first, rest)
		return func(s string) string { return join(casing.Words(s)) }
	}
	switch name {
	case "upper":
		return casing.Upper
	case "lower":
		return casing.Lower
	case "title":
		return words(" ", casing.Title, casing.Title)
	case "camel":
		return words("", casing.Lower, casing.Title)
	case "pascal":
		return words("", casing.Title, casing.Title)
	case "snake":
		return words("_", casing.Lower, casing.Lower)
	case "kebab":
		return words("-", casing.Lower, casing.Lower)
	case "scream":
		return words("_", casing.Upper, casing.Upper)
	case "trim":
		return strings.TrimSpace
	}
	return nil
}

const changeNames = "upper, lower, title, camel, pascal, snake, kebab, scream, trim"

// maxParts is the largest number of pieces of text and holes in a replacement.
const maxParts = 20_000

// ParseReplacement reads a replacement for matches of the pattern: :[name] means the match of the hole, :[name.upper]
// and similar the match in another case, and ::[ the text :[. The error is an *Error.
func (p *Pattern) ParseReplacement(text string) (*Replacement, error) {
	r := &Replacement{}
	var plain strings.Builder
	flush := func() {
		if plain.Len() > 0 {
			r.parts = append(r.parts, part{text: plain.String(), group: -1})
			plain.Reset()
		}
	}
	text = strings.ReplaceAll(text, "\r\n", "\n")
	for rest := text; rest != ""; {
		i := strings.Index(rest, ":[")
		if i < 0 {
			plain.WriteString(rest)
			break
		}
		if i > 0 && rest[i-1] == ':' {
			plain.WriteString(rest[:i-1] + ":[")
			rest = rest[i+2:]
			continue
		}
		plain.WriteString(rest[:i])
		one, n, err := p.readPart(rest[i:])
		if err != nil {
			return nil, err
		}
		if flush(); len(r.parts) >= maxParts {
			return nil, refuse("", "the replacement has too many holes (max %d)", maxParts/2)
		}
		r.parts = append(r.parts, one)
		rest = rest[i+n:]
	}
	flush()
	return r, nil
}

// readPart reads the hole of a replacement at the beginning of s, and returns its length.
func (p *Pattern) readPart(s string) (part, int, error) {
	inner, _, closed := strings.Cut(s[2:], "]")
	if k := strings.IndexByte(inner, '~'); k >= 0 {
		if end := exprEnd(s[2+k:]); end >= 0 {
			inner = s[2 : 2+k+end]
		}
	}
	length := 2 + len(inner) + 1
	if strings.HasPrefix(inner, "[") { // :[[name]], as in the pattern
		if inner = inner[1:]; strings.HasPrefix(s[length:], "]") {
			length++
		}
	}
	name, change, changed := strings.Cut(strings.TrimSuffix(inner, "..."), ".")
	name, _, _ = strings.Cut(name, "~")
	group := slices.Index(p.names, name)
	if !closed || name == "" || group < 0 {
		known := "it has no names"
		if len(p.names) > 1 {
			known = "the names are " + strings.Join(p.names[1:], ", ")
		}
		return part{}, 0, refuse("write ::[ for the text :[; "+known,
			"the replacement has %q, which is not a hole of the pattern", show.Name(s[:min(len(s), length)]))
	}
	one := part{group: group}
	if changed {
		if one.write = changes(change); one.write == nil {
			return part{}, 0, refuse("write one of "+changeNames, "the replacement changes %s by %q, which is unknown",
				name,
				show.Name(change))
		}
	}
	return one, length, nil
}

// Size returns roughly the number of bytes that Append appends. It is not too small if no case is changed and no line
// is indented.
func (r *Replacement) Size(loc []int) int64 {
	n := int64(0)
	for _, p := range r.parts {
		if p.group < 0 {
			n += int64(len(p.text))
		} else if loc[2*p.group] >= 0 {
			n += int64(loc[2*p.group+1] - loc[2*p.group])
		}
	}
	return n
}

// Append appends the replacement of a match of data. Its lines are indented like the line where the match begins. crlf:
// lines end in "\r\n".
func (r *Replacement) Append(out, data []byte, loc []int, crlf bool) []byte {
	indent := []byte(nil)
	if slices.ContainsFunc(r.parts, func(p part) bool { return strings.Contains(p.text, "\n") }) {
		indent = indentAt(data, loc[0])
	}
	for _, p := range r.parts {
		switch {
		case p.group < 0:
			out = appendLines(out, p.text, indent, crlf)
		case loc[2*p.group] < 0:
		case p.write != nil:
			out = append(out, p.write(string(data[loc[2*p.group]:loc[2*p.group+1]]))...)
		default:
			out = append(out, data[loc[2*p.group]:loc[2*p.group+1]]...)
		}
	}
	return out
}

// appendLines appends text and indents its lines, except the first line and empty lines.
func appendLines(out []byte, text string, indent []byte, crlf bool) []byte {
	for i := range len(text) {
		if text[i] != '\n' {
			out = append(out, text[i])
			continue
		}
		if crlf {
			out = append(out, '\r')
		}
		out = append(out, '\n')
		if i+1 == len(text) || text[i+1] != '\n' {
			out = append(out, indent...)
		}
	}
	return out
}

// maxIndent is how far before a match the beginning of its line is searched, in bytes, so that each match of a long
// line costs little. A match whose line begins further away is not indented.
const maxIndent = 4 << 10

// indentAt returns the blanks at the beginning of the line of an offset.
func indentAt(data []byte, at int) []byte {
	near := max(0, at-maxIndent)
	from := bytes.LastIndexByte(data[near:at], '\n') + 1
	if from == 0 && near > 0 {
		return nil
	}
	from += near
	end := from
	for end < at && (data[end] == ' ' || data[end] == '\t') {
		end++
	}
	return data[from:end]
}
