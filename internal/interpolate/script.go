package interpolate

import (
	"regexp"
	"slices"
	"strings"

	"github.com/millrace-go/millrace/internal/sed"
	"github.com/millrace-go/millrace/internal/template"
)

// expandScript puts the values into a script of sed. special are the characters that mean something in its patterns.
func expandScript(text template.Text, values template.Values, special string) (string, error) {
	begins, err := beginTexts(text, values)
	if err != nil {
		return "", err
	}
	n := -1
	return text.ExpandQuoted(values, func(v string) string {
		n++
		v = sedQuoted(v, text.Source(), special)
		if n < len(begins) && begins[n] && strings.IndexAny(v, "\\ \t") == 0 {
			return `\` + v // sed leaves out blanks and one backslash there
		}
		return v
	})
}

// plainWord is a value that means the same wherever it stands in a script.
var plainWord = regexp.MustCompile(`^[0-9A-Za-z]+$`)

// beginTexts returns for each value that is quoted whether it begins the text of a command a, i or c.
func beginTexts(text template.Text, values template.Values) ([]bool, error) {
	const mark = "\x00" // before each value
	n := 0
	marked, err := text.ExpandQuoted(values, func(v string) string {
		n++
		if !plainWord.MatchString(v) {
			v = "x"
		}
		return mark + v
	})
	if err != nil || strings.Count(marked, mark) != n { // with NULs of its own a script has no such text
		return nil, err
	}
	starts := sed.Texts(strings.ReplaceAll(marked, mark, ""))
	begins := make([]bool, 0, n)
	at := 0
	for piece := range strings.SplitSeq(marked, mark) {
		if at += len(piece); len(begins) < n {
			_, found := slices.BinarySearch(starts, at)
			begins = append(begins, found)
		}
	}
	return begins, nil
}

// sedQuoted quotes a value for both halves of an s command, whose separator follows the first letter of the script.
func sedQuoted(value, source, special string) string {
	separator := "/"
	if i := strings.IndexByte(source, 's'); i >= 0 && i+1 < len(source) &&
		strings.Contains(`!"#%',-:;<=>@_~`+"`", source[i+1:i+2]) {
		separator = source[i+1 : i+2]
	}
	var b strings.Builder
	for i := range len(value) {
		c := value[i : i+1]
		switch {
		case c == "\n":
			c = `\n`
		case strings.Contains(special, c) || c == separator:
			c = `\` + c
		}
		b.WriteString(c)
	}
	return b.String()
}
