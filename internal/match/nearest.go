package match

import (
	"bytes"
	"fmt"
	"iter"
	"strings"
)

// Limits of Nearest: how much of a file, of the text, of a line and around a place it reads, in bytes, and how many
// places it compares closely.
const (
	nearestData   = 1 << 20
	nearestText   = 4 << 10
	nearestLine   = 500
	nearestAround = 8 << 10
	nearestPlaces = 50
)

// Hint is a place in a file that nearly has a text.
type Hint struct {
	Line int    // counted from 1
	Text string // the line, shortened if it is long
	Why  string // the difference, such as "differs in upper and lower case"
}

// Nearest returns at most most places in data that nearly have a text that was not found, with the differences. It
// reads the first MiB of data and the first 4 KiB of the text; this bounds its time.
func Nearest(data []byte, text string, most int) []Hint {
	data = data[:min(len(data), nearestData)]
	want := []byte(text[:min(len(text), nearestText)])
	key := normalize(want, allClasses).text
	key = bytes.Trim(key, " \n")
	if len(key) == 0 || most <= 0 {
		return nil
	}
	have := normalize(data, allClasses&^escapes)
	if hints := nearlySame(data, want, have, key, most); len(hints) > 0 {
		return hints
	}
	if hints := sameLine(data, have, key, most); len(hints) > 0 {
		return hints
	}
	return similarLine(data, have, key)
}

// nearlySame finds the places that are equal if all classes of differences are ignored.
func nearlySame(data, want []byte, have normal, key []byte, most int) []Hint {
	var hints []Hint
	for pos := 0; len(hints) < most; pos += len(key) {
		i := bytes.Index(have.text[pos:], key)
		if i < 0 {
			break
		}
		pos += i
		from, to := int(have.from[pos]), int(have.from[pos+len(key)-1])
		hints = append(hints, hintAt(data, from, "differs in "+differences(data, want, from, to)))
	}
	return hints
}

// differences returns the classes in which the text differs from the lines around data[from:to]: the classes that must
// be ignored to make both equal.
func differences(data, want []byte, from, to int) string {
	middle := from
	// The text may begin or end with line ends and blanks that the key does not have, so the lines around count too.
	for range 2 {
		from = max(0, bytes.LastIndexByte(data[:from], '\n'))
		if i := bytes.IndexByte(data[to:], '\n'); i >= 0 {
			to += i + 1
		} else {
			to = len(data)
		}
	}
	around := data[max(from, middle-nearestAround):min(to, middle+nearestAround)]
	var list []string
	for c := lineEnds; c < allClasses; c <<= 1 {
		if c == lineEnds && bytes.IndexByte(want, '\r') < 0 {
			continue // then "\n" in the text matches "\r\n"
		}
		rest := allClasses &^ c
		text := normalize(want, rest).text // without the blanks at its ends if they are ignored
		if rest&blanks != 0 {
			text = bytes.TrimLeft(text, " ")
		}
		if rest&trailing != 0 {
			text = bytes.TrimRight(text, " ")
		}
		if !bytes.Contains(normalize(around, rest&^escapes).text, text) {
			list = append(list, c.String())
		}
	}
	if len(list) == 0 {
		list = append(list, classes(0).String())
	}
	return strings.Join(list, " and ")
}

// rows yields the offset of each line, and the line without its "\n".
func (n normal) rows() iter.Seq2[int, []byte] {
	return func(yield func(at int, line []byte) bool) {
		for at := 0; at < len(n.text); {
			line, _, _ := bytes.Cut(n.text[at:], crlf[1:])
			if !yield(at, line) {
				return
			}
			at += len(line) + 1
		}
	}
}

// sameLine finds the longest line of a text of several lines, and the first line near it that differs from the text.
func sameLine(data []byte, have normal, key []byte, most int) []Hint {
	lines := bytes.Split(key, crlf[1:])
	if len(lines) == 1 {
		return nil
	}
	longest := 0
	for i := range lines {
		if len(lines[i]) > len(lines[longest]) {
			longest = i
		}
	}
	var hints []Hint
	var starts []int // of the lines up to this one
	tried := 0
	for start, row := range have.rows() {
		starts = append(starts, start)
		if len(hints) == most || tried == nearestPlaces {
			break
		}
		if !bytes.Contains(row, lines[longest]) {
			continue
		}
		tried++
		first := len(starts) - 1 - longest // where the text would begin
		if first < 0 {
			continue
		}
		at := starts[first]
		for n, line := range lines {
			rest, _, _ := bytes.Cut(have.text[at:], crlf[1:])
			fits := bytes.Equal(rest, line)
			switch n {
			case 0:
				fits = bytes.HasSuffix(rest, line)
			case len(lines) - 1:
				fits = bytes.HasPrefix(rest, line)
			}
			if !fits {
				from := len(data)
				if at < len(have.from) {
					from = int(have.from[at])
				}
				why := fmt.Sprintf("is not as line %d of the text, though line %d is there", n+1, longest+1)
				hints = append(hints, hintAt(data, from, why))
				break
			}
			if at += len(rest) + 1; at > len(have.text) {
				break
			}
		}
	}
	return hints
}

// similarLine finds the line with most of the text's trigrams, if it has enough of them.
func similarLine(data []byte, have normal, key []byte) []Hint {
	line, _, _ := bytes.Cut(key, crlf[1:])
	line = line[:min(len(line), nearestLine)]
	if len(line) < 4 {
		return nil
	}
	wanted := make(map[[3]byte]int) // the offset of the line in which it was last seen, -1 for none
	for i := range len(line) - 2 {
		wanted[[3]byte(line[i:])] = -1
	}
	best, bestAt := 0, 0
	for at, row := range have.rows() {
		score := 0
		for i := range min(len(row), nearestLine) - 2 {
			if seen, ok := wanted[[3]byte(row[i:])]; ok && seen != at {
				wanted[[3]byte(row[i:])] = at
				score++
			}
		}
		if score > best {
			best, bestAt = score, at
		}
	}
	if best*5 < len(wanted)*3 {
		return nil
	}
	return []Hint{hintAt(data, int(have.from[bestAt]), "is similar")}
}

// hintAt returns a hint about the line that holds an offset.
func hintAt(data []byte, offset int, why string) Hint {
	start := bytes.LastIndexByte(data[:offset], '\n') + 1
	line, _, _ := bytes.Cut(data[start:], crlf[1:])
	line = bytes.TrimSuffix(line, crlf[:1])
	const most = 120
	shown := string(line[:min(len(line), most)])
	if len(line) > most {
		shown += "..."
	}
	return Hint{Line: 1 + bytes.Count(data[:start], crlf[1:]), Text: strings.ToValidUTF8(shown, "\uFFFD"), Why: why}
}
