package match

import (
	"regexp/syntax"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// cutWordFlag removes the flag u from the flags that a pattern begins with, as in "(?u)" or "(?iu)", and reports
// whether it was there. Package syntax has no such flag.
func cutWordFlag(pattern string) (rest string, found bool) {
	inner, ok := strings.CutPrefix(pattern, "(?")
	letters, after, closed := strings.Cut(inner, ")")
	if !ok || !closed || !strings.Contains(letters, "u") || strings.Trim(letters, "imsUu") != "" {
		return pattern, false
	}
	if letters = strings.ReplaceAll(letters, "u", ""); letters == "" {
		return after, true
	}
	return "(?" + letters + ")" + after, true
}

// IsWord reports whether \b of a pattern with the flag u treats the character as a part of a word: a letter, a digit or
// a mark of any script, or "_".
func IsWord(r rune) bool {
	return r == '_' || unicode.In(r, unicode.Letter, unicode.Digit, unicode.Mark)
}

// wordRanges are the characters beyond ASCII for which IsWord is true, as the ranges of a class.
var wordRanges = sync.OnceValue(func() []rune {
	class, err := syntax.Parse(`[\pL\pM\p{Nd}]`, syntax.Perl)
	if err != nil {
		return nil // the expression is fixed, and a test reads it
	}
	ranges := class.Rune
	for len(ranges) > 0 && ranges[1] < utf8.RuneSelf {
		ranges = ranges[2:]
	}
	return ranges
})

// words returns the word characters beyond ASCII for \b and \B, nil for the word characters of package regexp.
func (s *Parsed) words() []rune {
	if !s.unicodeWords {
		return nil
	}
	return wordRanges()
}
