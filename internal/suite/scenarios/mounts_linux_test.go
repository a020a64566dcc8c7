package scenarios_test

import (
	"os"
	"strings"
	"testing"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/internal/mounts"
	"github.com/millrace-go/millrace/internal/rootfs"
	"github.com/millrace-go/millrace/internal/suite"
	"github.com/millrace-go/millrace/internal/txtarfs"
)

const mountsBegin, mountsEnd = "<!-- mounts: made by go test ./internal/suite/scenarios -update -->\n", "<!-- end of mounts -->\n"

// TestMounts runs the operations of runs on each kind of real file system that can be mounted here, and checks its row
// in docs/filesystems.md.
func TestMounts(t *testing.T) {
	if fstest.ByItself(0, 1) == 0 && !*update {
		t.Skip("it takes a while: MILLRACE_SAMPLES=quick runs it")
	}
	if !mounts.Own(t) {
		return
	}
	const page = "../../../docs/filesystems.md"
	data, err := os.ReadFile(page)
	fstest.Must(t, err)
	head, rest, _ := strings.Cut(string(data), mountsBegin)
	table, tail, ok := strings.Cut(rest, mountsEnd)
	if !ok {
		t.Fatal("docs/filesystems.md has no markers")
	}
	rows := strings.SplitAfter(table, "\n")
	for _, k := range mounts.Kinds() {
		t.Run(k.Name, func(t *testing.T) {
			m := k.Mount(t)
			row := wrapper{name: k.Name, opens: func(t *testing.T, files []txtarfs.File) afero.Fs { return onMount(t, m, files) }}.row(t)
			for i, was := range rows {
				if strings.HasPrefix(was, "| "+k.Name+" |") {
					rows[i] = row
					return
				}
			}
			t.Errorf("docs/filesystems.md has no row for it: %s", row)
		})
	}
	if !t.Failed() {
		suite.Golden(t, *update, page, []byte(head+mountsBegin+strings.Join(rows, "")+mountsEnd+tail))
	}
}

// onMount returns a new tree with the files on a mount.
func onMount(t *testing.T, m *mounts.Mount, files []txtarfs.File) afero.Fs {
	t.Helper()
	dir := m.Tree(t, func(dir string) {
		below, err := rootfs.Open(dir)
		fstest.Must(t, err)
		defer below.Close()
		suite.Plant(t, below, files)
	})
	return fstest.OpenRoot(t, dir)
}

// TestScenarios_mounts runs every pipeline in testdata/run on each kind of real file system.
func TestScenarios_mounts(t *testing.T) {
	if fstest.Runs(0, 1, 1) == 0 {
		t.Skip("it takes a while: MILLRACE_SAMPLES=full runs it")
	}
	if !mounts.Own(t) {
		return
	}
	for _, k := range mounts.Kinds() {
		t.Run(k.Name, func(t *testing.T) {
			m := k.Mount(t)
			for name, a := range archives(t) {
				t.Run(name, func(t *testing.T) {
					if k.NoModes && name == "list" {
						t.Skip("it lists permissions, and the mount keeps none")
					}
					runScenario(t, a, onMount(t, m, a.Under("in")), nil)
				})
			}
		})
	}
}
