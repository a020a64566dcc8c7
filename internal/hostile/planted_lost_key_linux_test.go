package hostile_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/backup"
	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/internal/journal"
)

// moveIn sets an empty home for this process, as a new container has.
func moveIn(t *testing.T) {
	t.Helper()
	home := t.TempDir()
	t.Setenv("XDG_CONFIG_HOME", home)
	t.Setenv("HOME", home)
}

// stateless returns a tree without its state directory.
func stateless(t *testing.T, dir string) map[string]string {
	t.Helper()
	clone := filepath.Join(fstest.TempDir(t), "clone")
	must(t, exec.CommandContext(t.Context(), "cp", "-a", dir, clone).Run(), os.RemoveAll(filepath.Join(clone, stateName)))
	return treeOf(t, clone, contents)
}

// TestHostile_a_lost_key_strands_no_tree: a process was killed in a commit, and its home is gone. The error names the
// ways out, and each of them works.
func TestHostile_a_lost_key_strands_no_tree(t *testing.T) {
	for name, out := range map[string]func(t *testing.T, dir, id string, key []byte){
		"trust": func(t *testing.T, dir, id string, _ []byte) {
			t.Helper()
			r, err := host().TrustLeftover(t.Context(), openDir(t, dir), id)
			if err != nil || len(r.RolledBack) != 1 || r.RolledBack[0] != id {
				t.Fatalf("%+v, %v", r, err)
			}
			sameTree(t, "trusted", dir, contentOnly(t), contents)
		},
		"trust in a copy of the tree": func(t *testing.T, dir, id string, _ []byte) {
			t.Helper()
			clone := filepath.Join(fstest.TempDir(t), "clone")
			must(t, exec.CommandContext(t.Context(), "cp", "-a", dir, clone).Run())
			_, err := host().TrustLeftover(t.Context(), openDir(t, clone), id)
			must(t, err)
			sameTree(t, "trusted", clone, contentOnly(t), contents)
			must(t, os.RemoveAll(filepath.Join(dir, stateName)))
		},
		"discard": func(t *testing.T, dir, id string, _ []byte) {
			t.Helper()
			before := stateless(t, dir)
			// Files without another copy are kept, and named in the error. A second discard removes them.
			kept := "has files that are nowhere else"
			if err := host().DiscardLeftover(t.Context(), openDir(t, dir), id); err == nil || !strings.Contains(err.Error(), kept) {
				t.Errorf("%v, want %s", err, kept)
			}
			must(t, host().DiscardLeftover(t.Context(), openDir(t, dir), id))
			sameTree(t, "discarded", dir, before, contents)
		},
		"the lost key": func(t *testing.T, dir, id string, key []byte) {
			t.Helper()
			x := host()
			x.State.Key = key
			r, err := x.Recover(t.Context(), openDir(t, dir))
			if err != nil || len(r.RolledBack) != 1 || r.RolledBack[0] != id {
				t.Fatalf("%+v, %v", r, err)
			}
			sameTree(t, "recovered", dir, contentOnly(t), contents)
		},
	} {
		t.Run(name, func(t *testing.T) {
			moveIn(t)
			dir, plan := unfinished(t)
			key, err := journal.UserKey(true)
			must(t, err)
			moveIn(t)
			id := filepath.Base(filepath.Dir(plan))
			refused(t, name, dir, journal.BadKey)
			_, err = host().Run(t.Context(), openDir(t, dir), altering(put("other", "x")))
			for _, way := range []string{"Executor.State.Key", fmt.Sprintf("TrustLeftover(%q)", id), fmt.Sprintf("DiscardLeftover(%q)", id)} {
				if err == nil || !strings.Contains(err.Error(), way) {
					t.Errorf("the error does not name %s: %v", way, err)
				}
			}
			for _, x := range []millrace.Executor{{ReadOnly: true}, {DryRun: true}} {
				_, terr := x.TrustLeftover(t.Context(), openDir(t, dir), id)
				derr := x.DiscardLeftover(t.Context(), openDir(t, dir), id)
				if !errors.Is(terr, millrace.ErrReadOnly) || !errors.Is(derr, millrace.ErrReadOnly) {
					t.Errorf("a host that writes nothing: %v, %v", terr, derr)
				}
			}
			for _, no := range []string{"", "..", "../tx/" + id, "20200101_000000_0123456789abcdef"} {
				_, terr := host().TrustLeftover(t.Context(), openDir(t, dir), no)
				derr := host().DiscardLeftover(t.Context(), openDir(t, dir), no)
				if !errors.Is(terr, fs.ErrNotExist) || !errors.Is(derr, fs.ErrNotExist) {
					t.Errorf("id %q: %v, %v", no, terr, derr)
				}
			}
			out(t, dir, id, key)
			_, err = host().Run(t.Context(), openDir(t, dir), altering(put("other", "x")))
			must(t, err)
		})
	}
}

// TestHostile_trust_takes_no_damaged_journal vouches for plans that are damaged, or lead to places that may not be
// written to.
func TestHostile_trust_takes_no_damaged_journal(t *testing.T) {
	t.Parallel()
	dir, plan := unfinished(t)
	good, err := os.ReadFile(plan)
	must(t, err)
	id := filepath.Base(filepath.Dir(plan))
	for what, bad := range map[string][]byte{
		"cut off":         good[:len(good)-1],
		"other bytes":     []byte(strings.Replace(string(good), `"path":"edit"`, `"path":"edi2"`, 1)),
		"hooks":           resigned(t, []byte(strings.Replace(string(good), `"path":"edit"`, `"path":".git/hooks/x"`, 1)), nil),
		"out of the tree": resigned(t, []byte(strings.Replace(string(good), `"path":"edit"`, `"path":"../x"`, 1)), nil),
	} {
		must(t, os.WriteFile(plan, bad, 0o600))
		before := treeOf(t, dir, exact|private)
		_, err := host().TrustLeftover(t.Context(), openDir(t, dir), id)
		if _, ok := errors.AsType[*journal.Error](err); !ok {
			t.Errorf("%s: %v", what, err)
		}
		sameTree(t, what, dir, before, exact|private)
	}
}

// TestHostile_a_lost_key_keeps_no_backup_for_ever: backups that can no longer be verified are pruned before verified
// backups, by the time in their ids.
func TestHostile_a_lost_key_keeps_no_backup_for_ever(t *testing.T) {
	moveIn(t)
	dir := fstest.TempDir(t)
	fsys := openDir(t, dir)
	commits := func(x millrace.Executor, n int) {
		t.Helper()
		for i := range n {
			_, err := x.Run(t.Context(), fsys, altering(put("f", fmt.Sprintf("%d %d", n, i))))
			must(t, err)
		}
	}
	x := host()
	x.State.Backups = backup.Retention{Keep: -1}
	commits(x, 30)
	for _, keep := range []int{5, 1} {
		moveIn(t)
		x.State.Backups.Keep = keep
		commits(x, 2)
		list, err := x.ListBackups(t.Context(), fsys)
		must(t, err)
		usable := 0
		for _, info := range list {
			if info.Err == nil {
				usable++
			}
		}
		if len(list) != keep || usable != min(2, keep) {
			t.Errorf("of at most %d backups there are %d, %d of them usable", keep, len(list), usable)
		}
	}
}

// keyless returns homes of processes without a key, by description: no home, and a home that cannot be written to.
func keyless(t *testing.T) map[string]string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "file")
	must(t, os.WriteFile(file, nil, 0o600))
	return map[string]string{"no home": "", "home that cannot be written to": file}
}

// TestHostile_without_a_key_no_stored_result_is_believed plants the result of a run in a tree on disk. It is signed
// with an empty key, as a process without a key would sign it.
func TestHostile_without_a_key_no_stored_result_is_believed(t *testing.T) {
	for name, home := range keyless(t) {
		t.Run(name, func(t *testing.T) {
			t.Setenv("XDG_CONFIG_HOME", home)
			t.Setenv("HOME", home)
			dir := fstest.TempDir(t)
			plantDir(t, dir, "victim=x")
			p := decoded(t, act("delete", obj{"files": []string{"victim"}}))
			plantDir(t, dir, stateName+"/results/deploy.json="+storedRun(t, nil, "deploy", p))
			x := host()
			x.RunID = "deploy"
			res, err := x.Run(t.Context(), openDir(t, dir), p)
			must(t, err)
			if _, err := os.Lstat(filepath.Join(dir, "victim")); res.Replayed || err == nil {
				t.Errorf("the planted result was replayed: %+v", res)
			}
			for _, want := range []string{"not signed", `run id "deploy" is not stored`, "Executor.State.Key"} {
				if !strings.Contains(strings.Join(res.Warnings, "\n"), want) {
					t.Errorf("no warning contains %q: %q", want, res.Warnings)
				}
			}
			// With a key of the host, results are stored as usual.
			x.State.Key, x.RunID = []byte("a key of the host, 32 bytes long"), "other"
			plantDir(t, dir, "victim=x")
			for _, replayed := range []bool{false, true} {
				res, err := x.Run(t.Context(), openDir(t, dir), p)
				must(t, err)
				if res.Replayed != replayed || len(res.Warnings) > 0 {
					t.Errorf("with a key: %+v", res)
				}
			}
		})
	}
}

// TestHostile_a_key_that_anybody_could_guess_is_refused: an unset environment variable is not a key.
func TestHostile_a_key_that_anybody_could_guess_is_refused(t *testing.T) {
	t.Parallel()
	for _, key := range [][]byte{{}, []byte("short"), make([]byte, 15)} {
		x := host()
		x.State.Key = key
		dir := fstest.TempDir(t)
		if _, err := x.Run(t.Context(), openDir(t, dir), altering(put("f", "x"))); err == nil || !strings.Contains(err.Error(), "Key") {
			t.Errorf("%d bytes: %v", len(key), err)
		}
		if names, err := os.ReadDir(dir); err != nil || len(names) > 0 {
			t.Errorf("%d bytes: something was written: %v, %v", len(key), names, err)
		}
	}
}
