package recovery_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/backup"
	"github.com/millrace-go/millrace/internal/errorfs"
	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/internal/rootfs"
	"github.com/millrace-go/millrace/internal/suite"
)

// dying is a real directory that refuses all writes once it is armed and the operations are used up. The commit calls
// it from several goroutines.
func dying(root afero.Fs, armed *atomic.Bool, left *atomic.Int64) afero.Fs {
	return errorfs.Wrap(root, func(op *errorfs.Op, do func() error) error {
		switch op.Kind {
		case "mkdir", "remove", "removeall", "rename", "noreplace", "exchange", "link":
		case "open":
			if op.Flag == os.O_RDONLY {
				return do()
			}
		default:
			return do()
		}
		if armed.Load() && left.Add(-1) < 0 {
			return syscall.EIO
		}
		return do()
	})
}

// killedTree makes a directory in which a run was cut off in a phase of its commit. It returns the directory, and that
// of the transaction.
func killedTree(t *testing.T, phase string, operations int64) (root realTree, tx string) {
	t.Helper()
	root = openDir(t, t.TempDir())
	suite.ThreeFiles(t, root)
	var armed atomic.Bool
	var left atomic.Int64
	left.Store(operations)
	x := millrace.Executor{RunID: "job", Observe: func(e millrace.Event) {
		if c, ok := e.(millrace.CommitPhase); ok && c.Phase == phase {
			armed.Store(true)
		}
	}}
	// The error of the run does not matter here.
	_, _ = x.Run(t.Context(), dying(root.FS, &armed, &left), suite.Edit("a.txt", "b.txt"))
	found, err := afero.ReadDir(root, ".millrace/tx")
	if err != nil || len(found) != 1 {
		t.Fatalf("left over: %v, %v", found, err)
	}
	return root, filepath.Join(root.dir, ".millrace/tx", found[0].Name())
}

// realTree is a directory with its path.
type realTree struct {
	*rootfs.FS
	dir string
}

func openDir(t *testing.T, dir string) realTree {
	t.Helper()
	root, err := rootfs.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { root.Close() })
	return realTree{root, dir}
}

// fingerprint returns everything that is visible of a directory, except the times of access.
func fingerprint(t *testing.T, dir string) string {
	t.Helper()
	return fstest.Listing(t, dir, func(info fs.FileInfo) string {
		sys := info.Sys().(*syscall.Stat_t)
		return fmt.Sprint(info.Mode(), info.Size(), sys.Ino, sys.Nlink, info.ModTime(), sys.Ctim)
	})
}

// TestInspectSeesWhatRecoverDoes: Inspect reports what Recover does, and writes nothing.
func TestInspectSeesWhatRecoverDoes(t *testing.T) {
	for _, tt := range []struct {
		phase      string
		operations int64
		status     backup.LeftoverStatus
		isNew      bool
	}{
		{"stage", 8, backup.LeftoverUntouched, false},
		{"backup", 1, backup.LeftoverUntouched, false},
		{"apply", 2, backup.LeftoverInterrupted, false},
		{"sync", 0, backup.LeftoverInterrupted, false},
		{"clean", 0, backup.LeftoverCommitted, true},
	} {
		t.Run(tt.phase, func(t *testing.T) {
			t.Parallel()
			root, tx := killedTree(t, tt.phase, tt.operations)
			before := fingerprint(t, root.dir)
			found := inspect(t, root)
			if len(found.Leftovers) != 1 || found.Leftovers[0].Status != tt.status || found.Leftovers[0].ID != filepath.Base(tx) {
				t.Fatalf("found %+v", found)
			}
			if l := found.Leftovers[0]; tt.status != backup.LeftoverUntouched && (l.Pipeline != "edit" || l.RunID != "job" || len(l.Paths) < 2) || l.Reason != "" {
				t.Errorf("leftover %+v", l)
			}
			if found.Clean() || found.Blocked() {
				t.Errorf("clean %v, blocked %v", found.Clean(), found.Blocked())
			}
			inspect(t, afero.NewReadOnlyFs(root))
			if d := cmp.Diff(before, fingerprint(t, root.dir)); d != "" {
				t.Errorf("Inspect has written (-before +after):\n%s", d)
			}
			done, err := millrace.Executor{}.Recover(t.Context(), root)
			if err != nil || (len(done.Finished) == 1) != tt.isNew || (len(done.RolledBack) == 1) == tt.isNew {
				t.Fatalf("Recover: %+v, %v", done, err)
			}
			want := "x\n"
			if tt.isNew {
				want = "y\n"
			}
			for _, name := range []string{"a.txt", "b.txt"} {
				if got := suite.Read(t, root, name); got != want {
					t.Errorf("%s is %q", name, got)
				}
			}
			if found := inspect(t, root); !found.Clean() {
				t.Errorf("after the recovery: %+v", found)
			}
		})
	}
}

// suspicious are ways to make a transaction untrusted, and the words that the reason must have. Each function receives
// the root of the tree and the directory of the transaction.
var suspicious = []struct {
	name, phase, reason string
	harm                func(t *testing.T, dir, tx string)
}{
	{"bit flipped", "apply", "damaged", changeFile("plan", func(d []byte) []byte { d[len(d)/2] ^= 4; return d })},
	{"truncated", "apply", "damaged", changeFile("plan", func(d []byte) []byte { return d[:len(d)/2] })},
	{"emptied", "apply", "damaged", changeFile("plan", func([]byte) []byte { return nil })},
	{"newer", "apply", "unknown version", changeFile("plan", func(d []byte) []byte { return []byte(strings.Replace(string(d), "plan 1", "plan 9", 1)) })},
	{"damaged mark", "clean", "damaged", changeFile("done", func(d []byte) []byte { d[20] ^= 4; return d })},
	{"two marks", "apply", "both", func(t *testing.T, _, tx string) {
		must(t, os.Link(filepath.Join(tx, "plan"), filepath.Join(tx, "done")))
	}},
	{"a copy", "apply", "not at the place", func(t *testing.T, _, tx string) {
		must(t, os.Rename(tx, tx+"x"), os.CopyFS(tx, os.DirFS(tx+"x")), os.RemoveAll(tx+"x"))
	}},
	{"another name", "apply", "not at the place", func(t *testing.T, _, tx string) {
		must(t, os.Rename(tx, filepath.Join(filepath.Dir(tx), "20200101_000000_0123456789abcdef")))
	}},
	{"a link", "apply", "not a directory", func(t *testing.T, dir, tx string) {
		must(t, os.Rename(tx, filepath.Join(dir, "elsewhere")), os.Symlink("../../elsewhere", tx))
	}},
	{"a file", "apply", "not a directory", func(t *testing.T, _, tx string) {
		must(t, os.RemoveAll(tx), os.WriteFile(tx, []byte("x"), 0o600))
	}},
	{"plan is a pipe", "apply", "", func(t *testing.T, _, tx string) {
		must(t, os.Remove(filepath.Join(tx, "plan")), syscall.Mkfifo(filepath.Join(tx, "plan"), 0o600))
	}},
}

func changeFile(name string, change func([]byte) []byte) func(*testing.T, string, string) {
	return func(t *testing.T, _, tx string) {
		t.Helper()
		data, err := os.ReadFile(filepath.Join(tx, name))
		must(t, err, os.WriteFile(filepath.Join(tx, name), change(data), 0o600))
	}
}

func must(t *testing.T, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

// TestInspectSuspicious: transactions that cannot be trusted are reported and left alone. Nothing is written, and dry
// runs still work.
func TestInspectSuspicious(t *testing.T) {
	for _, tt := range suspicious {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			root, tx := killedTree(t, tt.phase, 2)
			tt.harm(t, root.dir, tx)
			refusedAsSuspicious(t, root, tt.reason)
		})
	}
}

// refusedAsSuspicious checks that the one transaction in the tree is suspicious for that reason, and the consequences.
func refusedAsSuspicious(t *testing.T, root realTree, reason string) {
	t.Helper()
	before := fingerprint(t, root.dir)
	found := inspect(t, root)
	if len(found.Leftovers) != 1 {
		t.Fatalf("found %+v", found)
	}
	l := found.Leftovers[0]
	if l.Status != backup.LeftoverSuspicious || l.Reason == "" || !strings.Contains(l.Reason, reason) || l.Pipeline != "" || l.Paths != nil || !found.Blocked() {
		t.Errorf("leftover %+v", l)
	}
	if found := inspect(t, afero.NewReadOnlyFs(root)); !found.Blocked() {
		t.Errorf("through a read-only file system: %+v", found)
	}
	_, err := millrace.Executor{}.Recover(t.Context(), root)
	failed, ok := errors.AsType[*millrace.CommitError](err)
	if !ok || failed.State != millrace.CommitPending || !strings.Contains(err.Error(), l.Directory) || !strings.Contains(err.Error(), l.Reason) {
		t.Errorf("Recover: %v", err)
	}
	blocked(t, root, nil)
	if d := cmp.Diff(before, fingerprint(t, root.dir)); d != "" {
		t.Errorf("something was written (-before +after):\n%s", d)
	}
}

// TestInspectPlanted: a transaction that came with another tree, or was signed by another user, is not trusted.
func TestInspectPlanted(t *testing.T) {
	home := t.TempDir()
	t.Setenv("XDG_CONFIG_HOME", home)
	attacker, _ := killedTree(t, "apply", 2)
	t.Run("from another tree", func(t *testing.T) {
		root := openDir(t, t.TempDir())
		suite.ThreeFiles(t, root)
		must(t, os.CopyFS(filepath.Join(root.dir, ".millrace"), os.DirFS(filepath.Join(attacker.dir, ".millrace"))))
		refusedAsSuspicious(t, root, "not at the place")
	})
	t.Run("of another user", func(t *testing.T) {
		other := t.TempDir()
		t.Setenv("XDG_CONFIG_HOME", other)
		if found := inspect(t, attacker); !found.Blocked() {
			t.Errorf("found %+v", found)
		}
		if names, err := os.ReadDir(other); err != nil || len(names) > 0 {
			t.Errorf("Inspect has made a key: %v, %v", names, err)
		}
		refusedAsSuspicious(t, attacker, "not signed with the key of this user")
	})
	if found := inspect(t, attacker); found.Blocked() || found.Clean() {
		t.Errorf("with the right key it is %+v", found)
	}
}

// TestInspectStateDir: a state directory that is a link is not followed, whatever its target. Neither is a link in the
// state directory.
func TestInspectStateDir(t *testing.T) {
	for name, make := range map[string]func(t *testing.T, dir string){
		"link to outside": func(t *testing.T, dir string) {
			elsewhere, _ := killedTree(t, "apply", 2)
			must(t, os.Symlink(filepath.Join(elsewhere.dir, ".millrace"), filepath.Join(dir, ".millrace")))
		},
		"link to inside": func(t *testing.T, dir string) {
			must(t, os.Mkdir(filepath.Join(dir, "real"), 0o700), os.Symlink("real", filepath.Join(dir, ".millrace")))
		},
		"link to nowhere": func(t *testing.T, dir string) { must(t, os.Symlink("none", filepath.Join(dir, ".millrace"))) },
		"file":            func(t *testing.T, dir string) { must(t, os.WriteFile(filepath.Join(dir, ".millrace"), nil, 0o600)) },
		"pipe":            func(t *testing.T, dir string) { must(t, syscall.Mkfifo(filepath.Join(dir, ".millrace"), 0o600)) },
		"link for the transactions": func(t *testing.T, dir string) {
			elsewhere, _ := killedTree(t, "apply", 2)
			must(t, os.Mkdir(filepath.Join(dir, ".millrace"), 0o700),
				os.Symlink(filepath.Join(elsewhere.dir, ".millrace/tx"), filepath.Join(dir, ".millrace/tx")))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := openDir(t, t.TempDir())
			suite.ThreeFiles(t, root)
			make(t, root.dir)
			before := fingerprint(t, root.dir)
			if found, err := (millrace.Executor{}).Inspect(t.Context(), root); !errors.Is(err, millrace.ErrStateDir) {
				t.Errorf("Inspect: %+v, %v", found, err)
			}
			blocked(t, root, millrace.ErrStateDir)
			if d := cmp.Diff(before, fingerprint(t, root.dir)); d != "" {
				t.Errorf("something was written (-before +after):\n%s", d)
			}
		})
	}
}
