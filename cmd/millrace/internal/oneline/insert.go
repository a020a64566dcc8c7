package oneline

import (
	"errors"
	"regexp"
	"regexp/syntax"
	"strings"
)

// line returns the regular expression for a whole line that contains the text.
func (r Replace) line() string {
	text, unicode := r.pattern(), ""
	if !r.Regex && !r.Words {
		text = regexp.QuoteMeta(text)
	}
	if rest, ok := strings.CutPrefix(text, "(?u)"); ok { // it only works at the beginning
		text, unicode = rest, "(?u)"
	}
	return unicode + "^.*(?:" + text + ").*$"
}

// checkWhole refuses a regular expression that is invalid without the added group. Within a group, a text such as
// "a)|(b" would be a different expression.
func checkWhole(text string) error {
	_, err := syntax.Parse(strings.TrimPrefix(text, "(?u)"), syntax.Perl)
	if bad, ok := errors.AsType[*syntax.Error](err); ok {
		return usage("", "invalid regular expression: %s", bad.Code)
	}
	return nil
}

// withLine returns the replacement for the whole line: the line, with the new line before or after it.
func (r Replace) withLine() string {
	text := r.New
	switch {
	case !r.Regex:
		text = verbatim(text)
	case r.Insert == InsertBefore && (strings.Contains(text, `\U`) || strings.Contains(text, `\L`)):
		text += `\E`
	}
	if r.Insert == InsertBefore {
		return text + "\n$0"
	}
	return "$0\n" + text
}
