// Package posix reads regular expressions in POSIX syntax as trees of package regexp/syntax, which package match runs.
//
// The syntax is extended or basic, with the additions of GNU: \+ \? and \| in basic expressions; \w \W \s \S \b \B \<
// \> \` and \' in both. What is refused, and in which words, is what the C library refuses (glibc 2.36), and
// back-references. Classes are those of its locale C.UTF-8; ranges are between ASCII characters only.
package posix
