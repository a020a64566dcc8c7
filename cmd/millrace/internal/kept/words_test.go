package kept

import "testing"

// The engine plays or cancels a run. A person at the prompt approves or rejects it, and a page has a button for each.
func TestReason(t *testing.T) {
	for _, tt := range [][3]string{
		{"the risk is LOW: play to commit, or cancel", "the risk is LOW: approve to commit, or reject",
			"the risk is LOW: approve or reject the change"},
		{"step 'check' is manual: play to run it", "step 'check' is manual: approve to run it",
			"step 'check' is manual: approve to run it"},
		{"too many files: play with force, or cancel", "too many files: approve with --force, or reject",
			"too many files: type yes to approve it, or reject it"},
		{"it changed: look at it again, and play or cancel", "it changed: look at it again, and approve or reject",
			"it changed: look at it again, and approve or reject it"},
		{"the tests fail", "the tests fail", "the tests fail"},
	} {
		if got := reason(tt[0]); got != tt[1] {
			t.Errorf("at the prompt: %q, not %q", got, tt[1])
		}
		if got := pageReason(tt[0]); got != tt[2] {
			t.Errorf("on a page: %q, not %q", got, tt[2])
		}
	}
}
