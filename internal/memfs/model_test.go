package memfs_test

import (
	"errors"
	"fmt"
	"os"
	"path"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/afero"
	"pgregory.net/rapid"

	"github.com/millrace-go/millrace/capability"
	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/internal/raise"
	"github.com/millrace-go/millrace/internal/rootfs"
)

// errorKind returns the relevant kind of an error, the same for every backend.
func errorKind(err error) string {
	for _, k := range []struct {
		name string
		is   func(error) bool
	}{
		{"not empty", fstest.IsNotEmpty}, {"not exist", fstest.IsNotExist}, {"exist", fstest.IsExist},
		{"not dir", fstest.IsNotDir}, {"is dir", fstest.IsDir}, {"invalid", fstest.IsInvalid}, {"escape", fstest.IsEscape},
	} {
		if err != nil && k.is(err) {
			return k.name
		}
	}
	if err != nil {
		return "other"
	}
	return "ok"
}

// Property: after any operations, a raised MemMapFs returns and contains the same as a directory of the system.
func TestMemFs_likeTheSystem(t *testing.T) {
	dir := t.TempDir()
	runs := 0
	rapid.Check(t, func(t *rapid.T) {
		runs++
		sub := fmt.Sprintf("%s/%d", dir, runs)
		if err := os.Mkdir(sub, 0o755); err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(sub)
		system, err := rootfs.Open(sub)
		if err != nil {
			t.Fatal(err)
		}
		defer system.Close()
		plain := afero.NewMemMapFs()
		if rapid.Bool().Draw(t, "absolute") {
			if err := afero.WriteFile(plain, "/first", []byte("x"), 0o644); err != nil {
				t.Fatal(err)
			}
			if err := afero.WriteFile(system, "first", []byte("x"), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		memory, err := raise.FS(plain)
		if err != nil {
			t.Fatal(err)
		}
		part := rapid.SampledFrom([]string{"a", "b", "ab"})
		name := rapid.Custom(func(t *rapid.T) string {
			return path.Join(rapid.SliceOfN(part, 1, 3).Draw(t, "parts")...)
		})
		for range rapid.IntRange(1, 25).Draw(t, "steps") {
			op := rapid.SampledFrom(strings.Fields("write append mkdir mkdirall remove removeall rename exchange move chmod")).Draw(t, "op")
			a, b := name.Draw(t, "a"), name.Draw(t, "b")
			do := func(fsys afero.Fs) error {
				switch op {
				case "write":
					return afero.WriteFile(fsys, a, []byte("data of "+b), 0o644)
				case "append":
					f, err := fsys.OpenFile(a, os.O_WRONLY|os.O_APPEND, 0)
					if err != nil {
						return err
					}
					_, err = f.WriteString("+" + b)
					return errors.Join(err, f.Close())
				case "mkdir":
					return fsys.Mkdir(a, 0o755)
				case "mkdirall":
					return fsys.MkdirAll(a, 0o755)
				case "remove":
					return fsys.Remove(a)
				case "removeall":
					return fsys.RemoveAll(a)
				case "exchange":
					if x, ok := fsys.(capability.Exchanger); ok {
						return x.Exchange(a, b)
					}
					return nil
				case "move":
					if x, ok := fsys.(capability.NoReplacer); ok {
						return x.RenameNoReplace(a, b)
					}
					return nil
				case "chmod":
					return fsys.Chmod(a, 0o700)
				}
				return fsys.Rename(a, b)
			}
			// If several things are wrong with two names, the reported error may differ.
			want, got := errorKind(do(system)), errorKind(do(memory))
			two := op == "rename" || op == "move" || op == "exchange"
			if want != got && (!two || (want == "ok") != (got == "ok")) {
				t.Fatalf("%s %s %s: the system says %q, the memory %q", op, a, b, want, got)
			}
		}
		want, got := strip(fstest.Snapshot(t, system, ".")), strip(fstest.Snapshot(t, memory, "."))
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("trees (-system +memory):\n%s", diff)
		}
	})
}

// strip removes the times and the root from a snapshot.
func strip(snapshot string) []string {
	var lines []string
	for line := range strings.Lines(snapshot) {
		fields := strings.SplitN(line, " ", 4)
		if fields[0] != "." {
			lines = append(lines, fields[0]+" "+fields[1]+" "+strings.Join(fields[min(3, len(fields)):], " "))
		}
	}
	return lines
}
