package patches_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/internal/rootfs"
)

// BenchmarkExact computes a patch of a thousand hunks in 200 files, all at their stated places. "git" is git apply
// --check, which does the same in a process of its own.
func BenchmarkExact(b *testing.B) {
	dir := b.TempDir()
	var patch strings.Builder
	for i := range 200 {
		name := fmt.Sprintf("f%d", i)
		fmt.Fprintf(&patch, "--- a/%s\n+++ b/%s\n", name, name)
		var text strings.Builder
		for line := range 200 {
			fmt.Fprintf(&text, "line %d of file %d\n", line+1, i)
		}
		for h := range 5 {
			at := 10 + 30*h
			fmt.Fprintf(&patch, "@@ -%d,7 +%d,7 @@\n", at, at)
			for k := range 7 {
				if k == 3 {
					fmt.Fprintf(&patch, "-line %d of file %d\n+other\n", at+k, i)
					continue
				}
				fmt.Fprintf(&patch, " line %d of file %d\n", at+k, i)
			}
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text.String()), 0o644); err != nil {
			b.Fatal(err)
		}
	}
	b.Run("plan", func(b *testing.B) {
		root, err := rootfs.Open(dir)
		if err != nil {
			b.Fatal(err)
		}
		defer root.Close()
		p := pipeline(actions.Patch{Text: patch.String()})
		for b.Loop() {
			plan, err := (millrace.Executor{}).Plan(b.Context(), root, p)
			if err != nil {
				b.Fatal(err)
			}
			if n := plan.Result().TotalEdits; n != 1000 {
				b.Fatal(n)
			}
		}
	})
	b.Run("git", func(b *testing.B) {
		for b.Loop() {
			cmd := exec.CommandContext(b.Context(), "git", "apply", "--check", "-")
			cmd.Dir, cmd.Stdin = dir, strings.NewReader(patch.String())
			cmd.Env = append(os.Environ(), "GIT_CEILING_DIRECTORIES="+filepath.Dir(dir))
			if out, err := cmd.CombinedOutput(); err != nil {
				b.Fatalf("%v: %s", err, out)
			}
		}
	})
}
