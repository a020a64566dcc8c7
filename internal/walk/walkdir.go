package walk

import (
	"errors"
	"io/fs"
	"path"

	"github.com/millrace-go/millrace/capability"
	"github.com/millrace-go/millrace/internal/handle"
	"github.com/millrace-go/millrace/internal/ignore"
	"github.com/millrace-go/millrace/internal/modes"
	"github.com/millrace-go/millrace/internal/names"
)

// walkBatchSize is how many entries one worker takes of a directory that is larger. It is large enough for the sharing
// to cost nothing and small enough for one directory to keep all workers busy.
const walkBatchSize = 256

// readDir lists a directory, reads its rules, and has its entries seen to.
func (w *walker) readDir(d walkDir, at *position) {
	if !w.goOn() {
		return
	}
	handle, err := handle.OpenDir(w.fsys, d.path)
	if err != nil {
		w.dirTrouble(d, err)
		return
	}
	dir := &sharedDir{DirHandle: handle}
	dir.refs.Store(1)
	defer dir.release()
	entries, err := dir.ReadDir()
	if err != nil {
		w.dirTrouble(d, err)
		return
	}
	if !d.root && isCVS(d.path, entries) {
		return
	}
	rules := d.rules
	if !w.opt.NoIgnore {
		rules = w.rulesAt(d, dir, entries)
	}

	first := walkBatch{path: d.path, dir: dir, entries: entries, rules: rules, depth: d.depth}
	if len(entries) > walkBatchSize {
		first.entries = entries[:walkBatchSize]
		var more []walkBatch
		for rest := entries[walkBatchSize:]; len(rest) > 0; {
			b := first
			n := min(len(rest), walkBatchSize)
			b.entries, rest = rest[:n], rest[n:]
			more = append(more, b)
		}
		dir.refs.Add(int32(len(more)))
		w.pushBatches(more)
	}
	w.seeTo(first, at)
}

// dirTrouble is trouble about a directory, but for one that was there a moment ago and is gone: that is a tree without
// it.
func (w *walker) dirTrouble(d walkDir, err error) {
	if errors.Is(err, fs.ErrNotExist) && !d.root {
		return
	}
	w.trouble(d.path, handle.Error("walk", d.path, err))
}

// readBatch has some entries of a directory seen to that another worker has opened.
func (w *walker) readBatch(b walkBatch, at *position) {
	defer b.dir.release()
	w.seeTo(b, at)
}

// seeTo sorts out some entries of a directory. The directories go to the stack first, so that other workers can begin
// with them while this one visits the files.
func (w *walker) seeTo(b walkBatch, at *position) {
	if !w.goOn() {
		return
	}
	var dirs []walkDir
	var found []Entry // directories, if they are to be visited
	for _, item := range b.entries {
		if !item.IsDir() {
			continue
		}
		e, ok := w.entry(&b, item, at)
		if !ok || w.opt.All && w.isCVSDir(e.Path()) { // readDir would find out too late, or never
			continue
		}
		if w.opt.Depth <= 0 || b.depth < w.opt.Depth {
			dirs = append(dirs, walkDir{path: e.Path(), rules: b.rules, depth: b.depth + 1})
		}
		if w.opt.All {
			found = append(found, e)
		}
	}
	w.pushDirs(dirs)
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

// entry returns what stands for an item of a listing, and whether it is one to visit or to go on in.
func (w *walker) entry(b *walkBatch, item fs.DirEntry, at *position) (e Entry, ok bool) {
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

// isCVSDir is isCVS for a directory that has not been read. One that cannot be read is none.
func (w *walker) isCVSDir(dir string) bool {
	if path.Base(dir) != names.CvsName {
		return false
	}
	handle, err := handle.OpenDir(w.fsys, dir)
	if err != nil {
		return false
	}
	defer handle.Close()
	entries, err := handle.ReadDir()
	return err == nil && isCVS(dir, entries)
}

// isCVS reports whether a directory is what CVS keeps in each directory. The name alone does not tell: people who write
// about CVS have directories of that name, too.
func isCVS(dir string, entries []fs.DirEntry) bool {
	if path.Base(dir) != names.CvsName {
		return false
	}
	n := 0
	for _, e := range entries {
		if name := e.Name(); name == "Entries" || name == "Repository" {
			n++
		}
	}
	return n == 2
}

// rulesAt returns the rules that hold for the entries of a directory.
func (w *walker) rulesAt(d walkDir, dir capability.DirHandle, entries []fs.DirEntry) *ignore.Matcher {
	rules, has := d.rules, false
	for _, e := range entries {
		switch e.Name() {
		case ".git":
			rules = nil
			if e.IsDir() {
				rules = w.addExclude(nil, d.path)
			}
		case ".gitignore":
			has = e.Type().IsRegular() // git does not follow a link there either
		}
	}
	if !has {
		return rules
	}
	return w.addRules(rules, d.path, dir)
}
