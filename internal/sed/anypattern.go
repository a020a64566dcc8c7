package sed

import (
	"bytes"
	"errors"
	"regexp"
	"regexp/syntax"
	"strconv"
)

// pattern is a compiled pattern in any syntax. It is safe for concurrent use.
type pattern struct {
	posix  *posix
	re2    *regexp.Regexp
	groups int
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
		return &pattern{posix: re, groups: re.n.groups}, nil
	}
	if len(text) > o.MaxPattern {
		return nil, &patternError{errTooBig, 0}
	}
	flags := ""
	if icase {
		flags += "i"
	}
	if lines {
		flags += "m"
	}
	if flags != "" {
		flags = "(?" + flags + ")"
	}
	re, err := regexp.Compile(flags + string(text))
	if err != nil {
		if e, ok := errors.AsType[*syntax.Error](err); ok {
			return nil, &patternError{e.Code.String() + ": `" + e.Expr + "`", max(0, bytes.Index(text, []byte(e.Expr)))}
		}
		return nil, &patternError{err.Error(), 0}
	}
	return &pattern{re2: re, groups: re.NumSubexp()}, nil
}

// must is a text that every match contains, empty if none is known.
func (re *pattern) must() []byte {
	if re.posix != nil {
		return re.posix.must
	}
	if prefix, _ := re.re2.LiteralPrefix(); prefix != "" {
		return []byte(prefix)
	}
	return nil
}
