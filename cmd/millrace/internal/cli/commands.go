package cli

import (
	"github.com/spf13/cobra"

	"github.com/millrace-go/millrace/cmd/millrace/internal/byname"
)

// The groups of commands, in the order of the help.
const (
	groupChange   = "change"
	groupLook     = "look"
	groupTime     = "time"
	groupDescribe = "describe"
	groupServe    = "serve"
)

var groups = []struct{ id, title string }{
	{groupChange, "Change files:"},
	{groupLook, "Look before:"},
	{groupTime, "Back and forth:"},
	{groupDescribe, "Pipelines and actions:"},
	{groupServe, "Other programs:"},
}

// entry makes a command. Topics of the help have no group.
type entry struct {
	group string
	make  func(*App) *cobra.Command
}

// commands are all commands, one a line, each in a file of its own. A topic of the help is a command that does nothing.
var commands = []entry{
	{groupChange, (*App).newReplace},
	{groupChange, (*App).newSed},
	{groupChange, (*App).newMv},
	{groupChange, (*App).newCp},
	{groupChange, (*App).newRm},
	{groupChange, (*App).newPatch},
	{groupChange, (*App).newExec},
	{groupChange, (*App).newDo},
	{groupChange, (*App).newRun},
	{groupLook, (*App).newSearch},
	{groupLook, (*App).newPlan},
	{groupLook, (*App).newShow},
	{groupLook, (*App).newApply},
	{groupDescribe, func(a *App) *cobra.Command { return byname.NewPipelines(a.door()) }},
	{groupDescribe, func(a *App) *cobra.Command { return byname.NewInit(a.door()) }},
	{groupDescribe, (*App).newValidate},
	{groupDescribe, (*App).newFmt},
	{groupDescribe, (*App).newConvert},
	{groupDescribe, (*App).newActions},
	{groupDescribe, (*App).newSchema},
	{groupLook, (*App).newReview},
	{groupTime, (*App).newLog},
	{groupTime, (*App).newUndo},
	{groupTime, (*App).newRedo},
	{groupTime, (*App).newStatus},
	{groupTime, (*App).newRecover},
	{groupDescribe, (*App).newVersion},
	{groupServe, (*App).newMCP},
	{groupServe, (*App).newTrust},
	{groupServe, (*App).newCompletion},
	{"", (*App).newExitCodes},
	{"", (*App).newTemplates},
	{"", (*App).newEvents},
	{"", (*App).newFormats},
	{"", (*App).newConfigHelp},
}
