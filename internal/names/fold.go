package names

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// FoldPath folds each part of a path, see [FoldName].
func FoldPath(name string) string {
	if isFolded(name) {
		return name
	}
	parts := strings.Split(name, "/")
	for i, part := range parts {
		parts[i] = FoldName(part)
	}
	return strings.Join(parts, "/")
}

// FoldName returns a form that is equal for all names that some file system treats as the same. NTFS, FAT, HFS+ and
// APFS ignore case. Windows drops dots and spaces at the end, and treats the part after a colon as a stream of the
// file. HFS+ and others ignore invisible code points. Git guards .git by the same rules. HFS+ and APFS also treat the
// composed and the decomposed form of a character as the same.
func FoldName(name string) string {
	if name == "." || name == ".." || isFolded(name) {
		return name
	}
	name, _, _ = strings.Cut(FoldText(name), ":")
	return strings.TrimRight(name, ". ")
}

// FoldText folds case, invisible characters and the forms of Unicode in a text, for example in a glob.
func FoldText(text string) string {
	return norm.NFC.String(strings.Map(foldRune, norm.NFC.String(text)))
}

// foldRune returns one character for all characters that differ only in case, such as "s" for "S" and the long s, and
// -1 for invisible ones: soft hyphens, joiners, direction marks, variation selectors.
func foldRune(r rune) rune {
	if r < utf8.RuneSelf {
		return unicode.ToLower(r)
	}
	if unicode.In(r, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector) {
		return -1
	}
	least := r
	for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
		least = min(least, next)
	}
	if least == '\u0345' { // the iota below a letter, which would join the letter before
		return 'ι'
	}
	return unicode.ToLower(least)
}

// isFolded reports whether folding certainly leaves the path unchanged, as for most paths.
func isFolded(name string) bool {
	for i := range len(name) {
		switch c := name[i]; {
		case c >= utf8.RuneSelf, c >= 'A' && c <= 'Z', c == ':':
			return false
		case (c == '.' || c == ' ') && (i+1 == len(name) || name[i+1] == '/'):
			return name == "."
		}
	}
	return true
}

// Visible returns a name or a line of text in which invisible and control characters are escaped as in a Go string.
// fsutil.Visible documents which characters these are.
func Visible(s string) string {
	var b strings.Builder
	done := 0
	for i, r := range s {
		size := utf8.RuneLen(r)
		if r == utf8.RuneError {
			_, size = utf8.DecodeRuneInString(s[i:])
		}
		if seen := !unseen(r) && (r != utf8.RuneError || size > 1); seen {
			continue
		}
		b.WriteString(s[done:i])
		b.WriteString(escaped(r, s[i:i+size]))
		done = i + size
	}
	if done == 0 {
		return s
	}
	b.WriteString(s[done:])
	return b.String()
}

// unseen reports whether a character must be escaped.
func unseen(r rune) bool {
	if r >= ' ' && r < 0x7f {
		return false
	}
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Other_Default_Ignorable_Code_Point,
		unicode.Variation_Selector) &&
		!unicode.Is(unicode.Prepended_Concatenation_Mark, r) // Arabic and other signs that are visible
}

// escaped returns a character, or an invalid byte, as written in a Go string.
func escaped(r rune, text string) string {
	if r == utf8.RuneError {
		text = strconv.Quote(text)
	} else {
		text = strconv.QuoteRuneToASCII(r)
	}
	return text[1 : len(text)-1]
}
