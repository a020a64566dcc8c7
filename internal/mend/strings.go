package mend

import (
	"strings"
	"unicode/utf8"

	"github.com/millrace-go/millrace/internal/strictjson"
)

// text reads a string in any kind of quotes. It returns false without a string.
func (s *scanner) text() bool {
	rest := s.in[s.pos:]
	r, size := utf8.DecodeRune(rest)
	var closing string
	switch r {
	case '"':
		closing = `"`
	case '\'':
		closing = "'"
		s.note(s.pos, "single quotes were read as double quotes", "put names and strings in double quotes")
	case '“', '”', '„':
		closing = "”"
		s.note(s.pos, "typographic quotes were read as plain ones", `use the plain quote " around names and strings`)
	case '‘', '’':
		closing = "’"
		s.note(s.pos, "typographic quotes were read as plain ones", `use the plain quote " around names and strings`)
	default:
		return false
	}
	start := s.pos
	from := start + size
	end := s.endOf(from, closing)
	if end < 0 {
		s.refuse(start, "the string that starts here has no closing quote: it was cut off, or a quote is missing")
		return true
	}
	s.copyTo(start)
	if closing != `"` {
		s.put(`"`, from)
	}
	s.content(from, end, closing)
	s.pos = end + len(closing)
	if closing != `"` {
		s.copyTo(end)
		s.put(`"`, s.pos)
	}
	s.last = '"'
	return true
}

// endOf returns the offset of the closing quote, or -1.
func (s *scanner) endOf(from int, closing string) int {
	for i := from; i < len(s.in); i++ {
		switch {
		case s.in[i] == '\\':
			i++
		case s.in[i] == closing[0] && strings.HasPrefix(string(s.in[i:min(len(s.in), i+len(closing))]), closing):
			return i
		}
	}
	return -1
}

// content writes the content of a string so that it is valid between double quotes.
func (s *scanner) content(from, end int, closing string) {
	double := s.doubled(from, end)
	for i := from; i < end; i++ {
		switch c := s.in[i]; {
		case c == '\n', c == '\r', c == '\t':
			s.replace(i, i+1, string(strictjson.AppendQuoted(nil, string(c))[1:3]))
			s.note(i, "line breaks and tabs in strings were taken as they are",
				`write \n for a line break and \t for a tab in a string`)
		case c == '"' && closing != `"`:
			s.replace(i, i+1, `\"`)
		case c == '\\' && i+1 < end && s.in[i+1] == '\'' && closing == "'":
			s.replace(i, i+2, "'")
			i++
		case c == '\\' && i+1 < end && double && strings.IndexByte(onlyRegex, s.in[i+1]) >= 0:
			s.replace(i, i+1, `\\`)
			s.note(i, "single backslashes that mean nothing in JSON were doubled", `write \\ for a backslash in a string`)
			i++
		case c == '\\':
			i++
		}
	}
}

// onlyRegex are the characters that follow a backslash in regular expressions, but not in JSON.
const onlyRegex = `dDwWsSBAzZpPQE.()[]{}+*?^|-`

// doubled reports whether all backslashes of a string must be literal: at least one is before a character of onlyRegex,
// and none is before a JSON escape letter. In "\d+\n" that is unclear.
func (s *scanner) doubled(from, end int) bool {
	found := false
	for i := from; i+1 < end; i++ {
		if s.in[i] != '\\' {
			continue
		}
		i++
		switch c := s.in[i]; {
		case strings.IndexByte(onlyRegex, c) >= 0:
			found = true
		case c != '"' && c != '/' && c != '\'':
			return false
		}
	}
	return found
}
