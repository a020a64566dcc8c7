package names

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
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

// FoldName returns what the names have in common that some file system takes for one: NTFS, FAT, HFS+ and APFS ignore
// case, Windows drops dots and spaces at the end and takes what follows a colon for a stream of the file, HFS+ and
// others leave out code points that are not seen. Git guards .git by such rules.
func FoldName(name string) string {
	if name == "." || name == ".." || isFolded(name) {
		return name
	}
	name = strings.Map(FoldRune, name)
	name, _, _ = strings.Cut(name, ":")
	return strings.TrimRight(name, ". ")
}

// FoldRune returns the one character that stands for all that differ by case alone, such as "s" for "S" and the long s,
// and -1 for those that are not seen: soft hyphen, joiners, marks of direction, selectors of variants.
func FoldRune(r rune) rune {
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
	return unicode.ToLower(least)
}

// isFolded reports whether folding would surely leave the path as it is; most paths are like that.
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

// Visible returns a name or a line of text with everything escaped, as in a Go string, that is not seen, or that does
// something instead of being shown. fsutil.Visible tells what that is.
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

// unseen reports whether a character is not to be shown as it is.
func unseen(r rune) bool {
	if r >= ' ' && r < 0x7f {
		return false
	}
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Other_Default_Ignorable_Code_Point,
		unicode.Variation_Selector) &&
		!unicode.Is(unicode.Prepended_Concatenation_Mark, r) // Arabic and other signs that are seen
}

// escaped returns a character, or one byte that is none, as it stands in a Go string.
func escaped(r rune, text string) string {
	if r == utf8.RuneError {
		text = strconv.Quote(text)
	} else {
		text = strconv.QuoteRuneToASCII(r)
	}
	return text[1 : len(text)-1]
}
