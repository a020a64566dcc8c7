package commit

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"path"
	"slices"

	"github.com/millrace-go/millrace/capability"
	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/disk"
	"github.com/millrace-go/millrace/internal/journal"
	"github.com/millrace-go/millrace/internal/names"
	"github.com/millrace-go/millrace/internal/parallel"
)

// begin makes the directory of the transaction and probes the abilities of the file system there.
func (t *txn) begin(context.Context) error {
	t.phase("stage")
	if err := t.state.ensure(t.lasting()...); err != nil {
		return t.fail(t.state.dir, err)
	}
	for _, dir := range append([]string{t.dir}, append(t.slotDirs(journal.OldDir), t.slotDirs(journal.NewDir)...)...) {
		if err := t.FS.Mkdir(dir, stateMode); err != nil {
			return t.fail(dir, err)
		}
		t.Hold(dir)
	}
	s, err := t.Look(t.dir)
	if err != nil {
		return t.fail(t.dir, err)
	}
	place, err := placeOf(t.Disk, t.dir, s)
	if err != nil {
		return t.fail(t.dir, err)
	}
	t.plan.Dev, t.plan.Ino = place.Dev, place.Ino
	if err := t.findFar(); err != nil {
		return err
	}
	if s.Mode.Perm() != stateMode {
		if err := t.forgetModes(s.Mode); err != nil {
			return t.fail(t.dir, err)
		}
	}
	err = t.Probe(t.dir)
	t.plan.Can = t.Can.Names()
	if t.Can.Lags {
		t.forgetSeen()
	}
	return t.fail(t.dir, err)
}

// stateMode is the mode of directories of this library.
const stateMode = 0o700

// forgetModes plans with the modes of a mount that keeps no modes of directories: all have the same mode. Some mounts,
// such as ntfs-3g, keep no modes of files either, so a change of mode has no effect.
func (t *txn) forgetModes(ofDirs fs.FileMode) error {
	changes, err := t.ChangesModes(t.dir)
	if err != nil {
		return err
	}
	for _, e := range t.entries {
		was := t.source(e).Old
		switch {
		case isNewDir(e):
			e.New.Mode, e.want.Mode = ofDirs, ofDirs
		case e.New.Kind == was.Kind && e.New.Mode != was.Mode && (e.New.Kind == change.Dir || !changes):
			t.trouble.warn(e.Path, "its permissions stay as they are: the file system keeps none")
			e.New.Mode, e.want.Mode = was.Mode, was.Mode
		}
	}
	return nil
}

// lasting returns the directories that the transaction will be in, first and last. They are made together, so that they
// are durable before anything is moved between them.
func (t *txn) lasting() []string {
	dirs := []string{journal.TxDir}
	if slices.ContainsFunc(t.entries, func(e *entry) bool { return t.plan.Kept(e.Record) }) {
		dirs = append(dirs, journal.BackupsDir)
	}
	if t.plan.RunID != "" {
		dirs = append(dirs, journal.ResultsDir)
	}
	return dirs
}

// slotDirs returns the directories for the files of all entries, parents first.
func (t *txn) slotDirs(name string) []string {
	top := path.Join(t.dir, name)
	dirs := []string{top}
	for _, shard := range journal.Shards(len(t.entries)) {
		dirs = append(dirs, path.Join(top, shard))
	}
	return dirs
}

// makeSlots makes the directories for new files again. They are not synced: before the commit nothing looks for their
// files, but undoing needs these directories.
func (t *txn) makeSlots() error {
	for _, dir := range t.slotDirs(journal.NewDir) {
		if err := t.state.mkdir(dir); err != nil {
			return err
		}
	}
	return nil
}

// backUp makes all before-images, and stages moved files.
func (t *txn) backUp(ctx context.Context) error {
	t.phase("backup")
	t.countTo(len(t.entries))
	err := parallel.Each(ctx, t.workers, len(t.entries), func(i int) error {
		e := t.entries[i]
		if !disk.IsLeaf(e.Old) || e.Attr {
			return t.counted(nil)
		}
		return t.counted(t.fail(e.Path, t.takeImage(e)))
	})
	if err != nil {
		return err
	}
	t.markFar()
	moved := slices.DeleteFunc(slices.Clone(t.entries), func(e *entry) bool { return !e.Moved })
	err = parallel.Each(ctx, t.workers, len(moved),
		func(i int) error { return t.fail(moved[i].Path, t.stageMoved(moved[i])) })
	for _, e := range t.entries {
		if (e.FarDir != "" || e.InPlace) && !e.Attr {
			e.New.ID = capability.Identity{} // the file will be a copy
		}
	}
	return err
}

// takeImage links or copies the file at the path, and checks that it is the verified file.
func (t *txn) takeImage(e *entry) error {
	image := t.image(e)
	if err := t.expectUnchanged(e); err != nil {
		return err
	}
	if t.Can.Link && !t.Can.Lags && !e.InPlace { // otherwise our own link would look like a change by another program
		err := t.Link(e.Path, image)
		switch {
		case err == nil:
			e.Image = journal.Linked
			return t.checkImage(e, image)
		case disk.IsAbsent(err), !disk.IsUnsupported(err):
			return goneAt(e.Path, err)
		case disk.IsCrossDevice(err):
			t.trouble.cross(path.Dir(e.Path))
		}
	}
	if e.Old.Kind == change.Symlink {
		return nil // the record has everything
	}
	e.Image = journal.Copied
	f, err := t.OpenFound(e.Path)
	if err != nil {
		if disk.IsAbsent(err) || errors.Is(err, names.ErrNotRegular) {
			return conflictAt(e.Path, "has been removed or replaced")
		}
		return err
	}
	defer f.Close()
	made, err := t.Write(image, io.LimitReader(f, e.Old.Size+1),
		disk.Wanted{Mode: e.Old.Mode, ModTime: e.Old.ModTime, Meta: e.Path}, t.warner(e.Path))
	if err == nil && made.Hash != e.Old.Hash {
		err = conflictAt(e.Path, "content has changed")
	}
	return err
}

func (t *txn) checkImage(e *entry, image string) error {
	s, err := t.Look(image)
	if err != nil {
		return err
	}
	if e.seen != 0 {
		e.seen = s.ID.CTime // the link has changed this time
	}
	same, err := t.matches(image, s, e.Old)
	switch {
	case err != nil:
		return err
	case !same || disk.IsLeaf(s) && !s.ID.SameFile(e.Old.ID):
		return conflictAt(e.Path, "content has changed")
	}
	return expectMeta(e.Path, s, e.Old)
}

// stageMoved links the before-image of a moved file, so that the inode itself gets its new path.
func (t *txn) stageMoved(e *entry) error {
	from := t.source(e)
	e.New = from.Old
	if e.want.ModTime.IsZero() {
		e.want.ModTime = from.Old.ModTime
	}
	if from.Image == journal.Linked && e.FarDir == "" {
		err := t.Link(t.image(from), t.staged(e))
		if err == nil {
			e.New.Mode, e.New.ModTime = e.want.Mode, e.want.ModTime
		}
		if !disk.IsUnsupported(err) {
			return err
		}
	}
	e.Moved = false
	e.want.Hash = from.Old.Hash
	e.open = func() (io.ReadCloser, error) { return t.OpenFound(t.image(from)) } // a link needs no content
	return t.stage(e)
}

// writePlan writes the plan. From then on, recovery undoes the transaction instead of forgetting it.
func (t *txn) writePlan() error {
	t.phase("journal")
	if err := t.writeResult(); err != nil {
		return t.fail(journal.Result, err)
	}
	t.plan.Records = make([]journal.Record, len(t.entries))
	for i, e := range t.entries {
		t.plan.Records[i] = *e.Record
		e.Record = &t.plan.Records[i] // one copy of the record is enough
	}
	data, err := journal.Encode(t.plan, t.key)
	if err != nil {
		return err
	}
	if err := t.syncTransaction(); err != nil {
		return t.fail(t.dir, err)
	}
	temp := path.Join(t.dir, journal.PlanTemp)
	if err := t.Put(temp, data, true); err != nil {
		return t.fail(temp, err)
	}
	if err := t.FS.Rename(temp, path.Join(t.dir, journal.PlanFile)); err != nil {
		return t.fail(temp, err)
	}
	return t.fail(t.dir, t.SyncDir(t.dir))
}

// syncTransaction makes the names of all staged files durable. New contents need no sync, because before the commit
// nothing looks for them, except for a content that is written over a mount point. But removed directories are moved to
// the same place, and they have no image. The directory of the transaction is synced with the name of the plan: before
// that, the tree has not changed.
func (t *txn) syncTransaction() error {
	dirs := t.slotDirs(journal.OldDir)
	if slices.ContainsFunc(t.entries,
		func(e *entry) bool { return e.InPlace || e.Old.Kind == change.Dir && e.leaves() }) {
		dirs = append(dirs, t.slotDirs(journal.NewDir)...)
	}
	dirs = append(dirs, t.state.join(journal.TxDir))
	err := parallel.Each(context.Background(), t.workers, len(dirs), func(i int) error { return t.SyncDir(dirs[i]) })
	if err != nil {
		return err
	}
	return t.state.syncUp()
}

func (t *txn) writeResult() error {
	if t.opts.RunID == "" || t.opts.Result == nil {
		return nil
	}
	t.plan.Result = change.HashOf(t.opts.Result)
	return t.Put(path.Join(t.dir, journal.Result), t.opts.Result, true)
}
