package render

import (
	"bufio"
	"bytes"
	"slices"
	"strconv"
	"strings"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/change"
)

func isFile(s change.State) bool { return s.Kind == change.File }

func hasText(s change.State) bool { return isFile(s) || s.Kind == change.Symlink }

// painter colours a patch in git's format, line by line.
type painter struct {
	style Style
	w     *bufio.Writer
	// hunks are the hunks of the single file that is written: they replace the matching text of the patch.
	hunks []millrace.Hunk

	part     []byte // an incomplete line
	old, new int    // number of remaining lines of the hunk
	hunk     []millrace.HunkLine
	head     string
	binary   bool
	err      error
}

// Write writes a part of a patch.
func (p *painter) Write(data []byte) (int, error) {
	n := len(data)
	if len(p.part) > 0 {
		var line []byte
		line, data = lineOf(data)
		p.part = append(p.part, line...)
		if !bytes.HasSuffix(p.part, []byte("\n")) {
			return n, nil
		}
		p.line(string(p.part[:len(p.part)-1]))
		p.part = p.part[:0]
	}
	for len(data) > 0 {
		var line []byte
		line, data = lineOf(data)
		if !bytes.HasSuffix(line, []byte("\n")) {
			p.part = append(p.part, line...)
			break
		}
		p.line(string(line[:len(line)-1]))
	}
	return n, p.err
}

// flush writes the rest.
func (p *painter) flush() error {
	p.endHunk()
	return p.err
}

func (p *painter) line(text string) {
	if p.old > 0 || p.new > 0 || p.head != "" && strings.HasPrefix(text, `\`) {
		switch text[0] {
		case '-':
			p.old--
		case '+':
			p.new--
		case ' ':
			p.old, p.new = p.old-1, p.new-1
		}
		p.hunk = append(p.hunk, millrace.HunkLine{Op: text[0], Text: text[1:]})
		return
	}
	p.endHunk()
	if old, new, ok := counts(text); ok {
		p.head, p.old, p.new = text, old, new
		return
	}
	switch {
	case strings.HasPrefix(text, "diff --git "):
		p.binary = false
	case p.binary:
		if p.style.Terminal {
			return
		}
		p.print(text + "\n")
		return
	case text == "GIT binary patch":
		if p.binary = true; p.style.Terminal {
			text = "Binary file, not shown"
		}
	}
	p.print(p.style.Paint(Bold, p.style.Text(text)) + "\n")
}

// endHunk writes the hunk that was read, in the version of the plan if it is in hunks.
func (p *painter) endHunk() {
	if p.head == "" {
		return
	}
	lines := p.hunk
	for i, h := range p.hunks {
		if known := h.Lines(); slices.EqualFunc(known, lines, sameLine) {
			lines, p.hunks = known, p.hunks[i+1:]
			break
		}
	}
	p.print(string(p.style.lines([]byte(p.style.Paint(Cyan, p.head)+"\n"), lines)))
	p.head, p.hunk = "", nil
}

func sameLine(a, b millrace.HunkLine) bool { return a.Op == b.Op && a.Text == b.Text }

func (p *painter) print(text string) {
	if p.err == nil {
		_, p.err = p.w.WriteString(text)
	}
}

// counts returns the numbers of lines of both sides of a hunk from its head, such as "@@ -1,2 +1 @@".
func counts(text string) (old, new int, ok bool) {
	sides := strings.SplitN(text, " ", 4)
	if len(sides) < 4 || sides[0] != "@@" || !strings.HasPrefix(sides[3], "@@") {
		return 0, 0, false
	}
	for i, n := range []*int{&old, &new} {
		*n = 1
		if _, lines, found := strings.Cut(sides[i+1], ","); found {
			var err error
			if *n, err = strconv.Atoi(lines); err != nil {
				return 0, 0, false
			}
		}
	}
	return old, new, true
}
