package structural

import (
	"bytes"
	"slices"
	"strings"
)

// inTag reports whether the innermost bracket belongs to a tag.
func (l *lexer) inTag() bool {
	return len(l.open) > l.base && l.data[l.tokens[l.open[len(l.open)-1]].start] == '<'
}

// tagAt reports whether the text after a "<" begins a tag. In a pattern, it may be a hole.
func (l *lexer) tagAt(pos, to int) bool {
	if pos >= to {
		return false
	}
	c := l.data[pos]
	return c == '/' || c == '!' || c == '?' || c < 0x80 && isWordRune(rune(c)) || l.pattern && c >= 0xF0
}

// wantsValue reports whether a value may come next, so that a "/" begins a regular expression.
func (l *lexer) wantsValue() bool {
	for i := len(l.tokens) - 1; i >= 0; i-- {
		t := l.tokens[i]
		switch t.kind {
		case kindComment:
			continue
		case kindWord:
			switch string(l.data[t.start:t.end]) {
			case "return", "typeof", "case", "in", "of", "do", "else", "void", "delete", "throw", "await", "yield",
				"and", "or",
				"not", "if", "unless", "when", "while":
				return true
			}
			return false
		case kindOperator:
			return l.data[t.start] != '<' || int(t.end) != len(l.data) && l.data[t.end] == ' '
		}
		return t.kind == kindOpen
	}
	return true
}

// regexEnd returns the end of a regular expression whose inside begins at pos, -1 if it does not end in its line.
func (l *lexer) regexEnd(pos, to int) int {
	if l.tooMuchLost() {
		return -1
	}
	class := false
	for at := pos; at < to; at++ {
		switch c := l.data[at]; {
		case c == '\n', c == '/' && at == pos:
			return l.lose(at - pos)
		case c == '\\':
			at++
		case c == '[':
			class = true
		case c == ']':
			class = false
		case c == '/' && !class:
			for at++; at < to && isWordRune(rune(l.data[at])); at++ {
			}
			return at
		}
	}
	return l.lose(to - pos)
}

// percent reads a literal such as %w[a b], and returns its end.
func (l *lexer) percent(pos, to int) int {
	at := pos + 1
	if at < to && strings.IndexByte("wWiIqQrsx", l.data[at]) >= 0 {
		at++
	}
	if at >= to || at == pos+1 && !l.wantsValue() {
		return pos
	}
	open, shut := l.data[at], closing(l.data[at])
	if shut == 0 {
		if open != '|' && open != '!' || at == pos+1 {
			return pos
		}
		shut = open
	}
	depth := 1
	if l.tooMuchLost() {
		return pos
	}
	for i := at + 1; i < to; i++ {
		switch c := l.data[i]; {
		case c == '\\':
			i++
		case c == shut:
			if depth--; depth == 0 {
				return l.add(kindString, pos, i+1)
			}
		case c == open:
			depth++
		}
	}
	l.lose(to - pos)
	return pos
}

// heredoc is a text that begins on the next line.
type heredoc struct {
	name   string
	indent bool // the last line may have blanks before the name
}

// beginHeredoc reads "<<NAME", and returns its end.
func (l *lexer) beginHeredoc(pos, to int) int {
	rest := string(l.data[pos:min(to, pos+80)])
	after, ok := strings.CutPrefix(rest, "<<")
	if !ok {
		return pos
	}
	after = strings.TrimPrefix(after, "<")
	indent := strings.HasPrefix(after, "-") || strings.HasPrefix(after, "~") || strings.HasPrefix(rest, "<<<") ||
		l.lang.name == "ruby"
	after = strings.TrimLeft(after, "-~")
	quoted := strings.TrimLeft(after, `'"`)
	n := 0
	for n < len(quoted) && isWordRune(rune(quoted[n])) {
		n++
	}
	if n == 0 || quoted[0] >= '0' && quoted[0] <= '9' {
		return pos
	}
	marks := len(after) - len(quoted)
	end := pos + len(rest) - len(quoted) + n + min(marks, 1)
	if end > to || marks > 1 || l.tooMuchLost() {
		return pos
	}
	line := l.lineEnd(pos, to)
	until := l.heredocEnd(heredoc{quoted[:n], indent}, line, to)
	if l.lose(max(line, until) - pos); until < 0 {
		return pos
	}
	l.heredoc = append(l.heredoc, heredoc{quoted[:n], indent})
	return l.add(kindString, pos, end)
}

// heredocEnd returns the end of a heredoc whose text begins at pos or later, -1 if it has no end.
func (l *lexer) heredocEnd(h heredoc, pos, to int) int {
	if l.tooMuchLost() {
		return -1
	}
	for at := pos; at < to; {
		end := l.lineEnd(at, to)
		line := l.data[at:end]
		if h.indent {
			line = bytes.TrimLeft(line, " \t")
		}
		if string(bytes.TrimRight(line, ";,) ")) == h.name {
			return at + bytes.Index(l.data[at:end], []byte(h.name)) + len(h.name)
		}
		i := bytes.IndexByte(l.data[at:to], '\n')
		if i < 0 {
			break
		}
		at += i + 1
	}
	return l.lose(to - pos)
}

// heredocs reads the texts that begin with the line at pos, and returns their end.
func (l *lexer) heredocs(pos, to int) int {
	for _, h := range l.heredoc {
		if end := l.heredocEnd(h, pos, to); end > pos {
			pos = l.add(kindString, pos, end)
			l.line = true
		}
	}
	l.heredoc = l.heredoc[:0]
	return pos
}

// fence reads a block of code in Markdown, if one begins with the line at pos, and returns its end.
func (l *lexer) fence(pos, to int) int {
	first := l.data[pos:l.lineEnd(pos, to)]
	mark := bytes.TrimLeft(first, " ")
	n := 0
	for n < len(mark) && (mark[n] == '`' || mark[n] == '~') && mark[n] == mark[0] {
		n++
	}
	if n < 3 || l.tooMuchLost() {
		return pos
	}
	name, _, _ := strings.Cut(strings.TrimSpace(string(mark[n:])), " ")
	fence := slices.Clone(mark[:n])
	from := pos + len(first)
	for at := from; at < to; {
		i := bytes.IndexByte(l.data[at:to], '\n')
		if i < 0 {
			break
		}
		at += i + 1
		if end := l.lineEnd(at, to); bytes.HasPrefix(bytes.TrimLeft(l.data[at:end], " "), fence) {
			l.add(kindString, pos, from)
			l.in(name, from, at)
			return l.add(kindString, at, max(end, at+1))
		}
	}
	l.lose(to - pos)
	return pos
}

// in cuts a part of the text into tokens of another language.
func (l *lexer) in(name string, from, to int) {
	lang, err := Named(name)
	if err != nil || lang.fences {
		lang = table[rowText]
	}
	outer, base, wanted := l.lang, l.base, l.wanted
	l.use(lang)
	l.base = len(l.open)
	clear(l.wanted[:])
	l.code(from, to)
	l.abandon(l.base)
	l.use(outer)
	l.base, l.wanted = base, wanted
	l.heredoc, l.line = l.heredoc[:0], true
}

// script reads the inside of an element script or style whose tag ends at pos, and returns its end.
func (l *lexer) script(pos, to int) int {
	last := l.tokens[len(l.tokens)-1]
	if last.pair < 0 || int(last.pair)+1 >= len(l.tokens) {
		return pos
	}
	name := l.tokens[last.pair+1]
	word := strings.ToLower(string(l.data[name.start:name.end]))
	lang := map[string]string{"script": "javascript", "style": "css"}[word]
	if lang == "" || l.data[last.start-1] == '/' || l.tooMuchLost() {
		return pos
	}
	i := bytes.Index(l.data[pos:to], []byte("</"+word))
	if i < 0 {
		l.lose(to - pos)
		return pos
	}
	l.in(lang, pos, pos+i)
	return pos + i
}

// elements pairs the tags of elements, so that a hole matches an element as a whole.
func (l *lexer) elements() {
	var open []int
	names := map[string]int{}
	nameOf := func(i int) string { return string(l.data[l.tokens[i].start:l.tokens[i].end]) }
	for i := range l.tokens {
		t := l.tokens[i]
		if t.kind != kindOpen || l.data[t.start] != '<' || int(t.pair) < i+2 {
			continue
		}
		switch first := l.tokens[i+1]; {
		case l.data[first.start] == '/' && int(t.pair) >= i+3:
			name := nameOf(i + 2)
			if names[name] == 0 {
				continue
			}
			for len(open) > 0 {
				last := open[len(open)-1]
				open = open[:len(open)-1]
				names[nameOf(last+1)]--
				if nameOf(last+1) == name {
					l.tokens[last].next = t.pair + 1
					l.tokens[i].closes = true
					break
				}
			}
		case first.kind == kindWord && l.data[l.tokens[t.pair-1].start] != '/':
			open = append(open, i)
			names[nameOf(i+1)]++
		}
	}
}
