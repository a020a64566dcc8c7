package sed

import (
	"context"
	"unicode/utf8"

	"github.com/millrace-go/millrace/internal/match"
	"github.com/millrace-go/millrace/internal/posix"
)

// pattern is a compiled pattern in any syntax. It is safe for concurrent use.
type pattern struct {
	posix  *match.Longest
	re2    *match.Pattern
	groups int
	size   int // in nodes, or in instructions
}

func newPattern(text []byte, o Options, icase, lines bool) (*pattern, *posix.Error) {
	if o.Syntax == RE2 {
		if len(text) > o.MaxPattern {
			return nil, posix.TooBig(0)
		}
		re, err := match.Compile(string(text), match.Regex,
			match.Flags{IgnoreCase: icase, MultiLine: lines, Bytes: true})
		if err != nil {
			return nil, &posix.Error{Text: err.Error()}
		}
		return &pattern{re2: re, groups: len(re.Groups()) - 1, size: re.Size()}, nil
	}
	how := posix.Options{Basic: o.Syntax == BRE, IgnoreCase: icase, Lines: lines, MaxNodes: o.MaxPattern}
	p, bad := posix.Parse(text, how)
	if bad != nil {
		return nil, bad
	}
	re, err := match.CompileLongest(p.Tree, posix.Words())
	if err != nil {
		return nil, posix.TooBig(utf8.RuneCount(text))
	}
	return &pattern{posix: re, groups: p.Groups, size: p.Nodes}, nil
}

func (re *pattern) contains(ctx context.Context, b []byte) (bool, error) {
	if re.re2 != nil {
		return re.re2.Contains(ctx, b)
	}
	return re.posix.Contains(ctx, b)
}

// each calls yield for each match with at least groups of its groups, in the form of package regexp.
func (re *pattern) each(ctx context.Context, b []byte, groups int, yield func(loc []int) bool) error {
	if re.re2 != nil {
		see := func(_ *match.Window, loc []int) bool { return yield(loc) }
		return re.re2.Find(ctx, match.Bytes(b), match.How{Groups: true}, see)
	}
	return re.posix.Each(ctx, b, groups, yield)
}

// guarded returns patterns for lines that the script may change: a line without a match stays unchanged. It returns nil
// if no useful patterns are known.
func (s *Script) guarded() []*match.Longest {
	var guards []*match.Longest
	for i := 0; i < len(s.commands); i++ {
		c := &s.commands[i]
		var re *pattern
		switch {
		case c.name == '}':
			continue
		case c.from.kind == addrRegexp && c.to.kind == addrNone && !c.not:
			re = c.from.re
			if c.name == '{' {
				i = c.end
			}
		case c.from.kind == addrNone && !c.not:
			re = c.pattern()
		}
		if s.quiet || re == nil || re.posix == nil || !re.posix.Needs() {
			return nil
		}
		guards = append(guards, re.posix)
	}
	return guards
}

// share divides the memory for states among the patterns of a script.
func (s *Script) share() {
	var list []*match.Longest
	for _, c := range s.commands {
		for _, re := range []*pattern{c.from.re, c.to.re, c.pattern()} {
			if re != nil && re.posix != nil {
				list = append(list, re.posix)
			}
		}
	}
	for _, re := range list {
		re.Share(len(list))
	}
}

// pattern returns the pattern of an s, nil if it has none of its own.
func (c *command) pattern() *pattern {
	if c.subst == nil {
		return nil
	}
	return c.subst.re
}
