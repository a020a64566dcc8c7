//go:build linux || darwin

package stage_test

import (
	"encoding/json"
	"path"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/internal/guard"
	"github.com/millrace-go/millrace/internal/rootfs"
	"github.com/millrace-go/millrace/internal/stage"
)

// keptStage is a stage over a directory of the system, with the deltas that rebuild it.
type keptStage struct {
	*stage.Stage
	t      *testing.T
	root   *rootfs.FS
	dir    string
	spill  *memSpill
	policy guard.Policy
	keeper *stage.Keeper
	deltas [][]byte
}

// newKept makes files as "name=text", and directories as "name/".
func newKept(t *testing.T, files ...string) *keptStage {
	t.Helper()
	dir := t.TempDir()
	k := &keptStage{t: t, root: fstest.OpenRoot(t, dir), dir: dir, spill: new(memSpill)}
	for _, file := range files {
		name, text, isFile := strings.Cut(file, "=")
		if isFile {
			fstest.Must(t, k.root.MkdirAll(path.Dir(name), 0o755))
			fstest.Write(t, k.root, name, text)
		} else {
			fstest.Must(t, k.root.MkdirAll(name, 0o755))
		}
	}
	k.Stage = k.open()
	k.keeper = stage.NewKeeper(k.Stage)
	return k
}

func (k *keptStage) open() *stage.Stage {
	s := stage.New(k.root)
	k.t.Cleanup(func() { s.Close() })
	s.SetSpill(k.spill)
	s.SetGuard(k.policy)
	return s
}

func (k *keptStage) must(err error) {
	k.t.Helper()
	if err != nil {
		k.t.Fatal(err)
	}
}

// keep takes a delta.
func (k *keptStage) keep() []byte {
	k.t.Helper()
	data, depth, err := k.keeper.Delta()
	k.must(err)
	k.deltas = append(k.deltas[:depth:depth], data)
	return data
}

// restored restores the stage from the deltas, and returns the error of that.
func (k *keptStage) restored() (*stage.Stage, *stage.Keeper, error) {
	s := k.open()
	keeper, err := stage.Restore(k.t.Context(), s, k.deltas)
	return s, keeper, err
}

// resume continues with a restored stage, which must report the same.
func (k *keptStage) resume() {
	k.t.Helper()
	want := k.told()
	s, keeper, err := k.restored()
	k.must(err)
	k.Stage, k.keeper = s, keeper
	if diff := cmp.Diff(want, k.told()); diff != "" {
		k.t.Fatalf("the stage differs (-kept +built again):\n%s", diff)
	}
}

// told returns everything that the stage reports.
func (k *keptStage) told() string {
	k.t.Helper()
	changes, err := k.Changes()
	k.must(err)
	data, err := json.MarshalIndent(changes, "", " ")
	k.must(err)
	return string(data) + trashOf(changes)
}

// trashOf lists the changes whose old entries the trash keeps.
func trashOf(changes []change.Change) (list string) {
	for _, c := range changes {
		if c.Trash {
			list += "\ntrash: " + c.Path
		}
	}
	return list
}

func (k *keptStage) text(name string) string {
	k.t.Helper()
	data, err := afero.ReadFile(k.Stage, name)
	k.must(err)
	return string(data)
}
