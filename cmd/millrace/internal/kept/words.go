package kept

import (
	"strings"

	"github.com/millrace-go/millrace/runs"
)

// reason is the reason of a run or a job in the words of the commands: the engine plays or cancels what a person
// approves or rejects here.
func reason(text string) string {
	for _, tail := range [][2]string{
		{": play to commit, or cancel", ": approve to commit, or reject"},
		{": play to run it", ": approve to run it"},
		{": play to run it again", ": approve to run it again"},
		{": play with force, or cancel", ": approve with --force, or reject"},
		{": look at it again, and play or cancel", ": look at it again, and approve or reject"},
	} {
		if before, found := strings.CutSuffix(text, tail[0]); found {
			return before + tail[1]
		}
	}
	return text
}

// further is the command that goes on with a run. A run whose tree has changed goes on from the step that read the
// change: a retry would find the same change again.
func further(run runs.Run) string {
	if run.ResumeFrom != "" {
		return "millrace runs resume " + run.ResumeFrom
	}
	return "millrace runs retry " + run.ID
}
