package review

import (
	"fmt"
	"strings"

	"github.com/millrace-go/millrace"
)

const editHead = "# This hunk, to be edited. The quick guide is below it.\n"

const editFoot = `# ---
# To take less: delete lines that begin with '+', and make ' ' of a '-' at the beginning of a line.
# To take something else: write lines that begin with '+'.
# Lines that begin with ' ' or '-' are those of the file; what follows these must stay what it is.
# Lines that begin with '#' are left out. If nothing is left, the hunk stays undecided.
`

// edit lets the user write a replacement for the hunk, and reports whether there is one. A refused text is shown again
// the next time.
func (r *Review) edit() (bool, error) {
	f, i := r.files[r.at.file], r.item()
	switch {
	case r.Edit == nil:
		r.say("no editor can be opened here")
		return false, nil
	case !f.parts:
		r.say("only hunks can be edited; this is a change of the whole file")
		return false, nil
	case i.of != nil:
		r.say("only hunks can be edited; b goes back to the hunk of this match")
		return false, nil
	}
	text := i.draft
	if text == "" {
		text = editHead + i.hunk.String() + editFoot
	}
	edited, err := r.Edit(text)
	if err != nil {
		r.say(fmt.Sprintf("the editor failed: %v", err))
		return false, nil
	}
	lines, err := parseEdited(i.hunk, edited)
	if err != nil {
		i.draft = edited
		r.say(err.Error() + ". Press e to edit it again")
		return false, nil
	}
	if lines == nil {
		r.say("nothing is left of the hunk, so it is not changed")
		return false, nil
	}
	before := f.copied()
	i.is, i.text, i.draft = taken, lines, edited
	if _, err := r.plan.Revise(f.change.Path, f.decided()...); err != nil {
		*f = before
		f.items[r.at.item].draft = edited
		r.say(err.Error())
		return false, nil
	}
	r.history = append(r.history, step{at: r.at, files: []savedFile{{r.at.file, before}}})
	return true, nil
}

// parseEdited returns the lines that an edited hunk leaves in the file, nil if the whole text was deleted. It must
// contain all lines of the old file, in order.
func parseEdited(h millrace.Hunk, edited string) (*string, error) {
	var old []string
	for _, l := range h.Lines() {
		if l.Op == ' ' || l.Op == '-' {
			old = append(old, l.Text)
		}
	}
	var b strings.Builder
	n, at, seen := 0, 0, false
	for line := range strings.Lines(edited) {
		n++
		line = strings.TrimSuffix(line, "\n")
		if strings.TrimSuffix(line, "\r") == "" {
			line = " " + line // editors remove the space
		}
		op, text := line[0], line[1:]
		switch op {
		case '#', '@', '\\':
			continue
		case '+':
			b.WriteString(text + "\n")
		case ' ', '-':
			if at == len(old) {
				if strings.TrimSpace(text) == "" && op == ' ' {
					continue // at the end of the text
				}
				return nil, fmt.Errorf("line %d, %q, is not in the file there: new lines begin with '+'", n, line)
			}
			if strings.TrimSuffix(text, "\r") != strings.TrimSuffix(old[at], "\r") {
				return nil, fmt.Errorf(
					"line %d is %q where the file has %q: lines that begin with ' ' or '-' must stay what they are", n,
					text, old[at])
			}
			if op == ' ' {
				b.WriteString(old[at] + "\n")
			}
			at++
		default:
			return nil, fmt.Errorf("line %d begins with %q: lines begin with ' ', '-', '+' or '#'", n, op)
		}
		seen = true
	}
	switch {
	case !seen:
		return nil, nil
	case at < len(old):
		return nil, fmt.Errorf(
			"the line %q of the file is missing after line %d: to take it away, leave it there with '-'",
			old[at], n)
	}
	text := b.String()
	return &text, nil
}
