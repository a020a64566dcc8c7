package campaign

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/cmd/millrace/internal/door"
	"github.com/millrace-go/millrace/cmd/millrace/internal/render"
	"github.com/millrace-go/millrace/fleet"
	"github.com/millrace-go/millrace/risk"
)

// liveEvery is the update interval of the live lines, and mostLive their maximum number.
const (
	liveEvery = 100 * time.Millisecond
	mostLive  = 8
)

// table shows the work on the trees: a line for each tree that is done, and on a terminal a line for each tree in
// progress.
type table struct {
	p door.Program
	c campaign

	mu      sync.Mutex
	total   int
	done    int
	failed  int
	running map[string]string // by target id: its present step
	drawn   int               // number of live lines on the terminal
	last    time.Time
}

func newTable(p door.Program, c campaign, total int) *table {
	return &table{p: p, c: c, total: total, running: make(map[string]string)}
}

// observe handles the events of the runs.
func (t *table) observe(e millrace.Event) {
	event, ok := e.(fleet.Event)
	if !ok || !t.p.Live() {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	switch inner := event.Event.(type) {
	case millrace.RunFinished:
		delete(t.running, event.Target)
	case millrace.StepStarted:
		t.running[event.Target] = inner.Step
	default:
		if _, known := t.running[event.Target]; !known {
			t.running[event.Target] = "begins"
		}
	}
	if now := time.Now(); now.Sub(t.last) >= liveEvery {
		t.last = now
		t.draw()
	}
}

// draw replaces the live lines.
func (t *table) draw() {
	ids := make([]string, 0, len(t.running))
	for id := range t.running {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	var b strings.Builder
	b.WriteString(t.erase())
	b.WriteString("\x1b[?7l") // the terminal cuts off a line that is too long
	fmt.Fprintf(&b, "%d of %d trees, %d failed\n", t.done, t.total, t.failed)
	t.drawn = 1
	for _, id := range ids[:min(len(ids), mostLive)] {
		fmt.Fprintf(&b, "  %s  %s\n", render.Line(id), render.Line(t.running[id]))
		t.drawn++
	}
	b.WriteString("\x1b[?7h")
	t.p.WriteLive(b.String())
}

// erase returns the text that removes the live lines.
func (t *table) erase() string {
	if t.drawn == 0 {
		return ""
	}
	lines := t.drawn
	t.drawn = 0
	return fmt.Sprintf("\x1b[%dA\r\x1b[J", lines)
}

// outcome writes the line of a finished tree.
func (t *table) outcome(phase string, o fleet.Outcome) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.done++
	if o.Status == fleet.Failed {
		t.failed++
	}
	delete(t.running, o.Target.ID)
	if f := t.p.Format(); f != "" && f != door.FormatReport {
		return nil
	}
	t.p.WriteLive(t.erase())
	return t.p.WriteReport(t.c.line(record{Phase: phase, Outcome: o}))
}

// end removes the live lines.
func (t *table) end() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.p.WriteLive(t.erase())
}

// word returns the state of a tree in words for people.
func (r record) word() string {
	switch o := r.Outcome; {
	case o.Status == fleet.Skipped && o.Code != "":
		return "not begun"
	case r.Phase == phaseUndo && o.Status == fleet.Success:
		return "undone"
	case r.Phase == phaseUndo:
		return "not undone"
	case o.Status != fleet.Success:
		return string(o.Status)
	case o.Files == 0:
		return "unchanged"
	case r.Phase == phasePlan:
		return "would change"
	}
	return "changed"
}

// line returns a tree as a line. A failed clone has its directory at the end, where a person can look at it.
func (c campaign) line(r record) string {
	o := r.Outcome
	text := fmt.Sprintf("%-12s  %s", r.word(), render.Line(o.Target.ID))
	if o.Status == fleet.Success && o.Files > 0 {
		text += fmt.Sprintf("  %d files, %d edits", o.Files, o.Edits)
		if o.Risk != risk.Unset {
			text += ", " + strings.ToLower(o.Risk.String()) + " risk"
		}
	}
	if o.Message != "" {
		text += "  " + render.Line(o.Message)
	}
	if failed := o.Status == fleet.Failed || o.Status == fleet.Canceled; failed && c.Git != nil {
		if dir, err := c.Git.Dir(o.Target); err == nil && dir != o.Target.Root {
			if _, err := os.Lstat(dir); err == nil {
				text += "  in " + render.Line(dir)
			}
		}
	}
	return text
}
