package actions

import (
	"errors"
	"fmt"
	"io/fs"
	"path"

	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/fsutil"
	"github.com/millrace-go/millrace/internal/patch"
)

// source returns the file that a section changes, removes or copies. It has to be there.
func (w *patching) source(s *patchSection) (*patchNode, error) {
	place := placeOf(w.c, s.old)
	if w.format != patch.Unified {
		if node, ok := w.now[place]; ok {
			if node.final == "" {
				return nil, fs.ErrNotExist
			}
			return node, nil
		}
	}
	if node, ok := w.sources[place]; ok {
		if s.Op != patch.Copy && len(node.section) > 0 {
			return nil, fmt.Errorf("line %d of the patch does something else to the same file", node.section[0].Line)
		}
		return node, nil
	}
	if link := linkOnWay(w.c, s.old); link != "" {
		return nil, fmt.Errorf("is behind the symbolic link %s; name it by its own path", link)
	}
	kind, err := kindAt(w.c, place)
	node := &patchNode{place: place, final: place, link: kind == change.Symlink}
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
	w.sources[place] = node
	w.now[place] = node
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

// targetOf returns where a file of that name is put. What is behind a link is refused when it comes to that, for the patch
// may replace the link by a directory.
func targetOf(c *Call, name string) string {
	if linkOnWay(c, name) != "" {
		return name
	}
	return placeOf(c, name)
}

// withUnstripped adds to the error of a missing file that there is one by its unstripped name.
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

// unstrippedError says that a file is missing only because too much was left out of its name.
type unstrippedError struct{ name string }

func (e *unstrippedError) Error() string {
	return "File not found; there is " + e.name + ", so set strip to 0"
}

func (e *unstrippedError) Is(target error) bool { return target == fs.ErrNotExist }

// checkKind refuses a text patch of a symbolic link, and the other way round.
func (s *patchSection) checkKind(node *patchNode) error {
	said := s.OldMode
	if said == 0 {
		said = s.NewMode
	}
	asLink := said&patch.TypeMask == patch.Symlink
	switch {
	case asLink && !node.link:
		return errors.New("is not a symbolic link, and the patch is for one")
	case !asLink && node.link && (said != 0 || len(s.Hunks) > 0 || s.File.Binary != nil || s.Op == patch.Copy):
		return errors.New("is a symbolic link, which is not followed; name the file that it leads to")
	}
	return nil
}
