package plans_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/suite"
	"github.com/millrace-go/millrace/internal/txtarfs"
)

// An outline is equal to the plan's changes, except for hashes that are computed only on demand.
func TestOutline(t *testing.T) {
	for name, open := range suite.Backends() {
		t.Run(name, func(t *testing.T) {
			fsys := open(t)
			if err := txtarfs.Write(fsys, []txtarfs.File{{Name: "a.txt", Data: []byte("x\n")}, {Name: "b.txt", Data: []byte("b\n")}}); err != nil {
				t.Fatal(err)
			}
			p := millrace.New("all").
				Step("edit", actions.Edit{Files: []string{"a.txt"}, OldText: "x", NewText: "y"}).
				Step("move", actions.Rename{Files: []string{"b.txt"}, To: "d/b.txt"}).
				MustBuild()
			plan, err := millrace.Executor{}.Plan(t.Context(), fsys, p)
			if err != nil {
				t.Fatal(err)
			}
			type line struct {
				Kind       change.ChangeKind
				Path, From string
				Old, New   change.Hash
			}
			list := func(changes []change.Change, hashed bool) (lines []line) {
				for _, c := range changes {
					l := line{c.Kind, c.Path, c.From, c.Old.Hash, c.New.Hash}
					if !hashed {
						l.New = change.Hash{}
					}
					lines = append(lines, l)
				}
				return lines
			}
			outline := plan.Outline()
			if len(outline) != 3 { // a.txt, the directory d, d/b.txt
				t.Errorf("outline has %d changes", len(outline))
			}
			if d := cmp.Diff(list(plan.Changes(), false), list(outline, false)); d != "" {
				t.Errorf("outline (-changes +outline):\n%s", d)
			}
			outline[0].Path = "other"
			if got := plan.Changes()[0].Path; got != "a.txt" {
				t.Errorf("the plan changes %s after its outline was written to", got)
			}
		})
	}
}
