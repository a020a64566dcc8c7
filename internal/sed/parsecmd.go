package sed

import (
	"bytes"
	"strconv"
	"unicode/utf8"
)

func (p *parser) substitute(cmd *command) {
	const unterminated = "unterminated `s' command"
	delimiter := p.delimiter()
	text := p.until(delimiter, true, unterminated)
	with := p.until(delimiter, false, unterminated)
	s := &substitution{}
	s.parse(p.unescape(with, replacementText))
	icase, lines := p.flags(s)
	s.re = p.compile(text, icase, lines, s.groups)
	cmd.subst = s
}

func (p *parser) flags(s *substitution) (icase, lines bool) {
	for {
		switch c := p.nonblank(); {
		case c == 'i' || c == 'I':
			icase = true
		case c == 'm' || c == 'M':
			lines = true
		case c == 'p' && s.print, c == 'g' && s.global:
			p.fail("multiple `" + string(rune(c)) + "' options to `s' command")
		case c == 'p':
			s.print = true
		case c == 'g':
			s.global = true
		case isDigit(c):
			if s.number > 0 {
				p.fail("multiple number options to `s' command")
			}
			if s.number = p.integer(c); s.number == 0 {
				p.fail("number option to `s' command may not be zero")
			}
		case c == '}' || c == '#':
			p.back(c)
			return icase, lines
		case c == eof || c == '\n' || c == ';' || c == '\r' && p.next() == '\n':
			return icase, lines
		case c == 'w' || c == 'e':
			p.refuse("the flag `"+string(rune(c))+"' of `s' is not supported", refused(byte(c)))
		default:
			p.fail("unknown option to `s'")
		}
	}
}

// compile compiles a pattern, of which groups groups are used. The result is nil for the empty pattern.
func (p *parser) compile(text []byte, icase, lines bool, groups int) *pattern {
	if len(text) == 0 {
		if icase || lines {
			p.fail("cannot specify modifiers on empty regexp")
		}
		return nil
	}
	if p.scan {
		return &pattern{}
	}
	if p.options.Syntax == RE2 {
		text = bytes.ReplaceAll(text, []byte("\\\n"), []byte("\n")) // package regexp has escapes of its own
	} else {
		text = p.unescape(text, patternText)
	}
	if p.err != nil {
		return nil
	}
	re, err := newPattern(text, p.options, icase, lines)
	if err != nil {
		p.refuse(err.Text, "in the pattern "+strconv.Quote(string(text))+", at character "+strconv.Itoa(err.At+1))
		p.err.Unsupported = err.Unsupported
		return nil
	}
	if p.size += re.size; p.size > 4*p.options.MaxPattern {
		p.fail("the patterns of the script are too big together")
	}
	if re.groups < groups {
		p.fail("invalid reference \\" + strconv.Itoa(groups) + " on `s' command's RHS")
	}
	return re
}

func (p *parser) transliterate(cmd *command) {
	delimiter := p.delimiter()
	var parts [2][]string // characters, or bytes that are not part of a character
	for i := range parts {
		text := p.unescape(p.until(delimiter, false, "unterminated `y' command"), plainText)
		for len(text) > 0 {
			_, n := utf8.DecodeRune(text)
			parts[i] = append(parts[i], string(text[:n]))
			text = text[n:]
		}
	}
	if len(parts[0]) != len(parts[1]) {
		p.fail("strings for `y' command are different lengths")
		return
	}
	cmd.letters = make(map[string]string, len(parts[0]))
	for i, from := range parts[0] {
		// GNU sed takes a stray byte for a character that begins with this byte.
		for _, from := range []string{from, from[:1]} {
			if _, ok := cmd.letters[from]; !ok {
				cmd.letters[from] = parts[1][i]
			}
		}
	}
	p.endOfCommand()
}

// textLines reads the text of a, i or c: the rest of the line without the blanks before it, or the text after a
// backslash and an optional newline. A backslash at the end of a line continues the text on the next line, or in the
// next script.
func (p *parser) textLines(cmd *command) {
	p.place.Kind = BeginsText
	c := p.nonblank()
	p.place.Kind = Elsewhere
	switch c {
	case eof:
		p.fail("expected \\ after `a', `c' or `i'")
		return
	case '\\':
		if c = p.next(); c != '\n' {
			p.back(c)
		}
		if c == eof && !p.continued() {
			return
		}
	default:
		p.back(c)
	}
	var text []byte
	for c = p.next(); c != eof && c != '\n'; c = p.next() {
		if text = append(text, byte(c)); c != '\\' {
			continue
		}
		if c = p.next(); c != eof {
			text = append(text, byte(c))
			continue
		}
		if text = append(text, '\n'); !p.continued() {
			return
		}
	}
	cmd.text = p.unescape(append(text, '\n'), plainText)
}

// continued continues the text of a, i or c in the next script, because this script ends with a backslash.
func (p *parser) continued() bool {
	if p.nextScript() {
		return true
	}
	p.refuse("the text ends with a backslash, and no line follows",
		"write the next line of the text, or leave out the backslash")
	return false
}

// quit reads the rest of q or Q.
func (p *parser) quit(cmd *command) {
	if cmd.to.kind != addrNone {
		p.fail("command only uses one address")
	}
	c := p.nonblank()
	p.back(c)
	if isDigit(c) {
		p.refuse("an exit status of `"+string(rune(cmd.name))+"' is not supported", "leave out the number")
		return
	}
	p.endOfCommand()
}
