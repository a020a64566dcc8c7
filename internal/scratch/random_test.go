//go:build unix

package scratch_test

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/internal/names"
	"github.com/millrace-go/millrace/internal/raise"
	"github.com/millrace-go/millrace/internal/rootfs"
	"github.com/millrace-go/millrace/internal/scratch"
	"github.com/millrace-go/millrace/internal/stage"
	"github.com/millrace-go/millrace/internal/walk"
)

// actor does random things in a directory, like a command.
type actor struct {
	*rand.Rand
	dir string
	log []string
}

var (
	actorDirs  = []string{".", "a", "b", "a/c", "a/c/d", "B", "bin"}
	actorNames = []string{"x.txt", "y.txt", "X.TXT", "z.o", "k.log", ".gitignore", "deep", "a", "c", "name with blank",
		"ü"}
)

func (a *actor) one(list []string) string { return list[a.IntN(len(list))] }

// somewhere returns a name that may or may not exist.
func (a *actor) somewhere() string { return path.Join(a.one(actorDirs), a.one(actorNames)) }

// something returns the name of an existing entry, "." if there is none.
func (a *actor) something(want func(mode fs.FileMode) bool) string {
	var all []string
	err := filepath.WalkDir(a.dir, func(name string, d fs.DirEntry, err error) error {
		if err == nil && name != a.dir && want(d.Type()) {
			rel, _ := filepath.Rel(a.dir, name)
			all = append(all, rel)
		}
		return nil
	})
	if err != nil || len(all) == 0 {
		return "."
	}
	return a.one(all)
}

func anything(fs.FileMode) bool { return true }

func (a *actor) text() string {
	if a.IntN(8) == 0 {
		return "\x00binary" + strings.Repeat(string(rune('a'+a.IntN(4))), a.IntN(20))
	}
	var text strings.Builder
	for range a.IntN(6) {
		fmt.Fprintf(&text, "line %d\n", a.IntN(5))
	}
	return text.String()
}

func (a *actor) rules() string {
	return a.one([]string{"*.o\n", "*.log\n!k.log\n", "/b/\n", "c/\n*.o\n", "", "deep\n"})
}

// act does one thing. It may fail.
func (a *actor) act() {
	full := func(name string) string { return filepath.Join(a.dir, name) }
	note := func(format string, args ...any) { a.log = append(a.log, fmt.Sprintf(format, args...)) }
	switch a.IntN(18) {
	case 0, 1:
		name := a.somewhere()
		if info, err := os.Stat(full(name)); err == nil && !info.Mode().IsRegular() {
			return // a write to a pipe would wait
		}
		text := a.text()
		if path.Base(name) == ".gitignore" {
			text = a.rules()
		}
		os.MkdirAll(filepath.Dir(full(name)), 0o755)
		note("write %s %q: %v", name, text, os.WriteFile(full(name), []byte(text), 0o644))
	case 2, 3: // only other bytes
		name := a.something(fs.FileMode.IsRegular)
		info, err := os.Lstat(full(name))
		if err != nil || info.Size() == 0 || !info.Mode().IsRegular() {
			return
		}
		data := []byte(strings.Repeat(string(rune('A'+a.IntN(3))), int(info.Size())))
		err = os.WriteFile(full(name), data, 0o644)
		note("rewrite %s: %v %v", name, err, os.Chtimes(full(name), time.Time{}, info.ModTime()))
	case 4, 5, 6:
		from, to := a.something(anything), a.somewhere()
		note("rename %s %s: %v", from, to, os.Rename(full(from), full(to)))
	case 7:
		from, to := a.something(fs.FileMode.IsDir), path.Join(a.one(actorDirs), a.one([]string{"moved", "B", "c", "e"}))
		note("rename dir %s %s: %v", from, to, os.Rename(full(from), full(to)))
	case 8:
		x, y := a.something(anything), a.something(anything)
		err := os.Rename(full(x), full(".between"))
		if err == nil {
			err = os.Rename(full(y), full(x))
			if err2 := os.Rename(full(".between"), full(y)); err2 != nil { // if one directory is inside the other
				err = errors.Join(err, err2, os.Rename(full(".between"), full("swapped")))
			}
		}
		note("swap %s %s: %v", x, y, err)
	case 9, 10:
		name := a.something(anything)
		if name != "." {
			note("remove %s: %v", name, os.RemoveAll(full(name)))
		}
	case 11:
		name := a.something(func(m fs.FileMode) bool { return m&fs.ModeSymlink == 0 })
		if name != "." {
			mode := []fs.FileMode{0o644, 0o755, 0o600, 0o700, 0o444, 0o555, 0}[a.IntN(7)]
			if info, err := os.Lstat(full(name)); err != nil || info.IsDir() && mode&0o500 != 0o500 {
				return // the model must be able to read it
			}
			note("chmod %s %o: %v", name, mode, os.Chmod(full(name), mode))
		}
	case 12:
		target, name := a.one([]string{"x.txt", "a", "c/d", "nowhere", "."}), a.somewhere()
		note("link %s %s: %v", name, target, os.Symlink(target, full(name)))
	case 13:
		from, to := a.something(fs.FileMode.IsRegular), a.somewhere()
		note("hard link %s %s: %v", from, to, os.Link(full(from), full(to)))
	case 14:
		name := a.somewhere()
		note("fifo %s: %v", name, syscall.Mkfifo(full(name), 0o600))
	case 15:
		name := a.somewhere()
		note("mkdir %s: %v", name, os.MkdirAll(full(name), 0o755))
	case 16: // like an editor that saves
		name := a.something(fs.FileMode.IsRegular)
		err := os.WriteFile(full(".new"), []byte(a.text()), 0o644)
		note("save %s: %v %v", name, err, os.Rename(full(".new"), full(name)))
		os.Remove(full(".new"))
	case 17:
		name := a.something(anything)
		note("touch %s: %v", name, os.Chtimes(full(name), time.Now(), time.Now()))
	}
}

// visible lists the entries that a walk of a tree shows, with their contents.
func visible(t *testing.T, fsys afero.Fs, noIgnore bool) map[string]string {
	t.Helper()
	list := make(map[string]string)
	var mu sync.Mutex
	err := walk.Walk(t.Context(), fsys, ".", walk.Options{NoIgnore: noIgnore, All: true}, func(e walk.Entry) error {
		info, err := e.Info()
		if err != nil {
			return err
		}
		text := info.Mode().Perm().String()
		switch e.Kind {
		case change.File:
			data, err := readAnyway(fsys, e.Path(), info.Mode())
			if err != nil {
				return err
			}
			text += " " + string(data)
		case change.Symlink:
			if text, err = fsys.(afero.LinkReader).ReadlinkIfPossible(e.Path()); err != nil {
				return err
			}
			text = "-> " + text
		case change.Other:
			return nil
		}
		mu.Lock()
		defer mu.Unlock()
		list[e.Path()+map[change.Kind]string{change.Dir: "/"}[e.Kind]] = text
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// readAnyway reads a file of any mode.
func readAnyway(fsys afero.Fs, name string, mode fs.FileMode) ([]byte, error) {
	data, err := afero.ReadFile(fsys, name)
	if !errors.Is(err, fs.ErrPermission) {
		return data, err
	}
	if err := fsys.Chmod(name, 0o600); err != nil {
		return nil, err
	}
	data, err = afero.ReadFile(fsys, name)
	return data, errors.Join(err, fsys.Chmod(name, mode))
}

// agree compares the files that a command has left with the stage. The stage may still have directories that contain
// entries which a walk does not show.
func agree(t *testing.T, left, staged, all map[string]string) {
	t.Helper()
	for name := range staged {
		dir, isDir := strings.CutSuffix(name, "/")
		if _, there := left[name]; there || !isDir {
			continue
		}
		for other := range all {
			if _, shown := staged[other]; !shown && strings.HasPrefix(other, dir+"/") {
				delete(staged, name)
				break
			}
		}
	}
	for name := range staged { // again for their parents, after they are removed
		if _, isDir := strings.CutSuffix(name, "/"); !isDir {
			continue
		}
		if _, there := left[name]; !there {
			for other := range all {
				if _, shown := staged[other]; !shown && strings.HasPrefix(other, name) {
					delete(staged, name)
					break
				}
			}
		}
	}
	if d := cmp.Diff(left, staged); d != "" {
		t.Errorf("the stage differs from what the command has left (-command +stage):\n%s", d)
	}
}

// backends returns trees of several kinds.
func backends(t *testing.T) map[string]func() afero.Fs {
	return map[string]func() afero.Fs{
		"rootfs": func() afero.Fs { return dirOf(t, nil) },
		"base path": func() afero.Fs {
			return afero.NewBasePathFs(afero.NewOsFs(), t.TempDir())
		},
		"memory": func() afero.Fs { return afero.NewMemMapFs() },
	}
}

// fillBase makes a random tree.
func fillBase(t *testing.T, a *actor, base afero.Fs) {
	t.Helper()
	base, err := raise.FS(base) // a plain BasePathFs makes links absolute
	if err != nil {
		t.Fatal(err)
	}
	seed := &actor{Rand: a.Rand, dir: t.TempDir()}
	for range 20 {
		seed.act()
	}
	err = filepath.WalkDir(seed.dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(seed.dir, name)
		info, err := d.Info()
		if err != nil || rel == "." {
			return err
		}
		rel = filepath.ToSlash(rel)
		switch {
		case info.IsDir():
			if err := base.MkdirAll(rel, 0o755); err != nil {
				return err
			}
			return base.Chmod(rel, info.Mode().Perm())
		case info.Mode().IsRegular():
			data, err := os.ReadFile(name)
			if err != nil {
				return err
			}
			if err := afero.WriteFile(base, rel, data, 0o644); err != nil {
				return err
			}
			return base.Chmod(rel, info.Mode().Perm())
		case info.Mode()&fs.ModeSymlink != 0:
			linker, ok := base.(afero.Symlinker)
			if !ok {
				return nil
			}
			target, err := os.Readlink(name)
			if err != nil {
				return err
			}
			return linker.SymlinkIfPossible(target, rel)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// blurs hide facts that some systems do not report.
var blurs = []func(l *rootfs.Look){
	nil,
	func(l *rootfs.Look) { l.BTime = 0 },
	nil,
	func(l *rootfs.Look) { l.BTime, l.CTime = 0, 0 },
	nil,
	func(l *rootfs.Look) { l.BTime, l.CTime, l.Ino, l.Nlink = 0, 0, 0, 0 },
}

// Whatever a command does, the stage has the same files afterwards, and the scratch tree equals the stage, even after a
// rollback.
func TestProperty_randomCommands(t *testing.T) {
	t.Parallel()
	seed := fstest.Seed(t)
	for name, makeBase := range backends(t) {
		for n := range fstest.Runs(15, 150, 3000) {
			t.Run(fmt.Sprintf("%s %d", name, n), func(t *testing.T) {
				a := &actor{Rand: rand.New(rand.NewPCG(seed, uint64(n)))}
				base := makeBase()
				fillBase(t, a, base)
				r := newRig(t, base, nil)
				scratch.Blur(r.tree, blurs[n%len(blurs)])
				a.dir = r.tree.Root()
				o := scratch.Options{NoIgnore: a.IntN(3) == 0}
				var saved []stage.Savepoint
				for range 4 {
					a.log = append(a.log, "-- renew")
					if err := r.tree.Renew(t.Context(), r.view, o); err != nil {
						t.Fatalf("%v\n%s", err, strings.Join(a.log, "\n"))
					}
					r.exact()
					for range a.IntN(12) {
						a.act()
					}
					left := visible(t, rooted(t, a.dir), o.NoIgnore)
					saved = append(saved, r.stage.Savepoint())
					changes, err := r.tree.Collect(t.Context(), o)
					if err == nil {
						_, err = scratch.Stage(t.Context(), r.view, changes)
					}
					if errors.Is(err, names.ErrEscape) {
						r.view.Rollback(saved[len(saved)-1])
						continue
					}
					if err != nil {
						t.Fatalf("%v\n%+v\n%s", err, changes, strings.Join(a.log, "\n"))
					}
					agree(t, left, visible(t, r.view, o.NoIgnore), visible(t, r.view, true))
					if a.IntN(4) == 0 {
						back := a.IntN(len(saved))
						a.log = append(a.log, "-- rollback")
						r.view.Rollback(saved[back])
						saved = saved[:back]
					}
					if t.Failed() {
						t.Fatalf("%+v\n%s", changes, strings.Join(a.log, "\n"))
					}
				}
				if err := r.tree.Renew(t.Context(), r.view, o); err != nil {
					t.Fatal(err)
				}
				r.exact()
				if t.Failed() {
					t.Fatal(strings.Join(a.log, "\n"))
				}
			})
		}
	}
}

// exact compares the whole scratch tree with the stage.
func (r *rig) exact() {
	r.t.Helper()
	want, got := visible(r.t, r.view, true), visible(r.t, rooted(r.t, r.tree.Root()), true)
	if d := cmp.Diff(want, got); d != "" {
		r.t.Errorf("the scratch tree differs from the stage (-stage +scratch):\n%s", d)
	}
}

func rooted(t *testing.T, dir string) *rootfs.FS {
	t.Helper()
	fsys, err := rootfs.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { fsys.Close() })
	return fsys
}
