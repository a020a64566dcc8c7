package sed

import (
	"strconv"
	"unicode/utf8"
)

// substitute reads what follows the s of a substitution.
func (p *parser) substitute(cmd *command) error {
	delimiter, err := p.delimiter()
	if err != nil {
		return err
	}
	text, ok := p.until(delimiter, true)
	if !ok {
		return p.fail("unterminated `s' command")
	}
	with, ok := p.until(delimiter, false)
	if !ok {
		return p.fail("unterminated `s' command")
	}
	s := &substitution{}
	if !s.parse(with) {
		return p.fail("recursive escaping after \\c not allowed")
	}
	icase, lines, err := p.flags(s)
	if err != nil {
		return err
	}
	s.re, err = p.compile(text, icase, lines, s.groups)
	cmd.subst = s
	return err
}

// flags reads the flags of s.
func (p *parser) flags(s *substitution) (icase, lines bool, err error) {
	for {
		switch c := p.nonblank(); {
		case c == 'i' || c == 'I':
			icase = true
		case c == 'm' || c == 'M':
			lines = true
		case c == 'p' && s.print:
			return false, false, p.fail("multiple `p' options to `s' command")
		case c == 'p':
			s.print = true
		case c == 'g' && s.global:
			return false, false, p.fail("multiple `g' options to `s' command")
		case c == 'g':
			s.global = true
		case isDigit(c) && s.number > 0:
			return false, false, p.fail("multiple number options to `s' command")
		case isDigit(c):
			if s.number = p.integer(c); s.number == 0 {
				return false, false, p.fail("number option to `s' command may not be zero")
			}
		case c == '}' || c == '#':
			p.back(c)
			return icase, lines, nil
		case c == eof || c == '\n' || c == ';':
			return icase, lines, nil
		case c == '\r':
			if p.next() == '\n' {
				return icase, lines, nil
			}
			return false, false, p.fail("unknown option to `s'")
		case c == 'w' || c == 'e':
			e := p.here().at(p.scripts, "the flag `"+string(rune(c))+"' of `s' is not supported", refused(byte(c)))
			e.Unsupported = true
			return false, false, e
		default:
			return false, false, p.fail("unknown option to `s'")
		}
	}
}

// compile compiles a pattern, of which groups groups are used, and nil is the empty one.
func (p *parser) compile(text []byte, icase, lines bool, groups int) (*pattern, error) {
	if len(text) == 0 {
		if icase || lines {
			return nil, p.fail("cannot specify modifiers on empty regexp")
		}
		return nil, nil
	}
	text, ok := unescapePattern(text, p.options.Syntax)
	if !ok {
		return nil, p.fail("recursive escaping after \\c not allowed")
	}
	re, err := newPattern(text, p.options, icase, lines)
	if err != nil {
		e := p.here().at(p.scripts, err.Text, "in the pattern "+strconv.Quote(string(text))+", at character "+strconv.Itoa(err.At+1))
		e.Unsupported = err.Unsupported
		return nil, e
	}
	if p.size += re.size; p.size > 4*p.options.MaxPattern {
		return nil, p.fail("the patterns of the script are too big together")
	}
	if re.groups < groups {
		return nil, p.fail("invalid reference \\" + strconv.Itoa(groups) + " on `s' command's RHS")
	}
	return re, nil
}

// transliterate reads what follows a y.
func (p *parser) transliterate(cmd *command) error {
	delimiter, err := p.delimiter()
	if err != nil {
		return err
	}
	var parts [2][]string // characters, or bytes that are part of none
	for i := range parts {
		text, ok := p.until(delimiter, false)
		if !ok {
			return p.fail("unterminated `y' command")
		}
		if text, ok = unescape(text, plainText); !ok {
			return p.fail("recursive escaping after \\c not allowed")
		}
		for len(text) > 0 {
			_, n := utf8.DecodeRune(text)
			parts[i] = append(parts[i], string(text[:n]))
			text = text[n:]
		}
	}
	if len(parts[0]) != len(parts[1]) {
		return p.fail("strings for `y' command are different lengths")
	}
	cmd.letters = make(map[string]string, len(parts[0]))
	for i, from := range parts[0] {
		// GNU sed takes a stray byte for a character that begins with it.
		for _, from := range []string{from, from[:1]} {
			if _, ok := cmd.letters[from]; !ok {
				cmd.letters[from] = parts[1][i]
			}
		}
	}
	return p.endOfCommand()
}
