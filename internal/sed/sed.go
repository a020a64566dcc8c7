package sed

import (
	"fmt"
	"strings"
	"sync"

	"github.com/millrace-go/millrace/internal/match"
)

// Syntax is what patterns are written in.
type Syntax int

const (
	// ERE is POSIX extended syntax with GNU's additions, as of sed -E. It is the default.
	ERE Syntax = iota
	// BRE is POSIX basic syntax with GNU's additions, as of sed without -E.
	BRE
	// RE2 is the syntax of package regexp, with its leftmost-first matching. The rest of the script is sed's.
	RE2
)

// DefaultMaxPattern is what Options.MaxPattern is if it is zero.
const DefaultMaxPattern = 50_000

// DefaultMaxLine is the longest line, in bytes, if Options.MaxLine is zero.
const DefaultMaxLine = 32 << 20

// MaxScript is the longest that all scripts of one Parse may be together, in bytes, and MaxCommands how many commands
// they may have.
const (
	MaxScript   = 1 << 20
	MaxCommands = 10_000
)

// Options describes how scripts are read. The zero value is that of sed -E.
type Options struct {
	Syntax Syntax
	// Quiet is sed -n: lines are kept only where p keeps them.
	Quiet bool
	// MaxPattern is the largest pattern, in nodes: a character or an operator is one, and an interval counts as what it
	// stands for. All patterns of a script may have four times as many together. Zero means DefaultMaxPattern.
	MaxPattern int
	// MaxLine is the longest line in bytes, also after a substitution, and after N has joined lines. Zero means
	// DefaultMaxLine.
	MaxLine int
}

// Script is a sequence of commands. It may be used by several goroutines at a time.
type Script struct {
	commands []command
	quiet    bool
	maxLine  int
	guards   []*match.Longest // if there are any, a line that none of them matches stays as it is
	scripts  []string
	size     int
	idle     sync.Pool     // of *runner
	long     chan struct{} // has a value while a runner is at a line that takes much memory
}

// Size returns how large the patterns are together, in nodes.
func (s *Script) Size() int { return s.size }

// Stats counts what was done to one input.
type Stats struct {
	Replacements int // the substitutions made; one s with the flag g may make several in a line
	Lines        int // the lines read
}

type command struct {
	name    byte // s y d p a i c n N q Q { }
	from    address
	to      address
	not     bool
	end     int // of {, the index of its }
	subst   *substitution
	letters map[string]string // of y, by character
	text    []byte            // of a, i and c, with a newline at its end
	place   place
}

type addressKind uint8

const (
	addrNone   addressKind = iota
	addrLine               // N
	addrStep               // first~step
	addrLast               // $
	addrRegexp             // /re/
	addrPlus               // +N, as the second
	addrTo                 // ~N, as the second
	addrNext               // +0 or ~0, as the second: the line itself
)

type address struct {
	kind    addressKind
	n, step int
	re      *pattern
}

// Error is what is wrong with a script: what GNU sed would refuse, what this package does not do, or an empty pattern
// that had nothing to stand for while the script ran.
type Error struct {
	Script int    // which script, from 0
	Offset int    // the byte at which it was noticed, from 0
	Line   int    // the line of the script, from 1
	Column int    // the byte of the line, from 1
	Text   string // in the words of GNU sed where it has some
	Hint   string // what to do about it, or ""
	// Unsupported means that GNU sed would take it and this package does not, on purpose. Window means that it is about
	// a window of several lines.
	Unsupported, Window bool
}

// Error says where it is and what it is.
func (e *Error) Error() string {
	s := fmt.Sprintf("script %d, line %d, column %d: %s", e.Script+1, e.Line, e.Column, e.Text)
	if e.Hint != "" {
		s += " (" + e.Hint + ")"
	}
	return s
}

type place struct{ script, offset int }

func (p place) at(scripts []string, text, hint string) *Error {
	before := scripts[p.script]
	before = before[:min(p.offset, len(before))]
	return &Error{
		Script: p.script, Offset: len(before), Line: 1 + strings.Count(before, "\n"),
		Column: len(before) - strings.LastIndexByte(before, '\n'), Text: text, Hint: hint,
	}
}

// noWindow is the reason for commands that are not done.
const noWindow = "no window of lines is kept"

// refused has the meaning of each command and flag that is not done.
func refused(c byte) string {
	for _, of := range [...]struct{ names, why string }{
		{"wW", "it writes files"},
		{"rR", "it reads other files"},
		{"e", "it runs programs"},
		{"btT:", "scripts do not branch"},
		{"DP", noWindow},
		{"gGhHx", "there is no hold space"},
		{"FLl=zv", "only s, y, d, p, a, i, c, n, N, q, Q and {...} are done"},
	} {
		if strings.IndexByte(of.names, c) >= 0 {
			return of.why
		}
	}
	return ""
}
