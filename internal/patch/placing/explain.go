package placing

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/millrace-go/millrace/internal/errorform"
	"github.com/millrace-go/millrace/internal/patch"
	"github.com/millrace-go/millrace/internal/show"
)

// AmbiguousError reports that the lines of a hunk are in a file more than once, and nothing decides which are meant.
type AmbiguousError struct {
	Count int   // how often they are there
	Lines []int // where they begin, from 1, no more than the first hundred
}

const mostPlaces = 100

func (e *AmbiguousError) add(line int) {
	e.Count++
	if len(e.Lines) < mostPlaces {
		e.Lines = append(e.Lines, line)
	}
}

// Error says where the lines are.
func (e *AmbiguousError) Error() string {
	list := strings.Trim(strings.Join(strings.Fields(fmt.Sprint(e.Lines)), ", "), "[]")
	if e.Count > len(e.Lines) {
		list += " and more"
	}
	return fmt.Sprintf("its lines are in the file %d times, at lines %s: give it more context", e.Count, list)
}

// MarshalJSON gives the code, the message and the paths.
func (e *AmbiguousError) MarshalJSON() ([]byte, error) { return errorform.Marshal("step_failed", e) }

// MissingError reports that the lines of a hunk are not in a file.
type MissingError struct {
	// At is the line, from 1, of the place that comes nearest; 0 if none does.
	At int
	// Line is the line, from 1, at which it stops to fit, Want what the patch has there, and Found what the file has.
	// At the end of the file Found is "" and Line is after the last line.
	Line        int
	Want, Found string
	// Elided means that a line of the hunk is nothing but "...".
	Elided bool
	// Last means that the patch has the lines at the end of the file, and nowhere else.
	Last bool
	// Stated means that the hunk quotes no line that stays, so that it is looked for only at its stated line.
	Stated bool
}

// Error has the nearest place.
func (e *MissingError) Error() string {
	text := "its lines are not in the file"
	if e.At > 0 {
		text += fmt.Sprintf("; nearest is line %d, but line %d should be %s and is %s",
			e.At, e.Line, show.Quote(e.Want, maxShown), show.Quote(e.Found, maxShown))
	}
	if e.Last {
		text += "; the patch has them at the end of the file"
	}
	if e.Stated {
		text += "; it quotes no other lines, so it is for the stated line alone"
	}
	if e.Elided {
		text += `; "..." stands for no lines: write them out`
	}
	return text
}

// MarshalJSON gives the code, the message and the paths.
func (e *MissingError) MarshalJSON() ([]byte, error) { return errorform.Marshal("step_failed", e) }

// maxShown is how many bytes of a line a message has.
const maxShown = 80

// AnchorError reports that a line that a hunk begins to look at is not in the file.
type AnchorError struct{ Text string }

// Error has the line.
func (e *AnchorError) Error() string {
	return "the line " + show.Quote(e.Text, maxShown) + " behind @@ is not in the file, or only before the last hunk"
}

// OutsideError reports that a hunk without context is for a place that the file does not have, or that another hunk
// changes.
type OutsideError struct {
	Line, Lines int
	Last        bool // its last line has no line end, so it must end the file
}

// Error has the place.
func (e *OutsideError) Error() string {
	if e.Last {
		return fmt.Sprintf(
			"its last line has no line end, so it must end the file, and it is for line %d of a file of %d lines",
			e.Line, e.Lines)
	}
	return fmt.Sprintf("it has no context, and its lines cannot be put before line %d of a file of %d lines", e.Line,
		e.Lines)
}

// ErrNoContext reports that nothing decides where a hunk belongs.
var ErrNoContext = errors.New("nothing says where its lines are to be added: give it context, or numbers behind @@")

// explain returns why a hunk is nowhere. The second error is that of the run.
func (p *placing) explain(h *patch.Hunk, old []string, stated int) (why, err error) {
	missing := &MissingError{Last: h.AtEnd, Stated: h.Numbered && h.Lead+h.Trail == 0}
	if old == nil {
		for l := range h.Lines() {
			if l.Op != '+' && p.lines() == 0 {
				missing.At, missing.Line, missing.Want = 1, 1, p.wanted(l)
				break
			}
		}
		return missing, nil
	}
	missing.Elided = slices.ContainsFunc(old, func(line string) bool { return strings.TrimSpace(line) == "..." })
	x, err := p.Text.index(p.ctx, p.hunks, None, p.steps)
	if err != nil {
		return nil, err
	}
	// Lines that are rare vote for the place where they would be right.
	const rare, voters = 16, 10_000
	votes := make(map[int]int)
	ids, _ := x.idsOf(None, old)
	for i, id := range ids[:min(len(ids), voters)] {
		if id < 0 || len(x.at[id]) > rare {
			continue
		}
		for _, line := range x.at[id] {
			votes[int(line)-i]++
		}
	}
	best, most := -1, 0
	if h.Numbered && stated >= 0 && stated < p.lines() {
		best = stated
	}
	for at, n := range votes {
		if at >= 0 && (n > most || n == most &&
			(near(at, stated) < near(best, stated) || near(at, stated) == near(best, stated) && at < best)) {
			best, most = at, n
		}
	}
	if best < 0 || best >= p.lines() {
		return missing, nil
	}
	for i, want := range old {
		found := ""
		if best+i < p.lines() {
			found = string(p.compared(best + i))
			if found == want {
				continue
			}
		}
		missing.At, missing.Line, missing.Want, missing.Found = best+1, best+i+1, want, found
		break
	}
	return missing, p.steps.take(p.ctx, len(old))
}
