package match

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/millrace-go/millrace/internal/show"
)

// backslash reads the escape that follows a backslash, and returns its length.
func (t *templateParser) backslash(after string) (int, *PatternError) {
	if after == "" {
		return 0, t.badEscape(`\`, `write \\ for a backslash`)
	}
	length := 1
	switch c := after[0]; c {
	case 'n':
		t.put("\n", `\n`, "a line end")
	case 't':
		t.put("\t", `\t`, "a tab")
	case 'r':
		t.put("\r", `\r`, "a carriage return")
	case '\\':
		t.put(`\`, `\\`, "one backslash")
	case '$':
		t.put("$", `\$`, "a dollar sign")
	case 'U', 'L', 'E', 'u', 'l':
		if c == 'u' && strings.HasPrefix(after, "u{") {
			return t.codePoint(after)
		}
		t.setCase(c)
	case 'x':
		return t.hexadecimal(after)
	default:
		return 0, t.unknownEscape(after)
	}
	return length, nil
}

// put appends the text that an escape means.
func (t *templateParser) put(text, escape, meaning string) {
	t.plain.WriteString(text)
	t.note(escape, meaning)
}

func (t *templateParser) note(escape, meaning string) {
	if t.escape == "" {
		t.escape, t.meaning = escape, meaning
	}
}

// hexadecimal reads xHH.
func (t *templateParser) hexadecimal(after string) (int, *PatternError) {
	if len(after) < 3 {
		return 0, t.badEscape(`\x`, `write two hexadecimal digits, as in \x09, or \\x for the text`)
	}
	n, err := strconv.ParseUint(after[1:3], 16, 8)
	switch {
	case err != nil:
		return 0, t.badEscape(`\x`, `write two hexadecimal digits, as in \x09, or \\x for the text`)
	case n >= utf8.RuneSelf:
		// Some programs read it as a byte, others as a character.
		return 0, t.badEscape(`\`+after[:3], fmt.Sprintf(`write \u{%x} for the character %s`, n, string(rune(n))))
	}
	t.put(string(rune(n)), `\`+after[:3], fmt.Sprintf("the character U+%04X", n))
	return 3, nil
}

// codePoint reads u{H…}.
func (t *templateParser) codePoint(after string) (int, *PatternError) {
	digits, _, closed := strings.Cut(after[2:], "}")
	n, err := strconv.ParseUint(digits, 16, 32)
	if !closed || err != nil || n > utf8.MaxRune || !utf8.ValidRune(rune(n)) {
		return 0, t.badEscape(`\u{`, `write the number of a character in hexadecimal digits, as in \u{e9}`)
	}
	length := len(digits) + 3
	t.put(string(rune(n)), `\`+after[:length], fmt.Sprintf("the character U+%04X", n))
	return length, nil
}

// setCase reads \U, \L, \E, \u and \l. A case for the next character stays valid before \U and \L.
func (t *templateParser) setCase(c byte) {
	t.flush()
	first := t.as & caseFirst
	switch c {
	case 'U':
		t.as, t.rest = Upper|first, Upper
	case 'L':
		t.as, t.rest = Lower|first, Lower
	case 'E':
		t.as, t.rest = 0, 0
	case 'u':
		t.as = t.rest | UpperFirst
	case 'l':
		t.as = t.rest | LowerFirst
	}
	t.note(`\`+string(c), "a change of case")
}

// unknownEscape refuses an escape that has no meaning here, with a hint for the likely meaning.
func (t *templateParser) unknownEscape(after string) *PatternError {
	if name, length := foreignGroup(after); length > 0 {
		written := `\` + after[:length]
		group := "${" + name + "}"
		return refused(t.source, "write "+group+" for the group, or \\"+written+" for the text",
			"replacement %q: %s is not a group", show.Pattern(t.source), written)
	}
	r, size := utf8.DecodeRuneInString(after)
	char := after[:size]
	if r == '_' || r < utf8.RuneSelf && isNameByte(byte(r)) {
		return t.badEscape(`\`+char, `write \\`+char+` for a backslash and `+char)
	}
	return t.badEscape(`\`+char, fmt.Sprintf(`write %s for the character, \\%s for a backslash before it`, char, char))
}

func (t *templateParser) badEscape(escape, hint string) *PatternError {
	return refused(t.source, hint, "replacement %q: %s is not an escape", show.Pattern(t.source), escape)
}

// Escape returns the first escape in the replacement, such as \n, and its meaning, "" without an escape.
func (t Template) Escape() (escape, meaning string) { return t.escape, t.meaning }
