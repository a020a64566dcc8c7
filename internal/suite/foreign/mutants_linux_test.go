//go:build mutants

package foreign_test

import (
	"testing"

	"github.com/millrace-go/millrace/internal/fstest"
)

// TestMutants removes the code that protects the work of others, one piece at a time. It is not run with the other
// tests: go test -tags mutants -run Mutants ./internal/suite/foreign
func TestMutants(t *testing.T) {
	const workspace, steps, left = "TestForeign_workspaceRandom", "TestForeign_random", "TestForeign_stragglersRandom"
	fstest.Mutants(t, []fstest.Mutant{
		{"paths that a command has seen are not compared", "../../scratch/hold.go", "if reason != \"\" {", "if false {", workspace},
		{"names that a command has found free are not compared", "../../stage/holds.go", "case seen.Kind == change.Absent:\n\t\treturn DriftCreated, nil", "case seen.Kind == change.Absent:\n\t\treturn \"\", nil", workspace},
		{"a free name is not looked at again", "../../stage/collect.go", "if s.isFresh() {\n\t\treturn w.stillAbsent(at)\n\t}\n", "", steps},
		{"a removed directory takes files that came into it later", "../../stage/collect.go", "if other >= 0 {", "if other >= 0 && false {", steps},
		{"a process that has left its session is not found", "../../../command/group_linux.go", "return err == nil && g.mark.On(pid)", "return err == nil && g.mark.On(pid) && false", left},
	})
}
