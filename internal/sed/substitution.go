package sed

import (
	"bytes"

	"github.com/millrace-go/millrace/internal/match"
)

// substitution is an s command.
type substitution struct {
	re     *pattern // nil for the last pattern used
	parts  []part
	groups int // the highest \N of the replacement
	number int // of the first match that is replaced; 0 is 1
	global bool
	print  bool
}

// part is a piece of a replacement: some text, then a group, each with a change of case.
type part struct {
	text  []byte
	group int // -1 for none
	mode  match.Case
}

func (s *substitution) parse(text []byte) {
	var mode, saved match.Case
	literal := []byte{}
	end := func(group int) {
		s.parts = append(s.parts, part{literal, group, mode})
		s.groups = max(s.groups, group)
		literal = []byte{}
		mode = saved
	}
	for i := 0; i < len(text); i++ {
		c := text[i]
		if c == '&' {
			end(0)
			continue
		}
		if c != '\\' {
			literal = append(literal, c)
			continue
		}
		i++
		if i == len(text) {
			literal = append(literal, '\\')
			end(-1)
			break
		}
		switch c = text[i]; c {
		case '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
			end(int(c - '0'))
		case 'L', 'U', 'E':
			end(-1)
			mode = map[byte]match.Case{'L': match.Lower, 'U': match.Upper}[c]
			saved = mode
		case 'l', 'u':
			end(-1)
			saved = mode
			mode |= map[byte]match.Case{'l': match.LowerFirst, 'u': match.UpperFirst}[c]
		default:
			// The piece ends after the character: a \u before it applies only to this character.
			literal = append(literal, c)
			end(-1)
		}
	}
	if len(literal) > 0 {
		end(-1)
	}
}

// size returns the length of the replacement of a match, or a number above most if the length is above most. It is
// exact if no part changes the case of letters.
func (s *substitution) size(caps []int, most int) (n int, exact bool) {
	exact = true
	for _, p := range s.parts {
		n += len(p.text)
		if p.group >= 0 {
			n += caps[2*p.group+1] - caps[2*p.group]
		}
		exact = exact && p.mode == 0
		if n > most {
			return n, exact
		}
	}
	return n, exact
}

// expand appends the replacement of a match in b, and ends when out is longer than most.
func (s *substitution) expand(out, b []byte, caps []int, most int) []byte {
	var pending match.Case
	for _, p := range s.parts {
		if len(out) > most {
			return out
		}
		mode := p.mode
		if mode.First() == 0 {
			mode |= pending
		}
		pending = 0
		if len(p.text) > 0 {
			out = appendCase(out, p.text, mode)
			mode &^= mode.First()
		}
		if p.group < 0 {
			continue
		}
		from, to := caps[2*p.group], caps[2*p.group+1]
		switch {
		case from != to:
			out = appendCase(out, b[from:to], mode)
		case p.mode.First() != 0:
			pending = mode.First() // for the next group
		}
	}
	return out
}

// appendCase appends text in a case. From a NUL on, the text is unchanged, as in GNU sed.
func appendCase(out, text []byte, mode match.Case) []byte {
	changes := len(text)
	if i := bytes.IndexByte(text, 0); i >= 0 {
		changes = i
	}
	return append(mode.Append(out, text[:changes]), text[changes:]...)
}
