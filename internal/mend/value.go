package mend

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/millrace-go/millrace/internal/strictjson"
)

// mostOpen limits the number of open lists and objects. Strict parsers stop much earlier.
const mostOpen = 10_000

func (s *scanner) value() {
	s.space()
	switch c := s.peek(); {
	case s.stuck:
	case c == '{':
		s.parts('}', s.member)
	case c == '[':
		s.parts(']', s.value)
	case s.text():
	default:
		s.word()
	}
}

// parts reads a list or an object; part reads each of its parts.
func (s *scanner) parts(closing byte, part func()) {
	if len(s.open) == mostOpen {
		s.stuck = true
		return
	}
	s.open = append(s.open, opened{closing, s.pos})
	s.pos++
	for first := true; !s.ended(first); first = false {
		if part(); s.next() {
			return
		}
	}
}

func (s *scanner) leave() {
	s.last = s.in[s.pos]
	s.pos++
	s.open = s.open[:len(s.open)-1]
}

// ended reports whether the open list or object has no further part: it ends here, if may allows it, or reading cannot
// continue.
func (s *scanner) ended(may bool) bool {
	s.space()
	switch {
	case s.stuck:
	case may && s.peek() == s.open[len(s.open)-1].closing:
		s.leave()
	case s.atEnd():
		s.cutOff()
	default:
		return false
	}
	return true
}

func (s *scanner) member() {
	if !s.text() && !s.name() {
		s.stuck = true
		return
	}
	s.space()
	if s.stuck || s.peek() != ':' {
		s.strand()
		return
	}
	s.last = ':'
	s.pos++
	s.value()
}

// next reads the text after a part of a list or an object: a comma, or the closing bracket. It returns true after a
// closing bracket, or if reading cannot continue.
func (s *scanner) next() bool {
	if s.ended(true) {
		return true
	}
	if s.peek() != ',' {
		s.stuck = true
		return true
	}
	comma := s.pos
	s.pos++
	s.last = ','
	s.copyTo(comma) // so that the comma can still be omitted, even if text after it is omitted
	before := *s
	s.space()
	if s.peek() == s.open[len(s.open)-1].closing && !s.stuck {
		*s = before
		s.note(comma, "commas before closing brackets were left out", "leave out the comma before the closing bracket")
		s.replace(comma, comma+1, "")
		s.space() // again, for the comments
		s.leave()
		return true
	}
	return s.stuck
}

// mostMissing is the maximum number of missing closing brackets: of the pipeline and of its steps. If more are open, a
// step is incomplete, and the rest of it is lost.
const mostMissing = 2

// strand stops the reading at an unreadable place, or at the end of the text.
func (s *scanner) strand() {
	if s.atEnd() {
		s.cutOff()
	}
	s.stuck = true
}

// cutOff is called if the text ends within a value. Only brackets may be missing, only after a bracket, and only if the
// fence around the JSON is closed: otherwise the text may have been truncated before an option or another step. There
// may be no comments, because one of them may contain the brackets and more.
func (s *scanner) cutOff() {
	if s.stuck {
		return
	}
	if (s.last != '}' && s.last != ']') || len(s.open) > mostMissing || s.pos >= len(s.in) || s.noted(doneComments) {
		line, _ := strictjson.LineColumn(s.in, s.open[len(s.open)-1].at)
		what := "object"
		if s.open[len(s.open)-1].closing == ']' {
			what = "list"
		}
		s.refuse(s.pos,
			"the text ends within the %s that starts in line %d: it was cut off, so send all of it again", what, line)
		return
	}
	var missing strings.Builder
	for i := len(s.open) - 1; i >= 0; i-- {
		missing.WriteByte(s.open[i].closing)
	}
	s.note(s.pos, "the missing "+missing.String()+" at the end was added",
		"close all brackets: "+missing.String()+" is missing at the end")
	s.copyTo(s.pos)
	s.put(missing.String(), s.pos)
	s.open = s.open[:0]
	s.behind()
	s.stuck = true
}

func (s *scanner) name() bool {
	end := s.pos + nameLen(s.in[s.pos:])
	if c := s.peek(); end == s.pos || c == '-' || '0' <= c && c <= '9' {
		return false
	}
	s.note(s.pos, "names without quotes got them", "put names in double quotes")
	s.replace(s.pos, end, `"`+string(s.in[s.pos:end])+`"`)
	s.pos = end
	return true
}

// nameLen returns the length of the unquoted name at the beginning of a text.
func nameLen(text []byte) int {
	return len(text) - len(bytes.TrimLeftFunc(text, func(r rune) bool {
		return r == '_' || r == '$' || r == '-' || r < utf8.RuneSelf && (unicode.IsLetter(r) || unicode.IsDigit(r))
	}))
}

// word reads a number or a word, and converts words of other languages to JSON.
func (s *scanner) word() {
	start := s.pos
	for s.pos < len(s.in) && !strings.ContainsRune(" \t\r\n,:{}[]\"'`/#\\", rune(s.in[s.pos])) {
		s.pos++
	}
	if s.pos == start {
		s.strand()
		return
	}
	s.last = 'a'
	word, means := string(s.in[start:s.pos]), ""
	switch word {
	case "True", "TRUE":
		means = "true"
	case "False", "FALSE":
		means = "false"
	case "None", "NULL", "Null", "nil", "undefined", "NaN":
		means = "null"
	default:
		return
	}
	s.replace(start, s.pos, means)
	if means == "null" {
		s.note(start, word+" was read as missing", "leave out what has no value, instead of "+word)
		return
	}
	s.note(start, word+" was read as "+means, "write "+means)
}
