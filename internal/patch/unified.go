package patch

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/millrace-go/millrace/internal/kinds"
	"github.com/millrace-go/millrace/internal/show"
	"github.com/millrace-go/millrace/wording"
)

const devNull = "/dev/null"

// isFileHeader reports whether the present line and the next one name a file.
func (s scanner) isFileHeader() bool {
	line, _ := s.peek()
	return strings.HasPrefix(line, "--- ") && strings.HasPrefix(s.ahead(1), "+++ ")
}

// isSection reports whether a file begins here, whatever the numbers of a hunk are.
func (s scanner) isSection() bool {
	line, _ := s.peek()
	return strings.HasPrefix(line, "diff --git ") || strings.HasPrefix(line, "diff --cc ") ||
		s.isFileHeader() && isHunkHead(s.ahead(2))
}

// isHunkHead reports whether the line begins a hunk.
func isHunkHead(line string) bool { return trimEnd(line) == "@@" || strings.HasPrefix(line, "@@ ") }

// isContextDiff reports whether a file of a context diff begins here.
func isContextDiff(s scanner) bool {
	line, _ := s.peek()
	return strings.HasPrefix(line, "*** ") && strings.HasPrefix(s.ahead(1), "--- ") &&
		strings.HasPrefix(s.ahead(2), "***************")
}

// unified reads a unified diff, of git or of another program. Text between its sections is skipped.
func (p *parser) unified() {
	for line, ok := p.peek(); ok; line, ok = p.peek() {
		switch {
		case strings.HasPrefix(line, "diff --git "):
			p.git()
		case strings.HasPrefix(line, "diff --cc "), strings.HasPrefix(line, "@@@ "):
			p.problem(p.n, "make a diff against one parent",
				"this is the combined diff of a merge, which cannot be applied")
			p.skip()
		case isContextDiff(p.scanner):
			p.problem(p.n, "make it with diff -u", "this is a context diff")
			p.next()
			p.next()
		case p.isFileHeader():
			p.plain()
		case isHunkHead(line):
			p.unnamed()
		case isBinaryNote(line):
			p.problem(p.n, withBinary, "the patch does not have the bytes of the binary file that it changes")
			p.next()
		case strings.HasPrefix(line, "--- ") && isHunkHead(p.ahead(1)):
			p.problem(p.n, "", `a line "+++ " with the name of the file is missing behind this one`)
			p.skip()
		default:
			p.series.note(line)
			p.next()
		}
	}
}

const withBinary = "make it with git diff --binary"

func isBinaryNote(line string) bool {
	return strings.HasPrefix(line, "Binary files ") && strings.HasSuffix(trimEnd(line), " differ")
}

// skip moves to the next section.
func (p *parser) skip() {
	p.next()
	for _, ok := p.peek(); ok && !p.isSection(); _, ok = p.peek() {
		p.next()
	}
}

// orPath is the advice for a patch without the name of a file.
var orPath = wording.Part{Kind: kinds.SetPath, Text: ", or set path"}

// unnamed reads hunks without a name.
func (p *parser) unnamed() {
	f := File{Line: p.n, Old: p.opt.Path, New: p.opt.Path}
	if p.opt.Path == "" {
		p.advise(p.n, "the hunk names no file", "begin it with --- a/file and +++ b/file", orPath, "")
	}
	p.readHunks(&f)
	p.add(f)
}

// plain reads a file after lines "---" and "+++" without a line of git.
func (p *parser) plain() {
	f := File{Line: p.n}
	old, oldGone, ok1 := p.fileLine("--- ", dated)
	now, newGone, ok2 := p.fileLine("+++ ", dated)
	if !ok1 || !ok2 {
		p.skip()
		return
	}
	switch {
	case oldGone && newGone:
		p.problem(f.Line, "", "neither line names a file")
	case oldGone:
		f.Op = Create
	case newGone:
		f.Op = Delete
	}
	strip := p.opt.Strip
	if strip < 0 {
		strip = 0
		if (oldGone || strings.HasPrefix(old, "a/")) && (newGone || strings.HasPrefix(now, "b/")) ||
			prefixed(old, now) {
			strip = 1
		}
	}
	name := pick(old, now, strip)
	switch f.Op {
	case Create:
		name = now
	case Delete:
		name = old
	}
	f.Unstripped = name
	f.New = p.strip(f.Line, name, strip)
	f.Old = f.New
	p.readHunks(&f)
	f.MayBeNew = f.Op == Modify && len(f.Hunks) == 1 && f.Hunks[0].Numbered && f.Hunks[0].OldLines == 0 &&
		f.Hunks[0].OldStart == 0
	if len(f.Hunks) == 0 && len(p.problems) == 0 {
		p.problem(f.Line, "", "no hunk follows the name of the file")
	}
	p.add(f)
}

// prefixed reports whether two names have prefixes of git for the compared sides: index, work tree, commit or object.
func prefixed(old, now string) bool {
	const parts = "icow"
	return len(old) > 2 && len(now) > 2 && old[0] != now[0] && old[1] == '/' && old[1:] == now[1:] &&
		strings.IndexByte(parts, old[0]) >= 0 && strings.IndexByte(parts, now[0]) >= 0
}

// pick returns the name that counts if a diff that is not from git has two names: the new name, or the name with which
// the other begins, as in "file" and "file.orig".
func pick(old, now string, strip int) string {
	a, ok1 := stripped(old, strip)
	b, ok2 := stripped(now, strip)
	if ok1 && ok2 && strings.HasPrefix(b, a) {
		return old
	}
	return now
}

// fileLine reads the line that names a file, and a time after the name. gone means that this side has no file.
func (p *parser) fileLine(mark string, times *regexp.Regexp) (name string, gone, ok bool) {
	line, _ := p.peek()
	at := p.n
	p.next()
	rest := strings.TrimSuffix(strings.TrimPrefix(line, mark), "\r")
	if strings.HasPrefix(rest, `"`) {
		name, tail, err := unquote(rest)
		if err != "" {
			p.problem(at, "", err)
			return "", false, false
		}
		return name, name == devNull || isEpoch(tail), true
	}
	name, stamp, tabbed := strings.Cut(rest, "\t")
	if at := stampAt(name, times); !tabbed && at > 0 {
		name, stamp = strings.TrimRight(name[:at], " "), name[at:]
	}
	if strings.IndexByte(name, 0) >= 0 {
		p.problem(at, "", "a NUL byte is in the name of the file")
		return "", false, false
	}
	if name == "" || strings.TrimSpace(name) == "" {
		p.problem(at, "", "the name of the file is missing")
		return "", false, false
	}
	if trimmed := strings.TrimRight(name, " "); trimmed == devNull {
		name = trimmed
	}
	return name, name == devNull || isEpoch(stamp), true
}

// strip removes leading parts of a name.
func (p *parser) strip(line int, name string, parts int) string {
	rest, ok := stripped(name, parts)
	if !ok {
		p.advise(line, fmt.Sprintf("the name %s has no more than %d leading parts to strip",
			show.Quote(name, maxShown), parts-1), "", wording.Part{Kind: kinds.LessStrip, Text: "set strip"}, "")
	}
	return rest
}

func stripped(name string, parts int) (rest string, ok bool) {
	rest = name
	for range parts {
		_, after, ok := strings.Cut(rest, "/")
		if after = strings.TrimLeft(after, "/"); !ok || after == "" {
			return name, false
		}
		rest = after
	}
	return rest, true
}

// readHunks reads the next hunks.
func (p *parser) readHunks(f *File) {
	for line, ok := p.peek(); ok && isHunkHead(line); line, ok = p.peek() {
		p.hunk(f, line)
	}
}

// hunkNumbers reads the numbers of a line "@@ -1,2 +3,4 @@". ok is false if it has none.
func hunkNumbers(line string) (n [4]int, ok bool) {
	rest, ok := strings.CutPrefix(line, "@@ -")
	if !ok {
		return n, false
	}
	for side, end := range [2]string{" +", " @@"} {
		text, after, ok := strings.Cut(rest, end)
		if !ok {
			return n, false
		}
		start, count, has := strings.Cut(text, ",")
		if !has {
			count = "1"
		}
		var ok1, ok2 bool
		n[2*side], ok1 = number(start)
		n[2*side+1], ok2 = number(count)
		if !ok1 || !ok2 {
			return n, false
		}
		rest = after
	}
	return n, true
}

func number(text string) (int, bool) {
	if text == "" || len(text) > 9 || strings.Trim(text, "0123456789") != "" {
		return 0, false
	}
	n, err := strconv.Atoi(text)
	return n, err == nil
}
