package match

import (
	"bytes"
	"fmt"
	"strings"
)

// Bounds on the work of Nearest: the most it looks at of a file, of the text, of one line and around a place, in
// bytes, and how many places it looks at more closely.
const (
	nearestData   = 1 << 20
	nearestText   = 4 << 10
	nearestLine   = 500
	nearestAround = 8 << 10
	nearestPlaces = 50
)

// Hint is a place in a file where a text is nearly, but not quite.
type Hint struct {
	Line int    // counted from 1
	Text string // that line, cut where it gets long
	Why  string // what the difference is, such as "differs in upper and lower case"
}

// Nearest returns places in data, at most as many as asked for, that come near to a text that was not found, with the
// reason why they are none. It looks at the first MiB of data and the first 4 KiB of the text; its time is bounded by
// these.
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

// nearlySame finds the places that are the same when all classes of differences are put aside.
func nearlySame(data, want []byte, have normal, key []byte, most int) []Hint {
	var hints []Hint
	for pos := 0; len(hints) < most; {
		i := bytes.Index(have.text[pos:], key)
		if i < 0 {
			break
		}
		start, end := pos+i, pos+i+len(key)
		pos = end
		from, to := int(have.from[start]), int(have.from[end-1])
		hints = append(hints, hintAt(data, from, "differs in "+differences(data, want, from, to)))
	}
	return hints
}

// differences says in which classes the text differs from the lines around data[from:to]: those without which the two
// would not be the same.
func differences(data, want []byte, from, to int) string {
	middle := from
	// The text may begin or end with line ends and blanks that the key has not, so the lines around count too.
	for range 2 {
		from = bytes.LastIndexByte(data[:from], '\n')
		if from < 0 {
			from = 0
			break
		}
	}
	for range 2 {
		i := bytes.IndexByte(data[to:], '\n')
		if i < 0 {
			to = len(data)
			break
		}
		to += i + 1
	}
	around := data[max(from, middle-nearestAround):min(to, middle+nearestAround)]
	var list []string
	for c := lineEnds; c < allClasses; c <<= 1 {
		if c == lineEnds && bytes.IndexByte(want, '\r') < 0 {
			continue // then "\n" in the text matches "\r\n"
		}
		rest := allClasses &^ c
		if !bytes.Contains(normalize(around, rest&^escapes).text, trimmed(normalize(want, rest).text, rest)) {
			list = append(list, c.String())
		}
	}
	if len(list) == 0 {
		list = append(list, classes(0).String())
	}
	return strings.Join(list, " and ")
}

// trimmed removes the blanks at the ends of a text if blanks do not count.
func trimmed(text []byte, c classes) []byte {
	if c&blanks != 0 {
		text = bytes.TrimLeft(text, " ")
	}
	if c&trailing != 0 {
		text = bytes.TrimRight(text, " ")
	}
	return text
}

// sameLine finds the longest line of a text of several lines, and the first line near it that is not as in the text.
func sameLine(data []byte, have normal, key []byte, most int) []Hint {
	lines := bytes.Split(key, []byte{'\n'})
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
	for pos, tried := 0, 0; len(hints) < most && tried < nearestPlaces; tried++ {
		i := bytes.Index(have.text[pos:], lines[longest])
		if i < 0 {
			break
		}
		first := pos + i
		if pos = len(have.text); bytes.IndexByte(have.text[first:], '\n') >= 0 {
			pos = first + bytes.IndexByte(have.text[first:], '\n') // once a line is enough
		}
		// Go back to where the text would begin, then forward to the first line that is different.
		at, ok := first, true
		for range longest {
			if at = bytes.LastIndexByte(have.text[:at], '\n'); at < 0 {
				ok = false
				break
			}
		}
		if !ok {
			continue
		}
		at = bytes.LastIndexByte(have.text[:at], '\n') + 1
		for n, line := range lines {
			rest := have.text[at:]
			if i := bytes.IndexByte(rest, '\n'); i >= 0 {
				rest = rest[:i]
			}
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
				hints = append(hints, hintAt(data, from, fmt.Sprintf("is not as line %d of the text, though line %d is there", n+1, longest+1)))
				break
			}
			if at += len(rest) + 1; at > len(have.text) {
				break
			}
		}
	}
	return hints
}

// similarLine finds the line that has most of the text's trigrams, if it has most of them at all.
func similarLine(data []byte, have normal, key []byte) []Hint {
	line, _, _ := bytes.Cut(key, []byte{'\n'})
	line = line[:min(len(line), nearestLine)]
	if len(line) < 4 {
		return nil
	}
	const size = 1 << 12
	hash := func(t []byte) int { return (int(t[0])*31*31 + int(t[1])*31 + int(t[2])) % size }
	var wanted [size]int // 0, or the number of the line in which it was last seen, from 1
	total := 0
	for i := 0; i+3 <= len(line); i++ {
		if h := hash(line[i:]); wanted[h] == 0 {
			wanted[h] = -1
			total++
		}
	}
	best, bestAt := 0, 0
	for at, n := 0, 1; at < len(have.text); n++ {
		rest := have.text[at:]
		if i := bytes.IndexByte(rest, '\n'); i >= 0 {
			rest = rest[:i]
		}
		score := 0
		for i := 0; i+3 <= min(len(rest), nearestLine); i++ {
			if h := hash(rest[i:]); wanted[h] != 0 && wanted[h] != n {
				wanted[h] = n
				score++
			}
		}
		if score > best {
			best, bestAt = score, at
		}
		at += len(rest) + 1
	}
	if best*5 < total*3 {
		return nil
	}
	return []Hint{hintAt(data, int(have.from[bestAt]), "is similar")}
}

// hintAt returns a hint about the line that holds an offset.
func hintAt(data []byte, offset int, why string) Hint {
	start := bytes.LastIndexByte(data[:offset], '\n') + 1
	line := data[start:]
	if i := bytes.IndexByte(line, '\n'); i >= 0 {
		line = line[:i]
	}
	line = bytes.TrimSuffix(line, crlf[:1])
	const most = 120
	shown := string(line[:min(len(line), most)])
	if len(line) > most {
		shown += "..."
	}
	return Hint{Line: 1 + bytes.Count(data[:start], []byte{'\n'}), Text: strings.ToValidUTF8(shown, "\uFFFD"), Why: why}
}
