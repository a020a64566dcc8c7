//go:build linux

package hostile_test

import "testing"

// Each test kills a real process with SIGKILL at points of the commit protocol.

func TestHostile_kill_while_verifying(t *testing.T) {
	t.Parallel()
	killed(t, point{name: "locked", at: `^phase verify`})
}

func TestHostile_kill_while_making_the_transaction(t *testing.T) {
	t.Parallel()
	killed(t,
		point{name: "before", at: `^mkdir \.millrace/tx`},
		point{name: "transaction", at: `^mkdir T$`},
		point{name: "slots", at: `^mkdir T/old/`},
		point{name: "probe", at: `^create T/probe-b`},
	)
}

func TestHostile_kill_while_staging(t *testing.T) {
	t.Parallel()
	killed(t,
		point{name: "create", at: `^create T/new/`},
		point{name: "half written", at: `^write T/new/`},
		point{name: "metadata", at: `^copymeta T/new/`, real: true},
		point{name: "mode", at: `^chmod T/new/`},
		point{name: "fsync", at: `^sync T/new/`},
	)
}

func TestHostile_kill_while_taking_before_images(t *testing.T) {
	t.Parallel()
	killed(t,
		point{name: "first", after: `^phase backup`, at: `^link T/old/`, real: true},
		point{name: "second", after: `^link T/old/`, at: `^link T/old/`, real: true},
		point{name: "move", at: `^link T/new/`, real: true},
		point{name: "half copied", after: `^phase backup`, at: `^write T/`},
	)
}

func TestHostile_kill_while_syncing_the_transaction(t *testing.T) {
	t.Parallel()
	killed(t,
		point{name: "old", at: `^syncdir T/old`, real: true},
		point{name: "root", at: `^syncdir \.$`, real: true},
		point{name: "phase", at: `^phase journal`},
	)
}

func TestHostile_kill_while_writing_the_plan(t *testing.T) {
	t.Parallel()
	killed(t,
		point{name: "create", at: `^create T/plan\.tmp`},
		point{name: "half written", at: `^write T/plan\.tmp`},
		point{name: "fsync", at: `^sync T/plan\.tmp`},
		point{name: "rename", at: `^rename T/plan$`},
		point{name: "fsync of the directory", after: `^rename T/plan$`, at: `^syncdir T$`, real: true},
	)
}

func TestHostile_kill_while_applying(t *testing.T) {
	t.Parallel()
	killed(t,
		point{name: "begin", at: `^phase apply`},
		point{name: "make room", at: `^rename T/new/.*\.out$`},
		point{name: "directory", after: `^phase apply`, at: `^mkdir [a-z]`},
		point{name: "exchange", at: `^exchange [a-z]`, real: true},
		point{name: "exchanged once", after: `^exchange [a-z]`, at: `^exchange [a-z]`, real: true},
		point{name: "create", at: `^rename (made/new|leaf/below)`},
		point{name: "all", after: `^rename (made/new|leaf/below)`, at: `^rename T/`},
		point{name: "delete", after: `^phase apply`, at: `^rename T/new/.*\.out$`},
		point{name: "deeper", after: `^rename moved/to`, at: `^rename T/new/.*\.out$`},
		point{name: "attributes", after: `^phase apply`, at: `^chmod mode`},
	)
}

func TestHostile_kill_while_syncing_the_tree(t *testing.T) {
	t.Parallel()
	killed(t,
		point{name: "begin", at: `^phase sync`},
		point{name: "top", after: `^phase sync`, at: `^syncdir \.$`, real: true},
		point{name: "below", after: `^phase sync`, at: `^syncdir swap$`, real: true},
	)
}

func TestHostile_kill_at_the_commit_point(t *testing.T) {
	t.Parallel()
	killed(t,
		point{name: "before", at: `^phase commit`},
		point{name: "rename", at: `^rename T/done$`},
		point{name: "fsync", after: `^rename T/done$`, at: `^syncdir T$`, real: true, isNew: true},
	)
}

func TestHostile_kill_while_cleaning_up(t *testing.T) {
	t.Parallel()
	killed(t,
		point{name: "begin", at: `^phase clean`, isNew: true},
		point{name: "remove", after: `^phase clean`, at: `^remove T/new/`, isNew: true},
		point{name: "half removed", after: `^phase clean`, at: `^remove T/new$`, isNew: true},
		point{name: "rename", at: `^rename \.millrace/backups/`, isNew: true},
	)
}
