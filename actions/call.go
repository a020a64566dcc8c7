package actions

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"

	"github.com/millrace-go/millrace/agent"
	"github.com/millrace-go/millrace/budget"
	"github.com/millrace-go/millrace/command"
	"github.com/millrace-go/millrace/fsutil"
	"github.com/millrace-go/millrace/internal/kinds"
	"github.com/millrace-go/millrace/internal/match"
	"github.com/millrace-go/millrace/internal/stage"
	"github.com/millrace-go/millrace/internal/worded"
	"github.com/millrace-go/millrace/wording"
)

// Call is the argument of one run of an action. In a test of an action, a Call with only FS and Files works. The
// methods are safe for concurrent use.
type Call struct {
	// FS is the stage: an afero.Fs and more. It refuses writes if the action is ReadOnly.
	FS *fsutil.Stage
	// Step is the id of the step.
	Step string
	// Files are the files to work on: those of input_from, or the parameter "files"; canonical, each once, in order.
	Files []string
	// Inputs are the results of the steps in input_from or input_from_all, in that order.
	Inputs []Result
	// Limits are the host's limits of a step. The zero Limits has the defaults.
	Limits Limits
	// StagedBefore is how much new text, in bytes, earlier visits of the step have put into files. It counts against
	// Limits.MaxStagedBytes.
	StagedBefore int64
	// DryRun means that the change will only be shown: this run is not committed. An action stages the same changes
	// either way; it may report more.
	DryRun bool
	// Force allows changes of files that are read-only for their owner. Without it such a change is blocked.
	Force bool
	// FilesWanted means that a later step takes the files of this step, so their contents are worth keeping.
	FilesWanted bool
	// EditsExpected means that the step has bounds on its edits, so the counted edits are worth reporting.
	EditsExpected bool
	// Kept is what Validate has set [Check.Keep] to when it was called with the values that the action has now. Nil if
	// it has not, or was not called: then Run works it out itself.
	Kept any
	// Visit counts the visits of the step, and Attempt the attempts of this visit, both from 1.
	Visit, Attempt int
	// CallTool calls a tool of the host. It is set for steps of the action [Tool] alone, and nil in a dry run of one
	// that acts outside of the tree.
	CallTool func(ctx context.Context, name string, args map[string]any) (Outcome, error)
	// Commands is what the host allows commands to do. The zero Policy allows none.
	Commands command.Policy
	// AskAgent asks an agent of the host by its name. It is set for steps of the action [Prompt] alone; what is not for
	// the action to know of the request it adds. Previous is what the step before has said, nil where there is none.
	AskAgent func(ctx context.Context, name string, r *agent.Request) (agent.Reply, error)
	Previous *agent.Previous
	// OpenWorkspace makes the tree real for this attempt; use Workspace. Nil means that there are no workspaces.
	OpenWorkspace func(ctx context.Context, o WorkspaceOptions) (*Workspace, error)
	// OnOutput, if not nil, takes what a command that the step runs prints, as it does: the stream is "stdout" or
	// "stderr". It is called from several goroutines.
	OnOutput func(stream, text string)
	// OnSpend, if not nil, takes what an attempt has cost. It is called from several goroutines.
	OnSpend func(budget.Cost)
	// Workers is how many goroutines the step may use. Zero means GOMAXPROCS.
	Workers int
	// Logger may be nil; use Log.
	Logger *slog.Logger
	// OnProgress, if not nil, is called as a step goes on: how many of how many files are done; total is 0 as long as
	// it is not known. It is called from several goroutines.
	OnProgress func(done, total int)
	// OnBytes, if not nil, is called with the number of bytes that were read since the last time. ReadFile calls it; an
	// action that reads in other ways should. It is called from several goroutines.
	OnBytes func(n int64)
	// OnWarning, if not nil, takes what the step wants its user to know although it did not fail. It is called from
	// several goroutines.
	OnWarning func(message string)
	// Words returns the parts of warnings in the words of a door. Nil means the words of the engine.
	Words wording.Words

	sizes   match.Sizes
	spent   atomic.Int64 // bytes of new text, see Staged
	sources sync.Pool    // of *source
}

// Spend adds to the cost of the step. It counts at once, also if the step fails later, unless the run has ended. A
// negative cost counts as 0.
func (c *Call) Spend(cost budget.Cost) {
	if c.OnSpend != nil {
		c.OnSpend(cost)
	}
}

// Warnf reports a warning to the user. If there are very many warnings, only the first in the order of their texts
// are reported, and the number of the others, see Limits.MaxShownBytes.
func (c *Call) Warnf(format string, args ...any) {
	if c.OnWarning == nil {
		return
	}
	if text := wording.Of(worded.Errorf(format, args...), c.Words); text != "" {
		c.OnWarning(text)
	}
}

// warnLeft warns that a file was not edited. A door that reports each file by itself leaves such warnings out.
func (c *Call) warnLeft(name, format string, args ...any) {
	text := wording.Of(worded.Errorf(format, args...), c.Words)
	c.Warnf("%v", wording.Part{Kind: kinds.LeftAsItWas, Text: text, Value: name})
}

// stage returns the stage with all that our own packages do with it.
func (c *Call) stage() *stage.Stage { return (*stage.Stage)(c.FS) }

// Log returns the logger of the run, or a logger that drops everything.
func (c *Call) Log() *slog.Logger {
	if c.Logger == nil {
		return slog.New(slog.DiscardHandler)
	}
	return c.Logger
}

// ReadFile returns the bytes of a regular file on the stage, which are shared: never modify them. It enforces the
// limit on the size of files, so actions should read files with it. The error is a *FileError, perhaps around a
// *[LimitError].
func (c *Call) ReadFile(name string) ([]byte, error) {
	data, err := c.readFile(name)
	return data, fileError(name, err)
}

func (c *Call) readFile(name string) (data []byte, err error) {
	text, err := c.stage().Content(name)
	if err == nil {
		data, err = text.Bytes(c.Limits.FileBytes())
	}
	c.read(len(data))
	return data, c.tooLarge(name, err)
}

// read reports bytes that were read.
func (c *Call) read(n int) {
	if c.OnBytes != nil && n > 0 {
		c.OnBytes(int64(n))
	}
}

// tooLarge adds the limit to an error about a file that is too large.
func (c *Call) tooLarge(name string, err error) error {
	if !errors.Is(err, fsutil.ErrTooLarge) {
		return err
	}
	e := &LimitError{What: kinds.LimitFile, Limit: c.Limits.FileBytes()}
	if info, err := c.FS.Stat(name); err == nil && info.Size() > e.Limit {
		e.Got = info.Size()
	}
	return e
}
