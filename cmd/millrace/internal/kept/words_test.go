package kept

import (
	"testing"

	"github.com/millrace-go/millrace/runs"
	"github.com/millrace-go/millrace/wording"
)

// The engine's reasons advise to play or cancel a run. At the prompt a person approves or rejects it, and a page has a
// button for each. A reason that ends with the same words by chance, such as the message of a command, is not changed.
func TestReason(t *testing.T) {
	t.Parallel()
	for kind, want := range map[wording.Kind][2]string{
		"play_commit": {"why: approve to commit, or reject", "why: approve or reject the change"},
		"play_step":   {"why: approve to run it", "why: approve to run it"},
		"play_again":  {"why: approve to run it again", "why: approve to run it again"},
		"play_force":  {"why: approve with --force, or reject", "why: type yes to approve it, or reject it"},
		"play_other":  {"why: look at it again, and approve or reject", "why: look at it again, and approve or reject it"},
		"other":       {"why to play", "why to play"},
	} {
		parts := []wording.Part{{Text: "why"}, {Kind: kind, Text: " to play"}}
		run := runs.Run{Reason: "why: play", Held: &runs.Held{Parts: parts}}
		if got := [2]string{reason(run), pageReason(run)}; got != want {
			t.Errorf("%s: %q, not %q", kind, got, want)
		}
	}
	run := runs.Run{Reason: "the tests fail: play to run it"}
	if reason(run) != run.Reason || pageReason(run) != run.Reason {
		t.Errorf("a run that does not wait has the reasons %q and %q", reason(run), pageReason(run))
	}
}
