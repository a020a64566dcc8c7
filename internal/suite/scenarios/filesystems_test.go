package scenarios_test

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/internal/suite"
	"github.com/millrace-go/millrace/internal/txtarfs"
)

var update = flag.Bool("update", false, "rewrite the table in docs/filesystems.md")

// wrapper is a way to put file systems together.
type wrapper struct {
	name string
	over func(t *testing.T) afero.Fs              // where the files are planted
	wrap func(t *testing.T, fs afero.Fs) afero.Fs // nil leaves it as it is
	// opens does both, where files have to be there before.
	opens func(t *testing.T, files []txtarfs.File) afero.Fs
	// refuses is the limit of a file system that does not do everything, as its errors tell it.
	refuses string
	// unlike are the scenarios that have another result on it, and why.
	unlike map[string]string
	// slow means that it takes a while to refuse, so that the scenarios are left to others, and TestFileSystems tries
	// it.
	slow bool
}

// wrappers are the file systems that afero ships, and millrace's own.
func wrappers() []wrapper {
	disk := func(t *testing.T) afero.Fs { return afero.NewBasePathFs(afero.NewOsFs(), t.TempDir()) }
	memory := func(*testing.T) afero.Fs { return afero.NewMemMapFs() }
	copyOnWrite := func(layer func(t *testing.T) afero.Fs) func(t *testing.T, fs afero.Fs) afero.Fs {
		return func(t *testing.T, fs afero.Fs) afero.Fs { return afero.NewCopyOnWriteFs(fs, layer(t)) }
	}
	cache := func(layer func(t *testing.T) afero.Fs) func(t *testing.T, fs afero.Fs) afero.Fs {
		return func(t *testing.T, fs afero.Fs) afero.Fs { return afero.NewCacheOnReadFs(fs, layer(t), time.Hour) }
	}
	readOnly := func(_ *testing.T, fs afero.Fs) afero.Fs { return afero.NewReadOnlyFs(fs) }
	filter := func(_ *testing.T, fs afero.Fs) afero.Fs { return afero.NewRegexpFs(fs, regexp.MustCompile(`.`)) }
	below := func(_ *testing.T, fs afero.Fs) afero.Fs { return afero.NewBasePathFs(fs, "below") }
	const lower, isNew, hides, read = "neither renamed nor deleted", "cannot make a file that must be new", "cannot make new files", "cannot be written to"
	unlike := map[string]string{"worked-preview-changes": "a file that the cache has in memory is shown with mode 0, so it is read-only and needs force"}
	return []wrapper{
		{name: "fsutil.RootFs", over: suite.Backends()["root"]},
		{name: "BasePathFs over OsFs", over: disk},
		{name: "MemMapFs", over: memory},
		{name: "BasePathFs over MemMapFs", over: memory, wrap: below},
		{name: "CopyOnWriteFs, disk over disk", over: disk, wrap: copyOnWrite(disk), refuses: lower},
		{name: "CopyOnWriteFs, memory over disk", over: disk, wrap: copyOnWrite(memory), refuses: lower},
		{name: "CopyOnWriteFs, memory over memory", over: memory, wrap: copyOnWrite(memory), refuses: lower},
		{name: "CacheOnReadFs, disk over disk", over: disk, wrap: cache(disk), refuses: isNew},
		{name: "CacheOnReadFs, memory over disk", over: disk, wrap: cache(memory), refuses: isNew, unlike: unlike},
		{name: "CacheOnReadFs, memory over memory", over: memory, wrap: cache(memory), refuses: isNew, unlike: unlike},
		{name: "RegexpFs over disk", over: disk, wrap: filter, refuses: hides, slow: fstest.ByItself(1, 0) > 0},
		{name: "RegexpFs over memory", over: memory, wrap: filter, refuses: hides, slow: true},
		{name: "ReadOnlyFs over disk", over: disk, wrap: readOnly, refuses: read},
		{name: "ReadOnlyFs over memory", over: memory, wrap: readOnly, refuses: read},
	}
}

// open returns the file system with the files, and what it is over.
func (w wrapper) open(t *testing.T, files []txtarfs.File) (fsys, below afero.Fs) {
	t.Helper()
	if w.opens != nil {
		fsys = w.opens(t, files)
		return fsys, fsys
	}
	below = w.over(t)
	fsys = below
	if w.wrap != nil {
		fsys = w.wrap(t, below)
	}
	if w.refuses == "" {
		suite.Plant(t, fsys, files)
	} else {
		suite.Plant(t, below, files)
	}
	return fsys, below
}

// refusal returns a check of a file system that has refused to be written to: nothing has changed below it, nothing is
// left there, and the error names what it cannot do. The check is given the error, or another run to get it from. It
// is nil for a file system that does everything.
func (w wrapper) refusal(below afero.Fs) func(t *testing.T, run func() error) {
	if w.refuses == "" {
		return nil
	}
	return func(t *testing.T, run func() error) {
		t.Helper()
		if left, err := afero.Exists(below, ".millrace"); left || err != nil {
			t.Errorf("it has left a state directory behind: %v", err)
		}
		err := run()
		failed, ok := errors.AsType[*millrace.FileSystemError](err)
		if !ok || !strings.Contains(failed.Limit, w.refuses) || !strings.Contains(err.Error(), failed.Name+": "+failed.Limit) || millrace.Written(err) {
			t.Errorf("it refuses with %v", err)
		}
		if commit, ok := errors.AsType[*millrace.CommitError](err); !ok && !strings.HasPrefix(err.Error(), "lock: ") ||
			ok && commit.State != millrace.CommitRolledBack {
			t.Errorf("the error does not say what failed, or in which state: %v", err)
		}
	}
}

// abilities are the columns of the table: what is done to a tree with the files a.txt and d/b.txt, and what must be
// there then.
var abilities = []struct {
	name  string
	first actions.Action // what another run does before; nil for nothing
	do    actions.Action
	want  map[string]string // "" for what must be gone
}{
	{"search", nil, actions.Search{Pattern: "old"}, map[string]string{"a.txt": "old\n"}},
	{"edit", nil, actions.Edit{Files: []string{"d/b.txt"}, OldText: "old", NewText: "new"}, map[string]string{"d/b.txt": "new\n"}},
	{"create", nil, actions.Create{Path: "d/c.txt", Content: "made\n"}, map[string]string{"d/c.txt": "made\n"}},
	{"copy", nil, actions.Copy{Files: []string{"a.txt"}, To: "d/c.txt"}, map[string]string{"a.txt": "old\n", "d/c.txt": "old\n"}},
	{"rename", nil, actions.Rename{Files: []string{"a.txt"}, To: "d/c.txt"}, map[string]string{"a.txt": "", "d/c.txt": "old\n"}},
	{"delete", nil, actions.Delete{Files: []string{"d/b.txt"}}, map[string]string{"d/b.txt": ""}},
	{
		"rename of what a run has made", actions.Create{Path: "d/c.txt", Content: "made\n"},
		actions.Rename{Files: []string{"d/c.txt"}, To: "e.txt"}, map[string]string{"d/c.txt": "", "e.txt": "made\n"},
	},
	{
		"delete of what a run has made", actions.Create{Path: "d/c.txt", Content: "made\n"},
		actions.Delete{Files: []string{"d/c.txt"}}, map[string]string{"d/c.txt": ""},
	},
}

// TestFileSystems does what runs do on each file system, and keeps the table in docs/filesystems.md what it has seen.
func TestFileSystems(t *testing.T) {
	var table strings.Builder
	table.WriteString("| file system |")
	for _, a := range abilities {
		table.WriteString(" " + a.name + " |")
	}
	table.WriteString(" restore | safe against |\n|---|" + strings.Repeat("---|", len(abilities)+2) + "\n")
	all := wrappers()
	rows := make([]string, len(all)+1)
	t.Run("wrappers", func(t *testing.T) {
		for i, w := range all {
			t.Run(w.name, func(t *testing.T) {
				t.Parallel()
				rows[i] = w.row(t)
			})
		}
	})
	t.Run("OsFs", func(t *testing.T) { rows[len(all)] = wrapper{name: "OsFs", over: workingDir}.row(t) })
	for _, row := range rows {
		table.WriteString(row)
	}
	if t.Failed() {
		return // so that -update does not write down what must not be
	}
	if runtime.GOOS != "linux" {
		t.Log("docs/filesystems.md is not compared: it describes Linux")
		return
	}
	const page, begin, end = "../../../docs/filesystems.md", "<!-- file systems: made by go test ./internal/suite/scenarios -update -->\n", "<!-- end of file systems -->\n"
	data, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, ok1 := strings.Cut(string(data), begin)
	_, tail, ok2 := strings.Cut(rest, end)
	if !ok1 || !ok2 {
		t.Fatal("docs/filesystems.md has no markers")
	}
	suite.Golden(t, *update, page, []byte(head+begin+table.String()+end+tail))
}

// workingDir is the file system of the operating system, on which names are those in the working directory.
func workingDir(t *testing.T) afero.Fs { t.Chdir(t.TempDir()); return afero.NewOsFs() }

func (w wrapper) row(t *testing.T) string {
	restores, guarantee := "–", "–"
	var b strings.Builder
	b.WriteString("| " + w.name + " |")
	for _, a := range abilities {
		t.Run(a.name, func(t *testing.T) {
			fsys, below := w.open(t, []txtarfs.File{{Name: "a.txt", Data: []byte("old\n")}, {Name: "d/b.txt", Data: []byte("old\n")}})
			run := func(do actions.Action) (*millrace.Result, error) {
				return millrace.Executor{}.Run(t.Context(), fsys, millrace.New("p").Step("s", do).MustBuild())
			}
			if a.first != nil {
				if _, err := run(a.first); err != nil {
					b.WriteString(" – |")
					return
				}
			}
			before, err := txtarfs.Read(fsys, ".millrace")
			if err != nil {
				t.Fatal(err)
			}
			res, err := run(a.do)
			if refused := w.refusal(below); err != nil && refused != nil {
				suite.CheckTree(t, "after the file system has refused", fsys, before)
				refused(t, func() error { _, err := run(a.do); return err })
				b.WriteString(" no |")
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			for name, want := range a.want {
				if got, err := afero.ReadFile(fsys, name); string(got) != want || (err != nil) != (want == "") {
					t.Errorf("%s: %q, %v", name, got, err)
				}
			}
			b.WriteString(" yes |")
			if res.BackupID == "" {
				return
			}
			if guarantee != "–" && guarantee != string(res.Guarantee) {
				t.Errorf("safe against %s and %s", guarantee, res.Guarantee)
			}
			guarantee = string(res.Guarantee)
			_, err = millrace.Executor{}.Restore(t.Context(), fsys, res.BackupID)
			after, rerr := txtarfs.Read(fsys, ".millrace")
			if rerr != nil {
				t.Fatal(rerr)
			}
			if diff := cmp.Diff(before, after); diff != "" || err != nil {
				t.Errorf("restored: %v (-want +got):\n%s", err, diff)
			}
			restores = "yes"
		})
	}
	return b.String() + fmt.Sprintf(" %s | %s |\n", restores, guarantee)
}
