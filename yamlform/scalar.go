package yamlform

import (
	"fmt"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/fsutil"
)

const quotedStyles = yaml.DoubleQuotedStyle | yaml.SingleQuotedStyle | yaml.LiteralStyle | yaml.FoldedStyle

// isPlain reports whether a scalar has no quotes, tag or block mark: its text decides its type.
func isPlain(n *yaml.Node) bool { return n.Style&(quotedStyles|yaml.TaggedStyle) == 0 && n.Tag != "!" }

// isText reports whether a scalar, whose tag has been checked, is a string.
func isText(n *yaml.Node) bool { return !isPlain(n) || n.Tag == "!!str" && !isNumber(n.Value) }

// scalar writes a scalar. Text that other programs may read differently is a problem.
func (r *reading) scalar(n *yaml.Node) {
	switch {
	case !r.untagged(n):
	case isText(n):
		r.json = appendString(r.json, n.Value)
	case isNumber(n.Value):
		if !inRange(n.Value) {
			r.problem(n, codeScalar, "number '"+shown(n.Value)+"' is out of range", inQuotes(n.Value))
		}
		r.json = append(r.json, n.Value...)
	case n.Tag == "!!null" && (n.Value == "" || n.Value == "~" || n.Value == "null"):
		r.json = append(r.json, "null"...)
	case n.Tag == "!!bool" && (n.Value == "true" || n.Value == "false"):
		r.json = append(r.json, n.Value...)
	case n.Tag == "!!null" || n.Tag == "!!bool":
		r.problem(n, codeScalar, fmt.Sprintf("'%s' is %s to some programs, and text to others", n.Value, scalarName(n)),
			fmt.Sprintf(`write %s, or "%s" in quotes if it is text`, strings.ToLower(n.Value), n.Value))
	default:
		r.problem(n, codeScalar, fmt.Sprintf("'%s' is %s to some programs, and text to others", shown(n.Value),
			scalarName(n)), inQuotes(n.Value))
	}
}

// scalarName returns the type of a plain scalar that is not a string.
func scalarName(n *yaml.Node) string {
	switch n.Tag {
	case "!!null":
		return "null"
	case "!!bool":
		return "true or false"
	case "!!timestamp":
		return "a date"
	case "!!merge":
		return "a merge key"
	}
	return "a number"
}

func inQuotes(text string) string {
	return `write it in quotes if it is text: "` + shown(text) + `"`
}

// isNumber reports whether text is a JSON number.
func isNumber(text string) bool {
	s := strings.TrimPrefix(text, "-")
	digits := func() bool {
		n := 0
		for n < len(s) && isDigit(s[n]) {
			n++
		}
		s = s[n:]
		return n > 0
	}
	switch {
	case strings.HasPrefix(s, "0"):
		s = s[1:]
	case !digits():
		return false
	}
	if strings.HasPrefix(s, ".") {
		if s = s[1:]; !digits() {
			return false
		}
	}
	if s != "" && s[0]|0x20 == 'e' {
		s = s[1:]
		if s != "" && (s[0] == '+' || s[0] == '-') {
			s = s[1:]
		}
		if !digits() {
			return false
		}
	}
	return s == ""
}

// inRange reports whether a JSON number fits a float64: neither too large nor, except for zero, too small.
func inRange(text string) bool {
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return false
	}
	mantissa, _, _ := strings.Cut(strings.ToLower(text), "e")
	return f != 0 || !strings.ContainsAny(mantissa, "123456789")
}

// shown returns a text of the user for a message: short, in one line, without control characters for a terminal.
func shown(text string) string {
	return fsutil.Visible(actions.Short(text, 40))
}

// appendString appends a string in JSON. The text is valid UTF-8.
func appendString(dst []byte, text string) []byte {
	const hex = "0123456789abcdef"
	dst = append(dst, '"')
	start := 0
	for i := range len(text) {
		c := text[i]
		if c >= ' ' && c != '"' && c != '\\' {
			continue
		}
		dst = append(dst, text[start:i]...)
		start = i + 1
		switch c {
		case '"', '\\':
			dst = append(dst, '\\', c)
		case '\n':
			dst = append(dst, '\\', 'n')
		case '\t':
			dst = append(dst, '\\', 't')
		default:
			dst = append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		}
	}
	return append(append(dst, text[start:]...), '"')
}
