package suggest_test

import (
	"strings"
	"testing"

	"github.com/millrace-go/millrace/cmd/millrace/internal/suggest"
)

func TestNearest(t *testing.T) {
	t.Parallel()
	words := []string{"deny", "ceiling", "max_files", "color"}
	for word, want := range map[string]string{
		"cieling": "ceiling", "colour": "color", "max-files": "max_files", "denny": "deny", "deny": "deny", "xyz": "", "": "",
		strings.Repeat("c", 1000): "",
	} {
		if got := suggest.Nearest(word, words); got != want {
			t.Errorf("%.20s: %q, want %q", word, got, want)
		}
	}
}
