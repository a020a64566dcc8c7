package render

import (
	"regexp"
	"strings"
)

// leastWrapped is the smallest width for wrapping: in a narrower terminal, lines are not wrapped.
const leastWrapped = 20

// escapes matches the codes of colours, which have no width.
var escapes = regexp.MustCompile("\x1b\\[[0-9;]*m")

// commands finds a command line in a sentence, which a user may copy. It ends with its line, or before a semicolon.
var commands = regexp.MustCompile(`(?:\bwith|\brun): ([^;]+)|: (millrace [^;]+)|^ +(millrace .+)`)

// Wrap breaks the lines of a text at spaces to fit into the columns of a terminal. The rest of a line is indented to
// the last column of a table, otherwise to its first word. A word that is too long stays whole, and so does a command
// line. With 0 columns the text stays unchanged.
func Wrap(text string, columns int) string { return wrap(text, columns, false) }

// Refill is Wrap for prose with line ends: the rest of a line is joined with the next line of its paragraph.
func Refill(text string, columns int) string { return wrap(text, columns, true) }

func wrap(text string, columns int, refill bool) string {
	if columns < leastWrapped {
		return text
	}
	var out strings.Builder
	lines := strings.Split(text, "\n")
	for i := 0; i < len(lines); i++ {
		if i > 0 {
			out.WriteByte('\n')
		}
		if width(lines[i]) <= columns {
			out.WriteString(lines[i])
			continue
		}
		hang := strings.Repeat(" ", hanging(lines[i], columns))
		now, words := "", wordsOf(lines[i])
		for broken := false; len(words) > 0; words = words[1:] {
			if strings.TrimSpace(now) != "" && width(now+words[0]) > columns {
				out.WriteString(now + "\n")
				now, words[0], broken = hang, strings.TrimLeft(words[0], " "), true
			}
			now += words[0]
			if refill && broken && len(words) == 1 && i+1 < len(lines) && continues(lines[i], lines[i+1]) {
				i++
				words, broken = append(words, wordsOf(" "+lines[i])...), false
			}
		}
		out.WriteString(now)
	}
	return out.String()
}

// width is Width for a text with colours.
func width(text string) int { return Width(escapes.ReplaceAllString(text, "")) }

// wordsOf splits a line before the spaces of each word. A command line is one word.
func wordsOf(line string) []string {
	held := commands.FindStringSubmatchIndex(line)
	kept := func(at int) bool {
		for i := 2; i+1 < len(held); i += 2 {
			if held[i] <= at && at < held[i+1] {
				return true
			}
		}
		return false
	}
	var words []string
	from := 0
	for at := 1; at < len(line); at++ {
		if line[at] == ' ' && line[at-1] != ' ' && !kept(at) {
			words, from = append(words, line[from:at]), at
		}
	}
	return append(words, line[from:])
}

// continues reports whether a line of prose is in the same paragraph as the line before it.
func continues(line, next string) bool {
	return next != "" && line[0] != ' ' && next[0] != ' ' && !strings.Contains(next, "  ")
}

// hanging returns the indent for the rest of a line. A last table column too far to the right is ignored, because it
// leaves no room.
func hanging(line string, columns int) int {
	plain := strings.TrimRight(escapes.ReplaceAllString(line, ""), " ")
	indent := len(plain) - len(strings.TrimLeft(plain, " "))
	if gap := strings.LastIndex(plain, "  "); gap >= indent {
		if at := Width(plain[:gap+2]); at <= columns/2 {
			return at
		}
		indent += 2
	}
	return min(indent, columns/2)
}
