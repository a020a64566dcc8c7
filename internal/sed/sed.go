package sed

import (
	"fmt"
	"strings"
	"sync"

	"github.com/millrace-go/millrace/internal/match"
)

// Syntax is the syntax of patterns.
type Syntax int

const (
	// ERE is POSIX extended syntax with GNU's additions, as in sed -E. It is the default.
	ERE Syntax = iota
	// BRE is POSIX basic syntax with GNU's additions, as in sed without -E.
	BRE
	// RE2 is the syntax of package regexp, with its leftmost-first matching. The rest of the script is as in sed.
	RE2
)

// DefaultMaxPattern is the default of Options.MaxPattern.
const DefaultMaxPattern = 50_000

// DefaultMaxLine is the longest line, in bytes, if Options.MaxLine is zero.
const DefaultMaxLine = 32 << 20

// MaxScript is the largest total size of the scripts of a Parse, in bytes, and MaxCommands the largest number of their
// commands.
const (
	MaxScript   = 1 << 20
	MaxCommands = 10_000
)

// Options are the settings for reading scripts. The zero value is for sed -E.
type Options struct {
	Syntax Syntax
	// Quiet is sed -n: only p prints lines.
	Quiet bool
	// MaxPattern is the size of the largest pattern, in nodes: a character or an operator is one node, and an interval
	// counts as its repetitions written out. All patterns of a script together may have four times as many. Zero means
	// DefaultMaxPattern.
	MaxPattern int
	// MaxLine is the longest line in bytes, also after a substitution, and after N has joined lines. Zero means
	// DefaultMaxLine.
	MaxLine int
}

// Script is a sequence of commands. It is safe for concurrent use.
type Script struct {
	commands []command
	quiet    bool
	maxLine  int
	guards   []*match.Longest // see guarded; nil if lines cannot be skipped
	scripts  []string
	size     int
	idle     sync.Pool     // of *runner
	long     chan struct{} // has a value while a runner processes a line that needs much memory
}

// Size returns the total size of the patterns, in nodes.
func (s *Script) Size() int { return s.size }

// Stats counts the work on one input.
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
	addrPlus               // +N, as the second address
	addrTo                 // ~N, as the second address
	addrNext               // +0 or ~0, as the second address: the line itself
)

type address struct {
	kind    addressKind
	n, step int
	re      *pattern
}

// Error is a mistake in a script: GNU sed would refuse it, this package does not support it, or an empty pattern had no
// pattern before it while the script ran.
type Error struct {
	Script int    // index of the script, from 0
	Offset int    // the byte at which the mistake was found, from 0
	Line   int    // the line of the script, from 1
	Column int    // the byte of the line, from 1
	Text   string // in the words of GNU sed if it has this error
	Hint   string // what to do, or ""
	// Unsupported means that GNU sed would accept it and this package refuses it on purpose. Window means that it needs a
	// window of several lines.
	Unsupported, Window bool
}

// Error names the place and the mistake.
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

// noWindow is the reason for refusing D and P.
const noWindow = "no window of lines is kept"

// refused returns the reason why a command or flag is not supported, "" if it is.
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
