// Package show prepares a text from a user or a file for a message: short, in quotes, on one line.
package show

import (
	"strconv"
	"unicode/utf8"
)

// More is the end of a text that was cut.
const More = "..."

// Cut returns at most the first most bytes of the text, and reports whether it was cut. It cuts between characters.
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
	return text[:most], true // the text is not UTF-8
}

// Short returns the text. If it is longer than most bytes, it is cut there and [More] follows.
func Short(text string, most int) string {
	short, cut := Cut(text, most)
	if cut {
		short += More
	}
	return short
}

// Within is [Short], but the result including [More] has at most most bytes.
func Within(text string, most int) string {
	if len(text) <= most {
		return text
	}
	short, _ := Cut(text, max(0, most-len(More)))
	return short + More
}

// Name returns a name or value for a message, shortened to a readable length.
func Name(text string) string { return Short(text, 40) }

// Pattern returns a pattern for a message, shortened to a readable length.
func Pattern(text string) string { return Short(text, 60) }

// Quote returns the text in quotes like [strconv.Quote]. If it is longer than most bytes, it is cut there and [More]
// follows.
func Quote(text string, most int) string {
	short, cut := Cut(text, most)
	short = strconv.Quote(short)
	if cut {
		short += More
	}
	return short
}
