package fleet_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/fleet"
)

// inMemory are trees that a host keeps in a map. For trees on disk use fleet.Dirs{}.
type inMemory map[string]afero.Fs

func (m inMemory) Open(_ context.Context, t fleet.Target) (fleet.Tree, error) {
	fsys, ok := m[t.ID]
	if !ok {
		return fleet.Tree{}, errors.New("there is no such tree")
	}
	return fleet.Tree{FS: fsys}, nil
}

// One pipeline for three trees, one of which is broken. After the tree is fixed, the same campaign does the rest.
func Example() {
	trees := make(inMemory)
	for _, name := range []string{"api", "web"} {
		trees[name] = afero.NewMemMapFs()
		if err := afero.WriteFile(trees[name], "LICENSE", []byte("Copyright 2025\n"), 0o644); err != nil {
			log.Fatal(err)
		}
	}
	trees["docs"] = afero.NewMemMapFs() // it has no license file

	campaign := fleet.Campaign{ID: "new-year", Pipeline: millrace.New("new-year").
		Step("year", actions.Edit{Files: []string{"LICENSE"}, OldText: "2025", NewText: "2026"}).MustBuild()}
	f := fleet.Fleet{Scheduler: fleet.Local{Worker: fleet.Worker{Trees: trees}, Parallel: 1}}
	run := func() {
		targets := fleet.Targets(fleet.Target{ID: "api"}, fleet.Target{ID: "docs"}, fleet.Target{ID: "web"})
		sum, err := f.Run(context.Background(), campaign, targets, func(o fleet.Outcome) error {
			fmt.Println(o.Target.ID, o.Status, o.Code, o.Replayed)
			return nil
		})
		fmt.Println(sum, err)
	}
	run()
	if err := afero.WriteFile(trees["docs"], "LICENSE", []byte("Copyright 2025\n"), 0o644); err != nil {
		log.Fatal(err)
	}
	run()
	// Output:
	// api success  false
	// docs failed step_failed false
	// web success  false
	// 3 targets: 2 success, 1 failed | 2 files | 2 edits <nil>
	// api success  true
	// docs success  false
	// web success  true
	// 3 targets: 3 success (2 done before) | 3 files | 3 edits <nil>
}
