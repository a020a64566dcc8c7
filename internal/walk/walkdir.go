package walk

import (
	"errors"
	"io/fs"
	"path"
	"slices"

	"github.com/millrace-go/millrace/internal/handle"
	"github.com/millrace-go/millrace/internal/ignore"
	"github.com/millrace-go/millrace/internal/modes"
	"github.com/millrace-go/millrace/internal/names"
)

// walkBatchSize is the number of entries that one worker takes from a larger directory. It is large enough to make
// sharing cheap, and small enough for one directory to keep all workers busy.
const walkBatchSize = 256

// readDir lists a directory, reads its rules, and visits its entries.
func (w *walker) readDir(d task, at *position) {
	if !w.goOn() {
		return
	}
	opened, err := handle.OpenDir(w.fsys, d.path)
	if err != nil {
		w.dirTrouble(d, err)
		return
	}
	d.dir = &sharedDir{DirHandle: opened}
	d.dir.refs.Store(1)
	defer d.dir.release()
	entries, err := d.dir.ReadDir()
	if err != nil {
		w.dirTrouble(d, err)
		return
	}
	if !d.root && (isCVS(d.path, entries) || w.isBare(d.path, entries)) {
		return
	}
	if !w.opt.NoIgnore {
		d.rules = w.rulesAt(d, entries)
	}
	d.entries = entries[:min(len(entries), walkBatchSize)]
	var more []task
	for rest := range slices.Chunk(entries[len(d.entries):], walkBatchSize) {
		b := d
		b.entries = rest
		more = append(more, b)
	}
	d.dir.refs.Add(int32(len(more)))
	w.push(&w.batches, more)
	w.visitAll(d, at)
}

// dirTrouble is trouble for a directory, except that a directory that was just removed is ignored.
func (w *walker) dirTrouble(d task, err error) {
	if errors.Is(err, fs.ErrNotExist) && !d.root {
		return
	}
	w.trouble(d.path, handle.Error("walk", d.path, err))
}

// visitAll visits some entries of a directory. Subdirectories go to the stack first, so that other workers can start on
// them while this one visits the files.
func (w *walker) visitAll(b task, at *position) {
	if !w.goOn() {
		return
	}
	var dirs []task
	var found []Entry // directories, if the walk visits them
	for _, item := range b.entries {
		if !item.IsDir() {
			continue
		}
		e, ok := w.entry(&b, item, at)
		if !ok || w.opt.All && w.isCVSDir(e.Path()) { // readDir would notice too late, or never
			continue
		}
		if w.opt.Depth <= 0 || b.depth < w.opt.Depth {
			dirs = append(dirs, task{path: e.Path(), rules: b.rules, depth: b.depth + 1})
		}
		if w.opt.All {
			found = append(found, e)
		}
	}
	w.push(&w.dirs, dirs)
	for _, e := range found {
		if !w.goOn() {
			return
		}
		w.visitFile(e, at)
	}
	for _, item := range b.entries {
		if item.IsDir() {
			continue
		}
		e, ok := w.entry(&b, item, at)
		if !ok {
			continue
		}
		if !w.goOn() {
			return
		}
		w.visitFile(e, at)
	}
}

// entry returns the entry for an item of a listing, and whether to visit it or to descend into it.
func (w *walker) entry(b *task, item fs.DirEntry, at *position) (e Entry, ok bool) {
	name, isDir := item.Name(), item.IsDir()
	if !isDir && !item.Type().IsRegular() && !w.opt.All || !names.IsPlain(name) || names.IsVCS(name, isDir) {
		return Entry{}, false
	}
	*at = position{b.path, name}
	e = Entry{Kind: modes.KindOf(item.Type()), dir: b.dir.DirHandle, parent: b.path, name: name, item: item}
	if b.rules == nil && w.opt.Skip == nil {
		return e, true
	}
	e.path = e.Path()
	return e, !b.rules.Ignored(e.path, isDir) && (w.opt.Skip == nil || !w.opt.Skip(e.path, isDir))
}

func (w *walker) visitFile(e Entry, at *position) {
	*at = position{dir: e.parent, name: e.name}
	if e.path != "" {
		*at = position{dir: e.path}
	}
	if err := w.visit(e); err != nil {
		w.fail(e.Path(), err)
	}
}

// isCVSDir is isCVS for a directory that has not been read. An unreadable directory is false.
func (w *walker) isCVSDir(dir string) bool {
	if path.Base(dir) != names.CvsName {
		return false
	}
	entries, err := handle.ReadDir(w.fsys, dir)
	return err == nil && isCVS(dir, entries)
}

// isCVS reports whether a directory is a CVS control directory. The name is not enough: people who write about CVS have
// directories of that name, too.
func isCVS(dir string, entries []fs.DirEntry) bool {
	if path.Base(dir) != names.CvsName {
		return false
	}
	has := func(name string) bool {
		return slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() == name })
	}
	return has("Entries") && has("Repository")
}

// isBare is isRepository for a directory below the root, and calls the Repository of the options.
func (w *walker) isBare(dir string, entries []fs.DirEntry) bool {
	bare := isRepository(entries)
	isGit := func(e fs.DirEntry) bool { return e.Name() == ".git" }
	if w.opt.Repository != nil && (bare || slices.ContainsFunc(entries, isGit)) {
		w.opt.Repository(dir, bare)
	}
	return bare
}

// isRepository reports whether git regards a directory with these entries as a repository, whatever its name.
func isRepository(entries []fs.DirEntry) bool {
	var has names.Marks
	for _, e := range entries {
		has |= names.MarkOf(e.Name(), e.Type())
	}
	return has.IsRepository()
}

// rulesAt returns the rules for the entries of a directory.
func (w *walker) rulesAt(d task, entries []fs.DirEntry) *ignore.Matcher {
	rules, has := d.rules, false
	for _, e := range entries {
		switch e.Name() {
		case ".git":
			rules = w.addExclude(nil, d.path)
		case ".gitignore":
			has = e.Type().IsRegular() // git does not follow a link there either
		}
	}
	if has {
		rules = w.addRules(rules, d.path, d.dir, names.Join(d.path, ".gitignore"))
	}
	return rules
}
