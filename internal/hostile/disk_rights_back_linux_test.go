package hostile_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/internal/rootfs"
)

// act is the child's work in one tree: "run" and "undone" make a backup, and "undone" restores it; "plan" stores a
// plan. Then "restore" restores the last backup, and "open" commits the stored plan. A file next to the tree has the
// data that one process needs from another.
func (j diskJob) act(t *testing.T) (r diskReport) {
	root, err := rootfs.Open(j.Dir)
	must(t, err)
	defer root.Close()
	x := millrace.Executor{State: millrace.State{NoSync: true, Key: bytes.Repeat([]byte("k"), 32)}, MaxFiles: -1}
	p, err := millrace.Decode([]byte(j.Pipeline))
	must(t, err)
	ctx, beside, res := t.Context(), j.Dir+".beside", (*millrace.Result)(nil)
	switch j.Act {
	case "run", "undone":
		res, err = x.Run(ctx, root, p)
		if err == nil && j.Act == "undone" {
			res, err = x.Restore(ctx, root, res.BackupID)
		}
		if err == nil {
			must(t, os.WriteFile(beside, []byte(res.BackupID), 0o600))
		}
	case "plan":
		plan, err := x.Plan(ctx, root, p)
		must(t, err)
		data, err := json.Marshal(plan)
		must(t, err, plan.Close(), os.WriteFile(beside, data, 0o600))
	case "restore":
		id, err := os.ReadFile(beside)
		must(t, err)
		res, err = x.Restore(ctx, root, string(id))
		return reportOf(res, err)
	case "open":
		res, err = openPlan(ctx, x, root, beside)
	}
	return reportOf(res, err)
}

// openPlan commits a stored plan.
func openPlan(ctx context.Context, x millrace.Executor, fsys afero.Fs, file string) (*millrace.Result, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	plan, err := x.OpenPlan(ctx, fsys, data)
	if err != nil {
		return nil, err
	}
	defer plan.Close()
	return plan.WithForce(true).Commit(ctx)
}

func reportOf(res *millrace.Result, err error) (r diskReport) {
	if res != nil {
		r.State = res.Commit.State
	}
	if err != nil {
		r.Error = err.Error()
	}
	return r
}

// TestHostile_rights_that_are_lost: a change is made, undone or planned, and then the user loses permissions for the
// directories. Undo, redo and the commit of the stored plan are done completely, or refused with a path before anything
// is moved.
func TestHostile_rights_that_are_lost(t *testing.T) {
	t.Parallel()
	top, user := openTemp(t), as(t, nobody)
	places, steps := rightsPlaces(t), rightsSteps()
	few := map[string]bool{"create": true, "overwrite": true, "delete": true, "delete tree": true, "rename": true,
		"rename there": true, "rename over": true, "rename tree": true, "edit": true, "patch and move": true}
	delete(places, "empty and locked below") // it also removes a file
	if fstest.ByItself(0, 1) == 0 {          // the remaining places show each kind of refusal
		shown := []string{"own", "of root", "sticky, and all is of root", "locked", "sticky, own file", "file of root"}
		maps.DeleteFunc(places, func(name string, _ func(string)) bool { return !slices.Contains(shown, name) })
	}
	refused, done := 0, 0
	for before, after := range map[string]string{"run": "restore", "undone": "restore", "plan": "open"} {
		first, second := diskJob{Act: before}, diskJob{Act: after}
		locks := make(map[string]func(string))
		for place, lock := range places {
			for name, s := range steps {
				if !few[name] {
					continue
				}
				dir := filepath.Join(top, before, place, name)
				plantDir(t, dir, "o=word", "in/d/f=word", "in/d/sub/g=word", "other=x")
				must(t, os.WriteFile(dir+".json", pipeline(t, s.step), 0o644), os.Chmod(filepath.Dir(dir), 0o777))
				must(t, os.Chmod(dir+"/in/d/f", 0o666), os.Chmod(dir+"/in/d/sub/g", 0o666), os.Chmod(dir+"/in/d/sub", 0o777)) // as in the places
				must(t, filepath.WalkDir(dir, func(name string, _ fs.DirEntry, err error) error {
					must(t, err)
					return os.Lchown(name, nobody, nobody)
				}))
				locks[dir] = lock
				first.Trees = append(first.Trees, dir)
			}
		}
		was, trees := make(map[string]map[string]string), make(map[string]map[string]string)
		for _, dir := range first.Trees {
			was[dir] = treeOf(t, dir, contents)
		}
		for dir, r := range first.start(t, user).Trees {
			if r.Error != "" {
				t.Fatalf("%s: %s", dir, r.Error)
			}
			if !lockIfThere(dir, locks[dir]) {
				continue // the change has removed the subject of this place
			}
			trees[dir] = treeOf(t, dir, contents)
			second.Trees = append(second.Trees, dir)
		}
		for dir, r := range second.start(t, user).Trees {
			at, _ := filepath.Rel(top, dir)
			now := treeOf(t, dir, contents)
			for _, tree := range []map[string]string{now, trees[dir], was[dir]} {
				maps.DeleteFunc(tree, func(name, _ string) bool { return strings.HasPrefix(name, stateName) })
			}
			if r.Error == "" {
				if done++; before == "run" && cmp.Diff(texts(was[dir]), texts(now)) != "" {
					t.Errorf("%s: restored as %s", at, cmp.Diff(texts(was[dir]), texts(now)))
				}
				continue
			}
			refused++
			isClear := strings.Contains(r.Error, "ermission denied") || strings.Contains(r.Error, "not permitted") ||
				strings.Contains(r.Error, "in/d: permissions are") || strings.Contains(r.Error, "in/d/f: permissions are")
			if r.State != "" && r.State != millrace.CommitNone || !strings.Contains(r.Error, "in/d") || !isClear {
				t.Errorf("%s: %v %q", at, r.State, r.Error)
			}
			if d := cmp.Diff(trees[dir], now); d != "" {
				t.Errorf("%s: a refusal has changed the tree: %q %s", at, r.Error, d)
			}
		}
	}
	t.Logf("%d are refused, %d done", refused, done)
	if refused < 10 || done < 10 {
		t.Errorf("%d are refused, %d done", refused, done)
	}
}

// texts returns the files of a tree without modes.
func texts(tree map[string]string) map[string]string {
	all := make(map[string]string)
	for name, text := range tree {
		if _, after, ok := strings.Cut(text, " "); ok && strings.HasPrefix(after, `"`) {
			all[name] = after
		}
	}
	return all
}

// lockIfThere removes permissions, and reports whether all affected entries exist.
func lockIfThere(dir string, lock func(string)) bool {
	needs := []string{"in/d/f", "in/d/sub/g"}
	switch filepath.Base(filepath.Dir(dir)) {
	case "own", "locked", "of root", "sticky, own file", "above a wall", "above a sticky wall":
		needs = []string{"in/d"}
	}
	for _, name := range needs {
		if _, err := os.Lstat(filepath.Join(dir, name)); err != nil {
			return false
		}
	}
	lock(filepath.Join(dir, "in/d"))
	return true
}
