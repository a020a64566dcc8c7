//go:build mutants

package rundir_test

import (
	"testing"

	"github.com/millrace-go/millrace/internal/fstest"
)

// TestMutants takes out, one by one, what keeps a run from going on with what does not hold any more. It is not run
// with the others: go test -tags mutants -run Mutants ./rundir
func TestMutants(t *testing.T) {
	const random = "TestTakenUpAtRandom"
	fstest.Mutants(t, []fstest.Mutant{
		{"an answer is replayed on any tree", "../internal/replay/replay.go", "return scratch.RestsOf(ctx, view)", "return scratch.Rests{}, nil", random},
		{"a run goes back without a person", "settle.go", "if s.m.target == nil || drift.Outside != \"\" {", "if drift == nil {", random},
		{"a target goes back past what acted outside", "settle.go", " || drift.Outside != \"\" {", " {", "TestTargetOutside"},
	})
}
