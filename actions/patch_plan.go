package actions

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"

	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/fsutil"
	"github.com/millrace-go/millrace/internal/patch"
	"github.com/millrace-go/millrace/internal/patch/placing"
)

// patching is the work on a patch.
type patching struct {
	Patch
	c        *Call
	format   patch.Format
	settings placing.Settings
	steps    placing.Steps
	sections []*patchSection
	nodes    []*patchNode // in order of appearance
	view     patchView
	warnings []string
}

// patchSection is the change that the patch makes to one file.
type patchSection struct {
	*patch.File
	name     string // for messages
	old, new string // canonical
	node     *patchNode
	first    int           // the number of its first hunk, counted over all sections for the file
	next     *patchSection // the next section for the same file
	placed   []placing.Placed
	failures []*hunkFailure
}

// patchNode is a file in the state after the patch.
type patchNode struct {
	place  string // on the stage, "" for a new file
	copyOf string // a place
	final  string // its new place, "" if it is deleted
	link   bool
	made   bool // text is the whole content
	patchText
	fill    bool // it may replace a file without text
	hunks   int
	edits   int
	failed  bool
	same    bool   // the splices do not change the text
	done    bool   // the new state is already there
	moded   bool   // its mode has changed
	over    string // the place of a stage file at which an earlier commit has put this file
	section []*patchSection
	taken   int       // the commit whose section has changed, moved or removed it, from 1
	was     patchText // before that commit
}

// patchText is the content of a file.
type patchText struct {
	text    []byte          // of a new file, or the target of a link
	splices []change.Splice // of the stage's content
	retext  bool            // text replaces the link's target on the stage
	mode    *bool           // whether it becomes executable
}

func (w *patching) warn(format string, args ...any) {
	w.warnings = append(w.warnings, fmt.Sprintf(format, args...))
}

// fail records why a hunk cannot be applied, or with hunk 0 why the file cannot be changed.
func (s *patchSection) fail(hunk, line int, err error) {
	s.failures = append(s.failures, &hunkFailure{Path: s.name, Hunk: hunk, Line: line, Err: err})
	if s.node != nil {
		s.node.failed = true
	}
}

// plan computes the result of each file. An error belongs to the run.
func (w *patching) plan(ctx context.Context, read *patch.Patch) error {
	progress := w.c.progress(len(read.Files))
	files := read.Files
	w.sections = sectionsOf(files)
	for i, s := range w.sections {
		if err := ctx.Err(); err != nil {
			return err
		}
		if w.format != patch.Unified || i > 0 && s.Commit != files[i-1].Commit {
			w.begin()
		}
		if err := w.section(ctx, s); err != nil {
			return err
		}
		if s.node != nil {
			s.node.section = append(s.node.section, s)
		}
		progress.file()
	}
	return nil
}

// sectionsOf returns the sections for the files of a patch, each linked to the next section for the same file.
func sectionsOf(files []patch.File) []*patchSection {
	sections := make([]*patchSection, len(files))
	last := make(map[string]*patchSection, len(files))
	for i := range files {
		s := &patchSection{File: &files[i]}
		sections[i] = s
		if before := last[path.Clean(s.Old)]; before != nil && s.Op == patch.Modify {
			before.next = s
		}
		last[path.Clean(s.New)] = s
	}
	return sections
}

// canonical returns the canonical name of a file on the stage.
func (w *patching) canonical(name string) (string, error) {
	name, err := w.c.stage().Canonical(w.below(name))
	if err != nil || w.Directory == "" {
		return name, err
	}
	dir, err := w.c.stage().Canonical(w.Directory)
	if err == nil && !fsutil.Within(name, dir) {
		err = errors.New("leads out of the directory")
	}
	return name, err
}

// section computes the change of one section.
func (w *patching) section(ctx context.Context, s *patchSection) error {
	s.name = s.New
	if s.Op == patch.Delete || s.Op == patch.Rename {
		s.name = s.Old
	}
	var err error
	if s.old, err = w.canonical(s.Old); err == nil {
		s.new, err = w.canonical(s.New)
	}
	if err != nil {
		s.fail(0, s.Line, err)
		return nil
	}
	s.name = s.new
	if s.Op == patch.Delete {
		s.name = s.old
	}
	if s.Op == patch.Copy && w.Reverse {
		s.fail(0, s.Line, errors.New("a copy has no way back; delete it"))
		return nil
	}
	if s.Op == patch.Create {
		w.create(s)
		return nil
	}
	node, err := w.source(s)
	if errors.Is(err, fs.ErrNotExist) && s.MayBeNew {
		made := *s.File // runs share the patch
		made.Op = patch.Create
		s.File = &made
		w.create(s)
		return nil
	}
	if err != nil {
		w.missing(s, err)
		return nil
	}
	if s.Op != patch.Copy {
		s.node = node
		w.take(node)
	}
	if err := s.checkKind(node); err != nil {
		s.fail(0, s.Line, err)
		return nil
	}
	target := targetOf(w.c, s.new)
	switch s.Op {
	case patch.Copy:
		node = w.copied(node, target)
		s.node = node
		w.nodes = append(w.nodes, node)
		w.view.put(target, node)
	case patch.Rename:
		w.view.leave(node)
		node.final = target
		w.view.put(target, node)
	}
	if err := w.content(ctx, s, node); err != nil {
		return err
	}
	if s.Op == patch.Delete {
		w.view.leave(node)
		node.final = ""
	}
	if s.Op != patch.Modify {
		node.edits = max(node.edits, 1)
	}
	w.modes(s, node)
	return nil
}

// create computes a new file.
func (w *patching) create(s *patchSection) {
	s.node = &patchNode{final: targetOf(w.c, s.new), made: true, fill: s.MayBeNew,
		link: s.NewMode&patch.TypeMask == patch.Symlink}
	if here := w.view.now[s.node.final]; w.format != patch.Unified && here.lives() {
		s.fail(0, s.Line, fmt.Errorf("%w: another section of the patch has made it", fs.ErrExist))
		return
	}
	w.nodes = append(w.nodes, s.node)
	w.view.put(s.node.final, s.node)
	for i, h := range s.Hunks {
		if h.OldLines > 0 {
			s.fail(i+1, h.Line, errors.New("the file is to be made, but the hunk has lines of an old one"))
			return
		}
	}
	if s.File.Binary != nil {
		text, _, err := s.Apply(nil, false, w.c.Limits.OutputBytes())
		if err != nil {
			s.fail(0, s.Line, patchLimit(err))
			return
		}
		s.node.text = text
	} else {
		s.node.text = s.NewText()
	}
	if err := w.spend([][]byte{s.node.text}); err != nil {
		s.fail(0, s.Line, err)
		return
	}
	if s.NewMode != 0 && !s.node.link {
		exec := s.NewMode&0o100 != 0
		s.node.mode = &exec
	}
	s.node.hunks, s.node.edits = len(s.Hunks), max(1, len(s.Hunks))
	s.placed = make([]placing.Placed, len(s.Hunks))
}

// modes records the new mode of a file.
func (w *patching) modes(s *patchSection, node *patchNode) {
	if s.NewMode == 0 || s.NewMode == s.OldMode || s.Op == patch.Delete || node.link || node.failed {
		return
	}
	exec := s.NewMode&0o100 != 0
	node.mode = &exec
	node.edits = max(node.edits, 1)
}
