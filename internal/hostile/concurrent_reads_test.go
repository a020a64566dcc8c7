package hostile_test

import (
	"fmt"
	"testing"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
)

// A run that reads a file and writes another file ignores a change of the first: only written files are compared, as
// documented.
func TestHostile_only_read_while_another_writes(t *testing.T) {
	t.Parallel()
	eachCommitting(t, func(t *testing.T, b *backend) {
		plan := b.plan(t, act("search", obj{"pattern": "alpha"}), editFile("b.txt", "needle", "pin in {{search.files}}"))
		if err := afero.WriteFile(b.fs, "a.txt", []byte(foreign), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := plan.Commit(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := b.content(t, "a.txt") + b.content(t, "b.txt"); got != foreign+"beta pin in a.txt\n" {
			t.Errorf("the files are %q", got)
		}
	})
}

// A read-only run neither waits for a committing run nor disturbs it, and sees each file whole: old or new.
func TestHostile_reads_while_another_commits(t *testing.T) {
	t.Parallel()
	eachCommitting(t, func(t *testing.T, b *backend) {
		reads := 0
		x := host()
		reader := decoded(t, act("read_ranges", obj{"files": []string{"a.txt", "b.txt"}}), act("search", obj{"pattern": "alpha|beta"}))
		x.Observe = func(e millrace.Event) {
			if _, ok := e.(millrace.CommitPhase); !ok {
				return
			}
			reads++
			res, err := host().Run(t.Context(), b.fs, reader)
			if err != nil {
				t.Errorf("%+v: %v", e, err)
				return
			}
			for name, word := range map[string]string{"a.txt": "alpha", "b.txt": "beta"} {
				if got := res.Results[0].Content[name]; got != word+" needle\n" && got != word+" pin\n" {
					t.Errorf("%+v: %s is %q", e, name, got)
				}
			}
			if n := len(res.Results[1].FilesMatched); n != 2 {
				t.Errorf("%+v: found %q", e, res.Results[1].FilesMatched)
			}
		}
		if _, err := b.runOn(t, x, editFile("a.txt", "needle", "pin"), editFile("b.txt", "needle", "pin", id("b"))); err != nil {
			t.Fatal(err)
		}
		if reads < 5 {
			t.Errorf("read only %d times", reads)
		}
		if got := fmt.Sprint(b.content(t, "a.txt"), b.content(t, "b.txt")); got != "alpha pin\nbeta pin\n" {
			t.Errorf("the files are %q", got)
		}
	})
}
