// Package patch reads patches.
//
// Four formats of patches become the same list of files with hunks: a unified diff, a diff of git, the format
// apply_patch, and blocks with a search text and its replacement. [Parse] reads a text. Package placing finds the
// places of the hunks in a file.
//
// Patches are untrusted input. Reading a patch takes time and memory in proportion to its length, and no function
// recurses on its contents.
package patch

import (
	"iter"
	"strings"

	"github.com/millrace-go/millrace/change"
)

// Splice is the type of package change.
type Splice = change.Splice

// Format is the format of a patch.
type Format uint8

// The formats. Auto means to detect the format.
const (
	Auto Format = iota
	Unified
	ApplyPatch
	SearchReplace
)

// Op is the operation of a section of a patch on a file.
type Op uint8

// The operations.
const (
	Modify Op = iota
	Create
	Delete
	Rename
	Copy
)

// The types of files in the modes of git, and the mask of their bits.
const (
	TypeMask uint32 = 0o170000
	File100  uint32 = 0o100000
	Symlink  uint32 = 0o120000
)

// Patch is a decoded patch.
type Patch struct {
	Format   Format
	Files    []File
	Warnings []Problem // tolerated deviations, in the order of lines
}

// File is one section of a patch: the change of one file.
type File struct {
	Line             int    // of the patch, from 1
	Commit           int    // of a series, from 1 in the order of the text; 0 if no line begins a commit
	Op               Op     //
	Old, New         string // names, stripped. Both are set; they differ only for Rename and Copy
	Unstripped       string // the name with its leading parts, "" if none were stripped
	OldMode, NewMode uint32 // in the form of git, 0 if the patch has none
	OldID, NewID     string // names of the contents, unshortened, "" if the patch has none
	Hunks            []Hunk
	Binary           *Binary // instead of hunks
	Unchecked        bool    // a deletion without the deleted content
	MayBeNew         bool    // the only hunk is for a file that may be missing
	Mixed            bool    // its lines have both kinds of line ends, which then count
	CRLF             bool    // a line of it has a carriage return before its line end
}

// Hunk is a sequence of lines of a file, of which some are removed and others added.
type Hunk struct {
	Line               int      // of the patch, from 1
	Numbered           bool     // OldStart and NewStart are set
	OldStart, NewStart int      // first line, from 1, or the line before if a side has no lines
	OldLines, NewLines int      // as counted
	Added, Removed     int      // lines
	Lead, Trail        int      // context lines at the beginning and at the end
	Anchors            []string // lines to find first, one after the other
	AtEnd              bool     // the lines must end the file
	Recounted          bool     // its number of lines differs from its header

	body    string
	reverse bool
}

// Line is one line of a hunk.
type Line struct {
	Op   byte   // ' ', '-' or '+'
	Text string // without its line end
	End  End
}

// End is the line end of a line.
type End uint8

// The line ends. NoEnd is for a last line without a line end.
const (
	NoEnd End = iota
	LF
	CRLF
)

func (e End) String() string { return [...]string{"", "\n", "\r\n"}[e] }

// Lines returns the lines of the hunk.
func (h *Hunk) Lines() iter.Seq[Line] {
	return func(yield func(Line) bool) {
		for rest := h.body; rest != ""; {
			raw, after, ended := strings.Cut(rest, "\n")
			l := Line{Op: ' ', End: LF}
			if raw != "" && raw != "\r" {
				l.Op, raw = raw[0], raw[1:]
			}
			text, cr := strings.CutSuffix(raw, "\r")
			if cr && ended {
				l.End = CRLF
			}
			l.Text, rest = text, after
			for strings.HasPrefix(rest, "\\") {
				var marker string
				marker, rest, _ = strings.Cut(rest, "\n")
				l.End = NoEnd
				if !strings.HasSuffix(marker, "\r") {
					l.Text = raw // a carriage return of its own
				}
			}
			if h.reverse {
				l.Op = reversed(l.Op)
			}
			if !yield(l) {
				return
			}
		}
	}
}

func reversed(op byte) byte {
	switch op {
	case '+':
		return '-'
	case '-':
		return '+'
	}
	return op
}

// measure counts the lines of the hunk. It returns the mistake in them, "" if they are correct.
func (h *Hunk) measure() string {
	h.OldLines, h.NewLines, h.Added, h.Removed, h.Lead, h.Trail = 0, 0, 0, 0, 0, 0
	oldEnded, newEnded := false, false
	for l := range h.Lines() {
		if l.Op != '+' {
			if oldEnded {
				return "a line of the old file follows the one without newline at its end"
			}
			h.OldLines++
			oldEnded = l.End == NoEnd
		}
		if l.Op != '-' {
			if newEnded {
				return "a line of the new file follows the one without newline at its end"
			}
			h.NewLines++
			newEnded = l.End == NoEnd
		}
		switch l.Op {
		case '+':
			h.Added, h.Trail = h.Added+1, 0
		case '-':
			h.Removed, h.Trail = h.Removed+1, 0
		default:
			h.Trail++
			if h.Added+h.Removed == 0 {
				h.Lead++
			}
		}
	}
	h.AtEnd = h.AtEnd || oldEnded || newEnded
	return ""
}

// sniff sets Mixed and CRLF.
func (f *File) sniff() {
	lf := false
	for i := range f.Hunks {
		for l := range f.Hunks[i].Lines() {
			lf, f.CRLF = lf || l.End == LF, f.CRLF || l.End == CRLF
			if f.Mixed = lf && f.CRLF; f.Mixed {
				return
			}
		}
	}
}

// NewText returns the text of a new file from the hunks.
func (f *File) NewText() []byte {
	size := 0
	for i := range f.Hunks {
		size += len(f.Hunks[i].body)
	}
	text := make([]byte, 0, size)
	for i := range f.Hunks {
		for l := range f.Hunks[i].Lines() {
			if l.Op != '-' {
				text = append(append(text, l.Text...), l.End.String()...)
			}
		}
	}
	return text
}

// Reverse returns the patch that undoes this patch. A copy stays a copy, which cannot be reversed.
func (p *Patch) Reverse() *Patch {
	back := *p
	back.Files = make([]File, len(p.Files))
	for i, f := range p.Files { // the last file is undone first
		f.Old, f.New, f.OldMode, f.NewMode, f.OldID, f.NewID = f.New, f.Old, f.NewMode, f.OldMode, f.NewID, f.OldID
		switch f.Op {
		case Create:
			f.Op = Delete
		case Delete:
			f.Op = Create
		}
		f.MayBeNew = false
		hunks := make([]Hunk, len(f.Hunks))
		for k, h := range f.Hunks {
			h.reverse = !h.reverse
			h.OldStart, h.NewStart = h.NewStart, h.OldStart
			h.OldLines, h.NewLines, h.Added, h.Removed = h.NewLines, h.OldLines, h.Removed, h.Added
			hunks[k] = h
		}
		f.Hunks = hunks
		if f.Binary != nil {
			f.Binary = &Binary{forward: f.Binary.backward, backward: f.Binary.forward}
		}
		back.Files[len(p.Files)-1-i] = f
	}
	return &back
}

// Problem is a mistake in one line of a patch.
type Problem struct {
	Line       int // from 1, 0 if it is about the whole patch
	Text, Hint string
	Advice     error // the hint in parts that doors word differently, nil if it has none
}

// LimitError means that a patch is too large, or would take too long.
type LimitError struct {
	What  string // What* below
	Limit int64
}

// The limits that a [LimitError] names.
const (
	WhatBytes = "bytes"
	WhatFiles = "files"
	WhatHunks = "hunks"
	WhatLines = "lines"
	WhatSteps = "steps"
)

// Error names the limit.
func (e *LimitError) Error() string { return "too many " + e.What }

// maxShown is the largest number of bytes of a line in a message.
const maxShown = 80

// The limits.
const (
	MaxBytes = 16 << 20    // of the text of a patch
	MaxFiles = 10_000      // sections of a patch
	MaxHunks = 100_000     // in all sections
	MaxLines = 10_000_000  // of a file in which hunks are placed
	MaxSteps = 200_000_000 // comparisons of lines
)
