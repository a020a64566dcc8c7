package agent

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// MaxPrevious limits the bytes of the previous step's output, and of its error, that an agent receives: the end of
// the output and the beginning of the error.
const MaxPrevious = 64 << 10

// Text returns the whole request as one text: the prompt, then the output of the step before, then its error, each of
// these two in a fence of backquotes. The fence is longer than any fence within, so no text can end it. Empty parts
// are omitted.
func (r *Request) Text() string {
	var b strings.Builder
	b.WriteString(r.Prompt)
	p := r.Previous
	if p == nil {
		return b.String()
	}
	if output, cut := Tail(p.Output); output != "" {
		title := fmt.Sprintf("Output of the previous step '%s'", p.Step)
		if cut || p.Truncated {
			title += ", the end of it"
		}
		fenced(&b, title, output)
	}
	if p.Error != "" {
		fenced(&b, fmt.Sprintf("The previous step '%s' has failed with this error", p.Step), head(p.Error, MaxPrevious))
	}
	return b.String()
}

// fenced appends a text with a title.
func fenced(b *strings.Builder, title, text string) {
	const shortest = 3
	longest, run := shortest-1, 0
	for i := range len(text) {
		if run++; text[i] != '`' {
			run = 0
		}
		longest = max(longest, run)
	}
	fence := strings.Repeat("`", longest+1)
	fmt.Fprintf(b, "\n\n%s:\n\n%s\n%s", title, fence, text)
	if !strings.HasSuffix(text, "\n") {
		b.WriteByte('\n')
	}
	b.WriteString(fence)
	b.WriteByte('\n')
}

// Tail returns the last [MaxPrevious] bytes of a text, starting at the beginning of a character, and reports whether
// the text was cut.
func Tail(text string) (tail string, cut bool) {
	if len(text) <= MaxPrevious {
		return text, false
	}
	at := len(text) - MaxPrevious
	for range utf8.UTFMax - 1 {
		if at < len(text) && !utf8.RuneStart(text[at]) {
			at++
		}
	}
	return text[at:], true
}

// head returns at most that many of the first bytes of a text, ending at the end of a character.
func head(text string, most int) string {
	if len(text) <= most {
		return text
	}
	for range utf8.UTFMax - 1 {
		if !utf8.RuneStart(text[most]) {
			most--
		}
	}
	return text[:most]
}
