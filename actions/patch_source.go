package actions

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path"

	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/fsutil"
	"github.com/millrace-go/millrace/internal/kinds"
	"github.com/millrace-go/millrace/internal/patch"
	"github.com/millrace-go/millrace/internal/worded"
	"github.com/millrace-go/millrace/wording"
)

// source returns the file that a section changes, removes or copies. The file must exist.
//
// The sections of one commit refer to the tree before the commit, so that names can be swapped. If the file is not in
// that tree, or another section of the commit has changed it, the section uses the result of the earlier sections, and
// a new commit begins here.
func (w *patching) source(s *patchSection) (*patchNode, error) {
	place := targetOf(w.c, s.old)
	node, err := w.found(s, place, w.view.before(place))
	if err == nil && (s.Op == patch.Copy || node.taken != w.view.commit) {
		return node, nil
	}
	if _, touched := w.view.was[place]; err != nil && !(touched && errors.Is(err, fs.ErrNotExist)) {
		return nil, err
	}
	w.begin()
	return w.found(s, place, w.view.now[place])
}

// found returns the file at a place in a view, or on the stage if the view has none.
func (w *patching) found(s *patchSection, place string, node *patchNode) (*patchNode, error) {
	switch {
	case node.lives():
		return node, nil
	case node != nil:
		return nil, fs.ErrNotExist
	}
	if link := linkOnWay(w.c, s.old); link != "" {
		return nil, fmt.Errorf("is behind the symbolic link %s; name it by its own path", link)
	}
	kind, err := kindAt(w.c, place)
	node = &patchNode{place: place, final: place, link: kind == change.Symlink}
	switch {
	case err != nil:
		return nil, err
	case kind == change.Absent:
		return nil, fs.ErrNotExist
	case kind == change.Dir:
		return nil, fsutil.ErrIsDir
	case node.link:
		target, err := w.c.FS.ReadlinkIfPossible(place)
		if err != nil {
			return nil, err
		}
		node.text = []byte(target)
	case kind != change.File:
		return nil, fsutil.ErrNotRegular
	}
	w.view.load(node)
	w.nodes = append(w.nodes, node)
	return node, nil
}

// linkOnWay returns the first directory of a name that is a symbolic link, "" if none is.
func linkOnWay(c *Call, name string) string {
	for dir := path.Dir(name); dir != "." && dir != "/"; dir = path.Dir(dir) {
		if kind, err := kindAt(c, dir); err == nil && kind == change.Symlink {
			return dir
		}
	}
	return ""
}

// targetOf returns the place for a file with that name. A path through a link is refused later, because the patch may
// replace the link by a directory.
func targetOf(c *Call, name string) string {
	if linkOnWay(c, name) != "" {
		return name
	}
	return placeOf(c, name)
}

// missing fails a section whose file does not exist, unless the section itself leaves no file: then it is already
// applied.
func (w *patching) missing(s *patchSection, err error) {
	s.name = s.old
	if unstripped := w.withUnstripped(s, err); unstripped != err || !errors.Is(err, fs.ErrNotExist) {
		s.fail(0, s.Line, unstripped)
		return
	}
	switch gone := w.gone(s.old); {
	case gone != nil:
		err = gone
	case s.Op == patch.Delete && !s.Unchecked && path.Clean(s.Unstripped) == s.Unstripped:
		w.warn("%s is deleted already", s.old)
		return
	case s.Op == patch.Rename && w.moved(s):
		w.warn("%s is renamed to %s already", s.old, s.new)
		w.movedMode(s)
		return
	}
	s.fail(0, s.Line, err)
}

// kept returns the reason why the patch could not replace a file that is already right, nil if it could.
func (w *patching) kept(name string) error {
	savepoint := w.c.FS.Savepoint()
	err := w.c.FS.Remove(name)
	w.c.FS.Rollback(savepoint)
	return err
}

// gone returns the reason why the patch could not remove a file at a name that has none, nil if it could.
func (w *patching) gone(name string) error {
	if err := w.c.FS.Remove(name); !errors.Is(err, fs.ErrNotExist) || errors.Is(err, fsutil.ErrNotDir) {
		return cmp.Or(err, fs.ErrExist)
	}
	return nil
}

// moved reports whether the target of a move already has a file, with the content that the patch names, if it names
// one.
func (w *patching) moved(s *patchSection) bool {
	target := targetOf(w.c, s.new)
	kind, err := kindAt(w.c, target)
	if err != nil || kind != change.File || w.view.now[target] != nil {
		return false
	}
	if len(s.Hunks) == 0 && s.File.Binary == nil {
		return true
	}
	data, err := w.textOf(target)
	return err == nil && s.File.Compare(data).IsNew
}

// movedMode turns a section whose rename is already done into a section that only changes the mode.
func (w *patching) movedMode(s *patchSection) {
	if s.NewMode == s.OldMode {
		return
	}
	left := *s.File // runs share the patch
	left.Op = patch.Modify
	s.File, s.name, s.old = &left, s.new, s.new
	node, err := w.found(s, targetOf(w.c, s.new), nil)
	if err != nil {
		s.fail(0, s.Line, err)
		return
	}
	s.node = node
	w.modes(s, node)
}

// withUnstripped adds to the error of a missing file that a file with its unstripped name exists.
func (w *patching) withUnstripped(s *patchSection, err error) error {
	if !errors.Is(err, fs.ErrNotExist) || s.Unstripped == "" || s.Unstripped == s.Old {
		return err
	}
	name, wrong := w.c.stage().Canonical(w.below(s.Unstripped))
	if wrong != nil {
		return err
	}
	if kind, wrong := kindAt(w.c, name); wrong != nil || kind != change.File {
		return err
	}
	return &unstrippedError{name: name}
}

// unstrippedError reports that a file is missing only because too many parts of its name were stripped.
type unstrippedError struct{ name string }

func (e *unstrippedError) Error() string { return e.message().Error() }

func (e *unstrippedError) message() *worded.Error {
	return worded.Errorf("File not found; there is %s, so %v", e.name,
		wording.Part{Kind: kinds.NoStrip, Text: "set strip to 0"})
}

// As sets a target of a door to the parts of the message.
func (e *unstrippedError) As(target any) bool { return e.message().Give(target) }

func (e *unstrippedError) Is(target error) bool { return target == fs.ErrNotExist }

// checkKind refuses a text patch of a symbolic link, and a link patch of a file.
func (s *patchSection) checkKind(node *patchNode) error {
	said := s.OldMode
	if said == 0 {
		said = s.NewMode
	}
	asLink := said&patch.TypeMask == patch.Symlink
	switch {
	case asLink && !node.link:
		return errors.New("is not a symbolic link, and the patch is for one")
	case !asLink && node.link && (said != 0 || len(s.Hunks) > 0 || s.File.Binary != nil):
		return errors.New("is a symbolic link, which is not followed; name the file that it leads to")
	}
	return nil
}
