package match

import (
	"slices"
	"strings"

	"github.com/millrace-go/millrace/internal/structural"
)

// MaxInstructions is the size of the largest program of a regular expression, in instructions: each character, class or
// operator is one or two instructions, multiplied by repetitions. The expressions of the holes of a structural pattern
// are counted together.
const MaxInstructions = structural.MaxInstructions

// maxWork bounds the cost of one character of a text: the number of instructions, times the cost of copying groups.
const maxWork = 10 * MaxInstructions

// copies returns roughly by which factor the groups make an instruction slower.
func copies(groups int) int { return 1 + groups/8 }

// The parser of package regexp is slow on the classes of Unicode, which are long lists, and on case-insensitive ranges
// beyond ASCII, which it reads character by character.
const (
	maxNamedClasses = 1000
	maxFoldedRanges = 200
)

// checkClasses returns an error for an expression that would take long to parse.
func checkClasses(pattern string, ignoreCase bool) *PatternError {
	if n := strings.Count(pattern, `\p`) + strings.Count(pattern, `\P`); n > maxNamedClasses {
		return refused(pattern, `name each once, as in [\pL\pN]`,
			`regular expression has too many classes such as \pL (max %d, got %d)`, maxNamedClasses, n)
	}
	if !ignoreCase && !folds(pattern) {
		return nil
	}
	n := 0
	for _, end := range strings.Split(pattern, "-")[1:] {
		if end != "" && end[0] >= 0x80 || strings.HasPrefix(end, `\x{`) {
			n++
		}
	}
	if n > maxFoldedRanges {
		return refused(pattern, `leave out ignoring case, or use classes such as \pL`,
			"regular expression ignores case and has too many ranges of characters that are not ASCII (max %d, got %d)",
			maxFoldedRanges, n)
	}
	return nil
}

// folds reports whether an expression may have the flag i anywhere.
func folds(source string) bool {
	return slices.ContainsFunc(strings.Split(source, "(?")[1:], func(after string) bool {
		flags := after[:len(after)-len(strings.TrimLeft(after, "imsU-"))]
		return strings.Contains(flags, "i")
	})
}
