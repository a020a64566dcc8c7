package guard_test

import (
	"errors"
	"testing"

	"github.com/millrace-go/millrace/internal/guard"
	"github.com/millrace-go/millrace/internal/names"
)

// If the separator of the system is a backslash, a link with a backslash in its target is refused.
func TestTargetOf_separator(t *testing.T) {
	t.Parallel()
	for _, target := range []string{`.git\hooks`, `..\x`, `\x`, `a\..\..\..\x/../y`} {
		if got, err := guard.TargetOf("dir/link", target, '\\'); !errors.Is(err, names.ErrBadName) {
			t.Errorf("a link to %s leads to %s on Windows: %v", target, got, err)
		}
		if _, err := guard.TargetOf("dir/link", target, '/'); err != nil {
			t.Errorf("a link to %s elsewhere: %v", target, err)
		}
	}
}
