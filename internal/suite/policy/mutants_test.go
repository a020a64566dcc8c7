//go:build mutants

package policy_test

import (
	"testing"

	"github.com/millrace-go/millrace/internal/fstest"
)

// TestMutants takes out, one by one, what reserves a thing by what a name leads to. It is not run with the others:
// go test -tags mutants -run Mutants ./internal/suite/policy
func TestMutants(t *testing.T) {
	const random = "TestReservedStaysInRandomTrees"
	fstest.Mutants(t, []fstest.Mutant{
		{"links on the way to the configuration are not kept", "../../../policy.go", "g.Pinned = append(g.Pinned, name)", "_ = name", random},
		{"what a .git leads to is not kept", "../../guard/repositories.go", "err = r.follow(found, dir)", "err = nil", random},
		{"a directory with the files of git is any directory", "../../guard/repositories.go", "return has.IsRepository(), nil", "return false, nil", random},
	})
}
