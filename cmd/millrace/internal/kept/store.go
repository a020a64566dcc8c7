// Package kept has the commands for runs in a store. Such runs can wait for a decision and survive their process; later
// processes show, approve and resume them. Package rundir runs them.
package kept

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/cmd/millrace/internal/door"
	"github.com/millrace-go/millrace/fleet"
	"github.com/millrace-go/millrace/fsutil"
	"github.com/millrace-go/millrace/rundir"
	"github.com/millrace-go/millrace/runs"
)

// project is the key of the tree in its store.
const project = "."

// Open opens the store in a directory, which is relative to the tree's state directory or absolute. closing must be
// called in the end.
func Open(tree *fsutil.RootFs, dir string, x millrace.Executor) (store *rundir.Store, closing func() error, err error) {
	var fsys afero.Fs = tree
	closing = func() error { return nil }
	if filepath.IsAbs(dir) {
		root, err := fsutil.OpenRoot(dir)
		if err != nil {
			return nil, nil, err
		}
		fsys, dir, closing = root, ".", root.Close
	}
	if store, err = rundir.Open(fsys, dir, rundir.Options{Key: x.State.Key, NoSync: x.State.NoSync}); err != nil {
		return nil, nil, errors.Join(err, closing())
	}
	return store, closing, nil
}

// Tree returns the single tree of the runs of a store.
func Tree(tree *fsutil.RootFs) fleet.Trees { return oneTree{tree.WithAbsolute()} }

type oneTree struct{ fs afero.Fs }

// Open implements [fleet.Trees].
func (t oneTree) Open(context.Context, fleet.Target) (fleet.Tree, error) {
	return fleet.Tree{FS: t.fs}, nil
}

// isLast reports whether an argument means the newest run. "-/STEP" would be a flag.
func isLast(arg string) bool { return arg == "-" || arg == "last" }

// leastDigits is the smallest number of digits that selects a run by the beginning of its id, which is a date. Fewer
// digits, such as 20, would match the ids of a whole century.
const leastDigits = len("20060102")

// find returns the run of an argument: a number, the beginning of a run id, or "-" or "last" for the newest.
func find(ctx context.Context, p door.Program, store *rundir.Store, arg string) (runs.Run, error) {
	_, number := runs.Number(arg)
	if number {
		run, err := store.Get(ctx, runs.RunRef{Project: project, ID: arg})
		if err == nil || !errors.Is(err, runs.ErrNotFound) {
			return run, err
		}
	}
	var found []runs.Run
	newest, begins := isLast(arg), arg != "" && !(number && len(arg) < leastDigits)
	err := each(ctx, store, runs.Filter{Project: project}, func(r runs.Run) bool {
		if newest || begins && strings.HasPrefix(r.RunID, arg) {
			found = append(found, r)
		}
		return !newest
	})
	switch {
	case err != nil:
		return runs.Run{}, err
	case len(found) == 1:
		return store.Get(ctx, found[0].Ref())
	case newest:
		return runs.Run{}, p.Usage(errors.New("the store has no runs"))
	case len(found) > 1:
		return runs.Run{}, p.Usage(fmt.Errorf("%d runs have an id that begins with %q", len(found), arg))
	}
	return runs.Run{}, p.Usage(fmt.Errorf("unknown run %q: millrace runs --all lists them", arg))
}

// each calls visit with the runs that a filter selects, newest first, until visit returns false.
func each(ctx context.Context, store *rundir.Store, f runs.Filter, visit func(runs.Run) bool) error {
	f.PerPage = runs.MaxPerPage
	for f.Page = 1; f.Page > 0; {
		page, err := store.List(ctx, f)
		if err != nil {
			return err
		}
		for _, r := range page.Items {
			if !visit(r) {
				return nil
			}
		}
		f.Page, f.Snapshot = page.NextPage, page.Snapshot
	}
	return nil
}
