package match

import (
	"unicode/utf8"

	"github.com/millrace-go/millrace/internal/structural"
)

// StepsError means that a structural pattern takes too long in a text, or that the text is too long for it.
type StepsError = structural.StepsError

// CheckLanguage returns an error that lists the languages if none has that name. An empty name is allowed.
func CheckLanguage(name string) error {
	if name == "" {
		return nil
	}
	_, err := structural.Named(name)
	return err
}

// isASCII reports whether a text has only ASCII characters.
func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
