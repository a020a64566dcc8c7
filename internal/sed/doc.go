// Package sed runs the substitution language of GNU sed over texts: what sed -E, or sed without -E, makes of a file
// in the locale C.UTF-8, byte for byte but for what is listed below, for the part of the language that neither
// touches other files nor keeps any text beside the pattern space. A script is parsed once by [Parse] and may then be
// run by any number of goroutines.
//
//	s, err := sed.Parse([]string{`s/\bcolour\b/color/g`}, sed.Options{})
//	stats, err := s.Apply(ctx, file, sed.Bounds{}, func(start, end int64, text []byte) error { ... })
//
// A run reads the text line by line, and gives away changes, not the result, so that what is long and hardly changed
// stays where it is: one change for each substitution where a single s touched a line, else one for what differs in
// the line. Lines that N joins count as one line here. Line numbers, ranges and the last pattern begin anew with each
// run, as the first two do for each file of sed -s and sed -i. The commands q and Q end the run, not the runs over
// other texts: sed -i would leave the files after this one as they are.
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
// The delimiter c is any character of one byte but a newline and a backslash. Within a part it is written with a
// backslash before it, or within brackets. Line 0 is allowed in 0,/re/ only. A first script that begins with #n is
// Quiet. An empty pattern stands for the last pattern used while the script ran; it takes no flags.
//
// A text goes to the end of its line, and a backslash there continues it on the next line. Blanks before it are left
// out, but for those after a backslash. In a text, a backslash stands for the character after it, or for a control
// character or a byte. A text has a newline at its end, which the end of the script may stand for.
//
// In a replacement, & and \0 are the match, \1 to \9 its groups, a backslash before a newline a newline; \U and \L
// turn what follows to upper and lower case up to \E, \u and \l the next character only. As in GNU sed, \L\u works
// and in \u\L the \u is lost. Everywhere, \a \f \n \r \t \v are control characters, \cX is control-X, and \dNNN,
// \oNNN and \xHH are a byte: in a replacement \x26 is an &, not the match, but in a pattern \x2e is a dot, that is,
// any character.
//
// # Patterns
//
// Patterns are POSIX extended ([ERE]) or basic ([BRE]) with the additions of GNU: \+ \? and \| in basic ones; \w \W
// \s \S \b \B \< \> \` and \' in both. Package posix makes trees of them, which package match runs. The match is the
// leftmost, and of those the longest. Of several ways to it, that one counts for the groups which takes the first
// alternative first and repeats as often as it can, as in package regexp.
//
// Classes are those of C.UTF-8, so that \w and [[:alpha:]] are letters of all scripts; ranges are between ASCII
// characters only. A byte that is part of no character is matched by nothing but itself, written \xHH. With [RE2]
// patterns are those of package regexp.
//
// # Time and memory
//
// Nothing goes back: finding a match takes time in proportion to the rest of the line, times the size of the pattern
// at worst, where its automaton does not fit its cache; finding groups the length of the match times the size of the
// pattern. A line with n matches takes n times that at worst. Only a window of some lines of a text is held.
// Options.MaxPattern and Options.MaxLine limit both, [Bounds] what a run makes, and the context ends it anywhere. A
// script has at most MaxScript bytes and MaxCommands commands, a pattern 64 KiB and 1,000 groups within each other.
//
// # Refused scripts
//
// All that GNU sed refuses, and beyond that, with Unsupported set in the [Error]: the commands that write, read or
// run something (w W r R e), print otherwise (l L = F z v), branch (b t T :), keep a window of lines (D P), or keep a
// second text (g G h H x); exit statuses of q and Q; the flags w and e of s; back-references in patterns; bytes that
// are not characters within brackets, or in a pattern with classes or the flag I; a text of a, i or c that ends with a
// backslash where no line follows; and \N with an empty pattern that stands for a pattern with fewer groups.
//
// # Differences from GNU sed
//
// In testdata/differences.txt stand the cases of the tests that differ from GNU sed 4.9, with their reasons: it
// compares bytes where a pattern has no class, and then matches within characters; it loses matches of repeated
// groups with an anchor in them; without the flag M, ^ and $ also hold at a newline that the match itself has gone
// over; and of several ways to a match it takes another one here and there. Beside that, what differs is the flag I
// with characters whose other case takes another number of bytes in UTF-8, and with an escaped letter, which GNU sed
// never finds then; a bracket that an interval of {0} removes; \B behind a repeat, as in b*\(\B\), beside a byte that
// is not a character; and surrogates and characters above U+10FFFF written as UTF-8, which are bytes here.
package sed
