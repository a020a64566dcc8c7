package structural

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// maxNested is the largest depth of code in strings in code.
const maxNested = 16

// comment reads a comment, if one begins at pos, and returns its end.
func (l *lexer) comment(pos, to int) int {
	rest := l.data[pos:to]
	for _, b := range l.lang.block {
		if !bytes.HasPrefix(rest, []byte(b[0])) {
			continue
		}
		if end := l.blockEnd(pos+len(b[0]), to, b); end >= 0 {
			return l.add(kindComment, pos, end)
		}
		return l.broken(pos, to)
	}
	if l.lang.apart && pos > 0 && bytes.IndexByte([]byte(" \t\n;("), l.data[pos-1]) < 0 {
		return pos
	}
	for _, mark := range l.lang.line {
		if bytes.HasPrefix(rest, []byte(mark)) {
			return l.add(kindComment, pos, l.lineEnd(pos, to))
		}
	}
	return pos
}

// blockEnd returns the end of a comment whose inside begins at pos, -1 if it has no end.
func (l *lexer) blockEnd(pos, to int, b [2]string) int {
	if l.tooMuchLost() {
		return -1
	}
	begin, end := []byte(b[0]), []byte(b[1])
	for at, next, depth := pos, -1, 1; ; {
		if next < at { // after a nested begin, the end that was found is still the next end
			i := bytes.Index(l.data[at:to], end)
			if i < 0 {
				return l.lose(to - pos)
			}
			next = at + i
		}
		if l.lang.nested {
			if j := bytes.Index(l.data[at:min(to, next+len(begin)-1)], begin); j >= 0 {
				at, depth = at+j+len(begin), depth+1
				continue
			}
		}
		at = next + len(end)
		if depth--; depth == 0 {
			return at
		}
	}
}

// lose counts bytes that were searched for an end in vain, or will be searched again, and returns -1.
func (l *lexer) lose(n int) int {
	if l.lost += n; l.lost >= l.look && l.err == nil {
		l.look = l.lost + 1<<20
		l.err = l.ctx.Err()
	}
	return -1
}

// tooMuchLost reports whether so many bytes were lost that searching must stop: otherwise the time would not be
// proportional to the text.
func (l *lexer) tooMuchLost() bool { return l.err != nil || l.lost > 8*len(l.data)+4096 }

func (l *lexer) lineEnd(pos, to int) int {
	end := to
	if i := bytes.IndexByte(l.data[pos:to], '\n'); i >= 0 {
		end = pos + i
	}
	if end > pos && l.data[end-1] == '\r' {
		end--
	}
	return end
}

// broken adds a token for text that does not lex, up to the end of the line.
func (l *lexer) broken(pos, to int) int {
	return l.add(kindBroken, pos, max(l.lineEnd(pos, to), pos+1))
}

// literal reads a string or a character, if one begins at pos, and returns its end.
func (l *lexer) literal(pos, to int) int {
	if l.lang.tags && !l.inTag() && l.data[pos] != '<' {
		return pos
	}
	for i := range l.lang.quotes {
		q := &l.lang.quotes[i]
		open, raw, ok := l.opens(q, pos, to)
		if !ok {
			continue
		}
		hashes := 0
		for open-len(q.open)-1-hashes >= pos && q.hashes && l.data[open-len(q.open)-1-hashes] == '#' {
			hashes++
		}
		end := l.stringEnd(q, open, to, hashes, raw || hashes > 0, 0)
		switch {
		case end >= 0:
			return l.add(kindString, pos, end)
		case q.char:
			continue // in Rust, it marks a lifetime
		}
		return l.broken(pos, to)
	}
	switch c := l.data[pos]; {
	case c == '/' && l.lang.slashes && l.wantsValue():
		if end := l.regexEnd(pos+1, to); end >= 0 {
			return l.add(kindString, pos, end)
		}
	case c == '%' && l.lang.percents:
		return l.percent(pos, to)
	case c == '<' && l.lang.heredocs:
		return l.beginHeredoc(pos, to)
	}
	return pos
}

// opens reports whether a string of the kind begins at pos, including its prefix, and returns where its inside begins.
func (l *lexer) opens(q *quote, pos, to int) (inside int, raw, ok bool) {
	if q.lineStart && pos > 0 && l.data[pos-1] != '\n' {
		return 0, false, false
	}
	at := pos
	for at < to && at < pos+3 && strings.IndexByte(q.prefix, l.data[at]) >= 0 {
		raw = raw || strings.IndexByte(q.raw, l.data[at]) >= 0
		at++
	}
	if q.hashes && (q.prefix == "" || raw) && !l.tooMuchLost() {
		from := at
		for at < to && l.data[at] == '#' {
			at++
		}
		l.lose(at - from) // the next search may begin at any of them
	}
	if !bytes.HasPrefix(l.data[at:to], []byte(q.open)) {
		return 0, false, false
	}
	return at + len(q.open), raw, true
}

// stringEnd returns the end of a string whose inside begins at pos, -1 if it has no end.
func (l *lexer) stringEnd(q *quote, pos, to, hashes int, raw bool, depth int) int {
	switch {
	case l.tooMuchLost():
		return -1
	case q.char:
		return l.charEnd(q, pos, to)
	}
	for at := pos; at < to; {
		c := l.data[at]
		switch {
		case c == '\n' && !q.lines:
			return l.lose(at - pos)
		case c == q.escape && q.escape != 0 && !raw:
			at += 2
			continue
		case q.code != "" && bytes.HasPrefix(l.data[at:to], []byte(q.code)):
			end := -1
			if depth < maxNested {
				end = l.codeEnd(at+len(q.code), to, depth+1)
			}
			if end < 0 {
				at += len(q.code)
				continue
			}
			at = end
			continue
		case c == q.close[0] && bytes.HasPrefix(l.data[at:to], []byte(q.close)):
			end := at + len(q.close)
			if q.double && bytes.HasPrefix(l.data[end:to], []byte(q.close)) {
				at = end + len(q.close)
				continue
			}
			n := 0
			for n < hashes && end+n < to && l.data[end+n] == '#' {
				n++
			}
			if n == hashes {
				return end + n
			}
		}
		at++
	}
	return l.lose(to - pos)
}

// charEnd is stringEnd for one character or one escape.
func (l *lexer) charEnd(q *quote, pos, to int) int {
	if pos >= to || l.data[pos] == '\n' {
		return -1
	}
	end := pos
	if l.data[pos] == q.escape {
		for end = pos + 2; end < to && end < pos+12 && l.data[end] != q.close[0]; end++ {
		}
	} else {
		_, n := utf8.DecodeRune(l.data[pos:to])
		end = pos + n
	}
	if end < to && l.data[end] == q.close[0] {
		return end + 1
	}
	return -1
}

// codeEnd returns the end of code within a string, after its "}", -1 if it has no end.
func (l *lexer) codeEnd(pos, to, depth int) int {
	if l.tooMuchLost() {
		return -1
	}
	for at, braces := pos, 1; at < to; {
		switch c := l.data[at]; c {
		case '{':
			braces++
		case '}':
			if braces--; braces == 0 {
				return at + 1
			}
		case '\'', '"', '`':
			for i := range l.lang.quotes {
				if q := &l.lang.quotes[i]; q.open[0] == c && bytes.HasPrefix(l.data[at:to], []byte(q.open)) {
					if end := l.stringEnd(q, at+len(q.open), to, 0, false, depth); end >= 0 {
						at = end - 1
					}
					break
				}
			}
		}
		at++
	}
	return l.lose(to - pos)
}
