package rundir_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/millracetest"
	"github.com/millrace-go/millrace/risk"
	"github.com/millrace-go/millrace/runs"
)

// A change by another program between the hold at the commit and the play is never overwritten: the run fails, or waits
// again with another digest, and the change stays in the tree.
func TestPlay_changedTree(t *testing.T) {
	t.Parallel()
	const text = `{"name": "g", "steps": [
		{"id": "e", "action": "edit", "params": {"files": ["a.txt"], "old_text": "one", "new_text": "two"}},
		{"id": "rm", "action": "delete", "params": {"files": ["d"], "recursive": true}},
		{"id": "mv", "action": "rename", "params": {"files": ["m"], "to": "k"}},
		{"id": "new", "action": "create", "params": {"path": "n/new.txt", "content": "new\n"}},
		{"id": "cp", "action": "copy", "params": {"files": ["b.txt"], "to": "copied.txt"}}]}`
	write := func(name string) error { return os.WriteFile(name, []byte("LATE\n"), 0o600) }
	// A rename, after which another name, "" for none, keeps its times.
	for about, c := range map[string]struct {
		name, keeps string
		do          func(name string) error
	}{
		"content":                  {"a.txt", "", write},
		"content of the same size": {"a.txt", "a.txt", func(name string) error { return os.WriteFile(name, []byte("one\nOTHER\n"), 0o600) }},
		"source of a copy":         {"b.txt", "b.txt", write},
		"file in removed":          {"d/late", "d", write},
		"file in inner removed":    {"d/sub/late", "d/sub", write},
		"file in moved":            {"m/sub/late", "m/sub", write},
		"content in removed":       {"d/x.txt", "d/x.txt", write},
		"content in moved":         {"m/y.txt", "m/y.txt", write},
		"file gone from removed":   {"d/sub/z.txt", "d/sub", os.Remove},
		"in the way of a copy":     {"copied.txt", "", write},
		"in the way of a move":     {"k", "", func(name string) error { return os.Mkdir(name, 0o700) }},
		"link for a file":          {"a.txt", "", func(name string) error { return errors.Join(os.Remove(name), os.Symlink("b.txt", name)) }},
		"link for a directory":     {"d", "", func(name string) error { return errors.Join(os.Rename(name, name+"2"), os.Symlink("d2", name)) }},
		"mode":                     {"a.txt", "", func(name string) error { return os.Chmod(name, 0o400) }},
	} {
		t.Run(about, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			dir := t.TempDir()
			p.tree = fstest.OpenRoot(t, dir)
			for name, content := range map[string]string{"a.txt": "one\nother\n", "b.txt": "b\nbb\n", "d/x.txt": "x\nxx\n",
				"d/sub/z.txt": "z", "m/y.txt": "y\nyy\n", "m/sub/w.txt": "w"} {
				fstest.Must(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700))
				fstest.Must(t, afero.WriteFile(p.tree, name, []byte(content), 0o600))
			}
			h := p.host()
			h.ApproveFrom = risk.Low
			m := manage(t, p.store, h)
			run := wait(t, m, create(t, m, text), runs.Manual)
			time.Sleep(20 * time.Millisecond) // the resolution of the file system's clock
			keeps := filepath.Join(dir, c.keeps)
			was, err := os.Stat(keeps)
			fstest.Must(t, err)
			fstest.Must(t, c.do(filepath.Join(dir, c.name)))
			if c.keeps != "" {
				fstest.Must(t, os.Chtimes(keeps, was.ModTime(), was.ModTime()))
			}
			before := millracetest.Text(t, p.tree)
			_, err = m.Jobs().Play(t.Context(), runs.JobRef{ID: run.Held.JobID}, runs.PlayParams{PlanDigest: run.Held.PlanDigest})
			fstest.Must(t, err)
			run, err = m.Wait(t.Context(), run.Ref())
			fstest.Must(t, err)
			switch {
			case run.Status == runs.Failed && strings.Contains(run.Reason, "base has changed since step"):
			case run.Status == runs.Manual && strings.Contains(run.Reason, "differs from the approved change"):
			default:
				t.Errorf("it is %s: %s", run.Status, run.Reason)
			}
			same(t, "tree", millracetest.Text(t, p.tree), before)
		})
	}
}
