package kept

import (
	"fmt"

	"github.com/millrace-go/millrace/runs"
	"github.com/millrace-go/millrace/wording"
)

// advice has the advice for a held run in the words of the commands, and of the pages, which have a button for each
// decision. The engine plays or cancels a run.
var advice = map[wording.Kind]phrases{
	"play_commit": {": approve to commit, or reject", ": approve or reject the change"},
	"play_step":   {": approve to run it", ": approve to run it"},
	"play_again":  {": approve to run it again", ": approve to run it again"},
	"play_force":  {": approve with --force, or reject", ": type yes to approve it, or reject it"},
	"play_other":  {": look at it again, and approve or reject", ": look at it again, and approve or reject it"},
}

type phrases struct{ prompt, page string }

// reason returns the reason of a run in the words of the commands.
func reason(run runs.Run) string {
	return reasonIn(run, func(a phrases) string { return a.prompt })
}

// pageReason returns the reason in the words of the pages.
func pageReason(run runs.Run) string {
	return reasonIn(run, func(a phrases) string { return a.page })
}

func reasonIn(run runs.Run, words func(phrases) string) string {
	if run.Held == nil || len(run.Held.Parts) == 0 {
		return run.Reason
	}
	text := ""
	for _, p := range run.Held.Parts {
		if a, ok := advice[p.Kind]; ok {
			p.Text = words(a)
		}
		text += p.Text
	}
	return text
}

// isHeld reports whether a run is held before a job. That job has the reason of the run.
func isHeld(run runs.Run, job runs.Job) bool { return run.Held != nil && run.Held.JobID == job.ID }

// toDecide returns the commands that show a waiting run and decide about it.
func toDecide(run runs.Run) string {
	return fmt.Sprintf("look at it with: millrace runs diff %[1]s; then: millrace runs approve %[1]s, "+
		"or: millrace runs reject %[1]s", run.ID)
}

// further returns the command that continues a run. A run whose tree has changed is resumed from the step that read the
// change: a retry would find the same change again.
func further(run runs.Run) string {
	if run.ResumeFrom != "" {
		return "millrace runs resume " + run.ResumeFrom
	}
	return "millrace runs retry " + run.ID
}
