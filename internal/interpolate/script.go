package interpolate

import (
	"fmt"
	"strings"

	"github.com/millrace-go/millrace/internal/sed"
	"github.com/millrace-go/millrace/internal/template"
)

// sedSyntax is the way to write values in the patterns of a script.
type sedSyntax struct {
	special   string // the characters with a meaning in patterns or replacements
	brackets  *strings.Replacer
	delimiter func(c byte) string // a delimiter that is also a special character
}

// posixBrackets quotes a value between brackets, where a backslash does not quote and the delimiter is an ordinary
// character. re2Brackets does it where a backslash quotes, but the end of the brackets is the first ] for sed.
var (
	posixBrackets = strings.NewReplacer("[", "[.[.]", "]", "[.].]", "-", "[.-.]", "^", "[.^.]", `\`, `[.\.]`, "\n", `\n`)
	re2Brackets   = strings.NewReplacer("[", `\x5b`, "]", `\x5d`, "-", `\-`, "^", `\^`, `\`, `\\`, "\n", `\n`)
)

var (
	extendedSed = sedSyntax{`\.*[]^$+?(){}|&`, posixBrackets, posixDelimiter}
	basicSed    = sedSyntax{`\.*[]^$&`, posixBrackets, posixDelimiter}
	re2Sed      = sedSyntax{`\.*[]^$+?(){}|&-`, re2Brackets, func(c byte) string { return fmt.Sprintf(`\x%02x`, c) }}
)

// posixDelimiter quotes a delimiter in a pattern: sed removes the backslash before it, and \x5c becomes a backslash
// after that.
func posixDelimiter(c byte) string { return `\x5c\` + string(rune(c)) }

// expand replaces the templates of a sed script by their values.
func (s sedSyntax) expand(text template.Text, values template.Values) (string, error) {
	own, list, err := pieces(text, values)
	if err != nil {
		return "", err
	}
	n := 0
	sed.PlacesOf(own, func(at sed.Place) string {
		list[n] = s.quoted(list[n], at)
		n++
		return list[n-1]
	})
	return expandTo(text, values, list)
}

// pieces returns the values to be quoted in a text as list, and the text around them as own: own[i] precedes list[i],
// and the last element of own is the end of the text.
func pieces(text template.Text, values template.Values) (own, list []string, err error) {
	all, err := text.ExpandQuoted(values, func(string) string { return "" })
	if err != nil {
		return nil, nil, err
	}
	mark := "\x00" // for each value
	for strings.Contains(all, mark) {
		mark += "\x01"
	}
	marked, err := text.ExpandQuoted(values, func(v string) string {
		list = append(list, v)
		return mark
	})
	return strings.Split(marked, mark), list, err
}

// expandTo replaces the templates of a text by quoted values.
func expandTo(text template.Text, values template.Values, quoted []string) (string, error) {
	n := -1
	return text.ExpandQuoted(values, func(string) string {
		n++
		return quoted[n]
	})
}

// quoted returns a value as it is written at a place of a script.
func (s sedSyntax) quoted(value string, at sed.Place) string {
	if at.Kind == sed.InBrackets {
		return s.brackets.Replace(value)
	}
	if at.Delimiter == 0 {
		at.Delimiter = '/' // of an address
	}
	var b strings.Builder
	for i := range len(value) {
		c := value[i]
		special := strings.IndexByte(s.special, c) >= 0
		switch {
		case c == '\n' && at.Delimiter == 'n':
			b.WriteString("\\\n")
		case c == '\n':
			b.WriteString(`\n`)
		case special && c == at.Delimiter && at.Kind == sed.InPattern:
			b.WriteString(s.delimiter(c))
		case special || c == at.Delimiter:
			b.WriteByte('\\')
			fallthrough
		default:
			b.WriteByte(c)
		}
	}
	if at.Kind == sed.BeginsText && strings.IndexAny(b.String(), "\\ \t") == 0 {
		return `\` + b.String() // sed drops leading blanks and one backslash there
	}
	return b.String()
}
