package actions

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/millrace-go/millrace/internal/show"
)

func checkGlob(pattern string) error {
	switch {
	case pattern == "":
		return fmt.Errorf("glob cannot be empty")
	case len(pattern) > maxGlobBytes:
		return fmt.Errorf("glob '%s' is too long (max %d bytes, got %d)", show.Pattern(pattern), maxGlobBytes,
			len(pattern))
	case !doublestar.ValidatePattern(pattern):
		return fmt.Errorf("'%s' is not a valid glob", pattern)
	case nesting(pattern) > maxGlobNested:
		return fmt.Errorf("glob '%s' has braces within braces too deep (max %d, got %d)",
			show.Pattern(pattern), maxGlobNested, nesting(pattern))
	case backwards(pattern) != "":
		return fmt.Errorf("glob '%s' has the range '%s', which goes backwards", pattern, backwards(pattern))
	case strings.HasPrefix(pattern, "/"):
		return fmt.Errorf("glob '%s' begins with a slash, but paths are relative to the root of the tree", pattern)
	}
	return nil
}

// nesting returns the nesting depth of the braces of a glob.
func nesting(pattern string) int {
	depth, most := 0, 0
	for i := 0; i < len(pattern); i = behindGlobChar(pattern, i) {
		switch pattern[i] {
		case '{':
			depth++
			most = max(most, depth)
		case '}':
			depth--
		}
	}
	return most
}

// backwards returns a character range of a valid glob whose end comes before its start, "" if not found. Here such a
// range would match its first character, in git and in a shell nothing.
func backwards(pattern string) string {
	const (
		outside = -1 // of brackets
		none    = -2 // character that may begin a range
	)
	first := rune(outside)
	for rest := pattern; rest != ""; {
		c, n := utf8.DecodeRuneInString(rest)
		rest = rest[n:]
		switch {
		case c == '\\':
			c, n = utf8.DecodeRuneInString(rest)
			rest = rest[n:]
			if first != outside {
				first = c
			}
		case first == outside:
			if c == '[' {
				first = none
				if strings.HasPrefix(rest, "!") || strings.HasPrefix(rest, "^") {
					rest = rest[1:]
				}
			}
		case c == ']':
			first = outside
		case c == '-' && first != none && !strings.HasPrefix(rest, "]"):
			last, n := utf8.DecodeRuneInString(strings.TrimPrefix(rest, `\`))
			if last < first {
				return string(first) + "-" + string(last)
			}
			rest, first = strings.TrimPrefix(rest, `\`)[n:], none
		default:
			first = c
		}
	}
	return ""
}
