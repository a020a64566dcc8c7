package runs_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/internal/rootfs"
	"github.com/millrace-go/millrace/internal/suite"
)

// TestForeignWriteWhileStaging: another program writes to a file after the plan has read it and before the commit
// stages the new file. The text has the same size and the same time. The edit must not use that text, although no step
// has computed the planned hash.
func TestForeignWriteWhileStaging(t *testing.T) {
	t.Parallel()
	for _, age := range []time.Duration{time.Hour, 0} {
		dir := fstest.TempDir(t)
		file := filepath.Join(dir, "a.txt")
		then := time.Now().Add(-age)
		write := func(text string) {
			if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
			if err := os.Chtimes(file, then, then); err != nil {
				t.Fatal(err)
			}
		}
		write("x and mine\n")
		root, err := rootfs.Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		defer root.Close()
		x := millrace.Executor{Observe: func(e millrace.Event) {
			if c, ok := e.(millrace.CommitPhase); ok && c.Phase == "stage" {
				write("x and yours"[:10] + "\n")
			}
		}}
		_, err = x.Run(t.Context(), root, suite.Edit("a.txt"))
		if _, ok := errors.AsType[*millrace.ConflictError](err); !ok || !strings.Contains(err.Error(), "a.txt") {
			t.Errorf("%v old: error %v", age, err)
		}
		if got := suite.Read(t, root, "a.txt"); got != "x and your\n" {
			t.Errorf("%v old: it is %q", age, got)
		}
	}
}

// TestChangesHaveHashes: the changes of a plan have their hashes when a caller requests them, whether or not the plan
// needed the hashes before.
func TestChangesHaveHashes(t *testing.T) {
	t.Parallel()
	for name, fsys := range map[string]afero.Fs{"memory": afero.NewMemMapFs(), "root": suite.OpenRoot(t, fstest.TempDir(t))} {
		suite.ThreeFiles(t, fsys)
		plan, err := millrace.Executor{}.Plan(t.Context(), fsys, suite.Edit("a.txt", "b.txt"))
		if err != nil {
			t.Fatal(err)
		}
		changes := plan.Changes()
		if len(changes) != 2 {
			t.Fatalf("%s: %d changes", name, len(changes))
		}
		for _, c := range changes {
			if c.Old.Hash != change.HashOf([]byte("x\n")) || c.New.Hash != change.HashOf([]byte("y\n")) {
				t.Errorf("%s: %s has %x and %x", name, c.Path, c.Old.Hash, c.New.Hash)
			}
		}
	}
}
