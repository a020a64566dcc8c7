// Package sed runs the substitution language of GNU sed over texts: what sed -E, or sed without -E, makes of a file in the
// locale C.UTF-8, byte for byte but for what is listed below, for the part of the language that neither touches other files nor keeps anything from one
// line to the next but where it is. A script is parsed once by [Parse] and may then be run by any number of goroutines.
//
//	s, err := sed.Parse([]string{`s/\bcolour\b/color/g`}, sed.Options{})
//	stats, err := s.Apply(ctx, text, sed.Bounds{}, func(start, end int64, text []byte) error { ... })
//
// A run gives away changes, not the result, so that what is long and hardly changed stays where it is: one change for each
// substitution where a single s touched a line, else one for what differs in the line. Line numbers, ranges and the last pattern begin anew with each run, as the first two do for each file of sed -s and
// sed -i.
//
// # Grammar
//
//	script   = { ";" | newline | blank | command }
//	command  = [ address [ "," address2 ] ] { blank } [ "!" { blank } ] function
//	address  = N | "$" | first "~" step | "/" pattern "/" { "I" | "M" } | "\" c pattern c { "I" | "M" }
//	address2 = address | "+" N | "~" N
//	function = "{" script "}" | "p" | "d" | "y" c chars c chars c | "s" c pattern c replacement c { flag } | "#" comment
//	flag     = "g" | "p" | N | "i" | "I" | "m" | "M"
//
// The delimiter c is any character of one byte but a newline and a backslash. Within a part it is written with a backslash
// before it, or within brackets. Line 0 is allowed in 0,/re/ only. A first script
// that begins with #n is Quiet. An
// empty pattern is the one that was used last while the script ran; it takes no flags.
//
// In a replacement, & and \0 are the match, \1 to \9 its groups, a backslash before a newline a newline; \U and \L turn what
// follows to upper and lower case up to \E, \u and \l the next character only. As in GNU sed, \L\u works and in \u\L the \u
// is lost. Everywhere, \a \f \n \r \t \v are control characters, \cX is control-X, and \dNNN, \oNNN and \xHH are a byte: in a
// replacement \x26 is an &, not the match, but in a pattern \x2e is a dot, that is, any character.
//
// # Patterns
//
// Patterns are POSIX extended ([ERE]) or basic ([BRE]) with the additions of GNU: \+ \? and \| in basic ones; \w \W \s \S \b
// \B \< \> \` and \' in both. The match is the leftmost, and of those the longest; the groups are those that the C library
// finds, of glibc 2.36, with its peculiarities:
//
//   - Classes are those of C.UTF-8, so that \w and [[:alpha:]] are letters of all scripts; ranges are between ASCII
//     characters only.
//   - A byte that is part of no character is matched by nothing but itself, written \xHH.
//   - A pattern of literals, dots and plain brackets compares bytes, and where it matches nothing it does so within
//     characters too: s/q*/-/g makes of an é two bytes with a - between them. A class anywhere in the pattern prevents it.
//   - Some patterns with an anchor in a repeated group, as (^a)+, find no match where there is one.
//
// With [RE2] patterns are those of package regexp.
//
// # Time and memory
//
// Nothing goes back: finding a match takes time in proportion to the rest of the line, times the size of the pattern at
// worst, where its automaton does not fit its cache; finding groups the length of the match times the size of the pattern. A
// line with n matches takes n times that at worst. Options.MaxPattern and Options.MaxLine limit both, [Bounds] what a run makes, and
// the context ends it anywhere. A script has at most MaxScript bytes and MaxCommands commands, a pattern 64 KiB and 1,000 groups
// within each other.
//
// # What is refused
//
// All that GNU sed refuses, and beyond that, with Unsupported set in the [Error]: the commands that write, read or run
// something (w W r R e), print or stop otherwise (a i c l L = q Q F z v), branch (b t T :), read ahead or keep text (n N D P g
// G h H x); the flags w and e of s; back-references in patterns; bytes that are no character within brackets, or in a
// pattern with classes or the flag I; and \N with an empty pattern that stands for one of fewer groups.
//
// Not promised: bytes that are surrogates or characters above U+10FFFF, written as UTF-8, are matched as the C library does
// it, but GNU sed looks at some lines with a second matcher that sees them otherwise. That one also answers addresses with
// anchors in repeated groups. And where an s has put a newline into a line, $ without the flag M, with groups and something
// after it that matches that newline, may find what GNU sed does not, or the other way round. The same goes for \B behind a
// repeat, as in b*\(\B\), beside a byte that is no character; it seems to be wrong there.
//
// Known to differ from GNU sed 4.9, beside that: the flag I with characters whose other case takes another number of bytes in UTF-8;
// and a bracket that an interval of {0} removes.
package sed
