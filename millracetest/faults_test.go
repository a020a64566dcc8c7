package millracetest

import (
	"context"
	"errors"
	"testing"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
)

// changes returns a pipeline with every kind of change.
func changes() millrace.Pipeline {
	return millrace.New("changes").
		Step("edit", actions.Edit{Files: []string{"a.txt"}, OldText: "a", NewText: "A"}).
		Step("make", actions.Create{Path: "new/c.txt", Content: "c\n"}).
		Step("move", actions.Rename{Files: []string{"d/b.txt"}, To: "e/b.txt"}).
		Step("drop", actions.Delete{Files: []string{"z.txt"}}).MustBuild()
}

func TestFaults(t *testing.T) {
	tree := oneFile + "-- link -> a.txt --\n-- z.txt --\nz\n"
	fsys := Tree(t, tree)
	tried := Faults(t, fsys, changes())
	Equal(t, fsys, tree)
	if tried.Failures < 50 || tried.Full < 10 || tried.Crashes < 4*tried.Foreign || tried.Foreign < 20 {
		t.Errorf("tried only %v", tried)
	}
}

// careless is an action that treats an unreadable file as empty.
type careless struct {
	Files []string `json:"files"`
}

func (careless) Spec() actions.Spec {
	return actions.Spec{Name: "careless", Summary: "does not look at errors", Input: actions.InputFiles}
}

func (careless) Run(_ context.Context, c *actions.Call) (actions.Outcome, error) {
	var out actions.Outcome
	for _, name := range c.Files {
		data, _ := c.ReadFile(name)
		if err := afero.WriteFile(c.FS, name, append(data, "more\n"...), 0o644); err != nil {
			return out, err
		}
		out.Files = append(out.Files, name)
	}
	return out, nil
}

func TestFaults_fails(t *testing.T) {
	one := func(a actions.Action) millrace.Pipeline { return millrace.New("p").Step("s", a).MustBuild() }
	fails(t, func(t testing.TB) {
		Faults(t, Tree(t, oneFile), one(careless{Files: []string{"a.txt"}}))
	}, "the run has no error, but the tree is not that after the run", "operation ", "input/output error")
	fails(t, func(t testing.TB) {
		Faults(t, Tree(t, oneFile), one(actions.Delete{Files: []string{"absent"}}))
	}, "fails without a fault")
	fails(t, func(t testing.TB) {
		Faults(t, Tree(t, oneFile), one(actions.Search{Pattern: "x"}))
	}, "changes nothing")
}

// Each kind of fault finds a writer without a transaction.
func TestFaults_findTornWriters(t *testing.T) {
	write := func(fsys afero.Fs, name, text string) error {
		return afero.WriteFile(fsys, name, []byte(text), 0o644)
	}
	for name, c := range map[string]struct {
		run   func(ctx context.Context, fsys afero.Fs) (*millrace.Result, error)
		words []string
	}{
		"two files": {
			func(_ context.Context, fsys afero.Fs) (*millrace.Result, error) {
				return nil, errors.Join(write(fsys, "a.txt", "A\n"), write(fsys, "d/b.txt", "B\n"))
			},
			[]string{
				"the run has not written, but the tree is not that before", "no space left on device",
				"the process is killed before", "the power fails, and 100%", "neither that before the run nor that after",
			},
		},
		"foreign files removed": {
			func(_ context.Context, fsys afero.Fs) (*millrace.Result, error) {
				return nil, errors.Join(write(fsys, "a.txt", "A\n"), fsys.RemoveAll(foreignName))
			},
			[]string{"another program writes a file", "the file is lost"},
		},
		"modes": {
			func(_ context.Context, fsys afero.Fs) (*millrace.Result, error) {
				return nil, errors.Join(fsys.Chmod("a.txt", 0o600), fsys.Chmod("d/b.txt", 0o664))
			},
			[]string{"neither that before the run nor that after"},
		},
		"errors hidden": {
			func(_ context.Context, fsys afero.Fs) (*millrace.Result, error) {
				_ = write(fsys, "a.txt", "A\n")
				return nil, nil
			},
			[]string{"the run has no error, but the tree is not that after"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			fails(t, func(t testing.TB) {
				f := newFaulting(t, Tree(t, oneFile), c.run, func(context.Context, afero.Fs) error { return nil })
				f.try(t)
			}, c.words...)
		})
	}
	fails(t, func(t testing.TB) {
		run := func(_ context.Context, fsys afero.Fs) (*millrace.Result, error) {
			return nil, write(fsys, "a.txt", "A\n")
		}
		f := newFaulting(t, Tree(t, oneFile), run, func(context.Context, afero.Fs) error { return errors.New("broken") })
		f.try(t)
	}, "the recovery fails: broken")
}
