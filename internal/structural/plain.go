package structural

import "unicode/utf8"

// beginning is the kind of token that begins with a byte, if the byte alone decides it.
type beginning uint8

const (
	beginsOther    beginning = iota // the byte alone does not decide
	beginsBlank                     // layout
	beginsLine                      // a line end without further meaning
	beginsWord                      // a word
	beginsPrefixed                  // a word, or a string with a prefix
	beginsOperator
	beginsBracket
)

// beginnings are the rules of a language, indexed by bytes.
type beginnings struct {
	of    [256]beginning
	inner [256]bool // characters of words
	quote [256]bool // characters that may follow a prefix
}

// use selects the present language.
func (l *lexer) use(lang *Language) {
	if l.lang == lang && l.begins != nil {
		return
	}
	l.lang, l.begins = lang, l.known[lang]
	if l.begins != nil {
		return
	}
	if l.known == nil {
		l.known = make(map[*Language]*beginnings)
	}
	l.begins = beginningsOf(lang)
	l.known[lang] = l.begins
}

func beginningsOf(lang *Language) *beginnings {
	b := &beginnings{}
	for c := range byte(utf8.RuneSelf) {
		b.of[c] = beginsOperator
		if isWordRune(rune(c)) {
			b.of[c], b.inner[c] = beginsWord, true
		}
	}
	for _, c := range []byte(lang.words) {
		b.of[c], b.inner[c] = beginsWord, true
	}
	for _, c := range []byte(lang.inner) {
		b.inner[c] = true
	}
	for _, c := range []byte(" \t\r\f") {
		b.of[c] = beginsBlank
	}
	b.of['\n'] = beginsLine
	if lang.oneLine || lang.fences || lang.heredocs {
		b.of['\n'] = beginsOther
	}
	for _, c := range []byte("()[]{}") {
		b.of[c] = beginsBracket
	}
	other := `\`
	if lang.tags {
		other += "<>"
	}
	if lang.heredocs {
		other += "<"
	}
	if lang.slashes {
		other += "/"
	}
	if lang.percents {
		other += "%"
	}
	for _, mark := range lang.line {
		other += mark[:1]
	}
	for _, mark := range lang.block {
		other += mark[0][:1]
	}
	for i := range lang.quotes {
		q := &lang.quotes[i]
		other += q.open[:1]
		b.quote[q.open[0]] = true
		if q.hashes {
			other += "#"
			b.quote['#'] = true
		}
		for _, c := range []byte(q.prefix) {
			b.of[c] = beginsPrefixed
		}
	}
	for _, c := range []byte(other) {
		b.of[c] = beginsOther
	}
	return b
}

// plain cuts a part of the text into tokens as long as single bytes decide, and returns the end of that part.
func (l *lexer) plain(pos, to int) int {
	if pos == 0 && l.lang.fences {
		return pos // the first line may begin a block of code
	}
	b, data := l.begins, l.data[:to]
	for pos < len(data) && len(l.tokens)&0xfff != 0xfff { // otherwise the context is checked
		end, k := pos+1, kindOperator
		switch b.of[data[pos]] {
		case beginsBlank:
			pos++
			continue
		case beginsLine:
			l.line = true
			pos++
			continue
		case beginsBracket:
			pos = l.bracket(data[pos], pos, end, to)
			continue
		case beginsOther:
			return pos
		case beginsPrefixed:
			for end < len(data) && end < pos+3 && b.inner[data[end]] {
				end++
			}
			if end == len(data) || b.quote[data[end]] {
				return pos
			}
			fallthrough
		case beginsWord:
			for end < len(data) && b.inner[data[end]] {
				end++
			}
			if end < len(data) && data[end] >= utf8.RuneSelf {
				return pos // a letter may follow
			}
			k = kindWord
		}
		if l.line {
			l.add(k, pos, end)
		} else {
			l.tokens = append(l.tokens, token{start: int32(pos), end: int32(end), pair: -1, next: -1, kind: k})
		}
		pos = end
	}
	return pos
}
