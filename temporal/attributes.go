package millracetemporal

import (
	"go.temporal.io/sdk/temporal"

	"github.com/millrace-go/millrace/runs"
)

// The search attributes by which lists of campaigns are filtered, all of type Keyword.
const (
	projectName = "MillraceProject"
	stateName   = "MillraceState"
	nameName    = "MillraceName"
	refName     = "MillraceRef"
	shaName     = "MillraceSha"
	userName    = "MillraceUser"
)

// Attributes returns the search attributes, all of type Keyword, that the server needs before [Client.Attributes] is
// set.
func Attributes() []string {
	return []string{projectName, stateName, nameName, refName, shaName, userName}
}

func keyword(name string) temporal.SearchAttributeKeyKeyword {
	return temporal.NewSearchAttributeKeyKeyword(name)
}

func stateAttribute() temporal.SearchAttributeKeyKeyword { return keyword(stateName) }

// statusOf returns the status, as a run, of a campaign in a phase.
func statusOf(phase string) runs.Status {
	switch phase {
	case PhasePlanning:
		return runs.Preparing
	case PhaseHeld:
		return runs.Manual
	case PhaseRunning:
		return runs.Running
	}
	return runs.Success
}
