// Package match finds texts and regular expressions in files, and works out what replaces them.
//
// [Compile] makes a [Pattern], which is immutable and safe for concurrent use. Regular expressions have the syntax
// and the meaning of package regexp, over the whole file.
//
// # How a file is searched
//
// A structural pattern is compared token by token, see package structural. An expression is run in up to three ways, of
// which each is faster, and knows less, than the next:
//
//   - The texts of which every match contains one are found by their rarest bytes ([Pattern.Contains] ends with them
//     in most files). If no match goes beyond a line, only the lines with such a text are searched, as long as they are
//     few.
//   - A lazy automaton tells whether there is a match, how many there are, and where they begin and end, with a look
//     into a table for each byte. It goes through a long text in several parts at once, or from one place with a text
//     that matches begin with to the next.
//   - A walk along all ways at once tells where the groups of a match are. It also finds the matches where there is no
//     automaton, or where that needs too many states and is given up, for one file or at last for the pattern.
//
// The states of the automaton are kept in the pattern, for one goroutine at a time.
//
// A [Longest] is a regular expression of another syntax, which is run in the same ways, leftmost-longest.
//
// # Line ends
//
// A file may end its lines with "\r\n", a pattern is mostly written with "\n". So that one pattern works for both,
//
//   - in a literal pattern that holds no "\r", "\n" stands for "\r\n" too;
//   - in a regular expression that does not name \r, "\r\n" counts as one line end, a "\n": $ matches before it,
//     never within it, and . does not take its "\r".
//
// So such a pattern makes of a file with "\r\n" what it makes of the same file with "\n". Each "\n" in the
// replacement that follows no "\r" becomes the line end that stands at that place: the first one the first line end
// in the match, and so on, the last line end of the match for all further ones. A match within a line gives them the
// end of that line, or of the one before if it is the last. All other patterns work byte for byte. Nothing outside of
// the matches ever changes.
package match

import (
	"bytes"
	"fmt"
	"regexp/syntax"
	"strings"
)

// Mode describes how a pattern is read.
type Mode uint8

// The modes. Auto reads a pattern as a regular expression if it is one and has a character that means something there,
// and as a literal text otherwise.
const (
	Auto Mode = iota
	Literal
	Regex
	Structural
)

// String returns the name of the mode in JSON.
func (m Mode) String() string { return [...]string{"auto", "literal", "regex", "structural"}[m] }

// ParseMode returns the mode of that name; an empty name gives the default.
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

// Flags change the meaning of a regular expression, and IgnoreCase that of a literal too.
type Flags struct {
	IgnoreCase bool // i: letters match in any case
	MultiLine  bool // m: ^ and $ match at line ends
	DotAll     bool // s: . matches \n
	Bytes      bool // "\r\n" is never taken for one line end, but for two characters
	// Lines implies MultiLine. No line begins after the last line end of a text: ^, $ and empty matches are not found
	// there.
	Lines bool
	// Language is that of the texts for a structural pattern. Empty takes it from the name of each, see [How].
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

// syntax returns the flags as package syntax has them.
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
	exact  *finder // of a literal that is compared byte for byte, which has no program
	traits traits
	adapts bool    // "\r\n" counts as one line end for what replaces a match
	viewed bool    // to find it, the file has to be looked at without the "\r" of "\r\n"
	plain  *finder // the pattern as text, where it was guessed to be a regular expression
}

// Compile is [Parse] and [Parsed.Compile] in one.
func Compile(pattern string, mode Mode, flags Flags) (*Pattern, error) {
	p, err := Parse(pattern, mode, flags)
	if err != nil {
		return nil, err
	}
	return p.Compile()
}

// Compile prepares a pattern for use. It takes time and memory in proportion to the size. The error is a *PatternError.
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
		// "\r\n" can only be one line end if the pattern leaves the "\r" alone, and it only matters to what could see
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
	// Each line is looked at without its line end where that is all that a match can be in.
	p.viewed = skips && !p.byLine
	if !p.viewed {
		p.sole = soleText(s.tree)
	}
	if s.guessed && s.mode == Regex {
		p.plain = newFinder(s.pattern)
	}
	return p, nil
}

// literal is Compile for what is compared byte for byte.
func (s *Parsed) literal() *Pattern {
	p := &Pattern{Parsed: s, exact: newFinder(s.pattern)}
	p.sole = p.exact
	p.anyEnd = !strings.Contains(s.pattern, "\r")
	p.adapts = p.anyEnd
	p.viewed = p.anyEnd && strings.Contains(s.pattern, "\n")
	p.need = []*finder{p.exact}
	if p.viewed {
		// "\r\n" may stand for the "\n", so only what is between them is sure to be there.
		p.need = required([]text{{s: s.pattern}}, true)
	}
	return p
}

// Ambiguous reports whether the mode was left to Compile, which chose Regex, so that the pattern may have been meant as
// a text. See [Pattern.AsText].
func (p *Pattern) Ambiguous() bool { return p.plain != nil }

// AsText reports whether a pattern that is ambiguous occurs in data as a text.
func (p *Pattern) AsText(data []byte) bool { return p.plain != nil && p.plain.next(data, 0) >= 0 }

// Screen returns a test for parts of a file: mayMatch is false for a part in which no match begins, ends or lies, as
// long as each part is given with the last overlap bytes of the one before. It is nil if there is no such test.
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

// needsView reports whether data has to be looked at through a view.
func (p *Pattern) needsView(data []byte) bool { return p.viewed && bytes.Contains(data, crlf) }

// structural is Compile for a structural pattern. The rarest of its words is looked for first.
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
