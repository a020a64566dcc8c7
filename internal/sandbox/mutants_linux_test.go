//go:build mutants && (amd64 || arm64)

package sandbox_test

import (
	"testing"

	"github.com/millrace-go/millrace/internal/fstest"
)

// TestMutants removes the rules of the filter of system calls, one at a time. It is not run with the other tests: go
// test -tags mutants -run Mutants ./internal/sandbox
func TestMutants(t *testing.T) {
	fstest.Mutants(t, []fstest.Mutant{
		{"each request of ioctl is made", "calls_linux.go", "{call: unix.SYS_IOCTL, then: allow, other: eperm, tests: []test{{arg: 1, mask: whole, values: requests}}},", "{call: unix.SYS_IOCTL, then: allow, other: allow, tests: []test{{arg: 1, mask: whole, values: requests}}},", "TestRequests"},
		{"any flags of clone", "listed_linux.go", "{call: unix.SYS_CLONE, then: allow, other: eperm,", "{call: unix.SYS_CLONE, then: allow, other: allow,", "TestOthers"},
	})
}
