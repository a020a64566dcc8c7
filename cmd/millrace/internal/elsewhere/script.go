package elsewhere

import (
	"regexp"
	"strings"
)

// script is s/OLD/NEW/FLAGS or y/OLD/NEW/.
type script struct {
	command         byte // s or y
	old, new, flags string
}

// backReference is a group in the new text of sed.
var backReference = regexp.MustCompile(`\\(\d)`)

// group is a group in the new text of perl.
var group = regexp.MustCompile(`\$(\d)`)

// parseScript parses a script of sed, perl or rename if it is a single substitution.
func parseScript(text string) (script, bool) {
	text = strings.TrimSuffix(strings.TrimSpace(text), ";")
	if len(text) < 4 || text[0] != 's' && text[0] != 'y' || !strings.ContainsRune("/|#,!@%:", rune(text[1])) {
		return script{}, false
	}
	var parts [3]string
	at, mark := 0, text[1]
	for i := 2; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\\' && i+1 < len(text) && text[i+1] == mark:
			parts[at] += string(mark)
			i++
		case c == '\\' && i+1 < len(text):
			parts[at] += text[i : i+2]
			i++
		case c == mark && at < 2:
			at++
		default:
			parts[at] += string(c)
		}
	}
	if at < 2 || parts[0] == "" || strings.Trim(parts[2], "abcdefghijklmnopqrstuvwxyzIM0123456789") != "" {
		return script{}, false
	}
	return script{command: text[0], old: parts[0], new: parts[1], flags: parts[2]}, true
}

// dollars returns the new text in the form for replace -r and mv -r.
func (s script) dollars() string {
	return group.ReplaceAllString(backReference.ReplaceAllString(s.new, `${$1}`), `${$1}`)
}

// IsScript reports whether a text is a sed script with one substitution.
func IsScript(text string) bool {
	s, ok := parseScript(text)
	return ok && s.command == 's'
}
