package actions

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"

	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/fsutil"
	"github.com/millrace-go/millrace/internal/kinds"
	"github.com/millrace-go/millrace/internal/splice"
	"github.com/millrace-go/millrace/internal/worded"
	"github.com/millrace-go/millrace/wording"
)

// failures returns all failures, in the order of the patch.
func (w *patching) failures() (all []*hunkFailure) {
	for _, s := range w.sections {
		all = append(all, s.failures...)
	}
	return all
}

// stage stages the changes of the patch, unless a failure stops it. An error belongs to the run.
func (w *patching) stage(ctx context.Context) error {
	for {
		w.settle()
		if len(w.failures()) > 0 && w.OnError != onErrorContinue {
			return nil
		}
		savepoint, spent := w.c.FS.Savepoint(), w.c.spent.Load()
		before := len(w.failures())
		if err := w.write(ctx); err != nil {
			return err
		}
		if len(w.failures()) == before {
			return nil
		}
		// A staged file may now block another file, so everything starts again without the failed files.
		w.c.FS.Rollback(savepoint)
		w.c.spent.Store(spent)
	}
}

// fail marks a file as failed.
func (n *patchNode) fail(err error) {
	n.failed = true
	if len(n.section) > 0 {
		s := n.section[0]
		s.fail(0, s.Line, err)
	}
}

// settle fails all files whose new places are not free, until no further file fails.
func (w *patching) settle() {
	for again := true; again; {
		again = false
		leaving := make(map[string]bool)
		coming := make(map[string]*patchNode)
		for _, n := range w.nodes {
			if !n.failed && n.place != "" && n.copyOf == "" && n.final != n.place {
				leaving[n.place] = true
			}
		}
		for _, n := range w.nodes {
			if n.failed || n.done || n.final == "" || n.place == n.final && n.copyOf == "" && n.over == "" {
				continue
			}
			err := w.occupied(n, leaving)
			if _, twice := coming[n.final]; twice && err == nil {
				err = fmt.Errorf("%w: another section of the patch puts a file there", fs.ErrExist)
			}
			if err != nil {
				n.fail(err)
				again = true
				continue
			}
			coming[n.final] = n
		}
	}
}

// occupied returns the reason why a file cannot be put in its new place, nil if it can.
func (w *patching) occupied(n *patchNode, leaving map[string]bool) error {
	if n.over != "" && n.over != n.final {
		return fmt.Errorf("%w: an earlier commit of the patch puts this one at %s", fs.ErrExist, n.over)
	}
	if leaving[n.final] || n.place != "" && n.copyOf == "" && w.c.stage().Respells(n.place, n.final) {
		return nil
	}
	if link := linkOnWay(w.c, n.final); leaving[link] {
		return nil // a directory comes for the link that goes
	}
	kind, err := kindAt(w.c, n.final)
	if err != nil {
		return err
	}
	if n.done, err = w.there(n, kind); n.done || err != nil {
		return cmp.Or(err, w.kept(n.final))
	}
	switch {
	case kind == change.Absent:
		return nil
	case kind == change.Dir:
		for name := range leaving {
			if fsutil.Within(name, n.final) {
				return nil // it may be empty by then
			}
		}
		return fsutil.ErrIsDir
	case kind == change.File && n.fill && n.made:
		info, err := w.c.FS.Stat(n.final)
		if err == nil && info.Size() > 0 {
			err = errors.New("has text, so there must be some to search")
		}
		return err
	case kind == change.File && w.Overwrite && !n.link:
		return nil
	}
	return worded.Errorf("%w; %v", fs.ErrExist,
		wording.Part{Kind: kinds.SetOverwrite, Text: "set overwrite to replace it"})
}

// there reports whether the place of a new or copied file already has exactly that file.
func (w *patching) there(n *patchNode, kind change.Kind) (bool, error) {
	switch {
	case n.link && kind == change.Symlink:
		target, err := w.c.FS.ReadlinkIfPossible(n.final)
		return target == string(n.text), err
	case n.link || kind != change.File:
		return false, nil
	case !n.made && n.copyOf == "":
		return false, nil // a file that is moved
	}
	want, err := n.text, error(nil)
	if n.copyOf != "" {
		if want, err = w.textOf(n.copyOf); err == nil {
			want, err = splice.Apply(want, n.splices)
		}
		if err != nil {
			return false, err
		}
	}
	have, err := w.textOf(n.final)
	return bytes.Equal(have, want), err
}

// textOf returns the content of a file of the stage.
func (w *patching) textOf(name string) (data []byte, err error) {
	err = w.c.update(name, nil, func(text *source) ([]change.Splice, error) {
		data, err = text.Bytes(math.MaxInt64)
		return nil, err
	})
	return data, err
}

// write stages all files that have not failed. Errors of a file become its failure.
func (w *patching) write(ctx context.Context) error {
	at := make(map[*patchNode]string, len(w.nodes)) // the present place of each
	wanted := patchPlaces{at: make(map[string]bool, len(w.nodes)), above: make(map[string]bool)}
	for _, n := range w.nodes {
		at[n] = n.place
		moves := n.place != n.final || n.copyOf != ""
		if !n.failed && !n.done && n.final != "" && moves {
			wanted.add(n.final)
		}
		// New files are counted later, where their text is written.
		if n.failed || n.done || !moves || n.final == "" && n.copyOf != "" || n.made && !n.link {
			continue
		}
		if err := w.c.spendPath(madePath, n.place, n.final); err != nil {
			return err
		}
	}
	for _, do := range []func(n *patchNode, at *string) error{
		func(n *patchNode, at *string) error { return w.writeCopy(n, at, wanted) },
		w.writeText,
		func(n *patchNode, at *string) error { return w.leave(n, at, wanted) },
		func(n *patchNode, at *string) error { return w.arrive(ctx, n, at) },
		func(n *patchNode, _ *string) error { return w.make(ctx, n, false) },
		func(n *patchNode, _ *string) error { return w.make(ctx, n, true) },
	} {
		for _, n := range w.nodes {
			if err := ctx.Err(); err != nil {
				return err
			}
			if n.failed {
				continue
			}
			place := at[n]
			var err error
			if n.done { // only its mode may differ
				err = w.chmod(n, n.final)
			} else {
				err = do(n, &place)
			}
			at[n] = place
			if isOfStep(err) {
				return err
			}
			if err != nil {
				n.fail(err)
			}
		}
	}
	return nil
}

// writeCopy makes a copy before anything is changed.
func (w *patching) writeCopy(n *patchNode, at *string, wanted patchPlaces) error {
	if n.copyOf == "" || n.final == "" {
		return nil
	}
	if err := w.c.spendCopy(n.copyOf); err != nil {
		return err
	}
	aside, err := asideOf(w.c, wanted.beside(n.copyOf), new(int), nil)
	if err != nil {
		return err
	}
	*at = aside
	return w.c.FS.Copy(n.copyOf, *at)
}

// writeText makes the splices, and sets the mode.
func (w *patching) writeText(n *patchNode, at *string) error {
	if n.place == "" || n.final == "" {
		return nil
	}
	if n.link {
		if !n.retext {
			return nil
		}
		if err := w.c.stage().Replace(*at); err != nil {
			return err
		}
		return w.c.FS.SymlinkIfPossible(string(n.text), *at)
	}
	if len(n.splices) > 0 {
		err := w.c.update(*at, nil, func(*source) ([]change.Splice, error) { return n.splices, nil })
		if err != nil {
			return err
		}
	}
	return w.chmod(n, *at)
}

// chmod makes a file executable for all users who may read it, or for nobody.
func (w *patching) chmod(n *patchNode, name string) error {
	if n.mode == nil {
		return nil
	}
	info, err := w.c.FS.Stat(name)
	if err != nil {
		return err
	}
	mode := info.Mode()
	switch exec := mode&0o100 != 0; {
	case exec == *n.mode:
		return nil
	case *n.mode:
		mode |= mode & 0o444 >> 2
	default:
		mode &^= 0o111
	}
	n.moded = true
	return w.c.FS.Chmod(name, mode)
}

// leave removes deleted files, and moves away files whose place other files need.
func (w *patching) leave(n *patchNode, at *string, wanted patchPlaces) error {
	switch {
	case n.place == "" || n.copyOf != "":
		return nil
	case n.final == "":
		return w.c.FS.Remove(*at)
	case n.final == n.place || !wanted.need(n.place):
		return nil
	}
	aside, err := asideOf(w.c, wanted.beside(n.place), new(int), nil)
	if err == nil {
		err = w.c.FS.Rename(*at, aside)
		*at = aside
	}
	return err
}

// arrive renames files to their new names.
func (w *patching) arrive(ctx context.Context, n *patchNode, at *string) error {
	if n.place == "" || n.final == "" || *at == n.final {
		return nil
	}
	if err := w.open(ctx, n.final); err != nil {
		return err
	}
	if err := w.c.FS.Rename(*at, n.final); err != nil {
		return err
	}
	*at = n.final
	return nil
}

// open makes room for a file: it creates the directories above it, and removes an empty directory at its place.
func (w *patching) open(ctx context.Context, name string) error {
	if link := linkOnWay(w.c, name); link != "" {
		return fmt.Errorf("is behind the symbolic link %s; name it by its own path", link)
	}
	if kind, err := kindAt(w.c, name); err != nil {
		return err
	} else if kind == change.Dir {
		if err := w.clear(ctx, name); err != nil {
			return err
		}
	}
	return makeDir(w.c, name)
}

// make creates a new file or link. Links come last, so that nothing is written through them.
func (w *patching) make(ctx context.Context, n *patchNode, links bool) error {
	if !n.made || n.final == "" || n.link != links {
		return nil
	}
	if err := w.open(ctx, n.final); err != nil {
		return err
	}
	if links {
		return w.c.FS.SymlinkIfPossible(string(n.text), n.final)
	}
	kind, err := kindAt(w.c, n.final)
	switch {
	case err != nil:
		return err
	case kind == change.Absent:
		err = makeFile(w.c, n.final, n.final, n.text)
	default:
		by := []change.Origin{{Step: w.c.Step}}
		err = w.c.update(n.final, nil, func(text *source) ([]change.Splice, error) {
			return []change.Splice{{Len: text.Size(), Text: n.text, By: by}}, nil
		})
	}
	if err != nil {
		return err
	}
	return w.chmod(n, n.final)
}
