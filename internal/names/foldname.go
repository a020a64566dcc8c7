package names

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// FoldPath folds each part of a path, see foldName.
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
// others leave out code points that nobody sees. Git guards .git by such rules.
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

// Passes reports whether the path has the parts, one after the other, anywhere in it.
func Passes(name, parts string) bool {
	for more := true; more; {
		if Within(name, parts) {
			return true
		}
		_, name, more = strings.Cut(name, "/")
	}
	return false
}
