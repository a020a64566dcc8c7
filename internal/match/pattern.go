// Package match finds texts and regular expressions in files, and works out what replaces them.
//
// [Compile] makes a [Pattern], which is immutable and safe for concurrent use. Regular expressions have the syntax and the
// meaning of package regexp, over the whole file; a search that can be decided without running them is.
//
// # How a file is searched
//
// Package regexp is slow, and only needed to tell where a match begins and where its groups are. Before it, there are
//
//   - the texts of which every match contains one, found by their rarest bytes ([Pattern.Contains] ends with them in most
//     files). If no match goes beyond a line, only the lines with such a text are looked at, as long as they are few;
//   - a lazy automaton, which tells whether there is a match and counts them, a byte for each look into a table. It goes
//     through long texts in several parts at once, or from one place with a text that matches begin with to the next.
//
// An automaton that needs too many states is given up, for that file and at last for the pattern; package regexp does its
// work then. What it has worked out is kept in the pattern, for one goroutine at a time.
//
// # Line ends
//
// A file may end its lines with "\r\n", a pattern is mostly written with "\n". So that one pattern works for both,
//
//   - in a literal pattern that holds no "\r", "\n" stands for "\r\n" too;
//   - in a regular expression that has a $ in multi-line mode and does not name \r, "\r\n" counts as one line end: $
//     matches before it, never within it, and . and \s do not take its "\r".
//
// For those two kinds of patterns, each "\n" in the replacement that follows no "\r" becomes the line end that stands at
// that place: the first one the first line end in the match, and so on, the last line end of the match for all further
// ones. A match within a line gives them the end of that line, or of the one before if it is the last. All other patterns
// work byte for byte. Nothing outside of the matches ever changes.
package match

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"
	"sync"
)

// Mode says how a pattern is read.
type Mode uint8

// The modes. Auto reads a pattern as a regular expression if it is one and has a character that means something there,
// and as a literal text otherwise.
const (
	Auto Mode = iota
	Literal
	Regex
)

// String returns the name of the mode in JSON.
func (m Mode) String() string {
	switch m {
	case Literal:
		return "literal"
	case Regex:
		return "regex"
	default:
		return "auto"
	}
}

// ParseMode returns the mode of that name; an empty name gives the default.
func ParseMode(name string, byDefault Mode) (Mode, error) {
	switch name {
	case "":
		return byDefault, nil
	case "auto":
		return Auto, nil
	case "literal":
		return Literal, nil
	case "regex":
		return Regex, nil
	}
	return 0, fmt.Errorf("unknown mode '%s'", name)
}

// Flags change the meaning of a regular expression, and IgnoreCase that of a literal too.
type Flags struct {
	IgnoreCase bool // i: letters match in any case
	MultiLine  bool // m: ^ and $ match at line ends
	DotAll     bool // s: . matches \n
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

// prefix returns the flags as they stand at the front of a regular expression.
func (f Flags) prefix() string {
	var b strings.Builder
	for _, flag := range []struct {
		set    bool
		letter byte
	}{{f.IgnoreCase, 'i'}, {f.MultiLine, 'm'}, {f.DotAll, 's'}} {
		if flag.set {
			b.WriteByte(flag.letter)
		}
	}
	if b.Len() == 0 {
		return ""
	}
	return "(?" + b.String() + ")"
}

// MaxRegexBytes is the longest regular expression, and the longest text to find in any case, that is compiled, in bytes.
const MaxRegexBytes = 64 << 10

// PatternError says that a pattern cannot be used.
type PatternError struct {
	Pattern string
	Msg     string
	Hint    string // what to write instead, if that is known
}

func (e *PatternError) Error() string { return e.Msg }

// ErrEmpty is the cause for which an empty pattern is refused.
var ErrEmpty = errors.New("pattern is empty")

// Pattern is a compiled pattern. It is immutable and safe for concurrent use.
type Pattern struct {
	source  string
	mode    Mode // Literal or Regex
	guessed bool // mode was Auto

	exact *finder  // of a literal that is compared byte for byte; otherwise re is set
	sole  searcher // finds the matches, as they are all one text
	re    *regexp.Regexp
	// shifted matches one more character, before what re matches. It is set if re looks at what is before it.
	shifted *regexp.Regexp
	traits  traits
	need    []searcher // each match contains one of these; if there are none, nothing is known
	machine *machine   // nil if there is none for re
	byLine  bool       // no match goes beyond the line it is in, and there is a way to find the lines
	spare   sync.Pool  // of *tools

	anyEnd bool    // "\r\n" counts as one line end
	viewed bool    // to find it, the file has to be looked at without the "\r" of "\r\n"
	plain  *finder // the pattern as text, where it was guessed to be a regular expression
}

// Compile compiles a pattern. The error is ErrEmpty or a *PatternError.
func Compile(pattern string, mode Mode, flags Flags) (*Pattern, error) {
	if pattern == "" {
		return nil, ErrEmpty
	}
	if mode == Auto {
		if regexp.QuoteMeta(pattern) != pattern {
			if p, err := compileRegex(pattern, flags); err == nil {
				p.guessed, p.plain = true, newFinder(pattern)
				return p, nil
			}
		}
		p, err := compileLiteral(pattern, flags)
		if p != nil {
			p.guessed = true
		}
		return p, err
	}
	if mode == Literal {
		return compileLiteral(pattern, flags)
	}
	return compileRegex(pattern, flags)
}

func compileLiteral(pattern string, flags Flags) (*Pattern, error) {
	if flags.IgnoreCase {
		if err := checkLength("text to find in any case", pattern); err != nil {
			return nil, err
		}
		anyEnd := !strings.Contains(pattern, "\r")
		p, err := compileTree(pattern, regexp.QuoteMeta(pattern), Flags{IgnoreCase: true}, func(traits) bool { return anyEnd })
		if err != nil {
			return nil, err
		}
		p.mode = Literal
		return p, nil
	}
	p := &Pattern{source: pattern, mode: Literal, exact: newFinder(pattern)}
	p.sole = p.exact
	p.anyEnd = !strings.Contains(pattern, "\r")
	p.viewed = p.anyEnd && strings.Contains(pattern, "\n")
	p.need = []searcher{p.exact}
	if p.viewed {
		// "\r\n" may stand for the "\n", so only what is between them is sure to be there.
		if p.need = nil; longestLine(pattern) != "" {
			p.need = []searcher{newFinder(longestLine(pattern))}
		}
	}
	return p, nil
}

func compileRegex(pattern string, flags Flags) (*Pattern, error) {
	if err := checkLength("regular expression", pattern); err != nil {
		return nil, err
	}
	// A $ can only see "\r\n" as one if the pattern leaves the "\r" alone.
	return compileTree(pattern, pattern, flags, func(t traits) bool { return t.endLine && !t.carriageReturn })
}

// checkLength returns an error, untyped nil if there is none, for what is too long to be compiled.
func checkLength(what, pattern string) error {
	if len(pattern) <= MaxRegexBytes {
		return nil
	}
	return &PatternError{Pattern: short(pattern), Msg: fmt.Sprintf("%s is too long (max %d bytes, got %d)", what, MaxRegexBytes, len(pattern))}
}

// short returns a pattern for a message, cut where it gets long.
func short(pattern string) string {
	const most = 60
	if len(pattern) <= most {
		return pattern
	}
	return strings.ToValidUTF8(pattern[:most], "") + "..."
}

// ended returns a valid regular expression as one that something can be written behind: a \Q may be open to the end.
func ended(source string) string {
	if _, err := syntax.Parse(source+`\E`, syntax.Perl); err != nil {
		return source // as a \E that ends nothing is no expression
	}
	return source + `\E`
}

// compileTree compiles a regular expression that stands for the pattern.
func compileTree(pattern, regex string, flags Flags, anyEnd func(traits) bool) (*Pattern, error) {
	source := flags.prefix() + regex
	re, err := regexp.Compile(source)
	if err != nil {
		return nil, patternError(pattern, err)
	}
	tree, err := syntax.Parse(source, syntax.Perl)
	if err != nil {
		return nil, patternError(pattern, err)
	}
	p := &Pattern{source: pattern, mode: Regex, re: re, traits: traitsOf(tree)}
	if p.traits.beginText || p.traits.beginLine || p.traits.word {
		if p.shifted, err = regexp.Compile("(?s:.)(?:" + ended(source) + ")"); err != nil {
			return nil, patternError(pattern, err) // too large with the dot
		}
	}
	p.anyEnd = anyEnd(p.traits)
	p.need = required(tree, p.anyEnd)
	p.machine = newMachine(tree, p.anyEnd && (p.traits.endLine || !p.traits.oneLine), !p.traits.oneLine)
	p.byLine = p.traits.oneLine && (len(p.need) > 0 || p.machine != nil)
	// Without a newline, and with no $ that is not seen to by line, nothing in the file looks different.
	p.viewed = p.anyEnd && !p.traits.oneLine || p.anyEnd && p.traits.endLine && !p.byLine
	if !p.viewed {
		p.sole = soleText(tree)
	}
	return p, nil
}

// patternError says what is wrong with a regular expression in words for the one who wrote it.
func patternError(pattern string, err error) *PatternError {
	e := &PatternError{Pattern: pattern, Msg: "invalid regular expression: " + short(strings.TrimPrefix(err.Error(), "error parsing regexp: "))}
	bad, ok := errors.AsType[*syntax.Error](err)
	if !ok {
		return e
	}
	e.Msg = fmt.Sprintf("invalid regular expression: %s: %q", bad.Code, short(bad.Expr))
	switch {
	case bad.Code == syntax.ErrInvalidPerlOp:
		e.Hint = "the syntax is RE2, which has no lookahead and no lookbehind"
	case bad.Code == syntax.ErrInvalidEscape && len(bad.Expr) == 2 && bad.Expr[1] >= '1' && bad.Expr[1] <= '9':
		e.Hint = "the syntax is RE2, which has no back-references"
	case bad.Code == syntax.ErrMissingParen || bad.Code == syntax.ErrUnexpectedParen || bad.Code == syntax.ErrMissingBracket ||
		bad.Code == syntax.ErrMissingRepeatArgument:
		e.Hint = `write \ before a character that is meant as itself, or set mode to "literal"`
	}
	return e
}

// Source returns the pattern as it was given to Compile.
func (p *Pattern) Source() string { return p.source }

// Mode returns how the pattern is read, [Literal] or [Regex].
func (p *Pattern) Mode() Mode { return p.mode }

// Ambiguous reports whether the mode was left to Compile, which chose Regex, so that the pattern may have been meant as
// a text. See [Pattern.AsText].
func (p *Pattern) Ambiguous() bool { return p.plain != nil }

// AsText reports whether a pattern that is ambiguous occurs in data as a text.
func (p *Pattern) AsText(data []byte) bool { return p.plain != nil && p.plain.next(data, 0) >= 0 }

// Groups returns the names of the pattern's groups, of which the first stands for the match as a whole. Groups without
// a name have an empty one.
func (p *Pattern) Groups() []string {
	if p.mode == Literal {
		return []string{""}
	}
	return p.re.SubexpNames()
}

// Screen returns a test for parts of a file: mayMatch is false for a part in which no match begins, ends or lies, as long
// as each part is given with the last overlap bytes of the one before. It is nil if there is no such test.
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
	return func(part []byte) bool { return anywhere(part, of) }, overlap
}

var crlf = []byte("\r\n")

// needsView reports whether data has to be looked at through a view.
func (p *Pattern) needsView(data []byte) bool { return p.viewed && bytes.Contains(data, crlf) }
