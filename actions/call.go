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
	// Files are the files to work on, from input_from or the parameter "files": canonical, each once, in order.
	Files []string
	// Inputs are the results of the steps in input_from or input_from_all, in that order.
	Inputs []Result
	// Limits are the host's limits of a step. The zero Limits has the defaults.
	Limits Limits
	// StagedBefore is the size in bytes of the new text that earlier visits of the step have staged. It counts against
	// Limits.MaxStagedBytes.
	StagedBefore int64
	// DryRun means that the change will only be shown: this run is not committed. An action stages the same changes as in
	// a real run; it may report more.
	DryRun bool
	// Force allows changes of files that are read-only for their owner. Without it such a change is blocked.
	Force bool
	// FilesWanted means that a later step uses the files of this step, so their contents are worth keeping.
	FilesWanted bool
	// EditsExpected means that the step has bounds on its edits, so the counted edits are worth reporting.
	EditsExpected bool
	// Kept is the [Check.Keep] that Validate set for the present values of the action. Nil if Validate has not set it or
	// was not called; then Run computes it.
	Kept any
	// Visit counts the visits of the step, and Attempt the attempts of this visit, both from 1.
	Visit, Attempt int
	// CallTool calls a tool of the host. It is set only for steps of the action [Tool]. In a dry run it is nil for a tool
	// that acts outside of the tree.
	CallTool func(ctx context.Context, name string, args map[string]any) (Outcome, error)
	// Commands is the host's policy for commands. The zero Policy allows none.
	Commands command.Policy
	// AskAgent asks an agent of the host by its name. It is set only for steps of the action [Prompt]. It adds the parts
	// of the request that the action does not have. Previous is the answer of the step before, if any.
	AskAgent func(ctx context.Context, name string, r *agent.Request) (agent.Reply, error)
	Previous *agent.Previous
	// OpenWorkspace creates the tree on disk for this attempt; use Workspace. Nil means no workspaces.
	OpenWorkspace func(ctx context.Context, o WorkspaceOptions) (*Workspace, error)
	// OnOutput, if not nil, receives the output of the step's command while it runs: the stream is "stdout" or "stderr".
	// It is called from several goroutines.
	OnOutput func(stream, text string)
	// OnSpend, if not nil, receives the cost of an attempt. It is called from several goroutines.
	OnSpend func(budget.Cost)
	// Workers is the number of goroutines that the step may use. Zero means GOMAXPROCS.
	Workers int
	// Logger may be nil; use Log.
	Logger *slog.Logger
	// OnProgress, if not nil, receives progress: the number of files done, and the total, 0 while it is unknown. It is
	// called from several goroutines.
	OnProgress func(done, total int)
	// OnBytes, if not nil, is called with the number of bytes read since the last call. ReadFile calls it; an action that
	// reads in other ways should too. It is called from several goroutines.
	OnBytes func(n int64)
	// OnWarning, if not nil, receives warnings for the user of a step that did not fail. It is called from several
	// goroutines.
	OnWarning func(message string)
	// Words returns the parts of warnings in the words of a door: the command line, MCP or Go. Nil means the words of the
	// engine.
	Words wording.Words

	sizes   match.Sizes
	spent   atomic.Int64 // bytes of new text, see Staged
	sources sync.Pool    // of *source
}

// Spend adds to the cost of the step. The cost counts at once, even if the step fails later, unless the run has ended.
// A negative cost counts as 0.
func (c *Call) Spend(cost budget.Cost) {
	if c.OnSpend != nil {
		c.OnSpend(cost)
	}
}

// Warnf reports a warning to the user. If there are very many warnings, only the first in the order of their texts are
// reported, with the number of the others, see Limits.MaxShownBytes.
func (c *Call) Warnf(format string, args ...any) {
	if c.OnWarning == nil {
		return
	}
	if text := wording.Of(worded.Errorf(format, args...), c.Words); text != "" {
		c.OnWarning(text)
	}
}

// warnLeft warns that a file was not edited. A door that reports each file separately leaves such warnings out.
func (c *Call) warnLeft(name, format string, args ...any) {
	text := wording.Of(worded.Errorf(format, args...), c.Words)
	c.Warnf("%v", wording.Part{Kind: kinds.LeftAsItWas, Text: text, Value: name})
}

// stage returns the stage with its internal methods.
func (c *Call) stage() *stage.Stage { return (*stage.Stage)(c.FS) }

// Log returns the logger of the run, or a logger that drops everything.
func (c *Call) Log() *slog.Logger {
	if c.Logger == nil {
		return slog.New(slog.DiscardHandler)
	}
	return c.Logger
}

// ReadFile returns the bytes of a regular file on the stage. The bytes are shared: never modify them. ReadFile enforces
// the limit on the size of files, so actions should read files with it. The error is a *FileError, perhaps around a
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
