package hostile_test

import (
	"bytes"
	"compress/zlib"
	"context"
	"crypto/sha1"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/fsutil"
	"github.com/millrace-go/millrace/internal/fstest"
)

// patched runs a patch in a tree with a.txt, in a directory of the system with a secret next to it, and checks that
// nothing outside the tree changes.
func patched(t *testing.T, patch obj) error {
	t.Helper()
	parent := t.TempDir()
	for name, text := range map[string]string{"tree/a.txt": "a\n", "tree/.git/config": "a\n", "secret": "a\n"} {
		name = filepath.Join(parent, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	root, err := fsutil.OpenRoot(filepath.Join(parent, "tree"))
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	_, err = host().Run(t.Context(), root, decoded(t, act("patch", patch)))
	entries, wrong := os.ReadDir(parent)
	if wrong != nil || len(entries) != 2 {
		t.Errorf("next to the tree are %v, %v", entries, wrong)
	}
	for _, name := range []string{"secret", "tree/a.txt", "tree/.git/config"} {
		if text, wrong := os.ReadFile(filepath.Join(parent, name)); err != nil && (wrong != nil || string(text) != "a\n") {
			t.Errorf("%s is %q, %v", name, text, wrong)
		}
	}
	return err
}

func TestHostile_patch_names_what_it_must_not(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		"../secret", "/etc/passwd", "x/../../secret", ".git/config", ".git/hooks/pre-commit", ".millrace/x", "x/.millrace/journal",
		"a.txt/b", ".", "..", strings.Repeat("n", 256), "x\x00y",
	} {
		quoted := `"` + strings.ReplaceAll(name, "\x00", `\000`) + `"`
		b := `"b/` + quoted[1:]
		for what, patch := range map[string]string{
			"change":      "--- " + `"a/` + quoted[1:] + "\n+++ " + b + "\n@@ -1 +1 @@\n-a\n+b\n",
			"create":      "--- /dev/null\n+++ " + b + "\n@@ -0,0 +1 @@\n+b\n",
			"delete":      "--- " + `"a/` + quoted[1:] + "\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n",
			"rename to":   "diff --git a/a.txt " + b + "\nrename from a.txt\nrename to " + quoted + "\n",
			"rename from": "diff --git " + `"a/` + quoted[1:] + " b/c.txt\nrename from " + quoted + "\nrename to c.txt\n",
			"copy to":     "diff --git a/a.txt " + b + "\ncopy from a.txt\ncopy to " + quoted + "\n",
			"link":        "diff --git a/x " + b + "\nnew file mode 120000\n--- /dev/null\n+++ " + b + "\n@@ -0,0 +1 @@\n+/etc\n\\ No newline at end of file\n",
			"add":         "*** Begin Patch\n*** Add File: " + name + "\n+b\n*** End Patch\n",
			"update":      "*** Begin Patch\n*** Update File: " + name + "\n@@\n-a\n+b\n*** End Patch\n",
			"move":        "*** Begin Patch\n*** Update File: a.txt\n*** Move to: " + name + "\n@@\n-a\n+b\n*** End Patch\n",
			"remove":      "*** Begin Patch\n*** Delete File: " + name + "\n*** End Patch\n",
			"block":       name + "\n<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE\n",
		} {
			if strings.Contains(name, "\x00") { // refused when the pipeline is decoded
				var check actions.Check
				actions.Patch{Text: patch}.Validate(&check)
				if len(check.Problems) == 0 {
					t.Errorf("%s %q is accepted", what, name)
				}
				continue
			}
			if name == "a.txt/b" && (what == "rename to" || what == "move") {
				continue // a.txt moves, so a directory can have its name
			}
			inside := strings.HasPrefix(name, "/") && strings.Contains(patch, `"b/`) // b//etc/passwd is etc/passwd
			own := name == "a.txt/b" && (what == "rename to" || what == "move")      // a file may become a directory of its own name
			if err := patched(t, obj{"patch": patch}); err == nil && !inside && !own {
				t.Errorf("%s %q is accepted", what, name)
			}
		}
	}
}

func TestHostile_patch_writes_behind_a_link_that_it_makes(t *testing.T) {
	t.Parallel()
	for _, target := range []string{"..", "/tmp", ".", ".git", "d"} {
		link := "diff --git a/l b/l\nnew file mode 120000\n--- /dev/null\n+++ b/l\n@@ -0,0 +1 @@\n+" + target + "\n\\ No newline at end of file\n"
		file := "diff --git a/l/new b/l/new\nnew file mode 100644\n--- /dev/null\n+++ b/l/new\n@@ -0,0 +1 @@\n+x\n"
		for _, patch := range []string{link + file, file + link} {
			if err := patched(t, obj{"patch": patch}); err == nil {
				t.Errorf("a file is written through a link to %s", target)
			}
		}
	}
}

func TestHostile_patch_of_lines_that_repeat(t *testing.T) {
	t.Parallel()
	fsys := afero.NewMemMapFs()
	if err := afero.WriteFile(fsys, "f", []byte(strings.Repeat("a\n", fstest.Slowed(5_000, fstest.Runs(fstest.ByItself(10_000, 20_000), 1_000_000, 1_000_000)))), 0o644); err != nil {
		t.Fatal(err)
	}
	hunk := strings.Repeat(" a\n", 1000)
	var many strings.Builder
	many.WriteString("--- a/f\n+++ b/f\n")
	for i := range fstest.Slowed(30, fstest.ByItself(100, 300)) {
		fmt.Fprintf(&many, "@@ -%d,1002 +%d,1002 @@\n%s-b%d\n+c\n a\n", 5+i*2000, 5+i*2000, hunk, i)
	}
	for what, patch := range map[string]obj{
		"nowhere":  {"patch": many.String()},
		"anywhere": {"patch": "--- a/f\n+++ b/f\n@@ -2000000,1000 +2000000,1001 @@\n" + hunk + "+b\n" + hunk},
		"nearly":   {"patch": "--- a/f\n+++ b/f\n@@\n" + hunk + "-b\n+c\n" + hunk, "fuzz": 3, "tolerance": "typography"},
		"blocks":   {"patch": "f\n" + strings.Repeat("<<<<<<< SEARCH\na\na\n=======\nb\n>>>>>>> REPLACE\n", fstest.Slowed(100, fstest.Runs(fstest.ByItself(200, 500), 5000, 5000)))},
		"deep":     {"patch": "*** Begin Patch\n*** Update File: f\n" + strings.Repeat("@@ a\n", fstest.Slowed(1000, fstest.Runs(fstest.ByItself(4_000, 10_000), 90_000, 90_000))) + "-b\n+c\n*** End Patch\n"},
	} {
		within(t, patience, func(ctx context.Context) {
			if _, err := host().Run(ctx, fsys, decoded(t, act("patch", patch))); err == nil || ctx.Err() != nil {
				t.Errorf("%s: %v, %v", what, err, ctx.Err())
			}
		})
	}
}

func TestHostile_patch_that_inflates(t *testing.T) {
	t.Parallel()
	var packed bytes.Buffer
	z := zlib.NewWriter(&packed)
	zeros := make([]byte, 1<<20)
	for range fstest.Slowed(5, 100) {
		if _, err := z.Write(zeros); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	const digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~"
	var lines strings.Builder
	for data := packed.Bytes(); len(data) > 0; {
		n := min(52, len(data))
		lines.WriteByte("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"[n-1])
		for i := 0; i < n; i += 4 {
			var word uint64
			for k := range 4 {
				word <<= 8
				if i+k < n {
					word |= uint64(data[i+k])
				}
			}
			var five [5]byte
			for k := 4; k >= 0; k-- {
				five[k], word = digits[word%85], word/85
			}
			lines.Write(five[:])
		}
		lines.WriteByte('\n')
		data = data[n:]
	}
	old := fmt.Sprintf("%x", sha1.Sum([]byte("blob 2\x00a\n")))
	for _, size := range []int64{0, 1, 1 << 20, 400 << 20, 1 << 62} {
		for _, kind := range []string{"literal", "delta"} {
			patch := fmt.Sprintf("diff --git a/a.txt b/a.txt\nindex %s..%040d 100644\nGIT binary patch\n%s %d\n%s\n%s 0\nHcmV?d00001\n\n",
				old, 1, kind, size, lines.String(), kind)
			if err := patched(t, obj{"patch": patch}); err == nil {
				t.Errorf("%s of %d bytes is accepted", kind, size)
			}
		}
	}
}
