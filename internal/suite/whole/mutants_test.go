//go:build mutants

package whole_test

import (
	"testing"

	"github.com/millrace-go/millrace/internal/fstest"
)

// TestMutants removes the code that lists a file which a directory replaces. It is not run with the other tests: go
// test -tags mutants -run Mutants ./internal/suite/whole
func TestMutants(t *testing.T) {
	const plans = "TestPlans"
	fstest.Mutants(t, []fstest.Mutant{
		{"a file that a directory replaces is left out", "../../stage/collect.go", "return under != nil && under.kind != change.Dir && l.f.kind == change.Dir", "return under != nil && false", plans},
	})
}
