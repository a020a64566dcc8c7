package match

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"sync"

	"github.com/millrace-go/millrace/internal/errorform"
	"github.com/millrace-go/millrace/internal/kinds"
	"github.com/millrace-go/millrace/internal/show"
	"github.com/millrace-go/millrace/internal/structural"
	"github.com/millrace-go/millrace/internal/worded"
	"github.com/millrace-go/millrace/wording"
)

// MaxRegexBytes is the longest regular expression, and the longest text to find in any case, that is compiled, in
// bytes.
const MaxRegexBytes = 64 << 10

// PatternError means that a pattern is not usable.
type PatternError struct {
	Pattern string
	Msg     string
	Hint    string // what to write instead, if it is known

	orLiteral bool // the hint ends in the advice to set another mode
}

// Advice returns the hint in its parts.
func (e *PatternError) Advice() error {
	hint, or, ok := e.Hint, orLiteral, e.orLiteral
	if !ok {
		return errors.New(hint)
	}
	return worded.Errorf("%s%v", strings.TrimSuffix(hint, or.Text), or)
}

// orLiteral is the advice for a pattern that may be meant as a text.
var orLiteral = wording.Part{Kind: kinds.SetLiteral, Text: `, or set mode to "literal"`}

func (e *PatternError) Error() string { return e.Msg }

// MarshalJSON returns the code, the message and the paths.
func (e *PatternError) MarshalJSON() ([]byte, error) { return errorform.Marshal("step_failed", e) }

// refused returns the error of a pattern that may be very long.
func refused(pattern, hint, format string, args ...any) *PatternError {
	return &PatternError{Pattern: show.Pattern(pattern), Msg: fmt.Sprintf(format, args...), Hint: hint}
}

// ErrEmpty is the error for an empty pattern.
var ErrEmpty = errors.New("pattern is empty")

// Parsed is a pattern that was read and is known to compile. It is immutable.
type Parsed struct {
	pattern string
	mode    Mode // Literal, Regex or Structural
	guessed bool // mode was Auto
	flags   Flags
	tree    *syntax.Regexp      // nil for a literal that is compared byte for byte
	shape   *structural.Pattern // of a structural pattern
	size    int
	why     *PatternError
	// unicodeWords is set if \b and \B look at letters, digits and marks of all scripts.
	unicodeWords bool
}

// Parse reads a pattern, with little time and memory for any pattern. The error is ErrEmpty or a *PatternError.
func Parse(pattern string, mode Mode, flags Flags) (*Parsed, error) {
	if pattern == "" {
		return nil, ErrEmpty
	}
	p := &Parsed{pattern: pattern, mode: mode, flags: flags}
	if mode == Auto {
		p.guessed, p.mode = true, Literal
		if regexp.QuoteMeta(pattern) != pattern {
			if p.why = p.expression(); p.why == nil {
				p.mode = Regex
				return p, nil
			}
		}
	}
	var err *PatternError
	switch {
	case p.mode == Regex:
		err = p.expression()
	case p.mode == Structural:
		err = p.structure()
	case flags.IgnoreCase:
		if err = checkLength("text to find in any case", pattern); err == nil {
			err = p.read(regexp.QuoteMeta(pattern))
		}
	}
	if err != nil {
		return nil, err
	}
	return p, nil
}

// expression reads the pattern as a regular expression.
func (s *Parsed) expression() *PatternError {
	if err := checkLength("regular expression", s.pattern); err != nil {
		return err
	}
	source, unicodeWords := cutWordFlag(s.pattern)
	s.unicodeWords = unicodeWords
	if err := checkClasses(source, s.flags.IgnoreCase); err != nil {
		return err
	}
	return s.read(source)
}

// read reads a regular expression that represents the pattern.
func (s *Parsed) read(source string) *PatternError {
	tree, err := syntax.Parse(source, s.flags.syntax())
	if err != nil {
		return patternError(s.pattern, err)
	}
	size := structural.Instructions(tree)
	if size > MaxInstructions {
		return refused(s.pattern, "use smaller numbers in repetitions such as {1000}, or fewer of them",
			"regular expression is too large (max %d instructions, got %d)", MaxInstructions, size)
	}
	if int64(size)*int64(copies(tree.MaxCap())) > maxWork {
		return refused(s.pattern,
			"write (?:...) for groups that no replacement uses, or smaller numbers in repetitions",
			"regular expression has too many groups for its size (%d groups, %d instructions)", tree.MaxCap(), size)
	}
	s.tree, s.size = tree, size
	return nil
}

// Source returns the pattern as it was passed to Parse.
func (s *Parsed) Source() string { return s.pattern }

// Mode returns the mode of the pattern: [Literal], [Regex] or [Structural].
func (s *Parsed) Mode() Mode { return s.mode }

// Size returns roughly how many instructions the programs of a regular expression and of the holes of a structural
// pattern have, 0 for a text. Each needs about 300 bytes.
func (s *Parsed) Size() int { return s.size }

// Groups returns the names of the pattern's groups. The first group is the match as a whole. Groups without a name have
// an empty name.
func (s *Parsed) Groups() []string {
	switch s.mode {
	case Literal:
		return []string{""}
	case Structural:
		return s.shape.Names()
	}
	return s.tree.CapNames()
}

// Refused returns the error of the pattern as a regular expression, if the mode was Auto and the pattern was read as a
// text because of that error. Otherwise it returns nil.
func (s *Parsed) Refused() *PatternError { return s.why }

func checkLength(what, pattern string) *PatternError {
	if len(pattern) <= MaxRegexBytes {
		return nil
	}
	return refused(pattern, "", "%s is too long (max %d bytes, got %d)", what, MaxRegexBytes, len(pattern))
}

// regular matches text that is common in regular expressions and rare in plain texts.
var regular = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\(\?|\\[dDwWsSbB1-9pP]|\.[*+]|\[\^|[)\]][*+?{]|^\^|\$$|\{\d+,?\d*\}`)
})

// LooksRegular reports whether the pattern looks as if it was meant as a regular expression, whether it is valid or
// not.
func (s *Parsed) LooksRegular() bool { return regular().MatchString(s.pattern) }

// patternError describes the error of a regular expression for its author.
func patternError(pattern string, err error) *PatternError {
	bad, ok := errors.AsType[*syntax.Error](err)
	if !ok {
		why := strings.TrimPrefix(err.Error(), "error parsing regexp: ")
		return &PatternError{Pattern: pattern, Msg: "invalid regular expression: " + show.Pattern(why)}
	}
	msg := fmt.Sprintf("invalid regular expression: %s: %q", bad.Code, show.Pattern(bad.Expr))
	e := &PatternError{Pattern: pattern, Msg: msg}
	switch {
	case bad.Code == syntax.ErrInvalidPerlOp,
		bad.Code == syntax.ErrInvalidNamedCapture &&
			(strings.HasPrefix(bad.Expr, "(?<=") || strings.HasPrefix(bad.Expr, "(?<!")):
		e.Hint = "the syntax is RE2, which has no lookahead and no lookbehind"
	case bad.Code == syntax.ErrInvalidEscape && len(bad.Expr) == 2 && bad.Expr[1] >= '1' && bad.Expr[1] <= '9':
		e.Hint = "the syntax is RE2, which has no back-references"
	case slices.Contains([]syntax.ErrorCode{
		syntax.ErrMissingParen, syntax.ErrUnexpectedParen, syntax.ErrMissingBracket, syntax.ErrMissingRepeatArgument,
	}, bad.Code):
		e.Hint, e.orLiteral = `write \ before a character that is meant as itself`+orLiteral.Text, true
	}
	return e
}

// structure reads the pattern as a structural one.
func (s *Parsed) structure() *PatternError {
	var lang *structural.Language
	var err error
	if s.flags.Language != "" {
		if lang, err = structural.Named(s.flags.Language); err != nil {
			return refused(s.pattern, "leave it out to go by the name of each file", "%s", err.Error())
		}
	}
	if err := checkClasses(s.pattern, s.flags.IgnoreCase); err != nil {
		return err
	}
	if s.shape, err = structural.Parse(s.pattern, lang, s.flags.IgnoreCase); err != nil {
		return ofShape(s.pattern, err)
	}
	s.size = s.shape.Size()
	return nil
}

// ofShape converts an error of package structural to a *PatternError.
func ofShape(pattern string, err error) *PatternError {
	e := &PatternError{Pattern: show.Pattern(pattern), Msg: err.Error()}
	if of, ok := errors.AsType[*structural.Error](err); ok {
		e.Hint = of.Hint
	}
	return e
}

// Warning returns a warning if a structural pattern seems to have a hole in the syntax of another tool, or "".
func (s *Parsed) Warning() string {
	if s.shape == nil {
		return ""
	}
	return s.shape.Warning()
}
