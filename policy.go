package millrace

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/risk"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/fsutil"
	"github.com/millrace-go/millrace/internal/disk"
	"github.com/millrace-go/millrace/internal/guard"
	"github.com/millrace-go/millrace/internal/rootfs"
	"github.com/millrace-go/millrace/internal/stage"
)

// ExecutorError is the host's fault: a field of the [Executor] has a value that it cannot work with. Nothing was read
// or written.
type ExecutorError struct {
	// Field is the name of the field, Value the part of it that is refused, "" if it is all of it.
	Field string
	Value string
	Err   error
}

// Error names the field and the value.
func (e *ExecutorError) Error() string {
	if e.Value == "" {
		return fmt.Sprintf("executor's %s: %v", e.Field, e.Err)
	}
	return fmt.Sprintf("executor's %s: %q: %v", e.Field, e.Value, e.Err)
}

// Unwrap returns the reason.
func (e *ExecutorError) Unwrap() error { return e.Err }

// policy returns what every path of a run on the tree is checked against.
func (x Executor) policy(fsys afero.Fs, stateDir string) (guard.Policy, error) {
	g := guard.Policy{Reserved: stateDir, Portable: x.PortableNames, Denied: x.DeniedPaths, ReadOnly: x.ReadOnlyPaths}
	for _, list := range []struct {
		field string
		globs []string
	}{{"DeniedPaths", x.DeniedPaths}, {"ReadOnlyPaths", x.ReadOnlyPaths}} {
		if err := (guard.Policy{Denied: list.globs}).Validate(); err != nil {
			return g, &ExecutorError{Field: list.field, Err: err}
		}
	}
	var err error
	if g.Allowed, err = x.allowed(fsys); err != nil {
		return g, err
	}
	if err := closeConfig(&g, fsys); err != nil {
		return g, err
	}
	return g, nil
}

// allowed returns the canonical AllowedPaths. One that leads through a link is refused unless the host allows as well
// what that leads to: what is in the tree, which may come from a stranger, must not say what may be read and written.
func (x Executor) allowed(fsys afero.Fs) ([]string, error) {
	plain := stage.New(fsys)
	defer plain.Close()
	if x.AllowedPaths == nil {
		return nil, nil
	}
	allowed := []string{}
	leadsTo := make(map[string]string)
	for _, name := range x.AllowedPaths {
		canonical, err := plain.Canonical(name)
		if err != nil {
			return nil, &ExecutorError{Field: "AllowedPaths", Value: name, Err: err}
		}
		// What is not there yet, or leads nowhere, is taken as it is: a link that is put there later is not followed.
		if resolved, err := plain.Resolve(canonical); err == nil && resolved != canonical {
			leadsTo[canonical] = resolved
			continue
		}
		allowed = append(allowed, canonical)
	}
	for _, name := range x.AllowedPaths {
		canonical, _ := plain.Canonical(name)
		to, linked := leadsTo[canonical]
		if linked && !slices.ContainsFunc(allowed, func(dir string) bool { return fsutil.Within(to, dir) }) {
			return nil, &ExecutorError{Field: "AllowedPaths", Value: name, Err: fmt.Errorf(
				"%w: it leads through a symbolic link to %q. Allow that as well if it is meant", fsutil.ErrNotAllowed, to)}
		}
	}
	return allowed, nil
}

var errIsConfigDir = errors.New("it is the directory in which the key of this user is kept: run on another one")

// closeConfig closes the directory that holds the user's key and configuration, or is going to, if it lies in the tree,
// and pins the links of the tree that lead there, or away from the tree. Directories are compared as what they are, for a
// tree says nothing of what it is called.
func closeConfig(g *guard.Policy, fsys afero.Fs) error {
	config, err := os.UserConfigDir()
	if err != nil || disk.InMemory(fsys) {
		return nil // then there is no key of the user
	}
	top, err := fsys.Stat(".")
	if err != nil {
		return nil // nothing is there yet
	}
	trace, err := rootfs.TraceName(filepath.Join(config, "millrace"))
	if err != nil {
		return fmt.Errorf("the directory of the user's configuration: %w", err)
	}
	for _, link := range trace.Links {
		if name, ok := rootfs.In(top, link); ok && name != "." {
			g.Pinned = append(g.Pinned, name)
		}
	}
	switch name, ok := rootfs.In(top, trace.End); {
	case ok && name == ".":
		return errIsConfigDir
	case ok:
		g.Closed = append(g.Closed, name)
	}
	return nil
}

// The limits of the zero [Executor] and the zero [Decoder] on JSON. Those on steps are in package actions.
const (
	// DefaultMaxJSONDepth is how deeply lists and objects may be nested in a pipeline or a stored plan. The deepest of
	// either that means something is less than ten.
	DefaultMaxJSONDepth = 100
	// DefaultMaxShownBytes is how much text the steps of a run show and keep together, in bytes. With
	// DefaultMaxStagedBytes it is so little that a run on a small tree takes no more than 512 MiB: a text is there
	// several times while it is put together, and the collector lets memory grow to twice of what is in use.
	DefaultMaxShownBytes = 64 << 20
	// DefaultMaxStagedBytes is how much new text the steps of a run put into files together, in bytes, and what they stage
	// beside that.
	DefaultMaxStagedBytes = 64 << 20
	// DefaultMaxPlanBytes is the longest stored plan, in bytes. Whole files may be in it.
	DefaultMaxPlanBytes = 64 << 20
)

// limits are what the host allows each step to cost.
func (x Executor) limits() actions.Limits {
	return actions.Limits{
		MaxFileBytes: x.MaxFileBytes, MaxMatches: x.MaxMatches, MaxOutputBytes: x.MaxOutputBytes, MaxPatternBytes: x.MaxPatternBytes,
	}
}

// jsonDepth returns the depth that a MaxDepth stands for.
func jsonDepth(field int) int {
	switch {
	case field < 0:
		return math.MaxInt
	case field == 0:
		return DefaultMaxJSONDepth
	}
	return field
}

// stepLimits are the limits of each step of a pipeline. Steps that only read stage nothing, so they take no share of
// that.
func (x Executor) stepLimits(p Pipeline) actions.Limits {
	writers := 0
	for _, s := range p.steps {
		if !s.Action.Spec().ReadOnly {
			writers++
		}
	}
	l := x.limits()
	l.MaxShownBytes = share(cmp.Or(x.MaxShownBytes, DefaultMaxShownBytes), p.Len())
	l.MaxStagedBytes = share(cmp.Or(x.MaxStagedBytes, DefaultMaxStagedBytes), writers)
	return l
}

// share is what each of so many steps may have of a limit. It does not depend on what the others need, for then it
// would on the order in which they run. Negative stays negative: no limit.
func share(total int64, steps int) int64 {
	if total < 0 {
		return total
	}
	return max(1, total/int64(max(1, steps)))
}

// workers is how many goroutines a run may use.
func (x Executor) workers() int {
	if x.Workers > 0 {
		return x.Workers
	}
	return runtime.GOMAXPROCS(0)
}

// BlockedError says that the limits or the risk forbid the change. Nothing was written.
type BlockedError struct {
	// Reason is the whole message. Why is Reason without the advice about force, for hosts that have other words for it.
	Reason, Why string
	// Level is the risk of the whole change, Files and Edits what it was judged by.
	Level risk.Level
	Files int
	Edits int
	// Host says that force does not help: the limit is the host's ceiling, or a budget.
	Host bool
	// Budget is the budget that is exceeded. Nil if it was another limit, or the risk.
	Budget *BudgetError
}

// Error returns the reason.
func (e *BlockedError) Error() string { return e.Reason }

// Unwrap returns the *BudgetError, if it is a budget that is exceeded.
func (e *BlockedError) Unwrap() error {
	if e.Budget == nil {
		return nil
	}
	return e.Budget
}

// block returns why a change of that size may not be committed, or nil. spent is nil unless it exceeds a budget.
func (x Executor) block(files, edits int, level risk.Level, force bool, spent *BudgetError) *BlockedError {
	blocked := func(host bool, advice, format string, args ...any) *BlockedError {
		why := fmt.Sprintf(format, args...)
		return &BlockedError{Reason: why + advice, Why: why, Level: level, Files: files, Edits: edits, Host: host}
	}
	const noForce = ", force does not help"
	limit := cmp.Or(x.MaxFiles, DefaultMaxFiles)
	switch {
	case x.Ceiling != risk.Unset && level > x.Ceiling && files+edits > 0:
		return blocked(true, noForce, "operation blocked due to %s risk. The host allows no more than %s", level, x.Ceiling)
	case spent != nil:
		b := blocked(true, noForce, "%v", spent)
		b.Budget = spent
		return b
	case force:
		return nil
	case limit > 0 && files > limit:
		return blocked(false, ". Use force=true to bypass", "too many files affected (%d > %d)", files, limit)
	case level >= risk.High:
		return blocked(false, ". Use force=true to proceed", "operation blocked due to %s risk", level)
	default:
		return nil
	}
}

// readOnlyFiles blocks writing to files that their owner may not write to, and taking them away: they are
// protected on purpose. It goes by the mode alone, for root may write to everything.
func readOnlyFiles(changes []fsutil.Change) *BlockedError {
	blocked := func(name, do string) *BlockedError {
		why := fmt.Sprintf("file %s is read-only", name)
		return &BlockedError{Reason: fmt.Sprintf("%s. Use force=true to %s it", why, do), Why: why}
	}
	for _, c := range changes {
		switch {
		case isReadOnly(c.Replaced):
			return blocked(c.Path, "replace")
		case !isReadOnly(c.Old):
		case c.Kind == fsutil.Renamed:
			return blocked(c.From, "rename")
		case c.New.Kind == change.Absent:
			return blocked(c.Path, "delete")
		case c.New.Kind != change.File || c.Old.Hash != c.New.Hash:
			return blocked(c.Path, "write to")
		}
	}
	return nil
}

func isReadOnly(s change.State) bool {
	const ownerWrite = 0o200
	return s.Kind == change.File && s.Mode&ownerWrite == 0
}

// lockWait returns how long to wait for another run. A negative LockWait becomes some hundred years.
func (x Executor) lockWait() time.Duration {
	if x.LockWait < 0 {
		return math.MaxInt64
	}
	return cmp.Or(x.LockWait, DefaultLockWait)
}
