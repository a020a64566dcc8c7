// Package match finds texts and regular expressions in files, and computes the replacements.
//
// [Compile] makes a [Pattern], which is immutable and safe for concurrent use. Regular expressions have the syntax
// and the meaning of package regexp, over the whole file.
//
// # How a file is searched
//
// A structural pattern is compared token by token, see package structural. An expression is run in up to three ways.
// Each way is faster than the next, but finds less:
//
//   - If every match contains one of some known texts, these texts are found by their rarest bytes ([Pattern.Contains]
//     ends there in most files). If no match goes beyond a line, only the lines with such a text are searched, as long
//     as they are few.
//   - A lazy automaton finds whether there is a match, how many there are, and where they begin and end, with one table
//     lookup for each byte. It runs through a long text in several parts at the same time, or jumps between the texts
//     that matches begin with.
//   - A walk along all ways at once finds the groups of a match. It also finds the matches without an automaton, or if
//     the automaton needs too many states and is given up, for one file or finally for the pattern.
//
// The states of the automaton are kept in the pattern. Each goroutine uses its own automaton.
//
// A [Longest] is a regular expression of another syntax. It is run in the same ways, leftmost-longest.
//
// # Line ends
//
// A file may end its lines with "\r\n", but patterns are mostly written with "\n". So that one pattern works for both,
//
//   - in a literal pattern without "\r", "\n" also means "\r\n";
//   - in a regular expression that does not name \r, "\r\n" is one line end, a "\n": $ matches before it, never within
//     it, and . does not match its "\r".
//
// So such a pattern changes a file with "\r\n" in the same way as the same file with "\n". Each "\n" in the replacement
// that does not follow a "\r" becomes the line end of the match at that position: the first becomes the first line end
// of the match, and so on, and all further ones become the last. A match within a line uses the line end of that line,
// or of the line before if it is the last. All other patterns work byte for byte. Nothing outside of the matches ever
// changes.
package match

import (
	"bytes"
	"fmt"
	"regexp/syntax"
	"strings"
)

// Mode is the way in which a pattern is read.
type Mode uint8

// The modes. Auto reads a pattern as a regular expression if it is valid and has a special character, and as a literal
// text otherwise.
const (
	Auto Mode = iota
	Literal
	Regex
	Structural
)

// String returns the name of the mode in JSON.
func (m Mode) String() string { return [...]string{"auto", "literal", "regex", "structural"}[m] }

// ParseMode returns the mode of that name; an empty name means the default.
func ParseMode(name string, byDefault Mode) (Mode, error) {
	if name == "" {
		return byDefault, nil
	}
	for m := Auto; m <= Structural; m++ {
		if m.String() == name {
			return m, nil
		}
	}
	return 0, fmt.Errorf("unknown mode '%s'", name)
}

// Flags change the meaning of a regular expression. IgnoreCase also applies to a literal.
type Flags struct {
	IgnoreCase bool // i: letters match in any case
	MultiLine  bool // m: ^ and $ match at line ends
	DotAll     bool // s: . matches \n
	Bytes      bool // "\r\n" is always two characters, never a single line end
	// Lines implies MultiLine. No line begins after the last line end of a text: ^, $ and empty matches are not found
	// there.
	Lines bool
	// Language is the language of the texts for a structural pattern. If it is empty, the name of each text decides, see
	// [How].
	Language string
}

// ParseFlags reads flags from the letters i, m and s.
func ParseFlags(letters string) (Flags, error) {
	var f Flags
	for _, r := range letters {
		switch r {
		case 'i':
			f.IgnoreCase = true
		case 'm':
			f.MultiLine = true
		case 's':
			f.DotAll = true
		default:
			return Flags{}, fmt.Errorf("unknown flag '%c' (only i, m and s are known)", r)
		}
	}
	return f, nil
}

// syntax returns the flags of package syntax.
func (f Flags) syntax() syntax.Flags {
	flags := syntax.Perl
	if f.IgnoreCase {
		flags |= syntax.FoldCase
	}
	if f.MultiLine || f.Lines {
		flags &^= syntax.OneLine
	}
	if f.DotAll {
		flags |= syntax.DotNL
	}
	return flags
}

// Pattern is a compiled pattern. It is immutable and safe for concurrent use.
type Pattern struct {
	*Parsed
	engine
	exact  *finder // for a literal that is compared byte for byte and has no program
	traits traits
	adapts bool    // "\r\n" is one line end for the replacement of a match
	viewed bool    // the file must be searched without the "\r" of "\r\n"
	plain  *finder // the pattern as text, if its mode was guessed to be Regex
}

// Compile is [Parse] and [Parsed.Compile] in one.
func Compile(pattern string, mode Mode, flags Flags) (*Pattern, error) {
	p, err := Parse(pattern, mode, flags)
	if err != nil {
		return nil, err
	}
	return p.Compile()
}

// Compile prepares a pattern for use. Time and memory are proportional to its size. The error is a *PatternError.
func (s *Parsed) Compile() (*Pattern, error) {
	if s.shape != nil {
		return s.structural(), nil
	}
	if s.tree == nil {
		return s.literal(), nil
	}
	prog, err := syntax.Compile(s.tree.Simplify())
	if err != nil {
		return nil, patternError(s.pattern, err)
	}
	p := &Pattern{Parsed: s, traits: traitsOf(s.tree)}
	p.prog = prog
	p.alphabet = alphabet{lines: s.flags.Lines, words: s.words()}
	if s.mode == Literal {
		p.anyEnd = !strings.Contains(s.pattern, "\r")
		p.adapts = p.anyEnd
	} else {
		// "\r\n" can only be one line end if the pattern does not name "\r", and this only matters if a match could contain
		// it.
		p.adapts = !p.traits.carriageReturn && !s.flags.Bytes
		p.anyEnd = p.adapts && p.traits.seesLineEnds()
	}
	skips := p.anyEnd && p.traits.seesLineEnds()
	known := textsOf(s.tree)
	p.need = required(known.best, p.anyEnd)
	p.machine = newMachine(&p.engine, skips)
	if p.machine != nil && !p.traits.oneLine {
		p.machine.startWith(known.first)
	}
	p.byLine = p.traits.oneLine && (len(p.need) > 0 || p.machine != nil)
	// By lines, each line is searched without its line end, so no view is needed.
	p.viewed = skips && !p.byLine
	if !p.viewed {
		p.sole = soleText(s.tree)
	}
	if s.guessed && s.mode == Regex {
		p.plain = newFinder(s.pattern)
	}
	return p, nil
}

// literal is Compile for a text that is compared byte for byte.
func (s *Parsed) literal() *Pattern {
	p := &Pattern{Parsed: s, exact: newFinder(s.pattern)}
	p.sole = p.exact
	p.anyEnd = !strings.Contains(s.pattern, "\r")
	p.adapts = p.anyEnd
	p.viewed = p.anyEnd && strings.Contains(s.pattern, "\n")
	p.need = []*finder{p.exact}
	if p.viewed {
		// "\r\n" may be in place of each "\n", so only the text between them is certain.
		p.need = required([]text{{s: s.pattern}}, true)
	}
	return p
}

// Ambiguous reports whether the mode was Auto and Compile chose Regex, so that the pattern may have been meant as a
// text. See [Pattern.AsText].
func (p *Pattern) Ambiguous() bool { return p.plain != nil }

// AsText reports whether an ambiguous pattern occurs in data as a text.
func (p *Pattern) AsText(data []byte) bool { return p.plain != nil && p.plain.next(data, 0) >= 0 }

// Screen returns a test for parts of a file: mayMatch is false for a part in which no match begins, ends or lies, if
// each part repeats the last overlap bytes of the part before. It is nil if no such test is possible.
func (p *Pattern) Screen() (mayMatch func(part []byte) bool, overlap int) {
	of := p.need
	if p.plain != nil && len(of) > 0 {
		of = append(of[:len(of):len(of)], p.plain)
	}
	if len(of) == 0 {
		return nil, 0
	}
	for _, s := range of {
		overlap = max(overlap, s.size()-1)
	}
	return func(part []byte) bool {
		for _, s := range of {
			if s.next(part, 0) >= 0 {
				return true
			}
		}
		return false
	}, overlap
}

// needsView reports whether data must be searched through a view.
func (p *Pattern) needsView(data []byte) bool { return p.viewed && bytes.Contains(data, crlf) }

// structural is Compile for a structural pattern. Its rarest word is looked for first.
func (s *Parsed) structural() *Pattern {
	p := &Pattern{Parsed: s}
	var best []text
	for _, word := range s.shape.Literals() {
		if s.flags.IgnoreCase && !isASCII(word) {
			continue // its letters may have other forms
		}
		best = rarer(best, []text{{s: word, fold: s.flags.IgnoreCase}})
	}
	if len(best) > 0 {
		p.need = required(best, false)
	}
	return p
}
