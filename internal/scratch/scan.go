package scratch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"sync"

	"github.com/millrace-go/millrace/capability"
	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/ignore"
	"github.com/millrace-go/millrace/internal/modes"
	"github.com/millrace-go/millrace/internal/names"
	"github.com/millrace-go/millrace/internal/parallel"
	"github.com/millrace-go/millrace/internal/rootfs"
)

// scanned is a directory that was read.
type scanned struct {
	rules   *ignore.Matcher // the rules for its entries
	ignored bool
}

// survey is the result of a scan of the whole scratch tree.
type survey struct {
	t     *tree
	ctx   context.Context
	rules bool // .gitignore files are read
	mu    sync.Mutex
	size  int // of all .gitignore files, in bytes
	// at has all entries except the root.
	at   map[string]*found
	dirs map[string]scanned
}

// visit is a directory to be read.
type visit struct {
	path    string
	rules   *ignore.Matcher
	ignored bool
	vcs     bool
}

// workers returns the number of goroutines that work on files: most of the time they wait for the system.
func workers() int { return max(4, runtime.GOMAXPROCS(0)) }

// scan reads all entries of the scratch tree. No process may work there. A command can leave files that are not
// collected, ignored files for example. So scan accepts more entries than the limits, but not any number, because
// memory is limited too. The .gitignore files are read only if withRules is set: they may be too large, or slow to
// match.
func (t *tree) scan(ctx context.Context, withRules bool) (*survey, error) {
	s := &survey{t: t, ctx: ctx, rules: withRules, at: make(map[string]*found, len(t.made)),
		dirs: make(map[string]scanned)}
	if err := t.reenter(); err != nil {
		return nil, err
	}
	level := []visit{{path: "."}}
	for len(level) > 0 {
		next := make([][]visit, len(level))
		err := parallel.Each(ctx, workers(), len(level), func(i int) (err error) {
			next[i], err = s.read(level[i])
			return err
		})
		if err != nil {
			return nil, err
		}
		level = slices.Concat(next...)
	}
	return s, nil
}

// read reads one directory and returns its subdirectories.
func (s *survey) read(v visit) (below []visit, err error) {
	dir, err := s.t.fsys.OpenDir(v.path)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) && v.path != "." {
			err = nil
		}
		return nil, err
	}
	defer dir.Close()
	items, err := dir.ReadDir()
	if err != nil {
		return nil, err
	}
	if err := s.enter(&v, dir, items); err != nil {
		return nil, err
	}
	all := make([]found, len(items))
	for i, item := range items {
		if err := s.ctx.Err(); err != nil { // many rules for many names take long
			return nil, err
		}
		f := &all[i]
		err := s.look(&v, item, f)
		if errors.Is(err, fs.ErrNotExist) {
			f.path = "" // it was removed in between
			continue
		}
		if err != nil {
			return nil, err
		}
		if f.kind == change.Dir && !f.deep {
			below = append(below, visit{path: f.path, rules: v.rules, ignored: f.ignored, vcs: f.vcs})
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dirs[v.path] = scanned{rules: v.rules, ignored: v.ignored || v.vcs}
	for i := range all {
		if f := &all[i]; f.path != "" {
			s.at[f.path] = f
		}
	}
	if got, most := int64(len(s.at)), 2*int64(s.t.c.MaxFiles)+10*int64(s.t.c.MaxChanged); got > most {
		return nil, &LimitError{What: LimitFiles, Limit: most, Got: got}
	}
	return below, nil
}

// enter reads the rules of a directory.
func (s *survey) enter(v *visit, dir capability.DirHandle, items []fs.DirEntry) error {
	has := func(name string) bool {
		return slices.ContainsFunc(items, func(e fs.DirEntry) bool { return e.Name() == name })
	}
	if v.path != "." && path.Base(v.path) == names.CvsName && has("Entries") && has("Repository") {
		v.vcs = true
		s.mu.Lock()
		s.at[v.path].vcs = true
		s.mu.Unlock()
	}
	const rulesName, mostRules = ".gitignore", 1 << 20
	if s.rules && s.t.nested[v.path] { // a repository within another starts with its own rules
		exclude := excludeOf(s.t.view, v.path)
		if err := s.count(exclude); err != nil {
			return err
		}
		v.rules = (*ignore.Matcher)(nil).Enter(v.path, exclude)
	}
	i := slices.IndexFunc(items, func(e fs.DirEntry) bool { return e.Name() == rulesName })
	if !s.rules || v.ignored || v.vcs || i < 0 || !items[i].Type().IsRegular() {
		return nil
	}
	f, err := dir.OpenFile(rulesName)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	most := mostRules - v.rules.Size()
	data, err := io.ReadAll(io.LimitReader(f, int64(most)+1))
	if err == nil && len(data) > most {
		err = fmt.Errorf("%s: file of ignore rules is larger than 1 MiB, with those of the directories above it",
			names.Join(v.path, rulesName))
	}
	if err == nil {
		err = s.count(data)
	}
	if err != nil {
		return err
	}
	v.rules = v.rules.Enter(v.path, data)
	return nil
}

// count adds ignore rules to those of the tree. Compiled rules take much more memory than their text.
func (s *survey) count(rules []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.size += len(rules); s.size > 16<<20 {
		return errors.New("the .gitignore files of the tree are larger than 16 MiB together: set no_ignore")
	}
	return nil
}

// look reads one entry of a directory.
func (s *survey) look(v *visit, item fs.DirEntry, f *found) (err error) {
	f.path = names.Join(v.path, item.Name())
	if f.look, err = s.t.look(rootfs.LookAt(item)); err != nil {
		return err
	}
	f.kind = modes.KindOf(f.look.Mode)
	isDir := f.kind == change.Dir
	f.vcs = v.vcs || names.IsVCS(item.Name(), isDir)
	f.ignored = v.ignored || s.rules && !f.vcs && v.rules.Ignored(f.path, isDir)
	switch f.kind {
	case change.Symlink:
		f.target, err = s.t.fsys.ReadlinkIfPossible(f.path)
		f.target = filepath.ToSlash(f.target)
	case change.Dir:
		f.deep = isDeep(f.path)
		if !f.deep && f.look.Mode&0o500 != 0o500 {
			f.opened = true
			err = s.t.fsys.Chmod(f.path, 0o700)
		}
	}
	return err
}

// isIgnored reports whether .gitignore ignores a path, which may be missing.
func (s *survey) isIgnored(name string, isDir bool) bool {
	if f := s.at[name]; f != nil {
		return f.ignored
	}
	dir := path.Dir(name)
	d, ok := s.dirs[dir]
	for up := dir; !ok; d, ok = s.dirs[up] {
		up = path.Dir(up)
	}
	if d.ignored {
		return true
	}
	for end := range len(name) { // the missing directories
		if name[end] == '/' {
			if _, there := s.dirs[name[:end]]; !there && d.rules.Ignored(name[:end], true) {
				return true
			}
		}
	}
	return d.rules.Ignored(name, isDir)
}
