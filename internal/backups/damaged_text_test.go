package backups_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/millrace-go/millrace/internal/backups"
)

// TestDamagedError checks that the message is short for any number of damaged files, and that Paths has all of them.
func TestDamagedError(t *testing.T) {
	t.Parallel()
	e := &backups.DamagedError{ID: "1"}
	for i := range 10_000 {
		e.Files = append(e.Files, backups.Damage{Path: fmt.Sprintf("f%05d", i), Reason: "is missing"})
	}
	text := e.Error()
	for _, part := range []string{"backup 1 is damaged: 10000 files", "f00000: is missing", "f00009: is missing"} {
		if !strings.Contains(text, part) {
			t.Errorf("the message does not have %q: %s", part, text)
		}
	}
	if strings.Contains(text, "f00010") || len(e.Paths()) != len(e.Files) {
		t.Errorf("%d paths, and the message is %s", len(e.Paths()), text)
	}
	e.Files = e.Files[:2]
	if want := "backup 1 is damaged: f00000: is missing; f00001: is missing"; e.Error() != want {
		t.Errorf("the message is %q, want %q", e.Error(), want)
	}
}
