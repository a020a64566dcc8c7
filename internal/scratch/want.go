package scratch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"sync"

	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/guard"
	"github.com/millrace-go/millrace/internal/handle"
	"github.com/millrace-go/millrace/internal/modes"
	"github.com/millrace-go/millrace/internal/names"
	"github.com/millrace-go/millrace/internal/stage"
	"github.com/millrace-go/millrace/internal/walk"
)

// wanted collects the entries of a view.
type wanted struct {
	t     *tree
	view  *stage.Stage
	make  func(path string) bool
	bring func(path string) bool

	mu      sync.Mutex
	at      map[string]*entry
	lists   map[string]listing // the entries of each directory, with withheld entries
	leftOut map[uint64]bool    // prints of paths that Make leaves out and Bring takes
	nested  map[string]bool    // directories with a .git, see tree.nested
	files   int
	bytes   int64
}

// want returns the entries that the scratch tree must have, by path, without the root. Withheld entries are listed too,
// except files and links that Make leaves out, which may be many.
func (t *tree) want(ctx context.Context, view *stage.Stage, o Options) (*wanted, error) {
	w := &wanted{
		t: t, view: view, make: o.Make, bring: o.Bring, at: make(map[string]*entry, len(t.made)),
		lists: make(map[string]listing), leftOut: make(map[uint64]bool),
		nested: map[string]bool{".": true},
	}
	err := walk.Walk(ctx, view, ".", walk.Options{
		Workers: workers(), NoIgnore: true, All: true,
		OnError: func(name string, err error) error {
			if name == "." || !errors.Is(err, fs.ErrPermission) {
				return err
			}
			w.withhold(name, change.Dir, unreadable)
			return nil
		},
		Repository: w.enclose,
	}, w.add)
	if err != nil {
		return nil, err
	}
	w.warnOfDeep()
	w.dropLinks()
	if err := w.dropDirs(); err != nil {
		return nil, err
	}
	if t.folds {
		return w, checkFolding(w.at)
	}
	return w, nil
}

func (w *wanted) withhold(name string, kind change.Kind, why withheld) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.at[name] = &entry{path: name, kind: kind, withheld: why}
}

// enclose notes a repository within the tree.
func (w *wanted) enclose(dir string, bare bool) {
	if bare {
		w.withhold(dir, change.Dir, isRepository)
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.nested[dir] = true
}

// add adds an entry of the walk. The goroutines of the walk call it concurrently.
func (w *wanted) add(found walk.Entry) error {
	name := found.Path()
	if isDeep(path.Dir(name)) {
		return nil
	}
	w.mu.Lock()
	w.lists[path.Dir(name)] = w.lists[path.Dir(name)].with(w.t.seed, path.Base(name), found.Kind)
	w.mu.Unlock()
	var err error
	if found.Kind == change.Dir && isDeep(name) {
		w.withhold(name, change.Dir, tooDeep)
	} else if found.Kind != change.Dir && w.make != nil && !w.make(name) {
		err = w.leaveOut(name, found)
	} else {
		err = w.addFound(name, found)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil // it was removed during the walk
	case errors.Is(err, fs.ErrPermission): // in a directory that may be listed and not entered
		w.withhold(name, found.Kind, unreadable)
		return nil
	}
	return err
}

func (w *wanted) addFound(name string, found walk.Entry) error {
	info, err := found.Info()
	if err != nil {
		return err
	}
	e := &entry{path: name, mode: info.Mode() & permBits, mtime: info.ModTime()}
	switch e.kind = modes.KindOf(info.Mode()); e.kind {
	case change.File:
		e.size = info.Size()
	case change.Symlink:
		e.target, err = w.view.ReadlinkIfPossible(name)
		e.target = filepath.ToSlash(e.target)
	case change.Dir:
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.at[name] == nil { // otherwise it is withheld
			w.at[name] = e
		}
		if w.make != nil {
			return nil // it may not be needed
		}
		return w.count(0)
	default:
		e.withheld = isSpecial
	}
	if err == nil && e.kind == change.File {
		e.version, e.asBase, e.sure, err = w.view.VersionIn(name, info)
	}
	if err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.at[name] = e
	return w.count(e.size)
}

// count counts an entry and its bytes.
func (w *wanted) count(size int64) error {
	w.files++
	w.bytes += size
	switch c := &w.t.c; {
	case w.files > c.MaxFiles:
		return &LimitError{What: LimitFiles, Limit: int64(c.MaxFiles), Got: int64(w.files)}
	case w.bytes > c.MaxBytes:
		return &LimitError{What: LimitBytes, Limit: c.MaxBytes, Got: w.bytes}
	}
	return nil
}

// warnOfDeep warns of the directories that are too deep for a scan.
func (w *wanted) warnOfDeep() {
	var deep []string
	for name, e := range w.at {
		if e.withheld == tooDeep {
			deep = append(deep, name)
		}
	}
	slices.Sort(deep)
	warnOf(&w.t.c, deep, "directories are not in the copy, because they lie too deep in the tree")
}

// dropLinks withholds links that lead out of the tree.
func (w *wanted) dropLinks() {
	look := func(name string) (change.Kind, string) {
		e := w.at[name]
		if e == nil {
			return change.Absent, ""
		}
		return e.kind, e.target
	}
	var out []*entry
	for _, e := range w.at {
		if e.kind == change.Symlink && e.withheld == "" && escapes(e.path, look) {
			out = append(out, e)
		}
	}
	for _, e := range out {
		e.withheld = leadsOut
	}
}

// dropDirs withholds directories without written files, if Make selects the files.
func (w *wanted) dropDirs() error {
	if w.make == nil {
		return nil
	}
	needed := make(map[string]bool)
	for _, e := range w.at {
		if e.kind == change.Dir || e.withheld != "" {
			continue
		}
		for dir := path.Dir(e.path); dir != "." && !needed[dir]; dir = path.Dir(dir) {
			needed[dir] = true
		}
	}
	for _, e := range w.at {
		if e.kind != change.Dir || e.withheld != "" {
			continue
		}
		if !needed[e.path] {
			e.withheld = unasked
		} else if err := w.count(0); err != nil {
			return err
		}
	}
	return nil
}

// checkFolding returns an error if two names are the same for the file system of the scratch tree.
func checkFolding(at map[string]*entry) error {
	seen := make(map[string]string)
	for _, name := range slices.Sorted(maps.Keys(at)) {
		if at[name].withheld != "" {
			continue
		}
		folded := names.FoldPath(name)
		if other, there := seen[folded]; there {
			return fmt.Errorf("%q and %q would be one file on the file system of the scratch tree: "+
				"leave one out by exclude, or have scratch trees elsewhere", other, name)
		}
		seen[folded] = name
	}
	return nil
}

// excludeOf returns the rules in info/exclude of the repository of a directory, because the scratch tree has no
// repository.
func excludeOf(view *stage.Stage, dir string) []byte {
	const most = 1 << 20
	base := view.Base()
	if base == nil {
		return nil
	}
	common, err := guard.CommonDir(guard.TreeOf(base), dir)
	if err != nil || common == "" {
		return nil
	}
	for _, dir := range [...]string{common, names.Join(common, "info")} {
		if info, err := handle.Lstat(base, dir); err != nil || !info.IsDir() {
			return nil
		}
	}
	f, err := handle.OpenFile(base, names.Join(common, "info/exclude"))
	if err != nil {
		return nil
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, most+1))
	if err != nil || len(data) > most {
		return nil
	}
	return data
}

// leaveOut records the print of a path that Make leaves out, if a program may still bring it back.
func (w *wanted) leaveOut(name string, found walk.Entry) error {
	if w.bring != nil && !w.bring(name) {
		return nil
	}
	info, err := found.Info()
	if err != nil {
		return err
	}
	var version stage.Version
	if found.Kind == change.File {
		if version, _, _, err = w.view.VersionIn(name, info); err != nil {
			return err
		}
	}
	print := printOf(w.t.seed, name, found.Kind, version)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.leftOut[print] = true
	return nil
}
