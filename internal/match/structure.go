package match

import (
	"errors"
	"unicode/utf8"

	"github.com/millrace-go/millrace/internal/structural"
)

// StepsError says that a structural pattern takes too long in a text, or that the text is too long for it.
type StepsError = structural.StepsError

// CheckLanguage returns an error that lists the languages if there is none of that name. An empty name is none.
func CheckLanguage(name string) error {
	if name == "" {
		return nil
	}
	_, err := structural.Named(name)
	return err
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
	if s.shape, err = structural.Parse(s.pattern, lang, s.flags.IgnoreCase); err != nil {
		return ofShape(s.pattern, err)
	}
	return nil
}

// ofShape makes a *PatternError of an error of package structural.
func ofShape(pattern string, err error) *PatternError {
	e := &PatternError{Pattern: Short(pattern), Msg: err.Error()}
	if of, ok := errors.AsType[*structural.Error](err); ok {
		e.Hint = of.Hint
	}
	return e
}

// Warning says that a structural pattern has what looks like a hole of another tool, or "".
func (s *Parsed) Warning() string {
	if s.shape == nil {
		return ""
	}
	return s.shape.Warning()
}

// shapeTemplate reads a replacement for matches of a structural pattern.
func shapeTemplate(text string, p *Parsed) (Template, error) {
	shape, err := p.shape.ParseReplacement(text)
	if err != nil {
		return Template{}, ofShape(text, err)
	}
	return Template{shape: shape}, nil
}

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

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// shapes finds the matches of a structural pattern in a window, which is all of the text.
func (s *search) shapes(data []byte) error {
	if mayMatch, _ := s.Screen(); mayMatch != nil && !mayMatch(data) {
		return nil
	}
	return s.shape.Find(s.ctx, data, s.how.Name, s.hit)
}
