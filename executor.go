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

// DefaultMaxFiles is the number of files that a pipeline may change without force.
const DefaultMaxFiles = 100

// DefaultLockWait is the time that a run waits for another run on the same tree.
const DefaultLockWait = time.Minute

// DefaultStateDir is the directory for the journal, backups, trash and runs.
const DefaultStateDir = ".millrace"

// Executor runs pipelines. Its fields are the policy of the host: a pipeline, which may come from a model or a user,
// cannot lift any of them. The zero value works. An Executor is safe for concurrent use as long as its fields are not
// changed; runs that write to the same tree wait for each other.
type Executor struct {
	// DryRun makes every run a dry run, whatever the pipeline sets. It also applies to [Plan.Commit], Restore and the
	// methods for backups: they report their effect, and write nothing. Methods without a dry run, such as Recover with a
	// transaction to undo, return ErrReadOnly.
	DryRun bool
	// ReadOnly refuses pipelines with steps that can write, or that act outside of the tree, unless they are dry runs, and
	// every other method that would write, with ErrReadOnly.
	ReadOnly bool
	// Ceiling is the highest risk that may be committed, with or without force. The zero value, Unset, means that force
	// may pass all levels.
	Ceiling risk.Level
	// Risk has the thresholds of the levels. The zero Policy has the thresholds of package risk.
	Risk risk.Policy
	// MaxFiles is the number of files that may be changed without force. Zero means DefaultMaxFiles; negative means no
	// limit. High risk needs force as well, by default from 50 files or 500 edits on. Risk sets the thresholds, and
	// Options.Force passes both.
	MaxFiles int
	// Limits bound the text that steps read, find, replace and show. More fails the step with an *actions.LimitError.
	// MaxShownBytes and MaxStagedBytes are for all steps of a run together. Each step, for MaxStagedBytes each step
	// that can write, may have an equal share, whatever the others need, so that a result does not depend on the order
	// of the steps. Zero means 64 MiB for each of them there, and the default of package actions
	// for all other fields. Previews are held to MaxFileBytes too, see [Plan.WriteDiff].
	Limits actions.Limits
	// MaxJSONDepth is the nesting limit for lists and objects in a plan that [Executor.OpenPlan] reads, checked before the
	// text is decoded. Deeper nesting is a *PlanError. Zero means 100; negative, or more than 10,000, means 10,000.
	MaxJSONDepth int
	// MaxPlanBytes is the longest text, in bytes, that [Executor.OpenPlan] reads. A longer text is a *PlanError. Zero
	// means DefaultMaxPlanBytes, negative no limit.
	MaxPlanBytes int
	// Budget limits the spending of a run, whatever its pipeline sets: the smaller value of both budgets applies, measure
	// by measure. Once the money is spent, a step that costs does not begin, and the error is a *BudgetError. The error is
	// also a *BudgetError if more was changed than the budget allows before a step; at the end it is a *BlockedError,
	// which force does not lift. A restore from a backup has no budget. Zero in a field means no limit, a negative field
	// is an *ExecutorError.
	Budget budget.Limit
	// Workers is the number of goroutines that a run may use. Zero means GOMAXPROCS.
	Workers int
	// AllowedPaths are the files and directories, with everything below them, that steps may read and write, checked after
	// symbolic links are resolved. An entry that leads through a link is an *ExecutorError, unless the target is allowed
	// too: a link in the tree must not extend the host's list. Nil means the whole tree; an empty list that is not nil
	// allows nothing.
	AllowedPaths []string
	// DeniedPaths are globs. Matching files, and everything below matching directories, are hidden from steps. A step that
	// names such a path gets fsutil.ErrDenied. They override AllowedPaths, apply to symbolic links by their names and by
	// their targets, and force does not lift them. A glob without a slash matches the last element of a path in any
	// directory (".env"); other globs match the whole path ("deploy/**/*.key"). Spellings that some file system treats as
	// the same name match too, and ".git" also matches other names that git accepts for a repository. An invalid glob is
	// an *ExecutorError.
	DeniedPaths []string
	// ReadOnlyPaths are globs like DeniedPaths. Matching paths can be listed and read. A step that writes, creates,
	// renames or removes such a path, or a directory above it, gets fsutil.ErrReadOnlyPath, with or without force.
	ReadOnlyPaths []string
	// RequireMatches turns a warning into a failure: that a writing step finds nothing to write to. The error is an
	// *ExpectError, as if each writing step without its own expect had the expect {"min_files": 1}.
	RequireMatches bool
	// PortableNames refuses to write to names that cannot exist on Windows, or would be another file there: devices such
	// as "con.txt", dots and spaces at the end, colons, backslashes, control characters. The error is
	// fsutil.ErrNotPortable.
	PortableNames bool
	// ReplaceForeign allows steps to write to files of another user that this process may not write to. Such a file is
	// replaced as a whole, which only needs the right to write to its directory. It then belongs to this user, with a
	// warning. Without ReplaceForeign, writing to such a file is fs.ErrPermission. Root may write to all files, and keeps
	// their owners.
	ReplaceForeign bool
	// InPlace allows steps to edit a file that is a mount point, such as a file that a container received by name. The
	// commit overwrites its bytes, because no other file can replace it. During the commit, other programs can read a
	// half-written file. A commit that fails, or whose process dies, writes the old bytes again. Without InPlace such a
	// step gets capability.ErrMountPoint; moving or removing such a file always does. Mount points are detected on Linux;
	// elsewhere the commit fails.
	InPlace bool
	// State sets where and how long the journal, backups and stored results are kept, and who may read them.
	State State
	// RunID names the run: letters, digits, "-" and "_", at most 255. Running the same id again on the same tree returns
	// the stored result if that run was committed, and otherwise runs again. The result is stored in the state directory,
	// so for a copy of the tree with that directory the run counts as done too. Empty means that runs are not remembered.
	RunID string
	// Tools are the tools that steps of the action tool can call. The zero Set has none, so such steps are a
	// *ValidationError.
	Tools tool.Set
	// Commands is the host's policy for commands of the action exec: which commands may run, what they can reach, how long
	// they may run. The zero Policy allows none, so such steps are a *ValidationError with the code exec_denied, before
	// anything runs; for a command with templates it is a *command.DeniedError of the step. An invalid policy is an
	// *ExecutorError. Commands work on a copy of the tree, which is made in Commands.Scratch before the first command, and
	// removed when the steps are done.
	Commands command.Policy
	// Agents are the agents that steps of the action prompt can ask, by name; "" is the default agent. A step that asks a
	// missing or nil agent is a *ValidationError. Nil means no agents.
	Agents map[string]agent.Agent
	// Bulkheads limit the number of concurrent calls of one kind, in all runs that share them: "tool" for calls of tools,
	// "tool:NAME" for calls of one tool, "exec" for commands, "prompt" for questions to agents, "agent:NAME" for questions
	// to one agent, "gpu" for prompts that need a GPU. A step waits in the queue of its bulkheads, within its timeout. If
	// a queue is full the step fails with a *bulkhead.SaturatedError, and is not retried automatically. Nil, and other
	// names, mean no limit.
	Bulkheads map[string]*bulkhead.Bulkhead
	// Recorder keeps the answers of agents and pure tools, and the effects of commands, so that a run after a dry run does
	// not ask again. Nil means that nothing is kept.
	Recorder Recorder
	// Checkpoints receives each attempt, before and after it, with everything needed to resume from there in another
	// process: see [Checkpointer] and [Executor.Resume]. Nil keeps nothing, and makes a pipeline with a Manual step fail
	// with ErrManual. A dry run and Plan never keep anything. It belongs to one run: concurrent executors each need their
	// own.
	Checkpoints Checkpointer
	// Shared is a directory of the system, as an absolute path, that the steps of a run share instead of a temporary one:
	// {{run.shared}}, MILLRACE_SHARED of commands, Shared of a request to an agent. It is created if missing, accessible
	// only to its owner, stays after the run, and is neither rolled back nor committed. It must be outside of the tree,
	// and belongs to one run. A path that is not absolute, or is in the tree, is an *ExecutorError. Empty means a
	// temporary directory that is removed with the run.
	Shared string
	// Logger receives log records for operators. Nil means that nothing is logged. It is called on its own goroutine, and
	// the run waits for it. If it panics, the run continues, and the Result has a warning.
	Logger *slog.Logger
	// Observe receives events for programs. Nil means no observer. If it panics, the run continues, and the Result has a
	// warning. See [Event].
	Observe func(Event)
	// Words returns the parts of warnings, such as the names of parameters, in the words of a door whose user has not seen
	// these names. Nil means the words of the engine. It is called from several goroutines.
	Words wording.Words
	// StepContext, if not nil, is called at each visit of a step, after its StepStarted, and returns the context for its
	// action in all attempts: ctx with values of the host, such as a tracing span that is the parent of spans of tools and
	// agents. The result must descend from ctx. If it does not, or if StepContext panics, the step uses ctx, and the
	// Result has a warning. The step still ends with the run. Steps that run in parallel call it concurrently.
	StepContext func(ctx context.Context, s StepStarted) context.Context
	// RunContext, if not nil, is called after each RunStarted, and returns the context for that whole run, plan, commit or
	// restore, and a function for its end, or nil. The context is ctx with values of the host, such as a span that is the
	// parent of the steps' spans; the rules of StepContext apply. The function is called once, after the RunFinished. If
	// it panics, the Result has a warning.
	RunContext func(ctx context.Context, r RunStarted) (context.Context, func(RunFinished))
}

// State describes what an Executor keeps with the tree: the journal of a commit, backups, trash, stored results and the
// lock. The zero State has all defaults.
type State struct {
	// Dir is the state directory, in the file system of the tree. Steps can neither see nor touch it. This also applies to
	// directories with the same path or the name DefaultStateDir anywhere in the tree, because they are the state of
	// another tree. So its name should be unique. Empty means DefaultStateDir.
	//
	// All executors that write to a tree should have the same Dir. An Executor with another Dir refuses to write while a
	// transaction is unfinished in DefaultStateDir, but it does not find a transaction in any other directory.
	Dir string
	// Key signs the journal, backups and stored results, so that files that came with a tree, or from another user, are
	// not trusted. It has at least 16 bytes, better 32 random bytes, and is the same for all executors of the tree. Set it
	// if the user's home does not last, as in a container: files signed with a lost key are refused. Nil means the key of
	// the user, the file millrace/key in [os.UserConfigDir], which is created when needed; in memory it is a random key of
	// the process. If the user has no key and none can be created, the result of a run has a warning, and stored results
	// are neither written nor trusted.
	Key []byte
	// Backups is how many backups are kept. The zero Retention keeps 20.
	Backups backup.Retention
	// Results is how many stored results of runs are kept, see Executor.RunID: a run whose result is gone runs afresh.
	// The zero Retention keeps 1,000, the newest by the times of their files.
	Results backup.Retention
	// Conflicts is how many transactions are kept that were undone except for files that another program had written,
	// see [Inspection.Conflicts]. The zero Retention keeps 20.
	Conflicts backup.Retention
	// LockWait is the time to wait for another run that writes to the tree; then the error is fsutil.ErrLocked. Zero means
	// DefaultLockWait. With a negative time only the context ends the wait.
	LockWait time.Duration
	// NoSync leaves out all fsyncs. Commits are faster, but a committed change can be lost or torn when the power
	// fails.
	NoSync bool
}

// ExecutorError is the host's fault: a field of the [Executor] has a value that it cannot work with. Nothing was
// written.
type ExecutorError struct {
	// Field is the name of the field. Value is the refused part of it, "" for the whole value.
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
