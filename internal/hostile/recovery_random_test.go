//go:build linux

package hostile_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/afero"
	"golang.org/x/sys/unix"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/internal/stage"
)

// TestHostile_rollback_of_random_changes makes random changes in random trees, cancels the commit after all changes are
// applied, and compares the tree with the tree before: inodes, times, owners, attributes, access control lists and hard
// links.
func TestHostile_rollback_of_random_changes(t *testing.T) {
	t.Parallel()
	changing(t, func(t *testing.T, dir string, p millrace.Pipeline) bool {
		before := treeOf(t, dir, exact)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		applied := false
		x := millrace.Executor{MaxFiles: -1, Observe: func(e millrace.Event) {
			if p, ok := e.(millrace.CommitPhase); ok && p.Phase == "sync" {
				applied = true
				cancel()
			}
		}}
		res, err := x.Run(ctx, openDir(t, dir), p)
		if applied == (err == nil) || applied && res.Commit.State != millrace.CommitRolledBack {
			t.Fatalf("%v, %v", res, err)
		}
		sameTree(t, "rolled back", dir, before, exact)
		return applied
	})
}

// TestHostile_restore_of_random_changes restores the backup instead. A file that the run rewrote or deleted is then a
// new file with the old bytes, owner, attributes and times. All other files keep their inodes and hard links.
func TestHostile_restore_of_random_changes(t *testing.T) {
	t.Parallel()
	changing(t, func(t *testing.T, dir string, p millrace.Pipeline) bool {
		before, old := treeOf(t, dir, exact), treeOf(t, dir, exact)
		x, fsys := millrace.Executor{State: millrace.State{NoSync: true}, MaxFiles: -1}, openDir(t, dir)
		res, err := x.Run(t.Context(), fsys, p)
		must(t, err)
		if res.BackupID == "" {
			sameTree(t, "unchanged", dir, before, exact)
			return false
		}
		names := make(map[string]int) // how many names of a file the run removed
		for _, text := range old {
			names[inode(text)]++
		}
		for _, text := range treeOf(t, dir, exact) {
			names[inode(text)]--
		}
		_, err = x.Restore(t.Context(), fsys, res.BackupID)
		must(t, err)
		got := treeOf(t, dir, exact)
		delete(got, stateName)
		for name := range before {
			if names[inode(old[name])] != 0 {
				before[name], _, _ = strings.Cut(before[name], " #")
				got[name], _, _ = strings.Cut(got[name], " #")
			}
		}
		if diff := cmp.Diff(before, got); diff != "" {
			t.Fatalf("after the restore (-want +got):\n%s", diff)
		}
		return true
	})
}

// inode returns the part of a file's description that identifies the file.
func inode(text string) string {
	_, id, _ := strings.Cut(text, " #")
	id, _, _ = strings.Cut(id, "/")
	return id
}

// changing calls test with random trees and pipelines that change them, and fails if it returns true too rarely.
func changing(t *testing.T, test func(t *testing.T, dir string, p millrace.Pipeline) bool) {
	t.Helper()
	runs, changed := fstest.Runs(50, 200, 5000), 0
	for seed := range runs {
		dir := filepath.Join(fstest.TempDir(t), "tree")
		must(t, os.Mkdir(dir, 0o755))
		var done []string
		ok := t.Run(fmt.Sprint(seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(uint64(seed), 18))
			randomTree(t, r, dir)
			if test(t, dir, altering(func(s *stage.Stage) error {
				for range 1 + r.IntN(12) {
					done = append(done, randomChange(r, s))
				}
				return nil
			})) {
				changed++
			}
		})
		if !ok {
			t.Fatalf("seed %d:\n%s", seed, strings.Join(done, "\n"))
		}
		must(t, os.RemoveAll(dir))
	}
	fstest.Countf(t, "%d trees, %d of them changed", runs, changed)
	if changed < runs/2 {
		t.Errorf("only %d of %d trees were changed", changed, runs)
	}
}

// randomName picks a name from a short list, so that changes share paths.
func randomName(r *rand.Rand) string {
	parts := make([]string, 1+r.IntN(3))
	for i := range parts {
		parts[i] = string(rune('a' + r.IntN(4)))
	}
	return path.Join(parts...)
}

func randomTree(t *testing.T, r *rand.Rand, dir string) {
	t.Helper()
	root := os.Geteuid() == 0
	var files []string
	for range 4 + r.IntN(10) {
		full := filepath.Join(dir, randomName(r))
		if os.MkdirAll(filepath.Dir(full), 0o755) != nil {
			continue // a file blocks the directory
		}
		if _, err := os.Lstat(full); err == nil {
			continue
		}
		switch k := r.IntN(8); {
		case k == 0:
			must(t, os.Mkdir(full, 0o700|fs.FileMode(r.IntN(0o100))))
			continue
		case k == 1:
			must(t, os.Symlink([]string{"a", "nowhere", "../x"}[r.IntN(3)], full))
			continue
		case k == 2 && len(files) > 0:
			must(t, os.Link(files[r.IntN(len(files))], full))
			continue
		}
		must(t, os.WriteFile(full, []byte(strings.Repeat(fmt.Sprint(r.IntN(1000)), r.IntN(5))), 0o600))
		if root && r.IntN(3) == 0 {
			must(t, os.Chown(full, 1000+r.IntN(3), 2000+r.IntN(3)))
		}
		readable := 0o200
		if !root {
			readable = 0o600
		}
		must(t, unix.Chmod(full, uint32(readable|r.IntN(0o7777)))) // the owner may always write
		if r.IntN(3) == 0 {
			if err := unix.Setxattr(full, "user.note", []byte{byte(r.IntN(256))}, 0); !errors.Is(err, unix.ENOTSUP) {
				must(t, err)
			}
		}
		if r.IntN(4) == 0 {
			if err := unix.Setxattr(full, "system.posix_acl_access", accessList(), 0); !errors.Is(err, unix.ENOTSUP) {
				must(t, err)
			}
		}
		must(t, os.Chtimes(full, longBefore, longBefore.Add(time.Duration(r.Int64N(1e17)))))
		files = append(files, full)
	}
}

// randomChange tries a change, which may be impossible, and returns its description.
func randomChange(r *rand.Rand, s *stage.Stage) string {
	a, b := randomName(r), randomName(r)
	var what string
	var err error
	switch r.IntN(10) {
	case 0, 1, 2:
		what, err = "write "+a, afero.WriteFile(s, a, []byte(strings.Repeat("new", r.IntN(4))), 0o644)
	case 3:
		what, err = "remove "+a, s.RemoveAll(a)
	case 4, 5:
		what, err = "rename "+a+" "+b, s.Rename(a, b)
	case 6:
		what, err = "mkdir "+a, s.MkdirAll(a, 0o755)
	case 7:
		m := fs.FileMode(0o600 | r.IntN(0o177))
		if os.Geteuid() != 0 {
			m |= 0o100 // without it only root could look into the directory
		}
		what, err = fmt.Sprintf("chmod %s %o", a, m), s.Chmod(a, m)
	case 8:
		what, err = "touch "+a, s.Chtimes(a, longBefore, longBefore.Add(time.Hour))
	default:
		what, err = "symlink "+a, s.SymlinkIfPossible("b", a)
	}
	if err != nil {
		what += ": " + err.Error()
	}
	return what
}
