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

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/fsutil"
	"github.com/millrace-go/millrace/internal/disk"
	"github.com/millrace-go/millrace/internal/guard"
	"github.com/millrace-go/millrace/internal/rootfs"
	"github.com/millrace-go/millrace/internal/stage"
)

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

// The limits of the zero [Executor]. Those on steps are in package actions.
const (
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

// lockWait returns how long to wait for another run. A negative LockWait becomes some hundred years.
func (x Executor) lockWait() time.Duration {
	if x.LockWait < 0 {
		return math.MaxInt64
	}
	return cmp.Or(x.LockWait, DefaultLockWait)
}
