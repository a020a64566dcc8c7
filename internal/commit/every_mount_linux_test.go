package commit_test

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/internal/commit"
	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/internal/mounts"
	"github.com/millrace-go/millrace/internal/rootfs"
)

// eachMount runs a test on each kind of mount that is possible here.
func eachMount(t *testing.T, test func(t *testing.T, k mounts.Kind, m *mounts.Mount)) {
	if !mounts.Own(t) {
		return
	}
	for _, k := range mounts.Kinds() {
		t.Run(k.Name, func(t *testing.T) { test(t, k, k.Mount(t)) })
	}
}

// onMount returns a new tree on a mount.
func onMount(t testing.TB, m *mounts.Mount, tree []string) afero.Fs {
	t.Helper()
	open := func(dir string) *rootfs.FS {
		r, err := rootfs.Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	r := open(m.Tree(t, func(dir string) {
		below := open(dir)
		defer below.Close()
		plant(t, below, tree...)
	}))
	t.Cleanup(func() { r.Close() })
	return r
}

// skipOn skips scenarios that a kind of mount does not support.
func skipOn(t *testing.T, k mounts.Kind, sc scenario) {
	t.Helper()
	if sc.links && k.NoModes && k.Name != "ntfs-3g" {
		t.Skip("the mount has no symbolic links")
	}
	if k.Revives && strings.HasPrefix(sc.name, "file ") {
		t.Skip("the lower layer appears if a directory was renamed in place of a file")
	}
}

var (
	anyMode = regexp.MustCompile(`^(file|dir) \S+`)
	second  = regexp.MustCompile(`(:\d\d)\.\d+Z `)
)

// kept returns the part of a snapshot that a kind of mount keeps.
func kept(k mounts.Kind, snapshot map[string]string) map[string]string {
	for name, is := range snapshot {
		if k.NoModes {
			is = anyMode.ReplaceAllString(is, "$1")
		}
		if k.Seconds {
			is = second.ReplaceAllString(is, "${1}Z ")
		}
		snapshot[name] = is
	}
	return snapshot
}

// someScenarios returns a few varied scenarios, or all if many samples are wanted.
func someScenarios() []scenario {
	if fstest.Runs(0, 1, 1) > 0 {
		return scenarios()
	}
	return slices.DeleteFunc(scenarios(), func(sc scenario) bool {
		return !slices.Contains([]string{"all", "delete a tree", "swap trees", "links"}, sc.name)
	})
}

// TestMounts commits each scenario on each kind of mount, and undoes it.
func TestMounts(t *testing.T) {
	t.Parallel()
	eachMount(t, func(t *testing.T, k mounts.Kind, m *mounts.Mount) {
		for _, sc := range someScenarios() {
			t.Run(sc.name, func(t *testing.T) {
				skipOn(t, k, sc)
				fsys := onMount(t, m, sc.tree)
				old, want := kept(k, snapshot(t, fsys, false)), kept(k, preview(t, fsys, sc.do))
				rep, err := commit.Apply(bg, options(fsys), staged(t, fsys, sc.do))
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(want, kept(k, untimed(snapshot(t, fsys, false)))); diff != "" {
					t.Fatalf("committed (-want +got):\n%s", diff)
				}
				if err := restoreBackup(fsys, rep.ID); err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(old, kept(k, snapshot(t, fsys, false))); diff != "" {
					t.Fatalf("restored (-want +got):\n%s", diff)
				}
			})
		}
	})
}

// TestMounts_kill stops commits on each kind of mount before changing operations, and some recoveries.
func TestMounts_kill(t *testing.T) {
	t.Parallel()
	step := fstest.Runs(0, 29, 1)
	if step == 0 {
		t.Skip("it takes a while: MILLRACE_SAMPLES=full runs it")
	}
	eachMount(t, func(t *testing.T, k mounts.Kind, m *mounts.Mount) {
		killed := 0
		for _, sc := range crashScenarios() {
			t.Run(sc.name, func(t *testing.T) {
				skipOn(t, k, sc)
				for at, more := 1+len(sc.name)%step, true; more && !t.Failed(); at += step {
					fsys := onMount(t, m, sc.tree)
					tr := &trial{sc: sc, fsys: fsys, hooks: &hooks{}, old: snapshot(t, fsys, false), new: preview(t, fsys, sc.do), copies: true}
					tr.kept = func(snapshot map[string]string) map[string]string { return kept(k, maps.Clone(snapshot)) }
					tr.changes = staged(t, fsys, sc.do)
					tr.killed(at)
					_, err := commit.Apply(bg, tr.options(), tr.changes)
					tr.unlock()
					if at%2 == 0 {
						tr.killed(1 + at%23)
						_, _ = commit.Recover(bg, tr.options())
					}
					if isNew := tr.settled(t, fmt.Sprintf("killed at %d: %v", at, err)); err == nil && !isNew && !maps.Equal(tr.kept(untimed(tr.old)), tr.kept(tr.new)) {
						t.Fatalf("killed at %d: committed, but the tree is old", at)
					}
					killed++
					more = err != nil
				}
			})
		}
		fstest.Countf(t, "%d kills", killed)
	})
}
