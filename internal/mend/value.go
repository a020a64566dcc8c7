package mend

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/millrace-go/millrace/internal/strictjson"
)

// mostOpen is how many lists and objects may be open. Strict parsers stop far before.
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

// parts reads a list or an object, each of its parts with part.
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

// ended reports whether the open list or object has no further part: it ends here, if it may, or reading cannot go on.
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

// next reads what follows a part of a list or an object: a comma, or the closing bracket, at which it returns true. It
// also returns true if reading cannot go on.
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
	s.copyTo(comma) // so that it can still be left out, whatever is left out behind it
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

// mostMissing is how many closing brackets may be missing: that of the pipeline, and that of its steps. Where more
// are open, a step is not whole, and what else it said is lost.
const mostMissing = 2

// strand ends the reading where neither what is there nor the end of the text makes sense.
func (s *scanner) strand() {
	if s.atEnd() {
		s.cutOff()
	}
	s.stuck = true
}

// cutOff is called where the text ends within a value. Only brackets may be missing, only after a bracket, and only
// where the fence that the JSON stands in is closed: a text that just ends may have gone on, with an option or another
// step. Nor may there be comments, of which one may have the brackets and more.
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

// nameLen returns how long the name without quotes is that a text begins with.
func nameLen(text []byte) int {
	return len(text) - len(bytes.TrimLeftFunc(text, func(r rune) bool {
		return r == '_' || r == '$' || r == '-' || r < utf8.RuneSelf && (unicode.IsLetter(r) || unicode.IsDigit(r))
	}))
}

// word reads a number or a word, and turns words of other languages into those of JSON.
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
		s.note(start, word+" was taken for absent", "leave out what has no value, instead of "+word)
		return
	}
	s.note(start, word+" was taken for "+means, "write "+means)
}
