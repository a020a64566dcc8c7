//go:build mutants

package rundir_test

import (
	"testing"

	"github.com/millrace-go/millrace/internal/fstest"
)

// TestMutants removes, one by one, the checks that stop a run from continuing on a stale state. It does not run with
// the other tests: go test -tags mutants -run Mutants ./rundir
func TestMutants(t *testing.T) {
	const random = "TestTakenUpAtRandom"
	fstest.Mutants(t, []fstest.Mutant{
		{"an answer is replayed on any tree", "../internal/replay/replay.go", "return scratch.RestsOf(ctx, view)", "return scratch.Rests{}, nil", random},
		{"a run goes back without a person", "settle.go", "if s.m.target == nil || drift.Outside != \"\" {", "if drift == nil {", random},
		{"a target goes back past what acted outside", "settle.go", " || drift.Outside != \"\" {", " {", "TestTargetOutside"},
	})
}
