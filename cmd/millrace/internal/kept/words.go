package kept

import (
	"strings"

	"github.com/millrace-go/millrace/runs"
)

// tails are the ends of reasons in three wordings: of the engine, which plays or cancels a run, of the commands, and of
// the pages, which have a button for each decision.
var tails = [...]struct{ engine, prompt, page string }{
	{": play to commit, or cancel", ": approve to commit, or reject", ": approve or reject the change"},
	{": play to run it", ": approve to run it", ": approve to run it"},
	{": play to run it again", ": approve to run it again", ": approve to run it again"},
	{": play with force, or cancel", ": approve with --force, or reject", ": type yes to approve it, or reject it"},
	{": look at it again, and play or cancel", ": look at it again, and approve or reject",
		": look at it again, and approve or reject it"},
}

// reason returns the reason of a run or a job in the words of the commands.
func reason(text string) string {
	for _, t := range tails {
		if before, found := strings.CutSuffix(text, t.engine); found {
			return before + t.prompt
		}
	}
	return text
}

// pageReason returns the reason in the words of the pages.
func pageReason(text string) string {
	for _, t := range tails {
		if before, found := strings.CutSuffix(text, t.engine); found {
			return before + t.page
		}
	}
	return text
}

// further returns the command that continues a run. A run whose tree has changed is resumed from the step that read the
// change: a retry would find the same change again.
func further(run runs.Run) string {
	if run.ResumeFrom != "" {
		return "millrace runs resume " + run.ResumeFrom
	}
	return "millrace runs retry " + run.ID
}
