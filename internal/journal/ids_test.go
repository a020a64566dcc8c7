package journal_test

import (
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/millrace-go/millrace/internal/journal"
)

// TestIDs compares the two forms of ids with regular expressions, which the package avoids because every program would
// pay for them at its start.
func TestIDs(t *testing.T) {
	id, runID := regexp.MustCompile(`^\d{8}_\d{6}_[0-9a-f]{9,64}$`), regexp.MustCompile(`^[A-Za-z0-9_-]{1,255}$`)
	check := func(t interface{ Errorf(string, ...any) }, s string) {
		if got := journal.ValidID(s); got != id.MatchString(s) {
			t.Errorf("ValidID(%q) = %v", s, got)
		}
		if got := journal.ValidRunID(s); got != runID.MatchString(s) {
			t.Errorf("ValidRunID(%q) = %v", s, got)
		}
	}
	for _, s := range []string{
		"", "20250213_120530_abc123def", "20250213_120530_abc123deg", "20250213_120530_abc123de", "2025021_120530_abc123def1",
		"20250213_120530_" + strings.Repeat("0", 64), "20250213_120530_" + strings.Repeat("0", 65), "20250213_120530_abc123def\n",
		"20250213_120530_abc123de_f", strings.Repeat("a", 255), strings.Repeat("a", 256), "é", "@", "[", "`", "{", "/", ":", "a.b",
	} {
		check(t, s)
	}
	rapid.Check(t, func(r *rapid.T) {
		check(r, rapid.OneOf(
			rapid.StringMatching(`\d{7,9}_\d{5,7}_[0-9a-g]{8,10}`), rapid.StringMatching(`[A-Za-z0-9_-]{0,12}.?`),
		).Draw(r, "id"))
	})
}
