package htmlreport

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/fsutil"
)

// files writes one change after the other.
type files struct {
	plan  *millrace.Plan
	out   *counting
	kinds map[string]fsutil.ChangeKind // of files and links, by path
	// left is how many bytes there may be, and reserved how many of them the changes need that are still to come if
	// their lines are not shown.
	left, reserved int64
	lines          int // that are shown
}

// openLines is how many lines a report shows without being asked: those of the files up to there are unfolded.
const openLines = 600

// longestRow is more than what a change takes without its lines.
func longestRow(c fsutil.Change) int64 {
	var names page
	for _, name := range []string{c.Path, c.From, c.Old.Target, c.New.Target} {
		names.text(name)
	}
	n := 640 + names.Len()
	for _, o := range c.By {
		n += 16 + len(o.Step)
	}
	return int64(n)
}

// write writes one change, with its lines if they fit.
func (f *files) write(c fsutil.Change) error {
	f.reserved -= longestRow(c)
	d, err := f.read(c)
	if err != nil {
		return fmt.Errorf("report: %w", err)
	}
	var p page
	lines := max(1, d.added+d.removed)
	kind := f.kind(c)
	shown := p.change(c, kind, d, f.left-f.reserved, f.lines+lines <= openLines)
	if !shown {
		p.Reset()
		d.hunks, d.bytes, d.note = nil, 0, "its lines are not shown: the report would be too large"
		p.change(c, kind, d, f.left, false)
	}
	f.lines += lines
	f.left -= int64(p.Len())
	return f.out.page(&p)
}

// kindsOf returns what a plan does to files and links, by path.
func kindsOf(changed millrace.FilesChanged) map[string]fsutil.ChangeKind {
	kinds := make(map[string]fsutil.ChangeKind)
	note := func(kind fsutil.ChangeKind, names []string) {
		for _, name := range names {
			kinds[name] = kind
		}
	}
	note(fsutil.Created, changed.Created)
	note(fsutil.Modified, changed.Modified)
	note(fsutil.Deleted, changed.Deleted)
	for _, moved := range changed.Renamed {
		kinds[moved.To] = fsutil.Renamed
	}
	return kinds
}

// kind returns the kind under which a change is shown.
func (f *files) kind(c fsutil.Change) fsutil.ChangeKind {
	kind, ok := f.kinds[c.Path]
	switch {
	case ok:
		return kind
	case c.Old.Kind != change.Dir && c.Old.Kind != change.Absent && c.New.Kind == change.Dir &&
		c.Kind == fsutil.Modified:
		return fsutil.Created // the file has moved, and a directory is made at its old name
	}
	return c.Kind
}

// difference is what is shown of a change.
type difference struct {
	hunks          []millrace.Hunk
	added, removed int
	bytes          int64 // of the lines
	note           string
}

// read reads what is different.
func (f *files) read(c fsutil.Change) (difference, error) {
	var d difference
	switch {
	case c.Old.Kind != change.File && c.New.Kind != change.File:
		return d, nil
	case c.Old.Kind == change.File && c.New.Kind == change.File && c.Old.Hash == c.New.Hash:
		return d, nil
	}
	list, err := f.plan.Files(c.Path)
	if err != nil {
		if millrace.ErrorCode(err) == "limit" {
			return difference{note: "it is too large to be shown"}, nil
		}
		return d, err
	}
	// Files below a directory that was a file come with it.
	at := slices.IndexFunc(list, func(diff millrace.FileDiff) bool { return diff.Path == c.Path })
	if at < 0 {
		return d, nil
	}
	d.hunks = list[at].Hunks
	if list[at].Binary {
		d.note = "binary, " + size(c.Old) + " → " + size(c.New)
	}
	for _, h := range d.hunks {
		d.bytes += int64(len(h.Text))
		for line := range strings.Lines(h.Text) {
			switch line[0] {
			case '+':
				d.added++
			case '-':
				d.removed++
			}
		}
	}
	return d, nil
}

func size(s change.State) string {
	if s.Kind != change.File {
		return "nothing"
	}
	return strconv.FormatInt(s.Size, 10) + " bytes"
}

// change writes a change. It stops once there are more bytes than it may have, and reports whether it has not.
func (p *page) change(c fsutil.Change, kind fsutil.ChangeKind, d difference, most int64, open bool) bool {
	p.WriteString(`<details class="` + string(kind) + `"`)
	if open {
		p.WriteString(` open="open"`)
	}
	p.WriteString(`><summary><b>` + string(kind) + `</b> <span class="name">`)
	if c.From != "" {
		p.name(c.From)
		p.WriteString(` → `)
	}
	p.name(c.Path)
	p.WriteString(`</span>`)
	if d.added+d.removed > 0 {
		p.WriteString(` <span class="count">`)
		if d.added > 0 {
			fmt.Fprintf(p, `<ins>+%d</ins> `, d.added)
		}
		if d.removed > 0 {
			fmt.Fprintf(p, `<del>−%d</del>`, d.removed)
		}
		p.WriteString(`</span>`)
	}
	p.WriteString("</summary>\n")
	p.facts(c, d)
	if d.bytes > most {
		return false
	}
	if len(d.hunks) > 0 {
		p.WriteString(`<table class="diff"><colgroup><col class="n"/><col class="n"/><col class="s"/><col/></colgroup>` +
			"\n")
		for _, h := range d.hunks {
			if !p.hunk(h, most) {
				return false
			}
		}
		p.WriteString("</table>\n")
	}
	p.WriteString("</details>\n")
	return int64(p.Len()) <= most
}

// hunk writes a hunk. It stops once there are more bytes than it may have, and reports whether it has not.
func (p *page) hunk(h millrace.Hunk, most int64) bool {
	lines := h.Lines()
	returns := allReturns(lines)
	h.Text = "" // lines has it
	p.WriteString("<tbody>\n<tr class=\"at\"><td colspan=\"4\">" + strings.TrimSuffix(h.String(), "\n"))
	if returns {
		p.WriteString(" CRLF")
	}
	p.by(h.By)
	p.WriteString("</td></tr>\n")
	for _, l := range lines {
		if int64(p.Len()) > most {
			return false
		}
		p.line(l, returns)
	}
	p.WriteString("</tbody>\n")
	return true
}

// allReturns reports whether each line has a "\r" before its end; then it is not shown with each.
func allReturns(lines []millrace.HunkLine) bool {
	for _, l := range lines {
		if l.Op == '\\' || !strings.HasSuffix(l.Text, "\r") {
			return false
		}
	}
	return len(lines) > 0
}

func (p *page) line(l millrace.HunkLine, returns bool) {
	number := func(n int) {
		p.WriteString("<td>")
		if n > 0 {
			p.WriteString(strconv.Itoa(n))
		}
		p.WriteString("</td>")
	}
	text := l.Text
	if returns {
		text = strings.TrimSuffix(text, "\r")
	}
	switch l.Op {
	case '+':
		p.WriteString(`<tr class="new">`)
	case '-':
		p.WriteString(`<tr class="old">`)
	case '\\':
		p.WriteString(`<tr class="end">`)
	default:
		p.WriteString(`<tr>`)
	}
	number(l.Old)
	number(l.New)
	switch l.Op {
	case '-':
		p.WriteString(`<td>−</td><td>`)
	case '+':
		p.WriteString(`<td>+</td><td>`)
	default:
		p.WriteString(`<td></td><td>`)
	}
	p.marked(text, l.Marks)
	p.WriteString("</td></tr>\n")
}
