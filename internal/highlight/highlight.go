// Package highlight finds comments, strings, numbers and keywords in lines of code, for colours in a diff. It uses a
// table of languages and a lexer of one pass: a diff shows pieces of files, so nothing depends on a whole file.
package highlight

import (
	"slices"
	"strings"
)

// Kind is the kind of a span.
type Kind byte

// The kinds of spans. The rest of a line has no span.
const (
	Comment Kind = iota + 1
	String
	Number
	Keyword
)

// Span is a part of a line, from one byte to before another.
type Span struct {
	From, To int
	Kind     Kind
}

// longestLine limits the bytes of a line that are looked at.
const longestLine = 2000

// Language is a language of the table, with the state that a line leaves to the next line. It is not safe for
// concurrent use.
type Language struct {
	family
	words []string // sorted
	// open is the end of the comment or string that a line has left open, "" for none, and inside is its kind.
	open    string
	inside  Kind
	keeping bool // a backslash keeps the character after it from ending it
}

// Begin forgets the lines before. The first of the next lines may be within a comment: Begin detects that by a comment
// that ends in these lines without a beginning.
func (l *Language) Begin(next []string) {
	l.open, l.inside = "", 0
	for _, b := range l.blocks {
		if b.kind != Comment {
			continue
		}
		for _, line := range next {
			if strings.Contains(line, b.begin) {
				break
			}
			if strings.HasSuffix(strings.TrimSpace(line), b.end) && !strings.ContainsAny(line, "\"'`") {
				l.open, l.inside, l.keeping = b.end, Comment, false
				return
			}
		}
	}
}

// Line returns the spans of the next line, in order. A line that is very long has none.
func (l *Language) Line(text string) (spans []Span) {
	if len(text) > longestLine {
		l.open = ""
		return nil
	}
	for at := 0; at < len(text); {
		kind, end := l.inside, 0
		if l.open != "" {
			end = l.rest(text, at)
		} else {
			kind, end = l.token(text, at)
		}
		if kind != 0 {
			spans = append(spans, Span{at, end, kind})
		}
		at = end
	}
	return spans
}

// rest returns the end of the open comment or string, which stays open at the end of a line.
func (l *Language) rest(text string, at int) int {
	end := closing(text, at, l.open, l.keeping)
	if end < 0 {
		return len(text)
	}
	l.open = ""
	return end
}

// closing returns the end of the text that ends something, or -1.
func closing(text string, at int, end string, escapes bool) int {
	for at < len(text) {
		switch {
		case strings.HasPrefix(text[at:], end):
			return at + len(end)
		case escapes && text[at] == '\\':
			at++
		}
		at++
	}
	return -1
}

// token returns the kind and the end of the token that begins at a byte. The kind is 0 for the rest of a line.
func (l *Language) token(text string, at int) (Kind, int) {
	for _, b := range l.blocks {
		if strings.HasPrefix(text[at:], b.begin) {
			l.open, l.inside, l.keeping = b.end, b.kind, l.escapes && b.kind == String && !b.raw
			return b.kind, l.rest(text, at+len(b.begin))
		}
	}
	for _, mark := range l.comments {
		if strings.HasPrefix(text[at:], mark) && (mark != "#" || at == 0 || text[at-1] == ' ' || text[at-1] == '\t') {
			return Comment, len(text)
		}
	}
	c := text[at]
	switch {
	case strings.IndexByte(l.quotes, c) >= 0:
		// A quote without an end in its line is an apostrophe, or the end of a string whose begin a diff does not show.
		if end := closing(text, at+1, string(c), l.escapes); end > 0 {
			return String, end
		}
	case isDigit(c):
		return Number, word(text, at, true)
	case isWord(c):
		end := word(text, at, false)
		name := text[at:end]
		if l.anyCase {
			name = strings.ToLower(name)
		}
		if _, ok := slices.BinarySearch(l.words, name); ok {
			return Keyword, end
		}
		if end < len(text) && text[end] == '\'' && end-at > 2 {
			end++ // an apostrophe: a prefix of a string is shorter
		}
		return 0, end
	}
	return 0, at + 1
}

// word returns the end of a word or of a number. A byte of a character beyond ASCII is part of a word.
func word(text string, at int, number bool) int {
	for at < len(text) && (isWord(text[at]) || number && text[at] == '.') {
		at++
	}
	return at
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func isWord(c byte) bool {
	return c >= 0x80 || c == '_' || isDigit(c) || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}
