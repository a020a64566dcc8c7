//go:build linux

package hostile_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
)

// mountedTree plants the tree for the pipeline "mounted". The files below m are on another mount of the same file
// system, so that only a failing rename reveals it.
func mountedTree(t testing.TB, dir string) {
	t.Helper()
	plantDir(t, dir, "near=n", "here=h", "m/")
	plantDir(t, dir+"-other", "edit=e", "gone=g", "moved=m", "kept/k=k")
	mounted(t, dir+"-other", filepath.Join(dir, "m"), "", unix.MS_BIND, "")
}

// TestHostile_bind_mount_inside has a mount inside the tree: the commit uses temporary files next to the paths, and
// leaves none of them, even after a crash.
func TestHostile_bind_mount_inside(t *testing.T) {
	t.Parallel()
	needRoot(t)
	const far = `m/\.millrace-`
	for _, p := range []point{
		{name: "committed", isNew: true},
		{name: "copied near", at: `^write ` + far},
		{name: "named", at: `^rename ` + far},
		{name: "exchanged", after: `^exchange m/`, at: `^(exchange|rename) `},
		{name: "taken out", at: `^rename ` + far + `.*\.out`},
		{name: "not marked", at: `^rename T/done$`},
		{name: "marked", after: `^rename T/done$`, at: `^syncdir T$`, isNew: true},
		{name: "cleaning", at: `^remove ` + far, after: `^phase clean`, isNew: true},
	} {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "tree")
			mountedTree(t, dir)
			before := treeOf(t, dir, contents|times)
			r := diskJob{Dir: dir, Pipeline: "mounted", Sigkill: p.at, SigkillAfter: p.after}.start(t)
			if p.at == "" && (r.Error != "" || len(r.Warnings) > 0) || r.Killed != (p.at != "") {
				t.Fatalf("report %+v", r)
			}
			x, fsys := host(), openDir(t, dir)
			_, err := x.Recover(t.Context(), fsys)
			must(t, err)
			if !p.isNew {
				sameTree(t, "recovered", dir, before, contents|times)
				return
			}
			got := treeOf(t, dir, contents)
			delete(got, stateName)
			want := map[string]string{
				"near": `100644 "edited"`, "m": "40755", "m/edit": `100644 "edited"`, "m/made": "40755", "m/made/new": `100644 "new"`,
				"moved": `100644 "m"`, "m/there": `100644 "h"`, "m/kept": "40755", "m/kept/k": `100644 "k"`,
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("-want +got:\n%s", diff)
			}
			backups, err := x.ListBackups(t.Context(), fsys)
			must(t, err)
			_, err = x.Restore(t.Context(), fsys, backups[0].ID)
			must(t, err, os.RemoveAll(filepath.Join(dir, stateName)))
			sameTree(t, "restored", dir, before, contents|times)
		})
	}
}

// TestHostile_only_created_files_on_a_mount has no existing file on the mount, so no link fails there, and the mount is
// discovered only when half of the commit is applied.
func TestHostile_only_created_files_on_a_mount(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "tree")
	mountedTree(t, dir)
	before := treeOf(t, dir, contents|times)
	fsys := openDir(t, dir)
	res, err := host().Run(t.Context(), fsys, altering(put("a", "A"), put("m/made", "new"), put("m/kept/deep/er", "new")))
	must(t, err)
	got := treeOf(t, dir, contents)
	if got["m/made"] != `100644 "new"` || got["m/kept/deep/er"] != `100644 "new"` || got["a"] != `100644 "A"` || len(res.Warnings) > 0 {
		t.Errorf("tree %v, warnings %q", got, res.Warnings)
	}
	_, err = host().Restore(t.Context(), fsys, res.BackupID)
	must(t, err, os.RemoveAll(filepath.Join(dir, stateName)))
	sameTree(t, "restored", dir, before, contents|times)
}

// TestHostile_overlayfs_directory_rename has directories of the lower layer, which an overlay cannot rename.
func TestHostile_overlayfs_directory_rename(t *testing.T) {
	t.Parallel()
	needRoot(t)
	top := t.TempDir()
	mounted(t, "millrace", top, "tmpfs", 0, "size=16m")
	dir := filepath.Join(top, "tree")
	lower := filepath.Join(top, "lower")
	plantDir(t, top, "tree/", "upper/", "work/", "lower/d/a=1", "lower/d/e/b=2", "lower/d/empty/", "lower/gone/x=3", "lower/kind/y=4",
		"lower/edit=5")
	mounted(t, "millrace", dir, "overlay", 0, "lowerdir="+lower+",upperdir="+top+"/upper,workdir="+top+"/work,redirect_dir=off")
	if err := os.Rename(filepath.Join(dir, "d"), filepath.Join(dir, "can")); err == nil {
		t.Fatal("this overlay can rename directories, so nothing is tested")
	}
	before := treeOf(t, dir, contents|times)
	fsys := openDir(t, dir)
	res, err := host().Run(t.Context(), fsys, altering(move("d", "moved/d"), drop("gone"), drop("kind"), put("kind", "file"), put("edit", "E")))
	must(t, err)
	got := treeOf(t, dir, contents)
	delete(got, stateName)
	want := map[string]string{
		"moved": "40755", "moved/d": "40755", "moved/d/a": `100644 "1"`, "moved/d/e": "40755", "moved/d/e/b": `100644 "2"`,
		"moved/d/empty": "40755", "kind": `100644 "file"`, "edit": `100644 "E"`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("-want +got:\n%s", diff)
	}
	_, err = host().Restore(t.Context(), fsys, res.BackupID)
	must(t, err)
	got = treeOf(t, dir, contents|times)
	delete(got, stateName)
	if diff := cmp.Diff(before, got); diff != "" {
		t.Errorf("restored (-want +got):\n%s", diff)
	}
	sameTree(t, "lower layer", lower, before, contents|times)
}

// TestHostile_protected_hardlinks edits files of another program in a directory of this user. No other user may link
// them, so their before-images are copies.
func TestHostile_protected_hardlinks(t *testing.T) {
	t.Parallel()
	needRoot(t)
	if data, err := os.ReadFile("/proc/sys/fs/protected_hardlinks"); err != nil || strings.TrimSpace(string(data)) != "1" {
		t.Skipf("fs.protected_hardlinks is %q, %v", data, err)
	}
	for _, p := range []point{{name: "committed", isNew: true}, {name: "killed", at: `^rename T/done$`}} {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			dir := forNobody(t, func(t testing.TB, dir string) { plantDir(t, dir, "files/a=one", "files/b=two", "files/own=three") })
			for _, name := range []string{"a", "b"} {
				must(t, os.Chown(filepath.Join(dir, "files", name), 0, 0))
			}
			before := treeOf(t, dir, contents|times)
			r := diskJob{Dir: dir, Pipeline: "edits", Sigkill: p.at, Foreign: true}.start(t, as(t, nobody))
			if r.Killed == p.isNew || r.Error != "" {
				t.Fatalf("report %+v", r)
			}
			if !p.isNew {
				// The user nobody has no home and so no key: only the same user can recover.
				r = diskJob{Dir: dir}.start(t, as(t, nobody))
				if r.Error != "" {
					t.Fatal(r.Error)
				}
				sameTree(t, "recovered", dir, before, contents|times)
				return
			}
			if !strings.Contains(strings.Join(r.Warnings, "\n"), "files/a: owner") {
				t.Errorf("warnings %q do not report that the owner changes", r.Warnings)
			}
			for _, name := range []string{"a", "b", "own"} {
				if got := treeOf(t, dir, contents)["files/"+name]; got != `100644 "edited"` {
					t.Errorf("files/%s is %s", name, got)
				}
			}
			if n := len(nodes(t, filepath.Join(dir, stateName, "backups", r.Backup, "old"))); n != 3 {
				t.Errorf("%d before-images", n)
			}
		})
	}
}

// nodes returns the link counts of all files below a directory.
func nodes(t *testing.T, dir string) []uint64 {
	t.Helper()
	var list []uint64
	must(t, filepath.WalkDir(dir, func(name string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		var st unix.Stat_t
		err = unix.Lstat(name, &st)
		list = append(list, uint64(st.Nlink))
		return err
	}))
	return list
}
