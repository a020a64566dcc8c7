//go:build linux

package stage_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/afero"
	"pgregory.net/rapid"

	"github.com/millrace-go/millrace/internal/names"
	"github.com/millrace-go/millrace/internal/splice"
	"github.com/millrace-go/millrace/internal/stage"
)

// The model of the stage is the operating system: the same operations are applied to a stage over one directory and to
// a copy of that directory. After each operation both must look the same, and their errors must be alike.

func TestStageLikeOS(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) { runModel(t, rt, false) })
}

func FuzzStageLikeOS(f *testing.F) {
	f.Fuzz(func(t *testing.T, data []byte) {
		rapid.MakeFuzz(func(rt *rapid.T) { runModel(t, rt, false) })(t, data)
	})
}

// tree is the content of a file system by path, one line of text each.
type tree map[string]string

type model struct {
	*rapid.T
	base  string // directory below the stage
	dir   string // a copy, with the operations applied
	stage *stage.Stage
	files []modelFile
	saves []modelSave
	first tree

	keeper *stage.Keeper // nil if the stage is not kept
	deltas [][]byte
	spill  *memSpill
}

type modelFile struct {
	staged afero.File
	real   *os.File
}

type modelSave struct {
	point stage.Savepoint
	tree  tree
	depth int // of the delta that was taken there; 0 for none. Only savepoints with one survive a restore.
}

// runModel runs one history. kept means that the stage is restored in between.
func runModel(t *testing.T, rt *rapid.T, kept bool) {
	temp, err := os.MkdirTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	m := &model{T: rt, base: filepath.Join(temp, "base"), dir: filepath.Join(temp, "1/2/3/dir")}
	m.check(os.MkdirAll(m.base, 0o755))
	m.check(os.MkdirAll(m.dir, 0o755))
	m.plant()
	m.first = treeOf(m.T, afero.NewBasePathFs(afero.NewOsFs(), m.base))
	m.spill = new(memSpill)
	m.stage = m.newStage()
	if kept {
		m.keeper = stage.NewKeeper(m.stage)
	}
	defer m.closeAll()
	for i := range rapid.IntRange(1, 30).Draw(rt, "ops") {
		m.step(i)
		m.compare()
	}
	m.compareSince()
	m.compareChanges()
	if diff := cmp.Diff(m.first, treeOf(rt, afero.NewBasePathFs(afero.NewOsFs(), m.base))); diff != "" {
		rt.Fatalf("the base was written to (-before +after):\n%s", diff)
	}
}

func (m *model) check(err error) {
	if err != nil {
		m.Helper()
		m.Fatal(err)
	}
}

// plant creates the same entries in both directories.
func (m *model) plant() {
	for range rapid.IntRange(0, 8).Draw(m.T, "planted") {
		name := m.name("plant")
		dirs, what := filepath.Dir(name), rapid.SampledFrom([]string{"file", "file", "dir", "link"}).Draw(m.T, "what")
		data := m.text()
		target := m.target()
		for _, root := range []string{m.base, m.dir} {
			// If an entry is in the way, it stays in both trees.
			if os.MkdirAll(filepath.Join(root, dirs), 0o755) != nil {
				continue
			}
			full := filepath.Join(root, name)
			if _, err := os.Lstat(full); err == nil {
				continue
			}
			switch what {
			case "file":
				_ = os.WriteFile(full, data, 0o644)
			case "dir":
				_ = os.Mkdir(full, 0o755)
			default:
				_ = os.Symlink(target, full)
			}
		}
	}
}

func (m *model) name(label string) string {
	parts := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c"}), 1, 3).Draw(m.T, label)
	return strings.Join(parts, "/")
}

func (m *model) target() string {
	targets := []string{"a", "b", "c", "a/b", "b/c", "../a", "../b/c", ".", "..", "../..", "b/../c", "./a", "c/", "/a"}
	return rapid.SampledFrom(targets).Draw(m.T, "target")
}

func (m *model) text() []byte {
	texts := []string{"", "a", "one\r\ntwo\nthree", "\xef\xbb\xbfx\xff\r", "0123456789"}
	return []byte(rapid.SampledFrom(texts).Draw(m.T, "text"))
}

func (m *model) mode() fs.FileMode {
	return rapid.SampledFrom([]fs.FileMode{0o755, 0o700, 0o711}).Draw(m.T, "mode")
}

func (m *model) step(i int) {
	view := m.stage.For(fmt.Sprintf("step%d", i), false)
	name := m.name("name")
	full := filepath.Join(m.dir, name)
	slash := ""
	if rapid.IntRange(0, 9).Draw(m.T, "slash") == 0 {
		slash = "/"
	}
	ops := []string{
		"mkdir", "mkdirall", "remove", "removeall", "rename", "rename", "write", "edit", "edit", "copy", "symlink",
		"chmod", "open", "handle", "handle", "save", "rollback", "stat", "list", "discard",
	}
	if m.keeper != nil {
		ops = append(ops, "keep", "keep", "resume", "resume", "restart")
	}
	op := rapid.SampledFrom(ops).Draw(m.T, "op")
	switch op {
	case "keep":
		m.keep()
	case "resume":
		m.resume()
	case "restart":
		m.restart()
	case "mkdir":
		mode := m.mode()
		m.same(op, view.Mkdir(name+slash, mode), func() error { return os.Mkdir(full+slash, mode) })
	case "mkdirall":
		mode := m.mode()
		m.same(op, view.MkdirAll(name+slash, mode), func() error { return os.MkdirAll(full+slash, mode) })
	case "remove":
		m.same(op, view.Remove(name+slash), func() error { return os.Remove(full + slash) })
	case "discard":
		m.same(op, view.Discard(name), func() error { return os.Remove(full) })
	case "removeall":
		m.same(op, view.RemoveAll(name+slash), func() error { return os.RemoveAll(full + slash) })
	case "rename":
		to := m.name("to")
		m.same(op, view.Rename(name+slash, to), func() error { return syscall.Rename(full+slash, filepath.Join(m.dir, to)) })
	case "symlink":
		target := m.target()
		m.same(op, view.SymlinkIfPossible(target, name), func() error { return os.Symlink(target, full) })
	case "chmod":
		mode := m.mode()
		if top, err := view.Resolve(name); err == nil && top == "." {
			return // the stage does not change the top of the tree
		}
		m.same(op, view.Chmod(name+slash, mode), func() error { return os.Chmod(full+slash, mode) })
	case "write":
		data := m.text()
		err := afero.WriteFile(view, name+slash, data, 0o644)
		if m.isDangling(name, err) {
			return
		}
		m.same(op, err, func() error { return os.WriteFile(full+slash, data, 0o644) })
	case "edit":
		m.edit(view, name)
	case "copy":
		m.copyFile(view, name, m.name("to"))
	case "open":
		m.open(view, name)
	case "handle":
		m.useHandle()
	case "save":
		m.saves = append(m.saves, modelSave{point: m.stage.Savepoint(), tree: treeOf(m.T, m.stage)})
	case "rollback":
		m.rollback()
	case "stat":
		_, err := view.Stat(name + slash)
		m.same(op, err, func() error { _, err := os.Stat(full + slash); return err })
	case "list":
		var got, want []string
		dir, err := view.OpenDir(name)
		if err == nil {
			defer dir.Close()
			entries, err := dir.ReadDir()
			m.check(err)
			for _, e := range entries {
				got = append(got, fmt.Sprint(e.Name(), e.Type()))
			}
			slices.Sort(got)
		}
		m.same(op, err, func() error {
			entries, err := os.ReadDir(full)
			for _, e := range entries {
				want = append(want, fmt.Sprint(e.Name(), e.Type()))
			}
			return err
		})
		if !slices.Equal(got, want) && !errors.Is(err, names.ErrEscape) {
			m.Fatalf("list %s: got %q, want %q", name, got, want)
		}
	}
}

// same compares the error of an operation on the stage with that of the model, on which the operation is done now.
func (m *model) same(op string, got error, do func() error) {
	m.Helper()
	if errors.Is(got, names.ErrEscape) {
		return // the model would leave its directory
	}
	before := treeOf(m.T, m.stage)
	want := do()
	g, w := classOf(got), classOf(want)
	if (op == "write" || op == "open") && g == "notdir" && w == "isdir" {
		return // a link whose target ends in a slash, to a file
	}
	// If two things are wrong at once, either may be reported.
	if g != w && (g == "ok" || w == "ok" ||
		op != "mkdirall" && g != "loop" && (op != "rename" && op != "copy" || g != "notexist")) {
		m.Fatalf("%s: %v (%s), the system returns %v (%s)\n%v", op, got, g, want, w, before)
	}
}

// classOf names the kind of an error.
func classOf(err error) string {
	for class, targets := range map[string][]error{
		"ok":     {nil},
		"notdir": {names.ErrNotDir, syscall.ENOTDIR}, "isdir": {names.ErrIsDir, syscall.EISDIR},
		"notempty": {names.ErrNotEmpty, syscall.ENOTEMPTY}, "loop": {names.ErrLinkLoop, syscall.ELOOP},
	} {
		for _, target := range targets {
			if errors.Is(err, target) {
				return class
			}
		}
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "notexist"
	case errors.Is(err, fs.ErrExist):
		return "exist"
	case errors.Is(err, fs.ErrInvalid), errors.Is(err, syscall.EINVAL):
		return "invalid"
	}
	return err.Error()
}

func (m *model) edit(view *stage.Stage, name string) {
	data, err := view.ReadFile(name)
	var want []byte
	m.same("read", err, func() error {
		var err error
		want, err = os.ReadFile(filepath.Join(m.dir, name))
		return err
	})
	if err != nil {
		return
	}
	if !bytes.Equal(data, want) {
		m.Fatalf("read %s: got %q, want %q", name, data, want)
	}
	splices := drawEdits(m.T, len(data), "")
	out, err := splice.Apply(data, splices)
	m.check(err)
	for i := range splices {
		splices[i].By = nil
	}
	m.check(view.Edit(name, splices))
	m.check(os.WriteFile(filepath.Join(m.dir, name), out, 0))
}

func (m *model) copyFile(view *stage.Stage, name, to string) {
	m.same("copy", view.Copy(name, to), func() error {
		full := filepath.Join(m.dir, name)
		info, err := os.Stat(full)
		if err != nil {
			return err
		}
		if _, err := os.Lstat(filepath.Dir(filepath.Join(m.dir, to)) + "/."); err != nil {
			return err
		}
		if info.IsDir() {
			return syscall.EISDIR
		}
		data, err := os.ReadFile(full)
		if err != nil {
			return err
		}
		f, err := os.OpenFile(filepath.Join(m.dir, to), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if err != nil {
			return err
		}
		defer f.Close()
		if _, err := f.Write(data); err != nil {
			return err
		}
		return f.Chmod(info.Mode())
	})
}

// rollback rolls the stage back and resets the model.
func (m *model) rollback() {
	if len(m.saves) == 0 {
		return
	}
	i := rapid.IntRange(0, len(m.saves)-1).Draw(m.T, "save")
	m.backTo(i, func() { m.stage.Rollback(m.saves[i].point) })
}

func (m *model) resetDir() {
	m.check(os.RemoveAll(m.dir))
	m.check(os.Mkdir(m.dir, 0o755))
}

func (m *model) compare() {
	if diff := cmp.Diff(treeOf(m.T, afero.NewBasePathFs(afero.NewOsFs(), m.dir)), treeOf(m.T, m.stage)); diff != "" {
		m.Fatalf("the stage differs (-system +stage):\n%s", diff)
	}
}
