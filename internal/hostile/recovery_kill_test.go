//go:build linux

package hostile_test

import "testing"

// The points are those of the protocol. Each test kills a real process there, with SIGKILL, by itself.

func TestHostile_082_killWhileVerifying(t *testing.T) {
	t.Parallel()
	killed(t, point{name: "P0 locked", at: `^phase verify`})
}

func TestHostile_083_killWhileMakingTheTransaction(t *testing.T) {
	t.Parallel()
	killed(t,
		point{name: "P1 before", at: `^mkdir \.millrace/tx`},
		point{name: "P1 transaction", at: `^mkdir T$`},
		point{name: "P1 slots", at: `^mkdir T/old/`},
		point{name: "P1 probe", at: `^create T/probe-b`},
	)
}

func TestHostile_084_killWhileStaging(t *testing.T) {
	t.Parallel()
	killed(t,
		point{name: "P2 create", at: `^create T/new/`},
		point{name: "P2 half written", at: `^write T/new/`},
		point{name: "P2 metadata", at: `^copymeta T/new/`, real: true},
		point{name: "P2 mode", at: `^chmod T/new/`},
		point{name: "P2 fsync", at: `^sync T/new/`},
	)
}

func TestHostile_085_killWhileTakingBeforeImages(t *testing.T) {
	t.Parallel()
	killed(t,
		point{name: "P3 first", after: `^phase backup`, at: `^link T/old/`, real: true},
		point{name: "P3 second", after: `^link T/old/`, at: `^link T/old/`, real: true},
		point{name: "P3 move", at: `^link T/new/`, real: true},
		point{name: "P3 half copied", after: `^phase backup`, at: `^write T/`},
	)
}

func TestHostile_086_killWhileSyncingTheTransaction(t *testing.T) {
	t.Parallel()
	killed(t,
		point{name: "P4 old", at: `^syncdir T/old`, real: true},
		point{name: "P4 root", at: `^syncdir \.$`, real: true},
		point{name: "P4 phase", at: `^phase journal`},
	)
}

func TestHostile_087_killWhileWritingThePlan(t *testing.T) {
	t.Parallel()
	killed(t,
		point{name: "P5 create", at: `^create T/plan\.tmp`},
		point{name: "P5 half written", at: `^write T/plan\.tmp`},
		point{name: "P5 fsync", at: `^sync T/plan\.tmp`},
		point{name: "P5 rename", at: `^rename T/plan$`},
		point{name: "P5 fsync of the directory", after: `^rename T/plan$`, at: `^syncdir T$`, real: true},
	)
}

func TestHostile_088_killWhileApplying(t *testing.T) {
	t.Parallel()
	killed(t,
		point{name: "A1 begin", at: `^phase apply`},
		point{name: "A1a make room", at: `^rename T/new/.*\.out$`},
		point{name: "A1b directory", after: `^phase apply`, at: `^mkdir [a-z]`},
		point{name: "A1c exchange", at: `^exchange [a-z]`, real: true},
		point{name: "A1c exchanged once", after: `^exchange [a-z]`, at: `^exchange [a-z]`, real: true},
		point{name: "A1c create", at: `^rename (made/new|leaf/below)`},
		point{name: "A1c all", after: `^rename (made/new|leaf/below)`, at: `^rename T/`},
		point{name: "A1d delete", after: `^phase apply`, at: `^rename T/new/.*\.out$`},
		point{name: "A1d deeper", after: `^rename moved/to`, at: `^rename T/new/.*\.out$`},
		point{name: "A1 attributes", after: `^phase apply`, at: `^chmod mode`},
	)
}

func TestHostile_089_killWhileSyncingTheTree(t *testing.T) {
	t.Parallel()
	killed(t,
		point{name: "A2 begin", at: `^phase sync`},
		point{name: "A2 top", after: `^phase sync`, at: `^syncdir \.$`, real: true},
		point{name: "A2 below", after: `^phase sync`, at: `^syncdir swap$`, real: true},
	)
}

func TestHostile_090_killAtTheCommitPoint(t *testing.T) {
	t.Parallel()
	killed(t,
		point{name: "C1 before", at: `^phase commit`},
		point{name: "C1 rename", at: `^rename T/done$`},
		point{name: "C1 fsync", after: `^rename T/done$`, at: `^syncdir T$`, real: true, isNew: true},
	)
}

func TestHostile_091_killWhileCleaningUp(t *testing.T) {
	t.Parallel()
	killed(t,
		point{name: "F1 begin", at: `^phase clean`, isNew: true},
		point{name: "F1 remove", after: `^phase clean`, at: `^remove T/new/`, isNew: true},
		point{name: "F1 half removed", after: `^phase clean`, at: `^remove T/new$`, isNew: true},
		point{name: "F1 rename", at: `^rename \.millrace/backups/`, isNew: true},
	)
}
