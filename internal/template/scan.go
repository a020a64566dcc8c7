package template

import (
	"iter"
	"strings"
)

// candidate is a piece of text of the form "{{" base rest "}}". It is a reference if base names a root.
type candidate struct {
	start, end int    // with the braces
	base       string // the leading letters, digits, "-" and "_"
	rest       string // "", or the text from "." or "[" on, without blanks around it
}

// candidates yields everything in a text that could be a reference, from left to right, without overlaps. Each attempt
// ends at the next opening brace, so no byte is read more than twice, however many braces there are.
func candidates(text string) iter.Seq[candidate] {
	return func(yield func(candidate) bool) {
		for at := 0; ; {
			i := strings.Index(text[at:], "{{")
			if i < 0 {
				return
			}
			c, ok := scan(text, at+i)
			if !ok {
				// Only one brace is skipped: in "{{{find.count}}}" the reference begins at the second.
				at += i + 1
				continue
			}
			if !yield(c) {
				return
			}
			at = c.end
		}
	}
}

// scan reads a candidate that begins with the two braces at start.
func scan(text string, start int) (candidate, bool) {
	inner := text[start+2:]
	n := strings.IndexAny(inner, "{}\r\n")
	if n < 0 || !strings.HasPrefix(inner[n:], "}}") {
		return candidate{}, false
	}
	inner = strings.Trim(inner[:n], blanks)
	length := 0
	for length < len(inner) && idByte(inner[length]) {
		length++
	}
	base, rest := inner[:length], inner[length:]
	if base == "" || rest != "" && rest[0] != '.' && rest[0] != '[' {
		return candidate{}, false
	}
	return candidate{start: start, end: start + 2 + n + 2, base: base, rest: rest}, true
}

const blanks = " \t"

func idByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_'
}

func digits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}

// pieces splits a text. It yields literal text with a zero candidate, and known candidates with an empty text; known
// may change the candidate. A text without a known candidate yields nothing. A run of backslashes before a known
// candidate is halved; an odd backslash makes the candidate literal.
func pieces(text string, known func(*candidate) bool) iter.Seq2[string, candidate] {
	return func(yield func(string, candidate) bool) {
		done := 0 // everything before it has been yielded
		for c := range candidates(text) {
			if !known(&c) {
				continue
			}
			slashes := backslashes(text[done:c.start])
			literal := text[done : c.start-slashes+slashes/2]
			done = c.end
			if literal != "" && !yield(literal, candidate{}) {
				return
			}
			literal = ""
			if slashes%2 == 1 {
				literal, c = text[c.start:c.end], candidate{}
			}
			if !yield(literal, c) {
				return
			}
		}
		if 0 < done && done < len(text) {
			yield(text[done:], candidate{})
		}
	}
}

// backslashes returns the length of the run of backslashes at the end of s.
func backslashes(s string) int { return len(s) - len(strings.TrimRight(s, `\`)) }

// escape puts a backslash before each known candidate, and doubles the backslashes already there.
func escape(text string, known func(*candidate) bool) string {
	var b strings.Builder
	done := 0
	for c := range candidates(text) {
		if known(&c) {
			b.WriteString(text[done:c.start])
			b.WriteString(strings.Repeat(`\`, backslashes(text[done:c.start])+1))
			b.WriteString(text[c.start:c.end])
			done = c.end
		}
	}
	return b.String() + text[done:]
}
