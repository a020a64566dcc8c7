//go:build mutants

package policy_test

import (
	"testing"

	"github.com/millrace-go/millrace/internal/fstest"
)

// TestMutants removes the code that reserves the targets of names, one piece at a time. It is not run with the other
// tests: go test -tags mutants -run Mutants ./internal/suite/policy
func TestMutants(t *testing.T) {
	const random = "TestReservedStaysInRandomTrees"
	fstest.Mutants(t, []fstest.Mutant{
		{"links on the way to the configuration are not reserved", "../../../policy.go", "g.Pinned = append(g.Pinned, name)", "_ = name", random},
		{"the target of a .git is not reserved", "../../guard/repositories.go", "err = r.follow(found, dir)", "err = nil", random},
		{"a directory with the files of git is any directory", "../../guard/repositories.go", "return has.IsRepository(), nil", "return false, nil", random},
	})
}
