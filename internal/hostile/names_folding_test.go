package hostile_test

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/internal/errorfs"
)

// eachFolding runs the test where names that differ by case only are the same name: on a test double, with all
// abilities and with the abilities of afero alone, and on ext4 if the kernel supports it.
func eachFolding(t *testing.T, test func(t *testing.T, b *backend)) {
	t.Helper()
	for _, name := range []string{"abilities", "plain", "ext4"} {
		t.Run(name, func(t *testing.T) {
			b := newBackend(t, "root")
			if name == "ext4" {
				b.mountFolding(t)
			} else {
				b.fs = errorfs.Folding(openRoot(t, b.dir), fold)
				if name == "plain" {
					b.fs = errorfs.Plain(b.fs)
				}
			}
			test(t, b)
			b.checkOutside(t)
		})
	}
}

// mountFolding mounts an ext4 with a case-insensitive top directory in place of the tree.
func (b *backend) mountFolding(t *testing.T) {
	t.Helper()
	if runtime.GOOS != "linux" || os.Getuid() != 0 {
		t.Skip("only root on Linux can mount a file system")
	}
	image, top := filepath.Join(t.TempDir(), "image"), t.TempDir()
	if err := os.WriteFile(image, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(image, 16<<20); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"mkfs.ext4", "-q", "-O", "casefold", "-E", "encoding=utf8", image},
		{"mount", "-o", "loop", image, top},
	} {
		if out, err := exec.Command(args[0], args[1:]...).CombinedOutput(); err != nil {
			t.Skipf("no ext4 that folds case here (the kernel needs CONFIG_UNICODE): %s: %v %s", args[0], err, out)
		}
	}
	t.Cleanup(func() {
		if out, err := exec.Command("umount", top).CombinedOutput(); err != nil {
			t.Errorf("umount: %v %s", err, out)
		}
	})
	b.dir = filepath.Join(top, "root")
	if err := os.Mkdir(b.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("chattr", "+F", b.dir).CombinedOutput(); err != nil {
		t.Skipf("chattr +F: %v %s", err, out)
	}
	b.fs = openRoot(t, b.dir)
	plant(t, b.fs, planted)
}

// listing returns the entries of the top of the tree, as spelled there, without the state directory.
func (b *backend) listing(t *testing.T) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(b.dir)
	if err != nil {
		t.Fatal(err)
	}
	all := make(map[string]string)
	for _, e := range entries {
		if e.Type().IsRegular() {
			all[e.Name()] = b.content(t, e.Name())
		}
	}
	return all
}

func (b *backend) wants(t *testing.T, want map[string]string) {
	t.Helper()
	got := b.listing(t)
	for name, content := range want {
		if got[name] != content {
			t.Errorf("%q has %q, want %q; the tree has %q", name, got[name], content, got)
		}
	}
	if len(got) != len(want) {
		t.Errorf("the tree has %q, want %q", got, want)
	}
}

const nfc, nfd = "caf\u00e9.txt", "cafe\u0301.txt"

// Where names are bytes, the two spellings are two ordinary files.
func TestHostile_composed_and_decomposed_names(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "darwin" {
		t.Skip("the file system treats both as the same name: see the next test")
	}
	eachBackend(t, func(t *testing.T, b *backend) {
		b.plant(t, map[string]string{nfc: "composed needle\n", nfd: "decomposed needle\n"})
		res := b.works(t,
			act("search", obj{"pattern": "composed needle"}),
			act("edit", obj{"old_text": "needle", "new_text": "pin"}, obj{"input_from": "search"}),
			act("rename", obj{"files": []string{nfd}, "to": "moved/" + nfd}),
			act("copy", obj{"files": []string{nfc}, "destination": "moved"}))
		if res.TotalEdits != 2 || !slices.Equal(res.FilesChanged.Modified, []string{nfc}) {
			t.Errorf("%d edits, changed %q", res.TotalEdits, res.FilesChanged)
		}
		if b.commits && (b.content(t, "moved/"+nfd) != "decomposed pin\n" || b.content(t, "moved/"+nfc) != "composed pin\n") {
			t.Error("the two files were confused")
		}
	})
}

func TestHostile_composed_and_decomposed_names_that_fold(t *testing.T) {
	t.Parallel()
	eachFolding(t, func(t *testing.T, b *backend) { collides(t, b, nfc, nfd) })
}

func TestHostile_two_paths_of_one_folded_name(t *testing.T) {
	t.Parallel()
	eachFolding(t, func(t *testing.T, b *backend) { collides(t, b, "readme", "README") })
}

// collides checks that nothing is lost when a run makes a file under the name of another file, whether that file
// existed before or the same run makes it.
func collides(t *testing.T, b *backend, one, other string) {
	t.Helper()
	want := map[string]string{"a.txt": "alpha needle\n", "b.txt": "beta needle\n"}
	both := []obj{
		act("copy", obj{"files": []string{"a.txt"}, "to": one}),
		act("copy", obj{"files": []string{"b.txt"}, "to": other}, obj{"id": "copy2"}),
	}
	_, err := b.run(t, both...)
	if conflict, ok := errors.AsType[*millrace.ConflictError](err); !ok || conflict.Conflicts[0].Path != one && conflict.Conflicts[0].Path != other {
		t.Errorf("both made by one run: %v", err)
	}
	b.wants(t, want)
	for _, action := range []string{"copy", "rename"} {
		_, err := b.run(t, act("edit", obj{"files": []string{"b.txt"}, "old_text": "needle", "new_text": "pin"}),
			act(action, obj{"files": []string{"a.txt"}, "to": one}), act("copy", obj{"files": []string{"b.txt"}, "to": other}, obj{"id": "copy2"}))
		if _, ok := errors.AsType[*millrace.ConflictError](err); !ok {
			t.Errorf("%s: both made by one run: %v", action, err)
		}
		b.wants(t, want)
	}

	b.plant(t, map[string]string{one: "first needle\n"})
	want[one] = "first needle\n"
	for _, action := range []string{"copy", "rename"} {
		b.refuses(t, fs.ErrExist, other, act(action, obj{"files": []string{"a.txt"}, "to": other}))
		b.refuses(t, fs.ErrExist, other, act(action, obj{"files": []string{"a.txt", "b.txt"}, "to": other + "/{{name}}"}))
		b.wants(t, want)
	}
	// A list with two names of a file is two edits of it. The second is in conflict with the first.
	_, err = b.run(t, act("edit", obj{"files": []string{one, other}, "old_text": "needle", "new_text": "needles"}))
	if _, ok := errors.AsType[*millrace.ConflictError](err); !ok {
		t.Errorf("edited under both names: %v", err)
	}
	b.wants(t, want)
	// With overwrite the file is replaced.
	if _, err := b.run(t, act("copy", obj{"files": []string{"a.txt"}, "to": other, "overwrite": true})); err != nil {
		t.Errorf("overwrite: %v", err)
	}
	if got := b.content(t, one); got != "alpha needle\n" {
		t.Errorf("after the overwrite %s is %q", one, got)
	}
}

func TestHostile_rename_by_case_only(t *testing.T) {
	t.Parallel()
	eachFolding(t, func(t *testing.T, b *backend) {
		b.plant(t, map[string]string{"Foo": "foo needle\n"})
		for _, steps := range [][]obj{
			{act("rename", obj{"files": []string{"Foo"}, "to": "foo"})},
			{act("edit", obj{"files": []string{"Foo"}, "old_text": "foo", "new_text": "foo"}), act("rename", obj{"files": []string{"Foo"}, "to": "fOO"})},
			{act("rename", obj{"files": []string{"Foo"}, "to": "foo", "overwrite": true})},
			{act("rename", obj{"files": []string{"Foo"}, "to": "FOO"}), act("edit", obj{"files": []string{"FOO"}, "old_text": "needle", "new_text": "pin"})},
		} {
			to := steps[len(steps)-1]["params"].(obj)["to"]
			content := "foo needle\n"
			if to == nil {
				to, content = "FOO", "foo pin\n"
			}
			res, err := b.run(t, steps...)
			if err != nil {
				t.Errorf("to %s: %v", to, err)
				continue
			}
			if want := []millrace.RenamedFile{{From: "Foo", To: to.(string)}}; !slices.Equal(res.FilesChanged.Renamed, want) || res.FilesChanged.Count() != 1 {
				t.Errorf("changed %+v", res.FilesChanged)
			}
			b.wants(t, map[string]string{"a.txt": "alpha needle\n", "b.txt": "beta needle\n", to.(string): content})
			if _, err := b.host.Restore(t.Context(), b.fs, res.BackupID); err != nil {
				t.Errorf("restore from %s: %v", to, err)
			}
			b.wants(t, map[string]string{"a.txt": "alpha needle\n", "b.txt": "beta needle\n", "Foo": "foo needle\n"})
		}
	})
}

// Moving a directory into itself by another spelling is refused by the plan, not by the commit.
func TestHostile_directory_into_itself_by_case(t *testing.T) {
	t.Parallel()
	eachFolding(t, func(t *testing.T, b *backend) {
		for _, params := range []obj{
			{"files": []string{"dir"}, "to": "DIR/x"},
			{"files": []string{"dir"}, "destination": "Dir"},
			{"files": []string{"dir"}, "destination": "DIR/sub"},
		} {
			b.refuses(t, fs.ErrExist, "", act("rename", params))
		}
		res := b.works(t, act("rename", obj{"files": []string{"dir"}, "to": "DIR"}))
		if want := []millrace.RenamedFile{{From: "dir/c.txt", To: "DIR/c.txt"}, {From: "dir/sub/d.txt", To: "DIR/sub/d.txt"}}; !slices.Equal(res.FilesChanged.Renamed, want) {
			t.Errorf("changed %+v", res.FilesChanged)
		}
	})
}

// Two names of the same file, where case counts, are not spellings of each other: each blocks the other.
func TestHostile_rename_by_case_only_of_hard_links(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("the file system may fold case")
	}
	onDisk(t, func(t *testing.T, b *backend) {
		b.plant(t, map[string]string{"Foo": "foo needle\n"})
		b.hardLink(t, b.path("Foo"), b.path("foo"))
		b.refuses(t, fs.ErrExist, "foo", act("rename", obj{"files": []string{"Foo"}, "to": "foo"}))
		res := b.works(t, act("rename", obj{"files": []string{"Foo"}, "to": "foo", "overwrite": true}))
		if b.has("Foo") || b.content(t, "foo") != "foo needle\n" {
			t.Error("the file is lost, or has both names")
		}
		if _, err := b.host.Restore(t.Context(), b.fs, res.BackupID); err != nil || !b.has("Foo") || !b.has("foo") {
			t.Errorf("restored: %v", err)
		}
	})
}

// fold returns the same text for names that fold to the same name. It folds a single accent, enough for the tests.
func fold(name string) string { return strings.ReplaceAll(strings.ToLower(name), "e\u0301", "\u00e9") }
