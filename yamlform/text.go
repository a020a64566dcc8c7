package yamlform

import (
	"fmt"
	"strings"
	"unicode"
)

// text writes a string and a line end. indent is the column for the lines of a block.
func (w *writing) text(s string, indent int) {
	if !clean(s) {
		w.word(s)
		w.out = append(w.out, '\n')
		return
	}
	w.out = append(w.out, '|')
	if s[0] == ' ' || s[0] == '\t' {
		w.out = append(w.out, '2') // otherwise the first line would set the indentation of the block
	}
	body, ended := strings.CutSuffix(s, "\n")
	if !ended {
		w.out = append(w.out, '-')
	}
	w.out = append(w.out, '\n')
	for line := range strings.SplitSeq(body, "\n") {
		if line != "" {
			w.out = append(append(w.out, strings.Repeat(" ", indent)...), line...)
		}
		w.out = append(w.out, '\n')
	}
}

// clean reports whether a string can be a block: it has several lines, the first not empty, at most one line end at its
// end, no white space at the end of a line, and no invisible characters.
func clean(s string) bool {
	if !strings.Contains(s, "\n") || s[0] == '\n' || strings.HasSuffix(s, "\n\n") {
		return false
	}
	for line := range strings.SplitSeq(s, "\n") {
		if line != strings.TrimRight(line, " \t") {
			return false
		}
		for _, r := range line {
			if r != '\t' && !unicode.IsPrint(r) {
				return false
			}
		}
	}
	return true
}

// word writes a string in one line, without quotes if that is safe.
func (w *writing) word(s string) {
	if plain(s) {
		w.out = append(w.out, s...)
		return
	}
	w.out = append(w.out, '"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			w.out = append(w.out, '\\', byte(r))
		case r == '\n':
			w.out = append(w.out, '\\', 'n')
		case r == '\t':
			w.out = append(w.out, '\\', 't')
		case r == '\r':
			w.out = append(w.out, '\\', 'r')
		case unicode.IsPrint(r):
			w.out = append(w.out, string(r)...)
		case r < 0x10000:
			w.out = fmt.Appendf(w.out, `\u%04x`, r)
		default:
			w.out = fmt.Appendf(w.out, `\U%08x`, r)
		}
	}
	w.out = append(w.out, '"')
}

// plain reports whether a string needs no quotes: every version of YAML reads it as that string.
func plain(s string) bool {
	if s == "" || !isLetter(s[0]) {
		return false
	}
	for i := range len(s) {
		if c := s[i]; !isLetter(c) && !isDigit(c) && !strings.ContainsRune("_./-", rune(c)) {
			return false
		}
	}
	switch strings.ToLower(s) {
	case "true", "false", "yes", "no", "on", "off", "y", "n", "null":
		return false
	}
	return true
}
