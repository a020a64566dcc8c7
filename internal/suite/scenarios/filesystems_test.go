package scenarios_test

import (
	"errors"
	"flag"
	"os"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/internal/suite"
	"github.com/millrace-go/millrace/internal/txtarfs"
	"github.com/millrace-go/millrace/millracetest"
)

var update = flag.Bool("update", false, "rewrite the table in docs/filesystems.md")

// wrapper is a way to combine file systems.
type wrapper struct {
	name string
	over func(t *testing.T) afero.Fs              // the files are planted here
	wrap func(t *testing.T, fs afero.Fs) afero.Fs // nil: no wrapper
	// opens does the work of both, for file systems that need the files first.
	opens func(t *testing.T, files []txtarfs.File) afero.Fs
	// refuses is the limit of a file system that does not support everything, as in its errors.
	refuses string
	// unlike are the scenarios that have another result on it, with the reason.
	unlike map[string]string
	// slow means that a refusal takes a while. Only TestFileSystems then tests the file system.
	slow bool
}

// wrappers returns the file systems of afero, and millrace's own.
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

// open returns the file system with the files, and the file system below.
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

// refusal returns a check of a file system that has refused writes: nothing has changed below it, nothing is left
// there, and the error names the missing feature. The check receives the error, or another run that returns it. refusal
// returns nil for a file system that supports everything.
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
			t.Errorf("the error does not name what failed, or its state: %v", err)
		}
	}
}

// TestFileSystems runs the operations of runs on each file system, and checks the table in docs/filesystems.md.
func TestFileSystems(t *testing.T) {
	var table strings.Builder
	table.WriteString(millracetest.Header("file system"))
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
		return // so that -update does not write wrong rows
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

// workingDir returns the file system of the operating system in an empty working directory.
func workingDir(t *testing.T) afero.Fs { t.Chdir(t.TempDir()); return afero.NewOsFs() }

// row returns the row of the table for a file system. It checks that refusals leave nothing.
func (w wrapper) row(t *testing.T) string {
	belows := make(map[string]afero.Fs) // by the name of the test
	row := millracetest.Backend(t, func(tb testing.TB, tree string) afero.Fs {
		tb.Helper()
		fsys, below := w.open(tb.(*testing.T), txtarfs.Parse([]byte(tree)).Files)
		belows[tb.Name()] = below
		return fsys
	})
	for _, a := range row.Abilities {
		if a.Err == nil {
			continue
		}
		below := belows[t.Name()+"/"+strings.ReplaceAll(a.Name, " ", "_")]
		refused := w.refusal(below)
		if refused == nil || below == nil {
			t.Errorf("%s is refused: %v", a.Name, a.Err)
			continue
		}
		refused(t, func() error { return a.Err })
	}
	row.Name = w.name
	return row.String()
}
