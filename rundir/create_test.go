package rundir

import (
	"path"
	"testing"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/internal/errorfs"
	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/internal/journal"
)

// A run that ends on the tree tidies the state directory while a store is created in it.
func TestCreate_tidiedAway(t *testing.T) {
	t.Parallel()
	tree := fstest.OpenRoot(t, t.TempDir())
	tidied := make(map[string]bool)
	s, err := Open(errorfs.Wrap(tree, func(op *errorfs.Op, do func() error) error {
		err := do()
		if err == nil && op.Kind == "mkdir" && !tidied[op.Name] {
			tidied[op.Name] = true
			_, rerr := millrace.Executor{State: millrace.State{NoSync: true, Key: testKey}}.Recover(t.Context(), tree)
			fstest.Must(t, rerr)
		}
		return err
	}), "", Options{NoSync: true, Key: testKey})
	fstest.Must(t, err)
	fstest.Must(t, createRun(t, s, twoSteps()).close())
	if !tidied[".millrace"] || !tidied[DefaultDir] {
		t.Errorf("tidied after %v", tidied)
	}
}

// A store in a state directory is ignored by version control before it has a run, whatever is in place of the file. For
// a store in another directory the caller is responsible.
func TestCreate_ignored(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ dir, format, before, after string }{
		"no store":          {dir: "store/runs", after: "*\n"},
		"an older store":    {dir: "store/runs", format: formatText, after: "*\n"},
		"a planted store":   {dir: "store/runs", format: formatText, before: "!*\n", after: "*\n"},
		"another directory": {dir: "jobs", before: "*.tmp\n", after: "*.tmp\n"},
	} {
		fsys := openDir(t, t.TempDir())
		fstest.Must(t, fsys.MkdirAll(tt.dir, 0o700))
		for file, text := range map[string]string{formatFile: tt.format, journal.IgnoreFile: tt.before} {
			if text != "" {
				fstest.Write(t, fsys, path.Join(tt.dir, file), text)
			}
		}
		s, err := Open(fsys, tt.dir, Options{NoSync: true, Key: testKey})
		fstest.Must(t, err)
		fstest.Must(t, createRun(t, s, twoSteps()).close())
		if text, err := s.d.Read(s.path(journal.IgnoreFile), 100); string(text) != tt.after || err != nil {
			t.Errorf("%s: it holds %q, %v", name, text, err)
		}
		if shards, err := s.shards(); len(shards) != 1 || err != nil {
			t.Errorf("%s: shards %v, %v", name, shards, err)
		}
	}
}
