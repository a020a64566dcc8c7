package recovery_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/internal/suite"
)

// TestUnfinishedIsToldToReaders: a run that takes no lock may read a tree between old and new, and reports a warning.
func TestUnfinishedIsToldToReaders(t *testing.T) {
	find := millrace.New("find").Step("find", actions.Search{Pattern: "o", Include: []string{"*.txt"}}).MustBuild()
	change := suite.Edit("a.txt")
	readers := map[string]func(t *testing.T, fsys afero.Fs) (*millrace.Result, error){
		"plan": func(t *testing.T, fsys afero.Fs) (*millrace.Result, error) {
			plan, err := millrace.Executor{}.Plan(t.Context(), fsys, change)
			return plan.Result(), err
		},
		"dry run": func(t *testing.T, fsys afero.Fs) (*millrace.Result, error) {
			return millrace.Executor{DryRun: true}.Run(t.Context(), fsys, change)
		},
		"search": func(t *testing.T, fsys afero.Fs) (*millrace.Result, error) {
			return millrace.Run(t.Context(), fsys, find)
		},
		"search with another state directory": func(t *testing.T, fsys afero.Fs) (*millrace.Result, error) {
			return millrace.Executor{State: millrace.State{Dir: ".other"}}.Run(t.Context(), fsys, find)
		},
		"search read-only": func(t *testing.T, fsys afero.Fs) (*millrace.Result, error) {
			return millrace.Run(t.Context(), afero.NewReadOnlyFs(fsys), find)
		},
	}
	tests := []struct {
		what, phase string
		operations  int64
		mixed       bool
	}{
		{"before the plan", "journal", 0, false},
		{"within", "apply", 1, true},
		{"before the mark", "sync", 0, true},
		{"after the mark", "sync", 1, false},
	}
	for _, tt := range tests {
		for name, read := range readers {
			t.Run(tt.what+"/"+name, func(t *testing.T) {
				root, _ := killedTree(t, tt.phase, tt.operations)
				warned := func() bool {
					res, err := read(t, root)
					if err != nil {
						t.Fatal(err)
					}
					return slices.ContainsFunc(res.Warnings, func(w string) bool {
						return strings.Contains(w, "between old and new") && strings.Contains(w, ".millrace/tx/")
					})
				}
				if got := warned(); got != tt.mixed {
					t.Errorf("warned: %v", got)
				}
				if _, err := (millrace.Executor{}).Recover(t.Context(), root); err != nil {
					t.Fatal(err)
				}
				if warned() {
					t.Error("the warning is still there after the recovery")
				}
			})
		}
	}
}

// TestRecoverReadOnly: if nothing needs recovery, nothing is written, not even a lock.
func TestRecoverReadOnly(t *testing.T) {
	for name, open := range suite.Backends() {
		t.Run(name, func(t *testing.T) {
			fsys := open(t)
			suite.ThreeFiles(t, fsys)
			for _, litter := range []bool{false, true} {
				if litter {
					if err := fsys.MkdirAll(".millrace/tx", 0o700); err != nil {
						t.Fatal(err)
					}
				}
				before := allFiles(t, fsys)
				r, err := millrace.Executor{}.Recover(t.Context(), afero.NewReadOnlyFs(fsys))
				if err != nil || len(r.RolledBack)+len(r.Finished) > 0 {
					t.Errorf("litter %v: %+v, %v", litter, r, err)
				}
				if after := allFiles(t, fsys); after != before {
					t.Errorf("litter %v: the tree is\n%s", litter, after)
				}
			}
		})
	}
}
