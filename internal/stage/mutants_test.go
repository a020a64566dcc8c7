//go:build mutants

package stage_test

import (
	"testing"

	"github.com/millrace-go/millrace/internal/fstest"
)

// TestMutants removes, one by one, parts of the code that restores a stage. It is not run with the other tests: go test
// -tags mutants -run Mutants ./internal/stage
func TestMutants(t *testing.T) {
	fstest.Mutants(t, []fstest.Mutant{
		{"no turn at a delta", "keeper.go", "c.turn++ // written bodies no longer change", "", "TestKeeper_handle"},
		{"no turn when a stage is built", "restore.go", "s.turn++", "", "TestKeeper_handle"},
		{"log not continued", "restore.go", "b.c.seq = d.seq\n", "", "TestKeeper_order"},
		{"no order of slots", "rebuild.go", "s := slot{seq: b.seq - t.ago}", "s := slot{}", "TestKeeper_order"},
		{"no order of stamps", "restore.go", "stamp{o, b.seq - m.ago}", "stamp{o, 0}", "TestStageKept"},
		{"no origins", "rebuild.go", "m.by, err = b.stamps(t.by, n.by)", "m.by, err = nil, nil", "TestKeeper_order"},
		{"no renames", "rebuild.go", "m.moves, err = b.stamps(t.moves, n.moves)", "m.moves, err = nil, nil", "TestKeeper_order"},
		{"no way from the root", "deltawriter.go", "if w.places[slotKey{n.parent, n.name}] == nil {", "if n.parent == w.c.root {", "TestStageKept"},
		{"removal not kept", "rebuild.go", "s.gone, err = b.removal(t.toldRemoval)", "_, err = b.removal(t.toldRemoval)", "TestKeeper_removals"},
		{"removal kept in the trash", "restore.go", "permanent: gone == goneForGood, ", "", "TestKeeper_removals"},
		{"earlier removals below not kept", "rebuild.go", "s.gone.note(below.path, gone)", "", "TestFirstRemoval"},
		{"no way back over a delta", "rebuild.go", "b.c.note(undo{n: dir, name: t.name, slot: old, had: had})", "_, _ = old, had", "TestStageKept"},
		{"a rollback is not noticed", "node.go", "c.low = min(c.low, n)", "", "TestKeeper_rewound"},
		{"paths are not put into the log", "rebuild.go", "u.path, _ = b.c.pathOf(u.n)", "_, _ = b.c.pathOf(u.n)", "TestStageKept"},
		{"another clock", "restore.go", "b.c.now, b.c.nonce = d.clock, d.nonce", "b.c.nonce = d.nonce", "TestKeeper_times"},
		{"other versions", "restore.go", "b.c.now, b.c.nonce = d.clock, d.nonce", "b.c.now = d.clock", "TestKeeper_versions"},
		{"hidden names are not kept", "rebuild.go", "b.c.base.hide(name)", "", "TestKeeper_hidden"},
		{"entries are not compared", "verify.go", "c.taken = append(c.taken,", "_ = append(c.taken,", "TestRestore_drift"},
		{"files removed with their directory are not compared", "remove.go", "s.take(e, kids, from == to)", "s.take(e, kids, false)", "TestRestore_drift"},
		{"listings before the last are not compared", "verify.go", "all[sum.fact].entries = append(all[sum.fact].entries,", "all[sum.fact].entries = append([]entries(nil),", "TestRestore_drift"},
		{"a removed entry is not recorded", "ops.go", "s.core.base.keep(p.ent.f)", "_ = 0", "TestRestore_drift"},
		{"a link on the way is followed", "verify.go", "!ok || err != nil {\n\t\tr.reason", "err != nil {\n\t\t_ = ok\n\t\tr.reason", "TestRestore_forged"},
		{"the content of a moved directory is not checked", "rebuild.go", "err = (&Stage{core: b.c}).checkMove(e, from, to)", "", "TestRestore_forged"},
		{"nodes from earlier deltas are not checked", "rebuild.go", "b.nodes.of[n] < b.marks[b.Depth()].nodes", "false", "TestRestore_later"},
		{"no check for a second place", "rebuild.go", "return badDelta(\"node %d stands at two places\", t.node-1)", "return nil", "TestRestore_forged"},
	})
}
