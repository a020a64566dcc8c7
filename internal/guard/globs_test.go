package guard_test

import (
	"testing"

	"github.com/millrace-go/millrace/internal/guard"
)

func TestGuardValidate(t *testing.T) {
	t.Parallel()
	for pattern, want := range map[string]bool{
		"": false, ".": false, "/etc": false, "../x": false, "a/../b": false, "[a": false, "{a": false,
		".env": true, "**/*.key": true, "./a/": true, "{a,b}/**": true,
	} {
		for _, g := range []guard.Policy{{Denied: []string{pattern}}, {ReadOnly: []string{"ok", pattern}}} {
			if err := g.Validate(); (err == nil) != want {
				t.Errorf("%q: %v", pattern, err)
			}
		}
	}
}
