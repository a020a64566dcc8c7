package recovery_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/internal/suite"
)

// A state directory that a person has made to mark the root of the tree survives each run: a run that commits nothing,
// fails, or commits, and the removal of all backups. A state directory that a run has made is removed with its
// contents.
func TestFoundStateDirectoryStays(t *testing.T) {
	for _, found := range []bool{true, false} {
		for backend := range map[string]bool{"root": true, "wrapped": true} {
			dir, root := suite.Rooted(t, "a.txt", "x\n")
			var fsys afero.Fs = root
			if backend == "wrapped" {
				fsys = struct{ afero.Fs }{afero.NewBasePathFs(afero.NewOsFs(), dir)}
			}
			state := filepath.Join(dir, ".millrace")
			if found {
				if err := os.Mkdir(state, 0o755); err != nil {
					t.Fatal(err)
				}
			}
			x := millrace.Executor{State: millrace.State{NoSync: true, Key: make([]byte, 32)}}
			check := func(when string) {
				t.Helper()
				_, err := os.Stat(state)
				if there := err == nil; there != found {
					t.Errorf("%s, %s, found %v: the directory is there: %v", backend, when, found, there)
				}
			}
			search := millrace.New("p").Step("s", actions.Search{Pattern: "x"}).MustBuild()
			none := millrace.New("p").Step("s", actions.Edit{Files: []string{"a.txt"}, OldText: "none", NewText: "y"}).MustBuild()
			for name, p := range map[string]millrace.Pipeline{"search": search, "nothing to edit": none, "no such file": suite.Edit("none.txt")} {
				_, _ = x.Run(t.Context(), fsys, p)
				check(name)
			}
			res, err := x.Run(t.Context(), fsys, suite.Edit("a.txt"))
			if err != nil {
				t.Fatal(err)
			}
			if err := x.RemoveBackup(t.Context(), fsys, res.BackupID); err != nil {
				t.Fatal(err)
			}
			_, _ = x.Run(t.Context(), fsys, none)
			if _, err := x.Recover(t.Context(), fsys); err != nil {
				t.Fatal(err)
			}
			check("without backups")
		}
	}
}
