package lsp

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/fsutil"
	"github.com/millrace-go/millrace/risk"
)

// Options describe how to write a plan.
type Options struct {
	// Root is the absolute directory of the plan's tree, in the form of the system where the editor runs: "/home/ann/src",
	// `C:\src`. Required.
	Root string
	// Encoding is the unit of positions, UTF16 by default.
	Encoding Encoding
	// Partial leaves out the changes that cannot be expressed, and all changes that need their place, instead of returning
	// an error. If only the mode of a file cannot be expressed, the file is written without its mode.
	// WorkspaceEdit.LeftOut lists everything that is left out.
	Partial bool
}

// From writes a plan as a WorkspaceEdit. Applied to the tree that the plan was made from, it leaves the files that a
// commit leaves. If the plan is blocked, the edit makes the editor ask the user, and contains the reason.
//
// A file whose text changes is read into memory, one file at a time. The error is an *UnsupportedError for changes that
// cannot be expressed, and fsutil.ErrDrift if a file has changed since it was planned. A plan that cannot be committed
// cannot be written either.
func From(plan *millrace.Plan, opt Options) (WorkspaceEdit, error) {
	b, err := baseOf(opt.Root)
	if err == nil {
		err = opt.Encoding.check()
	}
	if err != nil {
		return WorkspaceEdit{}, fmt.Errorf("workspace edit: %w", err)
	}
	w := writer{plan: plan, base: b, encoding: opt.Encoding, result: plan.Result()}
	changes := plan.Outline()
	if len(changes) == 0 {
		if _, err := plan.Digest(); err != nil {
			return WorkspaceEdit{}, fmt.Errorf("workspace edit: %w", err)
		}
	}
	if err := w.sort(changes); err != nil {
		return WorkspaceEdit{}, fmt.Errorf("workspace edit: %w", err)
	}
	if len(w.unsupported) > 0 && !opt.Partial {
		return WorkspaceEdit{}, &UnsupportedError{Changes: w.unsupported}
	}
	list := append([]DocumentChange{}, w.moves()...)
	for _, c := range w.creates {
		list = append(list, &CreateFile{Kind: "create", URI: b.uri(c.Path), AnnotationID: w.note(c.By)})
	}
	for _, e := range w.edits {
		list = append(list, e)
	}
	edit := WorkspaceEdit{
		DocumentChanges: list, ChangeAnnotations: make(map[string]ChangeAnnotation), LeftOut: w.unsupported,
	}
	for _, c := range list {
		for _, id := range c.notes() {
			w.annotate(edit.ChangeAnnotations, id)
		}
	}
	return edit, nil
}

// writer collects the operations of an edit.
type writer struct {
	plan     *millrace.Plan
	result   *millrace.Result
	base     base
	encoding Encoding

	moved       map[string]bool // old names of renamed files and directories
	deletes     []change.Change // files that go; the name is Path
	emptied     []change.Change // directories that go; the name is OldPath
	renames     []change.Change // files
	creates     []change.Change
	edits       []*TextDocumentEdit
	unsupported []Unsupported
}

// sort finds the operations for each change, and the changes that cannot be expressed.
func (w *writer) sort(changes []change.Change) error {
	w.moved = make(map[string]bool)
	for _, c := range changes {
		if c.Kind == change.Renamed {
			w.moved[c.From] = true
		}
	}
	texts := make(map[string]*TextDocumentEdit)
	out := make(map[string]string) // paths of changes that are left out, and why
	for _, c := range changes {
		reason := w.unsayable(c)
		if reason == "" && c.New.Kind == change.File {
			edit, err := w.text(c)
			if cannot, ok := errors.AsType[unsayable](err); ok {
				reason = string(cannot)
			} else if err != nil {
				return err
			}
			texts[c.Path] = edit
		}
		if reason != "" {
			out[c.Path] = reason
		}
	}
	w.leaveOutMore(changes, out)
	for _, c := range changes {
		if reason, ok := out[c.Path]; ok {
			w.unsupported = append(w.unsupported, Unsupported{c.Path, reason})
			continue
		}
		w.unsupported = append(w.unsupported, lost(c, w.fresh(c))...)
		w.take(c, changes)
		if edit := texts[c.Path]; edit != nil {
			w.edits = append(w.edits, edit)
		}
	}
	return nil
}

// fresh reports whether the file of a change has to be created: its old name is not a file, or that file is renamed.
func (w *writer) fresh(c change.Change) bool {
	return c.Kind != change.Renamed && (c.Old.Kind != change.File || w.moved[c.Path])
}

// take collects the operations for a change.
func (w *writer) take(c change.Change, changes []change.Change) {
	under := c.Old // what stands at Path
	if c.Kind == change.Renamed {
		under = c.Replaced
	}
	switch {
	case w.moved[c.Path]: // it goes on its own
	case under.Kind == change.File && (c.Kind != change.Modified || c.New.Kind != change.File):
		w.deletes = append(w.deletes, c)
	case under.Kind == change.Dir && c.New.Kind != change.Dir:
		w.emptied = append(w.emptied, change.Change{Path: c.Path, By: c.By})
	}
	switch {
	case c.Kind == change.Renamed && c.Old.Kind == change.Dir:
		// The files in the directory are renamed one by one. The old directory is deleted unless the name is a directory at
		// the end.
		if stays(changes, c.From) != change.Dir {
			w.emptied = append(w.emptied, change.Change{Path: c.From, By: c.By})
		}
	case c.Kind == change.Renamed:
		w.renames = append(w.renames, c)
	case c.New.Kind == change.File && w.fresh(c):
		w.creates = append(w.creates, c)
	}
}

// stays returns the final kind of a path, Absent if the path has no change.
func stays(changes []change.Change, name string) change.Kind {
	at, ok := slices.BinarySearchFunc(changes, name,
		func(c change.Change, name string) int { return strings.Compare(c.Path, name) })
	if !ok {
		return change.Absent
	}
	return changes[at].New.Kind
}

// text returns the edit of the text of a change, nil if it does not change.
func (w *writer) text(c change.Change) (*TextDocumentEdit, error) {
	edit := &TextDocumentEdit{TextDocument: DocumentID{URI: w.base.uri(c.Path)}}
	by := func(origins []change.Origin) string {
		if len(origins) == 0 {
			origins = c.By
		}
		return w.note(origins)
	}
	if w.fresh(c) {
		text, err := created(c)
		if err != nil || text == "" {
			return nil, err
		}
		edit.Edits = []TextEdit{{NewText: text, AnnotationID: by(nil)}}
		return edit, nil
	}
	if c.Old.Hash == c.New.Hash && c.Old.Size == c.New.Size {
		return nil, nil
	}
	places, old, err := edited(w.plan, c)
	if err != nil || len(places) == 0 {
		return nil, err
	}
	edit.Edits = textEdits(old, places, w.encoding, by)
	return edit, nil
}

// note returns the id of the annotation for the steps that wrote something: the id of the last step.
func (w *writer) note(by []change.Origin) string {
	switch {
	case w.result.Restores != "":
		return restored
	case len(by) == 0:
		return ""
	default:
		return by[len(by)-1].Step
	}
}

// restored is the annotation of a plan that undoes a commit, which has no steps.
const restored = "restore"

// annotate adds the annotation with that id.
func (w *writer) annotate(notes map[string]ChangeAnnotation, id string) {
	if _, ok := notes[id]; ok || id == "" {
		return
	}
	why := "" // the reason why the editor must ask; "" if it may decide
	switch {
	case w.result.WouldBlock:
		why = fsutil.Visible(w.result.BlockReason)
	case w.result.OverallRiskLevel >= risk.High:
		why = w.result.OverallRiskLevel.String() + " risk"
	}
	note := ChangeAnnotation{Label: fsutil.Visible(id), NeedsConfirmation: why != ""}
	if id == restored && w.result.Restores != "" {
		note.Label = "restore " + w.result.Restores
	}
	for _, s := range w.result.Results {
		if s.StepID == id {
			note.Description = s.Action
		}
	}
	if why != "" {
		note.Description = strings.TrimPrefix(note.Description+", "+why, ", ")
	}
	notes[id] = note
}

// mover returns the steps of a rename that did more than edit the file.
func mover(c change.Change) []change.Origin {
	var by []change.Origin
	for _, o := range c.By {
		edits := func(s change.Splice) bool { return slices.Contains(s.By, o) }
		if !slices.ContainsFunc(c.Splices, edits) {
			by = append(by, o)
		}
	}
	if len(by) == 0 {
		return c.By
	}
	return by
}

// within calls do with each directory above a path, the nearest first.
func within(name string, do func(dir string)) {
	for dir := path.Dir(name); dir != "." && dir != "/"; dir = path.Dir(dir) {
		do(dir)
	}
}
