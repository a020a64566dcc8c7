package sed

import (
	"bytes"
	"strconv"

	"github.com/millrace-go/millrace/internal/match"
)

// pattern is a compiled pattern in any syntax. It is safe for concurrent use.
type pattern struct {
	posix  *posix
	re2    *match.Pattern
	groups int
	size   int // in nodes, or in instructions
}

func quote(text []byte) string { return strconv.Quote(string(text)) }
func itoa(n int) string        { return strconv.Itoa(n) }

// unescapePattern replaces what sed replaces before it gives a pattern away. Package regexp has escapes of its own.
func unescapePattern(text []byte, s Syntax) ([]byte, bool) {
	if s == RE2 {
		return bytes.ReplaceAll(text, []byte("\\\n"), []byte("\n")), true
	}
	return unescape(text, patternText)
}

func newPattern(text []byte, o Options, icase, lines bool) (*pattern, *patternError) {
	if o.Syntax != RE2 {
		re, err := compilePosix(text, o.Syntax == BRE, icase, lines, o.MaxPattern)
		if err != nil {
			return nil, err
		}
		return &pattern{posix: re, groups: re.n.groups, size: len(re.n.nodes)}, nil
	}
	if len(text) > o.MaxPattern {
		return nil, &patternError{errTooBig, 0}
	}
	re, err := match.Compile(string(text), match.Regex, match.Flags{IgnoreCase: icase, MultiLine: lines, Bytes: true})
	if err != nil {
		return nil, &patternError{err.Error(), 0}
	}
	return &pattern{re2: re, groups: len(re.Groups()) - 1, size: re.Size()}, nil
}

// must is a text that every match contains, empty if none is known.
func (re *pattern) must() []byte {
	if re.posix != nil {
		return re.posix.must
	}
	return nil
}

// share divides the memory for states among the patterns of a script.
func (s *Script) share() {
	const all = 8 * cacheBytes
	var list []*posix
	for i := range s.commands {
		c := &s.commands[i]
		for _, re := range []*pattern{c.from.re, c.to.re, c.pattern()} {
			if re != nil && re.posix != nil {
				list = append(list, re.posix)
			}
		}
	}
	for _, re := range list {
		re.room = min(cacheBytes, max(all/len(list), cacheBytes/64))
	}
}

// pattern is that of an s, nil if it has none of its own.
func (c *command) pattern() *pattern {
	if c.subst == nil {
		return nil
	}
	return c.subst.re
}
