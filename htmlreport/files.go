package htmlreport

import (
	"fmt"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/page"
)

// files writes one change after the other.
type files struct {
	plan *millrace.Plan
	out  *counting
	kind func(c change.Change) change.ChangeKind
	// left is how many bytes there may be, and reserved how many of them the changes need that are still to come if
	// their lines are not shown.
	left, reserved int64
	lines          int // that are shown
}

// openLines is the number of lines after which the files of a report are folded.
const openLines = 600

// longestRow is more than what a change takes without its lines.
func longestRow(c change.Change) int64 {
	var names page.Page
	for _, name := range []string{c.Path, c.From, c.Old.Target, c.New.Target} {
		names.Text(name)
	}
	n := 640 + names.Len()
	for _, o := range c.By {
		n += 16 + len(o.Step)
	}
	return int64(n)
}

// write writes one change, with its lines if they fit.
func (f *files) write(c change.Change) error {
	f.reserved -= longestRow(c)
	d, err := page.Read(f.plan, c)
	if err != nil {
		return fmt.Errorf("report: %w", err)
	}
	var p page.Page
	lines := max(1, d.Added+d.Removed)
	row := page.Row{
		Change: c, Kind: f.kind(c), Difference: d, Most: f.left - f.reserved, Open: f.lines+lines <= openLines,
	}
	if !p.Row(row) {
		p.Reset()
		row.Hunks, row.Note = nil, "its lines are not shown: the report would be too large"
		row.Most, row.Open = f.left, false
		p.Row(row)
	}
	f.lines += lines
	f.left -= int64(p.Len())
	return f.out.page(&p)
}
