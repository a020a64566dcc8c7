package match

import (
	"regexp/syntax"
	"sort"
	"unicode/utf8"
)

// alphabet describes the characters of a text: the characters of package regexp, or of a [Longest].
type alphabet struct {
	posix bool
	lines bool   // no line begins after a line end at the end of the text
	words []rune // the word characters beyond ASCII, as the ranges of a class
}

// first returns the first character of data and its length, -1 and 0 for empty data.
func (a *alphabet) first(data []byte) (rune, int) {
	if len(data) == 0 {
		return -1, 0
	}
	r, width := utf8.DecodeRune(data)
	if r == utf8.RuneError && width == 1 && a.posix {
		r = RawByte + rune(data[0])
	}
	return r, width
}

// last returns the last character of data, which must not be empty.
func (a *alphabet) last(data []byte) rune {
	end := data[len(data)-1]
	if end < utf8.RuneSelf || !a.posix && len(a.words) == 0 {
		return rune(end) // no byte of a longer character is a "\n" or a word character of package regexp
	}
	r, width := utf8.DecodeLastRune(data)
	if r == utf8.RuneError && width == 1 && a.posix {
		r = RawByte + rune(end)
	}
	return r
}

func (a *alphabet) isWord(r rune) bool {
	if r < utf8.RuneSelf {
		return syntax.IsWordChar(r)
	}
	i := 2 * sort.Search(len(a.words)/2, func(i int) bool { return a.words[2*i+1] >= r })
	return i < len(a.words) && a.words[i] <= r
}

// pastOf returns the past of a place after a character, as far as lines and words matter.
func (a *alphabet) pastOf(r rune, lines, words bool) past {
	switch {
	case lines && r == '\n':
		return afterLine
	case words && a.isWord(r):
		return afterWord
	}
	return 0
}

// flags returns the assertions that hold between a place with the past c and the next character, -1 for the end of the
// text.
func (a *alphabet) flags(c past, r rune) syntax.EmptyOp {
	before := rune(' ')
	switch {
	case c&atStart != 0:
		before = -1
	case c&afterLine != 0:
		before = '\n'
	case c&afterWord != 0:
		before = 'a'
	}
	if r < 0 && before == '\n' && a.lines {
		return syntax.EmptyOpContext(' ', ' ') | syntax.EmptyEndText
	}
	look := beforeOther
	if r >= 0 && a.isWord(r) {
		look, r = beforeWord, 'a'
	} else if r >= utf8.RuneSelf {
		r = ' '
	}
	return look | syntax.EmptyOpContext(before, r)
}
