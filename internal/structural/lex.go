package structural

import (
	"bytes"
	"context"
	"strings"
	"unicode/utf8"
)

// maxText is the largest size of a text that is cut into tokens, in bytes: each byte may be a token, which needs about
// 20 bytes.
const maxText = 64 << 20

// lexer cuts a text into tokens. It is not safe for concurrent use, and can be used for many texts.
type lexer struct {
	ctx     context.Context
	data    []byte
	lang    *Language
	begins  *beginnings // of lang
	known   map[*Language]*beginnings
	pattern bool // private characters are holes
	tokens  []token

	open    []int32 // tokens of open brackets without a partner so far
	base    int     // index in open of the first bracket of the present language
	wanted  [128]int32
	line    bool // a line end was seen since the last token
	lost    int  // bytes searched for ends in vain, or again and again
	look    int  // the number of lost bytes at which the context is checked next
	heredoc []heredoc
	err     error
}

// lex cuts a text into tokens, which are valid until the next call. The error is from the context.
func (l *lexer) lex(ctx context.Context, data []byte, lang *Language) ([]token, error) {
	l.ctx, l.data, l.tokens, l.err = ctx, data, l.tokens[:0], nil
	l.use(lang)
	l.open, l.base, l.line, l.lost, l.look, l.heredoc = l.open[:0], 0, false, 0, 0, l.heredoc[:0]
	clear(l.wanted[:])
	l.code(0, len(data))
	l.abandon(0)
	if lang.tags {
		l.elements()
	}
	return l.tokens, l.err
}

// code cuts a part of the text into tokens of the present language.
func (l *lexer) code(from, to int) {
	for pos := from; pos < to && l.err == nil; {
		if len(l.tokens)&0xfff == 0 {
			l.err = l.ctx.Err()
		}
		pos = l.plain(pos, to)
		if pos == to {
			return
		}
		next := l.one(pos, to)
		if next <= pos {
			next = pos + 1
		}
		pos = next
	}
}

// one reads the token that begins at pos and returns its end.
func (l *lexer) one(pos, to int) int {
	c := l.data[pos]
	switch {
	case c == '\n':
		l.line = true
		if l.lang.oneLine {
			l.abandon(l.base)
		}
		if len(l.heredoc) > 0 {
			return l.heredocs(pos+1, to)
		}
		if l.lang.fences {
			return l.fence(pos+1, to)
		}
		return pos + 1
	case c == ' ', c == '\t', c == '\r', c == '\f':
		return pos + 1
	case c == '\\' && continues(l.data[pos:to]) > 0:
		return pos + continues(l.data[pos:to])
	case c == '\\' && pos+1 < to && l.lang.escaped(l.data[pos+1]):
		return l.add(kindOperator, pos, pos+2)
	}
	if pos == 0 && l.lang.fences {
		if end := l.fence(0, to); end > 0 {
			return end
		}
	}
	if end := l.comment(pos, to); end > pos {
		return end
	}
	if end := l.literal(pos, to); end > pos {
		return end
	}
	r, n := rune(c), 1
	if c >= utf8.RuneSelf {
		r, n = utf8.DecodeRune(l.data[pos:to])
	}
	if l.pattern && r >= holeRune && n == 4 {
		return l.add(kindHole, pos, pos+n)
	}
	if l.beginsWord(r) {
		end := pos + n
		for end < to {
			r, n := rune(l.data[end]), 1
			if r >= utf8.RuneSelf {
				r, n = utf8.DecodeRune(l.data[end:to])
			}
			if !isWordRune(r) && (r >= utf8.RuneSelf ||
				strings.IndexByte(l.lang.words, byte(r)) < 0 && strings.IndexByte(l.lang.inner, byte(r)) < 0) {
				break
			}
			end += n
		}
		return l.add(kindWord, pos, end)
	}
	return l.bracket(c, pos, pos+n, to)
}

// continues returns the length of a "\" and a line end at the beginning of a text, 0 if not found. The line continues
// after them.
func continues(text []byte) int {
	switch {
	case bytes.HasPrefix(text, []byte("\\\n")):
		return 2
	case bytes.HasPrefix(text, []byte("\\\r\n")):
		return 3
	}
	return 0
}

func (l *lexer) beginsWord(r rune) bool {
	return isWordRune(r) || r < utf8.RuneSelf && strings.IndexByte(l.lang.words, byte(r)) >= 0
}

// bracket reads a bracket or an operator character.
func (l *lexer) bracket(c byte, pos, end, to int) int {
	switch {
	case c == '(', c == '[', c == '{', c == '<' && l.lang.tags && l.tagAt(pos+1, to):
		l.add(kindOpen, pos, end)
		l.open = append(l.open, int32(len(l.tokens)-1))
		l.wanted[closing(c)]++
		return end
	case c == ')', c == ']', c == '}', c == '>' && l.lang.tags && l.wanted[c] > 0:
		l.close(c, pos, end)
		if c == '>' && l.lang.scripts {
			return l.script(end, to)
		}
		return end
	}
	return l.add(kindOperator, pos, end)
}

// close pairs a closing bracket with the last open bracket of its kind. Brackets that were opened after it have no
// partner.
func (l *lexer) close(c byte, pos, end int) {
	at := len(l.open)
	if l.wanted[c] > 0 {
		for at--; at >= l.base && closing(l.data[l.tokens[l.open[at]].start]) != c; at-- {
		}
	} else {
		at = -1
	}
	if at < l.base {
		l.add(kindBroken, pos, end)
		return
	}
	l.abandon(at + 1)
	opener := l.open[at]
	l.open = l.open[:at]
	l.wanted[c]--
	l.add(kindClose, pos, end)
	l.tokens[opener].pair = int32(len(l.tokens) - 1)
	l.tokens[len(l.tokens)-1].pair = opener
}

// abandon marks the last open brackets, down to a number of them, as never closed.
func (l *lexer) abandon(down int) {
	for len(l.open) > down {
		t := &l.tokens[l.open[len(l.open)-1]]
		t.kind = kindBroken
		l.wanted[closing(l.data[t.start])]--
		l.open = l.open[:len(l.open)-1]
	}
}

// add appends a token and returns its end.
func (l *lexer) add(k kind, start, end int) int {
	t := token{start: int32(start), end: int32(end), pair: -1, next: -1, kind: k, line: l.line}
	t.ends = l.line && k != kindComment && k != kindClose && l.endsStatement(start)
	if k != kindComment {
		l.line = false
	} else {
		l.line = l.line || bytes.IndexByte(l.data[start:end], '\n') >= 0
	}
	l.tokens = append(l.tokens, t)
	return end
}

// endsStatement reports whether the line end before a token that begins at start ends a statement.
func (l *lexer) endsStatement(start int) bool {
	inBraces := len(l.open) > l.base && l.data[l.tokens[l.open[len(l.open)-1]].start] == '{'
	switch l.lang.ends {
	case endsNothing:
		return false
	case endsAlways:
		return len(l.open) == l.base
	case endsInBraces:
		if len(l.open) > l.base && !inBraces {
			return false
		}
	default:
		if len(l.open) > l.base {
			return false
		}
	}
	if l.data[start] == '.' {
		return false // a chain of calls continues
	}
	last := len(l.tokens) - 1
	for last >= 0 && l.tokens[last].kind == kindComment {
		last--
	}
	if last < 0 {
		return false
	}
	before := l.tokens[last]
	switch c := l.data[before.start]; {
	case before.kind == kindOpen:
		return false
	case before.kind != kindOperator, c == '\\' && before.end > before.start+1:
		return true
	case c == '+' || c == '-': // x++ is a statement
		return before.start > 0 && l.data[before.start-1] == c
	default:
		return bytes.IndexByte([]byte("?!;:"), c) >= 0
	}
}
