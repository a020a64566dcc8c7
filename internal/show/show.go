// Package show prepares a text that a user wrote, or a file holds, for a message: short, in quotes, on one line.
package show

import (
	"strconv"
	"unicode/utf8"
)

// More stands at the end of a text that was cut.
const More = "..."

// Cut returns the text within most bytes, and reports whether it was cut. It cuts between characters.
func Cut(text string, most int) (string, bool) {
	if len(text) <= most {
		return text, false
	}
	for end := most; end > max(0, most-utf8.UTFMax); end-- {
		if utf8.RuneStart(text[end]) {
			return text[:end], true
		}
	}
	if most < utf8.UTFMax && utf8.RuneStart(text[0]) {
		return "", true
	}
	return text[:most], true // not a text in UTF-8
}

// Short returns the text, with [More] after its first most bytes if it is longer.
func Short(text string, most int) string {
	short, cut := Cut(text, most)
	if cut {
		short += More
	}
	return short
}

// Within is [Short] with [More] within the most bytes.
func Within(text string, most int) string {
	if len(text) <= most {
		return text
	}
	short, _ := Cut(text, max(0, most-len(More)))
	return short + More
}

// Name returns the name or value that a message repeats, within a length that a person reads.
func Name(text string) string { return Short(text, 40) }

// Pattern returns the pattern that a message repeats, within a length that a person reads.
func Pattern(text string) string { return Short(text, 60) }

// Quote returns the text in quotes as [strconv.Quote], with [More] after its first most bytes if it is longer.
func Quote(text string, most int) string {
	short, cut := Cut(text, most)
	short = strconv.Quote(short)
	if cut {
		short += More
	}
	return short
}
