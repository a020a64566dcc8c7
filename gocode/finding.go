package gocode

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"

	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/change"
)

// finding is a diagnostic of an analyzer.
type finding struct {
	place
	analyzer string
	edit     int // index of the analyzer in the step
	message  string
	changes  []textChange // of the first suggested fix, nil without a fix
	fixed    bool
	hidden   bool // in a file that the step may not change
}

// textChange is a splice in a file.
type textChange struct {
	file     string
	off, end int64
	text     []byte
}

func (t *tree) finding(d analysis.Diagnostic, analyzer string, edit int) *finding {
	f := &finding{place: t.place(d.Pos), analyzer: analyzer, edit: edit, message: d.Message}
	if len(d.SuggestedFixes) == 0 {
		return f
	}
	for _, e := range d.SuggestedFixes[0].TextEdits {
		file := t.fset.File(e.Pos)
		f.hidden = f.hidden || t.generated[file.Name()]
		end := e.End
		if !end.IsValid() {
			end = e.Pos
		}
		f.changes = append(f.changes, textChange{
			file: t.named(file.Name()), off: int64(file.Offset(e.Pos)), end: int64(file.Offset(end)), text: e.NewText,
		})
	}
	return f
}

func compareFindings(a, b *finding) int {
	return cmp.Or(
		strings.Compare(a.file, b.file), a.line-b.line, a.column-b.column, a.edit-b.edit,
		strings.Compare(a.message, b.message),
	)
}

func sameFinding(a, b *finding) bool { return compareFindings(a, b) == 0 }

func (a textChange) equal(b textChange) bool {
	return a.file == b.file && a.off == b.off && a.end == b.end && bytes.Equal(a.text, b.text)
}

// conflicts reports whether two changes cannot both be made. Equal insertions, for example of an import, do not
// conflict.
func (a textChange) conflicts(b textChange) bool {
	switch {
	case a.file != b.file || a.equal(b):
		return false
	case a.off == a.end && b.off == b.end:
		return a.off == b.off // their order is undefined
	}
	return a.off < b.end && b.off < a.end
}

// taken are the accepted changes of one file, sorted by offset.
type taken []textChange

// look returns the index for a change, whether it is already present, and whether it conflicts with a present change.
// The present changes do not overlap, so only the neighbours can conflict.
func (t taken) look(ch textChange) (at int, there, conflict bool) {
	const neighbours = 2 // an insertion and a replacement can have one offset
	at, _ = slices.BinarySearchFunc(t, ch.off,
		func(have textChange, off int64) int { return cmp.Compare(have.off, off) })
	for _, have := range t[max(0, at-neighbours):min(len(t), at+neighbours)] {
		there = there || have.equal(ch)
		conflict = conflict || have.conflicts(ch)
	}
	return at, there, conflict
}

// choose returns the splices of the findings, in their order, that do not overlap earlier ones, and marks the findings.
// only are the files that may change, nil for all.
func choose(found []*finding, only map[string]bool, step string) map[string][]change.Splice {
	all := make(map[string]taken)
	splices := make(map[string][]change.Splice)
	for _, f := range found {
		f.hidden = f.hidden || slices.ContainsFunc(f.changes, func(ch textChange) bool { return !takes(only, ch.file) })
		if len(f.changes) == 0 || f.hidden || slices.ContainsFunc(f.changes, func(ch textChange) bool {
			_, _, conflict := all[ch.file].look(ch)
			return conflict
		}) {
			continue
		}
		f.fixed = true
		for _, ch := range f.changes {
			at, there, _ := all[ch.file].look(ch)
			if there {
				continue
			}
			all[ch.file] = slices.Insert(all[ch.file], at, ch)
			splices[ch.file] = append(splices[ch.file], change.Splice{
				Off: ch.off, Len: ch.end - ch.off, Text: ch.text, By: []change.Origin{{Step: step, Edit: f.edit}},
			})
		}
	}
	for _, list := range splices {
		slices.SortStableFunc(list, func(a, b change.Splice) int {
			return cmp.Or(cmp.Compare(a.Off, b.Off), cmp.Compare(a.Len, b.Len))
		})
	}
	return splices
}

// shownBytes is the approximate size of a diagnostic in a result, without its texts.
const shownBytes = 200

// report returns the data of the step.
func report(c *actions.Call, found []*finding) (map[string]any, error) {
	list := make([]map[string]any, 0, len(found))
	fixed, left, size := 0, 0, int64(0)
	for _, f := range found {
		switch {
		case f.fixed:
			fixed++
		case len(f.changes) > 0 && !f.hidden:
			left++
		}
		if size += int64(len(f.file) + len(f.message) + shownBytes); size > c.Limits.ShownBytes() {
			return nil, &actions.LimitError{What: "bytes shown", Limit: c.Limits.ShownBytes()}
		}
		list = append(list, map[string]any{
			"file": f.file, "line": f.line, "column": f.column, "analyzer": f.analyzer, "edit": f.edit,
			"message": f.message, "fixed": f.fixed,
		})
	}
	return map[string]any{"diagnostics": list, "fixed": fixed, "left": left}, nil
}
