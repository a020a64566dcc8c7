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

// AmbiguousError means that the lines of a hunk are in a file more than once, and nothing decides between the places.
type AmbiguousError struct {
	Count int   // number of places
	Lines []int // first lines of the places, from 1, at most the first hundred
}

const mostPlaces = 100

func (e *AmbiguousError) add(line int) {
	e.Count++
	if len(e.Lines) < mostPlaces {
		e.Lines = append(e.Lines, line)
	}
}

// Error lists the lines.
func (e *AmbiguousError) Error() string {
	list := strings.Trim(strings.Join(strings.Fields(fmt.Sprint(e.Lines)), ", "), "[]")
	if e.Count > len(e.Lines) {
		list += " and more"
	}
	return fmt.Sprintf("its lines are in the file %d times, at lines %s: give it more context", e.Count, list)
}

// MarshalJSON returns the code, the message and the paths.
func (e *AmbiguousError) MarshalJSON() ([]byte, error) { return errorform.Marshal("step_failed", e) }

// MissingError means that the lines of a hunk are not in a file.
type MissingError struct {
	// At is the line, from 1, of the nearest place; 0 if not found.
	At int
	// Line is the first line, from 1, that differs, Want is the line of the patch, and Found the line of the file. At the
	// end of the file Found is "" and Line is after the last line.
	Line        int
	Want, Found string
	// Elided means that a line of the hunk is only "...".
	Elided bool
	// Last means that the patch requires the lines at the end of the file.
	Last bool
	// Stated means that the hunk has no context, so that it is only looked for at its stated line.
	Stated bool
}

// Error names the nearest place.
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

// MarshalJSON returns the code, the message and the paths.
func (e *MissingError) MarshalJSON() ([]byte, error) { return errorform.Marshal("step_failed", e) }

// maxShown is the largest number of bytes of a line in a message.
const maxShown = 80

// AnchorError means that a line after @@ is not in the file.
type AnchorError struct{ Text string }

// Error names the line.
func (e *AnchorError) Error() string {
	return "the line " + show.Quote(e.Text, maxShown) + " behind @@ is not in the file, or only before the last hunk"
}

// OutsideError means that a hunk without context is for a place that the file does not have, or that another hunk
// changes.
type OutsideError struct {
	Line, Lines int
	Last        bool // its last line has no line end, so it must end the file
}

// Error names the place.
func (e *OutsideError) Error() string {
	if e.Last {
		return fmt.Sprintf(
			"its last line has no line end, so it must end the file, and it is for line %d of a file of %d lines",
			e.Line, e.Lines)
	}
	return fmt.Sprintf("it has no context, and its lines cannot be put before line %d of a file of %d lines", e.Line,
		e.Lines)
}

// ErrNoContext means that nothing decides the place of a hunk.
var ErrNoContext = errors.New("nothing says where its lines are to be added: give it context, or numbers behind @@")

// explain returns the reason why a hunk has no place. The second error is from the context or a limit.
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
	// Rare lines vote for the place at which they would fit.
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
	return missing, p.steps.Take(p.ctx, len(old))
}
