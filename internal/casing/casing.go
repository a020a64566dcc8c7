// Package casing splits names such as oldName into words, and joins words into a name.
package casing

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Joined returns a function that joins words with a separator, after applying first to the first word and rest to the
// others.
func Joined(separator string, first, rest func(string) string) func([]string) string {
	return func(words []string) string {
		written := make([]string, len(words))
		for i, w := range words {
			if written[i] = rest(w); i == 0 {
				written[i] = first(w)
			}
		}
		return strings.Join(written, separator)
	}
}

// Upper returns a text in capital letters. Bytes that are not UTF-8 do not change.
func Upper(text string) string { return mapped(text, unicode.ToUpper) }

// Lower returns a text in small letters. Bytes that are not UTF-8 do not change.
func Lower(text string) string { return mapped(text, unicode.ToLower) }

// Title returns a word with a capital first letter and small other letters. Bytes that are not UTF-8 do not change.
func Title(word string) string {
	_, size := utf8.DecodeRuneInString(word)
	return mapped(word[:size], unicode.ToTitle) + Lower(word[size:])
}

func mapped(text string, to func(rune) rune) string {
	out := make([]byte, 0, len(text))
	for len(text) > 0 {
		r, n := utf8.DecodeRuneInString(text)
		if isByte(r, n) {
			out = append(out, text[0])
		} else {
			out = utf8.AppendRune(out, to(r))
		}
		text = text[n:]
	}
	return string(out)
}

// isByte reports whether a decoded rune of n bytes stands for a byte that is not UTF-8.
func isByte(r rune, n int) bool { return r == utf8.RuneError && n == 1 }

// Words returns the words of a name. Consecutive capital letters are one word, without the last if a small letter
// follows it. A byte that is not UTF-8 is a part of a word.
func Words(name string) []string {
	var words []string
	from, before := -1, rune(0)
	end := func(at int) {
		if from >= 0 {
			words = append(words, name[from:at])
		}
		from = -1
	}
	for at, n := 0, 0; at < len(name); at += n {
		var c rune
		c, n = utf8.DecodeRuneInString(name[at:])
		next, _ := utf8.DecodeRuneInString(name[at+n:])
		switch {
		case !unicode.IsLetter(c) && !unicode.IsDigit(c) && !unicode.IsMark(c) && !isByte(c, n):
			end(at)
		case unicode.IsUpper(c) && (!unicode.IsUpper(before) || unicode.IsLower(next)):
			end(at)
			from = at
		case from < 0:
			from = at
		}
		before = c
	}
	end(len(name))
	return words
}
