package millrace

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/agent"
	"github.com/millrace-go/millrace/backup"
	"github.com/millrace-go/millrace/budget"
	"github.com/millrace-go/millrace/bulkhead"
	"github.com/millrace-go/millrace/command"
	"github.com/millrace-go/millrace/risk"
	"github.com/millrace-go/millrace/tool"
	"github.com/millrace-go/millrace/wording"
)

// DefaultMaxFiles is the number of files a pipeline may change without force.
const DefaultMaxFiles = 100

// DefaultLockWait is how long a run waits for another one on the same tree.
const DefaultLockWait = time.Minute

// DefaultStateDir is where journal, backups, trash and runs are kept.
const DefaultStateDir = ".millrace"

// Executor runs pipelines. Its fields are the policy of the host: a pipeline, which may come from a model or a user,
// cannot lift any of them. The zero value works. An Executor is safe for concurrent use as long as its fields are not
// changed; runs that write to one tree wait for each other.
type Executor struct {
	// DryRun makes every run a dry run, whatever the pipeline sets. The same holds for [Plan.Commit], Restore and the
	// verbs for backups: they report their effect, and write nothing. A verb that cannot be tried, such as Recover with
	// something to undo, is ErrReadOnly.
	DryRun bool
	// ReadOnly refuses pipelines with steps that can write, or that act outside of the tree, unless they are dry runs,
	// and everything else that would write, with ErrReadOnly.
	ReadOnly bool
	// Ceiling is the highest risk that may be committed, with or without force. Unset, the zero value, means that force
	// may pass all levels.
	Ceiling risk.Level
	// Risk holds the thresholds of the levels. The zero Policy has those of package risk.
	Risk risk.Policy
	// MaxFiles is how many files may be changed without force. Zero means DefaultMaxFiles; negative means no limit. The
	// level of risk needs force as well, by default from 50 files or 500 edits on: Risk sets where it begins, and
	// Options.Force passes both.
	MaxFiles int
	// Limits bound the text that steps read, find, replace and show. More fails the step with an *actions.LimitError.
	// MaxShownBytes and MaxStagedBytes are for all steps of a run together. Each step, for MaxStagedBytes each step
	// that can write, may have an equal share, whatever the others need, so that a result does not depend on the order
	// of the steps. Zero means 64 MiB for each of them there, and the default of package actions
	// for all other fields. Previews are held to MaxFileBytes too, see [Plan.WriteDiff].
	Limits actions.Limits
	// MaxJSONDepth is how deeply lists and objects may be nested in a plan that [Executor.OpenPlan] reads, judged
	// before anything is made of the text. More is a *PlanError. Zero means 100; negative, or more than
	// 10,000, means 10,000.
	MaxJSONDepth int
	// MaxPlanBytes is the longest text, in bytes, that [Executor.OpenPlan] reads. A longer one is a *PlanError. Zero
	// means DefaultMaxPlanBytes, negative no limit.
	MaxPlanBytes int
	// Budget is what a run may spend, whatever its pipeline says: of both budgets the smaller counts, measure by
	// measure. A step that costs does not begin once the money is spent, the run is a *BudgetError then. So it is if
	// more was changed than the budget allows before a step; in the end that is a *BlockedError, which force does not
	// lift. A restore from a backup has no budget. A field that is zero means no limit, a negative one is an
	// *ExecutorError.
	Budget budget.Limit
	// Workers is how many goroutines a run may use. Zero means GOMAXPROCS.
	Workers int
	// AllowedPaths are the files and directories, with all below them, that steps may read and write, judged when
	// symbolic links are resolved. One that leads through a link itself is an *ExecutorError, unless what it leads to
	// is allowed too: a link in the tree must not widen what the host allows. Nil means the whole tree; a list that is
	// empty and not nil allows nothing.
	AllowedPaths []string
	// DeniedPaths are globs. Matching files, and everything below matching directories, are hidden from steps. A step
	// that names such a path gets fsutil.ErrDenied. They win over AllowedPaths, hold for symbolic
	// links by their names and by what they lead to, and force does not help. A glob without a slash is about the last
	// element of a path in any directory (".env"); others are about the whole path ("deploy/**/*.key"). Other spellings
	// that some file system takes for the same name are taken as well, and with each ".git" what git takes for a
	// repository under another name. A glob that is not valid is an *ExecutorError.
	DeniedPaths []string
	// ReadOnlyPaths are globs like DeniedPaths. Matching paths can be listed and read. A step that writes, makes, renames
	// or removes such a path, or a directory above it, gets fsutil.ErrReadOnlyPath, with or without force.
	ReadOnlyPaths []string
	// RequireMatches makes a failure of what is a warning otherwise: that a step which would write finds nothing to
	// write to. It is an *ExpectError, as if each such step without an expect of its own had the expect {"min_files":
	// 1}.
	RequireMatches bool
	// PortableNames refuses to write to names that cannot exist on Windows, or would be another file there: devices
	// such as "con.txt", dots and spaces at the end, colons, backslashes, control characters. The error is
	// fsutil.ErrNotPortable.
	PortableNames bool
	// ReplaceForeign lets steps write to files that another user owns and this process may not write to. A file is
	// replaced as a whole, for which the right to write to its directory is enough, and then belongs to this user, with
	// a warning. Without it, writing to such a file is fs.ErrPermission. Root may write to all files, and keeps their
	// owners.
	ReplaceForeign bool
	// InPlace lets steps edit a file that is a mount point, such as a file that a container was given by its name: the
	// commit overwrites its bytes, for no other file can take its place. Other programs can read it half written until
	// then. A commit that fails, or whose process dies, writes the old bytes again. Without it such a step gets
	// capability.ErrMountPoint, as it does in any case to move or remove such a file. It is seen on Linux; elsewhere
	// the commit fails.
	InPlace bool
	// State is where and how long journal, backups and stored results are kept, and who may read them.
	State State
	// RunID names the run: letters, digits, "-" and "_", at most 255. Running the same id again on the same tree returns
	// the stored result if that run was committed, and runs afresh otherwise. The result is stored in the state
	// directory, so a copy of the tree with that directory has run as well. Empty means that runs are not remembered.
	RunID string
	// Tools are what steps of the action tool can call. The zero Set has none, so that such steps are a
	// *ValidationError.
	Tools tool.Set
	// Commands is what the host allows commands to do that steps of the action exec run: which ones, what they can
	// reach, how long. The zero Policy allows none, so that such steps are a *ValidationError with the code
	// exec_denied, before anything runs; where the words of a command come from templates, it is a *command.DeniedError
	// of the step. A policy that makes no sense is an *ExecutorError. The tree that commands work on is a copy, which
	// is made in Commands.Scratch when the first of them runs, and removed when the steps are done.
	Commands command.Policy
	// Agents are what steps of the action prompt can ask, by name; "" is for steps that name none. A step that asks one
	// that is not there, or is nil, is a *ValidationError. Nil means that there are none.
	Agents map[string]agent.Agent
	// Bulkheads bound how much of one kind goes on at the same time, in all runs that have the same ones: "tool" for
	// calls of tools, "tool:NAME" for those of one, "exec" for commands, "prompt" for questions to agents, "agent:NAME"
	// for those to one, "gpu" for prompts that need one. A step waits in the line of its bulkheads, within its timeout;
	// if that is full it fails with a *bulkhead.SaturatedError, and is not retried automatically. Nil, and other names,
	// mean no bound.
	Bulkheads map[string]*bulkhead.Bulkhead
	// Recorder keeps what agents and pure tools have answered, and what commands have done, so that a run after a dry
	// run does not ask again. Nil means that nothing is kept.
	Recorder Recorder
	// Checkpoints receives each attempt, before and after it, with all that is needed to resume from there in another
	// process: see [Checkpointer] and [Executor.Resume]. Nil keeps nothing, and makes a pipeline with a step that is
	// Manual ErrManual. A dry run and Plan keep nothing in any case. It belongs to one run: executors that work at the
	// same time each need one of their own.
	Checkpoints Checkpointer
	// Shared is a directory of the system, as an absolute name, that the steps of a run share instead of a temporary
	// one: {{run.shared}}, MILLRACE_SHARED of commands, Shared of what an agent is asked. It is made if it is not
	// there, open to its owner alone, stays when the run is over, and is neither rolled back nor committed. It must lie
	// outside of the tree, and belongs to one run. A name that is not absolute, or lies in the tree, is an
	// *ExecutorError. Empty means a temporary directory that goes with the run.
	Shared string
	// Logger takes what happens, for operators. Nil means that nothing is logged. It is called on a goroutine of its
	// own, and the run waits for it. If it panics, the run goes on as if it had not, and the Result has a warning.
	Logger *slog.Logger
	// Observe takes what happens, for programs. Nil means no observer. If it panics, the run goes on as if it had
	// not, and the Result has a warning. See [Event].
	Observe func(Event)
	// Words returns the parts of warnings, such as the names of parameters, in the words of a door whose user has not
	// seen them. Nil means the words of the engine. It is called from several goroutines.
	Words wording.Words
	// StepContext, if not nil, is called at each visit of a step, behind its StepStarted, and returns the context that
	// its action is given, in all attempts: ctx with values of the host, such as a span that what a tool or an agent
	// does hangs below. The result must descend from ctx. If it does not, or if StepContext panics, the step has ctx
	// itself, and the Result has a warning. The step ends with the run in any case. Steps that run in parallel call it
	// at the same time.
	StepContext func(ctx context.Context, s StepStarted) context.Context
	// RunContext, if not nil, is called behind each RunStarted, and returns the context that all of that run, plan,
	// commit or restore has, and a function for its end, or nil. The context is ctx with values of the host, such as a
	// span that the steps hang below; all that is said of that of StepContext holds for this one. The function is
	// called once, behind the RunFinished. If it panics, the Result has a warning.
	RunContext func(ctx context.Context, r RunStarted) (context.Context, func(RunFinished))
}

// State is what an Executor keeps beside the tree: the journal of a commit, backups, trash, stored results and the
// lock. The zero State has all defaults.
type State struct {
	// Dir is the directory of the state, in the file system of the tree. Steps can neither see nor touch it, nor a
	// directory of the same path, or of the name DefaultStateDir, anywhere in the tree: that is the state of another
	// tree. So its name should be unique. Empty means DefaultStateDir.
	//
	// All executors that write to a tree should have the same Dir. An Executor with another Dir refuses to write while
	// a transaction is unfinished in DefaultStateDir, but it does not find a transaction in any other directory.
	Dir string
	// Key signs journal, backups and stored results, so that files that came with a tree, or from another user, are not
	// trusted. It has at least 16 bytes, better 32 random bytes, and is the same for all executors of the tree. Set it
	// where the home of the user does not last, as in a container: files that were signed with a lost key are refused.
	// Nil means the key of the user, the file millrace/key in [os.UserConfigDir], which is made when it is needed; in
	// memory it is a random key of the process. If the user has no key and none can be made, the result of a run has a
	// warning, and stored results are neither written nor trusted.
	Key []byte
	// Backups is how many backups are kept. The zero Retention keeps 20.
	Backups backup.Retention
	// Results is how many stored results of runs are kept, see Executor.RunID: a run whose result is gone runs afresh.
	// The zero Retention keeps 1,000, the newest by the times of their files.
	Results backup.Retention
	// Conflicts is how many transactions are kept that were undone except for files that another program had written,
	// see [Inspection.Conflicts]. The zero Retention keeps 20.
	Conflicts backup.Retention
	// LockWait is how long to wait for another run that writes to the tree; then the error is fsutil.ErrLocked. Zero
	// means DefaultLockWait. With a negative time only the context ends the wait.
	LockWait time.Duration
	// NoSync leaves out all fsyncs. Commits are faster, but a committed change can be lost or torn when the power
	// fails.
	NoSync bool
}

// ExecutorError is the host's fault: a field of the [Executor] has a value that it cannot work with. Nothing was
// written.
type ExecutorError struct {
	// Field is the name of the field, Value the part of it that is refused, "" if it is all of it.
	Field string
	Value string
	Err   error
}

// fieldRunID is the field of a run id that cannot be used on the tree.
const fieldRunID = "RunID"

// Error names the field and the value.
func (e *ExecutorError) Error() string {
	switch {
	case e.Field == fieldRunID:
		return fmt.Sprintf("run id %q: %v", e.Value, e.Err)
	case e.Value == "":
		return fmt.Sprintf("executor's %s: %v", e.Field, e.Err)
	}
	return fmt.Sprintf("executor's %s: %q: %v", e.Field, e.Value, e.Err)
}

// Unwrap returns the reason.
func (e *ExecutorError) Unwrap() error { return e.Err }
