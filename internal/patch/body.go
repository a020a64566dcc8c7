package patch

import (
	"fmt"
	"strings"

	"github.com/millrace-go/millrace/internal/kinds"
	"github.com/millrace-go/millrace/wording"
)

// hunk reads one hunk.
//
// The numbers above it are its numbers of lines, but people and models who write patches count badly. So the hunk ends
// where no more lines can belong to it; if the numbers disagree, the counted lines decide. If a patch was cut off, or a
// line lacks its first character, and the end is not clear, that is a problem.
func (p *parser) hunk(f *File, head string) {
	h := Hunk{Line: p.n}
	n, numbered := hunkNumbers(head)
	h.Numbered, h.OldStart, h.NewStart = numbered, n[0], n[2]
	p.next()
	begin := p.pos
	end, endLine := begin, p.n // after the last line that is not empty
	var old, now int           // lines so far
	over, empty, stop := false, 0, ""
	for stop == "" {
		line, ok := p.peek()
		if !ok {
			stop = "end"
			break
		}
		full := numbered && !over && old == n[1] && now == n[3]
		switch {
		case strings.HasPrefix(line, `\`):
		case p.isSection(), isHunkHead(line), p.isFileHeader() && (full || !numbered), isEndOfHunk(line):
			stop = "head"
		case full && (line == "" || line == "\r"), (full || over || !numbered) && p.isSignature(line):
			stop = "head"
		case line == "" || line == "\r":
			old, now, empty = old+1, now+1, empty+1
			p.next()
			continue // it may be after the hunk
		case line[0] == ' ' || line[0] == '+' || line[0] == '-':
			over = over || full
			if line[0] != '+' {
				old++
			}
			if line[0] != '-' {
				now++
			}
		default:
			stop = "other"
		}
		if stop == "" {
			p.next()
			end, endLine, empty = p.pos, p.n, 0
		}
	}
	if fits := numbered && old == n[1] && now == n[3]; fits {
		end, empty = p.pos, 0
	} else if numbered || empty > 0 {
		old, now = old-empty, now-empty
	}
	h.body = p.text[begin:end]
	switch differs := numbered && (old != n[1] || now != n[3]); {
	case h.body == "":
		p.problem(h.Line, "", "the hunk has no lines")
		return
	case stop == "other" && (differs || !numbered) && empty == 0:
		p.problem(p.n, "", "lines of a hunk begin with a space, +, - or \\, and this one does not")
		p.skip()
	case stop == "end" && differs && !over && !p.closed && !p.opt.Recount:
		p.advise(endLine-1, fmt.Sprintf(
			"the patch ends within a hunk: it should have %d old and %d new lines, and has %d and %d", n[1], n[3], old,
			now), "write all of it", wording.Part{
			Kind: kinds.SetRecount, Text: ", or apply it with recount if it is whole",
		}, "")
	case differs:
		h.Recounted = true
		p.warn(h.Line,
			fmt.Sprintf("the hunk should have %d old and %d new lines, and has %d and %d; they were counted anew",
				n[1], n[3], old, now))
	}
	p.addHunk(f, h)
}

// isSignature reports whether the line and the next line end a mail.
func (p *parser) isSignature(line string) bool {
	if trimEnd(line) != "--" {
		return false
	}
	next := p.ahead(1)
	return next == "" || next[0] >= '0' && next[0] <= '9'
}

// isEndOfHunk reports whether programs or people write such a line after a hunk.
func isEndOfHunk(line string) bool {
	for _, mark := range [...]string{"```", "~~~", "diff ", "Index: ", "Only in ", "Binary files ", "=====", "*** "} {
		if strings.HasPrefix(line, mark) {
			return true
		}
	}
	return false
}
