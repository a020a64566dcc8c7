// Package sed runs the substitution language of GNU sed over texts. The result is that of sed -E, or of sed without -E,
// for a file in the locale C.UTF-8, byte for byte except for the differences listed below. It has the part of the
// language that does not access other files and keeps no text outside of the pattern space. A script is parsed once by
// [Parse] and is then safe for concurrent use.
//
//	s, err := sed.Parse([]string{`s/\bcolour\b/color/g`}, sed.Options{})
//	stats, err := s.Apply(ctx, file, sed.Bounds{}, func(start, end int64, text []byte) error { ... })
//
// A run reads the text line by line and emits changes, not the result, so that a long text with few changes is not
// rewritten: one change for each substitution if a single s changed a line, otherwise one change for the difference in
// the line. Lines that N joins count as one line here. Line numbers, ranges and the last pattern start again in each
// run, as the first two do for each file of sed -s and sed -i. The commands q and Q end the run, not the runs over
// other texts: sed -i would leave the files after this file unchanged.
//
// # Grammar
//
//	script   = { ";" | newline | blank | command }
//	command  = [ address [ "," address2 ] ] { blank } [ "!" { blank } ] function
//	address  = N | "$" | first "~" step | "/" pattern "/" { "I" | "M" } | "\" c pattern c { "I" | "M" }
//	address2 = address | "+" N | "~" N
//	function = "{" script "}" | "p" | "d" | "n" | "N" | "q" | "Q" | ( "a" | "i" | "c" ) text | "y" c chars c chars c |
//	           "s" c pattern c replacement c { flag } | "#" comment
//	text     = { blank } chars newline | { blank } "\" [ newline ] chars newline
//	flag     = "g" | "p" | N | "i" | "I" | "m" | "M"
//
// The delimiter c is any character of one byte except a newline and a backslash. Within a part it is written after a
// backslash, or within brackets. Line 0 is only allowed in 0,/re/. A first script that begins with #n is Quiet. An
// empty pattern means the last pattern used while the script ran; it must not have flags.
//
// A text goes to the end of its line, and a backslash there continues it on the next line. Blanks before it are
// skipped, except those after a backslash. In a text, a backslash means the character after it, or a control character
// or a byte. A text ends with a newline; the end of the script counts as a newline.
//
// In a replacement, & and \0 are the match, \1 to \9 its groups, a backslash before a newline a newline; \U and \L
// change the following text to upper and lower case up to \E, \u and \l only the next character. As in GNU sed, \L\u
// works and in \u\L the \u is lost. Everywhere, \a \f \n \r \t \v are control characters, \cX is control-X, and \dNNN,
// \oNNN and \xHH are a byte: in a replacement \x26 is an &, not the match, but in a pattern \x2e is a dot, that is, any
// character.
//
// # Patterns
//
// Patterns are POSIX extended ([ERE]) or basic ([BRE]) with the additions of GNU: \+ \? and \| in basic patterns; \w \W
// \s \S \b \B \< \> \` and \' in both. Package posix makes trees of them, which package match runs. The match is the
// leftmost, and of those the longest. If several ways lead to it, the groups are from the way that tries the first
// alternative first and repeats as often as possible, as in package regexp.
//
// Classes are the classes of C.UTF-8, so that \w and [[:alpha:]] are letters of all scripts; ranges are only between
// ASCII characters. A byte that is not part of a character only matches itself, written \xHH. With [RE2], patterns have
// the syntax of package regexp.
//
// # Time and memory
//
// Matching never backtracks: finding a match takes time in proportion to the rest of the line, times the size of the
// pattern in the worst case, if its automaton does not fit its cache; finding groups takes the length of the match
// times the size of the pattern. A line with n matches takes n times that in the worst case. Only a window of some
// lines of a text is in memory. Options.MaxPattern and Options.MaxLine limit both, [Bounds] limit the output of a run,
// and the context can end it at any time. A script has at most MaxScript bytes and MaxCommands commands, a pattern 64
// KiB and 1,000 nested groups.
//
// # Refused scripts
//
// Everything that GNU sed refuses, and also, with Unsupported set in the [Error]: the commands that write, read or run
// something (w W r R e), print in other ways (l L = F z v), branch (b t T :), keep a window of lines (D P), or keep a
// second text (g G h H x); exit statuses of q and Q; the flags w and e of s; back-references in patterns; bytes that
// are not characters within brackets, or in a pattern with classes or the flag I; a text of a, i or c that ends with a
// backslash without a next line; and \N with an empty pattern if the last pattern has fewer groups.
//
// # Differences from GNU sed
//
// testdata/differences.txt has the test cases that differ from GNU sed 4.9, with the reasons: GNU sed compares bytes if
// a pattern has no class, and then matches within characters; it loses matches of repeated groups that contain an
// anchor; without the flag M, ^ and $ also hold at a newline within the match; and of several ways to a match it
// sometimes takes another. Other differences are the flag I with characters whose other case has another number of
// bytes in UTF-8, and with an escaped letter, which GNU sed never finds then; a bracket that an interval of {0}
// removes; \B after a repeat, as in b*\(\B\), next to a byte that is not a character; and surrogates and characters
// above U+10FFFF in UTF-8, which are bytes here.
package sed
