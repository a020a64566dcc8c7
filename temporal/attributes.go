package millracetemporal

import (
	"go.temporal.io/sdk/temporal"

	"github.com/millrace-go/millrace/runs"
)

// attributeNames are the search attributes that lists of campaigns are filtered by, all of type Keyword.
const (
	projectName = "MillraceProject"
	stateName   = "MillraceState"
	nameName    = "MillraceName"
	refName     = "MillraceRef"
	shaName     = "MillraceSha"
	userName    = "MillraceUser"
)

// Attributes returns the search attributes, all of type Keyword, that a server has to know before [Client.Attributes]
// is set.
func Attributes() []string {
	return []string{projectName, stateName, nameName, refName, shaName, userName}
}

func keyword(name string) temporal.SearchAttributeKeyKeyword {
	return temporal.NewSearchAttributeKeyKeyword(name)
}

func stateAttribute() temporal.SearchAttributeKeyKeyword { return keyword(stateName) }

// statusOf is the status that a campaign of that phase has as a run.
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
