package preview

import (
	"errors"
	"slices"
	"strings"

	"github.com/millrace-go/millrace/change"
)

const utf8BOM = "\ufeff"

// hunkText is the text of a hunk on both sides, and its unchanged lines before the first and after the last changed
// line.
type hunkText struct{ before, now, lead, trail string }

func textOfHunk(h Hunk) hunkText {
	var before, now strings.Builder
	lines := h.Lines()
	changed, lead, trail := false, 0, 0
	for i, l := range lines {
		text := l.Text
		if i+1 == len(lines) || lines[i+1].Op != '\\' {
			text += "\n"
		}
		if l.Op == ' ' || l.Op == '-' {
			before.WriteString(text)
		}
		if l.Op == ' ' || l.Op == '+' {
			now.WriteString(text)
		}
		switch {
		case l.changed():
			changed, trail = true, 0
		case l.Op == ' ' && changed:
			trail += len(text)
		case l.Op == ' ':
			lead += len(text)
		}
	}
	old := before.String()
	return hunkText{old, now.String(), old[:lead], old[len(old)-trail:]}
}

// revisedText is a text that replaces a hunk.
type revisedText struct {
	splice              change.Splice // without an author
	old                 []byte        // the text that the splice replaces
	asBefore, asPlanned bool          // the text equals one of the sides
}

// reviseText makes a splice that replaces a hunk by text. The first changed line of the hunk is at that offset of a
// file of that size.
func reviseText(h Hunk, text string, firstChanged, size int64) (revisedText, error) {
	if strings.IndexByte(text, 0) >= 0 {
		return revisedText{}, errors.New("the text has a NUL byte, so the file would be binary")
	}
	t := textOfHunk(h)
	off := firstChanged - int64(len(t.lead))
	end := off + int64(len(t.before))
	text = t.fit(text, off == 0, end == size)
	if text == t.now || text == t.before {
		return revisedText{asPlanned: text == t.now, asBefore: text == t.before}, nil
	}
	// Unchanged lines at the ends are not part of the splice: another part may contain them too.
	for line := range strings.Lines(t.lead) {
		if !strings.HasPrefix(text, line) {
			break
		}
		text = text[len(line):]
		off += int64(len(line))
	}
	for _, line := range slices.Backward(slices.Collect(strings.Lines(t.trail))) {
		if text != line && !strings.HasSuffix(text, "\n"+line) {
			break
		}
		text = strings.TrimSuffix(text, line)
		end -= int64(len(line))
	}
	from := off - firstChanged + int64(len(t.lead))
	return revisedText{
		splice: change.Splice{Off: off, Len: end - off, Text: []byte(text)}, old: []byte(t.before[from : from+end-off]),
	}, nil
}

// fit gives text the form of the file: its line ends, its last line complete or not, and its byte order mark. first and
// last mean that the hunk is at the beginning or the end of the file.
func (t hunkText) fit(text string, first, last bool) string {
	both := t.before + t.now
	eol, crlf := "\n", strings.Count(both, "\r\n")
	if crlf > 0 && crlf == strings.Count(both, "\n") {
		eol = "\r\n"
		text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\n", "\r\n")
	}
	complete := func(s string) bool { return strings.HasSuffix(s, "\n") }
	switch broken := last && (t.before != "" && !complete(t.before) || t.now != "" && !complete(t.now)); {
	case broken && (complete(t.before) || complete(t.now)): // the hunk changes exactly this
	case broken:
		text = strings.TrimSuffix(text, eol)
	case text != "" && !complete(text):
		text += eol
	}
	begins := func(s string) bool { return strings.HasPrefix(s, utf8BOM) }
	if first && begins(t.before) && begins(t.now) && !begins(text) {
		text = utf8BOM + text
	}
	return text
}
