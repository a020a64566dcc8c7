package patch

import (
	"slices"
	"strings"
	"unicode"

	"github.com/millrace-go/millrace/internal/worded"
	"github.com/millrace-go/millrace/wording"
)

// scanner iterates over the lines of a text. A copy of it is independent, which is how the parser looks ahead.
type scanner struct {
	text string
	pos  int // offset of the present line
	n    int // its number, from 1
}

// peek returns the present line without its newline. ok is false at the end.
func (s *scanner) peek() (line string, ok bool) {
	if s.pos >= len(s.text) {
		return "", false
	}
	rest := s.text[s.pos:]
	if i := strings.IndexByte(rest, '\n'); i >= 0 {
		rest = rest[:i]
	}
	return rest, true
}

// next moves to the next line.
func (s *scanner) next() {
	if i := strings.IndexByte(s.text[s.pos:], '\n'); i >= 0 {
		s.pos += i + 1
	} else {
		s.pos = len(s.text)
	}
	s.n++
}

// ahead returns the line that is lines lines ahead, without white space at its end.
func (s scanner) ahead(lines int) string {
	for range lines {
		if s.pos >= len(s.text) {
			return ""
		}
		s.next()
	}
	line, _ := s.peek()
	return trimEnd(line)
}

func trimEnd(line string) string { return strings.TrimRight(line, " \t\r") }

// Options are settings for reading a patch.
type Options struct {
	Format Format
	Path   string // the file of hunks without a name
	Strip  int    // number of leading parts of names to strip, -1 for the usual number of their form
	// Recount accepts the last hunk as complete if it has fewer lines than its numbers state.
	Recount bool
}

type parser struct {
	scanner
	opt      Options
	patch    *Patch
	series   series
	hunks    int
	problems []Problem
	last     int  // the offset after the last character that is not white space
	closed   bool // the end of the text was marked, so it was not cut off
	err      error
}

// mostProblems is the largest number of problems that are reported for a patch.
const mostProblems = 100

// Parse reads a patch. It returns all problems; only a patch without problems may be used. The error is a
// *[LimitError].
func Parse(text string, opt Options) (*Patch, []Problem, error) {
	if len(text) > MaxBytes {
		return nil, nil, &LimitError{WhatBytes, MaxBytes}
	}
	p := &parser{opt: opt, patch: &Patch{}}
	p.text, p.n, p.closed = unwrap(text)
	p.last = len(strings.TrimRightFunc(p.text, unicode.IsSpace))
	format := opt.Format
	if format == Auto {
		format = detect(p.text)
	}
	p.patch.Format = format
	switch format {
	case Unified:
		p.unified()
	case ApplyPatch:
		p.envelopes()
	case SearchReplace:
		p.blocks()
	default:
		p.problem(0, forms, "this is not a patch")
	}
	if p.err == nil && len(p.problems) == 0 && len(p.patch.Files) == 0 {
		p.problem(0, forms, "this patch names no file")
	}
	for i := range p.patch.Files {
		p.patch.Files[i].sniff()
	}
	p.inOrder()
	p.patch.Files = joined(format, p.patch.Files)
	return p.patch, p.problems, p.err
}

// forms shows the formats of patches.
const forms = "write a unified diff (--- a/file, +++ b/file, @@ -1,3 +1,4 @@), or *** Begin Patch, " +
	"*** Update File: file, @@, *** End Patch, or file, <<<<<<< SEARCH, =======, >>>>>>> REPLACE"

func (p *parser) problem(line int, hint, text string) {
	if len(p.problems) < mostProblems {
		p.problems = append(p.problems, Problem{Line: line, Text: text, Hint: hint})
	}
}

// advise adds a problem with a hint of which doors word a part differently.
func (p *parser) advise(line int, text, hint string, part wording.Part, tail string) {
	if len(p.problems) < mostProblems {
		advice := worded.Errorf("%s%v%s", hint, part, tail)
		p.problems = append(p.problems, Problem{Line: line, Text: text, Hint: advice.Error(), Advice: advice})
	}
}

func (p *parser) warn(line int, text string) {
	if len(p.patch.Warnings) < mostProblems {
		p.patch.Warnings = append(p.patch.Warnings, Problem{Line: line, Text: text})
	}
}

// add adds a file, unless there are too many.
func (p *parser) add(f File) {
	if len(p.patch.Files) == MaxFiles {
		p.fail(WhatFiles, MaxFiles)
		return
	}
	if max(len(f.Old), len(f.New)) > maxName {
		p.problem(f.Line, "", "the name of the file is too long")
		return
	}
	f.Commit = p.series.commit
	p.patch.Files = append(p.patch.Files, f)
}

// addHunk adds a hunk to a file, unless there are too many, and reports a mistake in it.
func (p *parser) addHunk(f *File, h Hunk) {
	if p.hunks++; p.hunks > MaxHunks {
		p.fail(WhatHunks, MaxHunks)
		return
	}
	if wrong := h.measure(); wrong != "" {
		p.problem(h.Line, "", wrong)
	}
	f.Hunks = append(f.Hunks, h)
}

// fail ends reading.
func (p *parser) fail(what string, limit int64) {
	p.err = &LimitError{what, limit}
	p.pos = len(p.text)
}

// unwrap removes one Markdown fence or here-document. It returns the number of the first remaining line, and whether
// there was a fence.
func unwrap(text string) (inner string, line int, closed bool) {
	s := scanner{text: text, n: 1}
	first, ok := s.peek()
	for ok && trimEnd(first) == "" {
		s.next()
		first, ok = s.peek()
	}
	last := strings.TrimRight(text, " \t\r\n")
	cut := strings.LastIndexByte(last, '\n') + 1
	end := strings.TrimSpace(last[cut:])
	first = strings.TrimSpace(first)
	s.next()
	if end == "" || s.pos > cut || !slices.Contains(closers(first), end) {
		return text, 1, false
	}
	return text[s.pos:cut], s.n, true
}

// closers returns the lines that may close what a line opens.
func closers(first string) []string {
	for _, mark := range []string{"`", "~"} {
		if n := len(first) - len(strings.TrimLeft(first, mark)); n >= 3 {
			return []string{first[:n]}
		}
	}
	_, tag, ok := strings.Cut(first, "<<")
	if !ok || strings.HasPrefix(first, "<") {
		return nil
	}
	tag, _, _ = strings.Cut(strings.TrimSpace(strings.TrimPrefix(tag, "-")), " ")
	if tag = strings.Trim(tag, `'"`); tag == "" {
		return nil
	}
	return []string{tag}
}

// detect returns the format of a patch.
func detect(text string) Format {
	unified := false
	s := scanner{text: text, n: 1}
	for line, ok := s.peek(); ok; line, ok = s.peek() {
		mark, signs := line, "<-"
		if unified { // a hunk quotes lines that begin with a space, and removes lines that begin with dashes
			signs = "<"
		} else {
			mark = strings.TrimSpace(line)
		}
		switch {
		case trimEnd(mark) == beginPatch:
			return ApplyPatch
		case isMarker(line, signs, "SEARCH"):
			return SearchReplace
		case strings.HasPrefix(line, "diff --git "), strings.HasPrefix(line, "diff --cc "), s.isFileHeader(),
			isHunkHead(line), isContextDiff(s):
			unified = true
		}
		s.next()
	}
	if unified {
		return Unified
	}
	return Auto
}
