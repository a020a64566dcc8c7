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

// Title returns a word with a capital first letter and small other letters.
func Title(word string) string {
	first, size := utf8.DecodeRuneInString(word)
	return string(unicode.ToTitle(first)) + strings.ToLower(word[size:])
}

// Words returns the words of a name. Consecutive capital letters are one word, without the last if a small letter
// follows it.
func Words(name string) []string {
	var words []string
	var word []rune
	end := func() {
		if len(word) > 0 {
			words = append(words, string(word))
		}
		word = nil
	}
	runes := []rune(name)
	for i, c := range runes {
		switch {
		case !unicode.IsLetter(c) && !unicode.IsDigit(c) && !unicode.IsMark(c):
			end()
			continue
		case unicode.IsUpper(c) && i > 0 &&
			(!unicode.IsUpper(runes[i-1]) || i+1 < len(runes) && unicode.IsLower(runes[i+1])):
			end()
		}
		word = append(word, c)
	}
	end()
	return words
}
