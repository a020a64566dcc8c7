package config

import (
	"slices"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/fsutil"
	"github.com/millrace-go/millrace/risk"
)

// Apply puts the configuration into an executor. Fields already set, by flags, override the user's file, and globs of
// denied or read-only paths are added to them. The project's limits apply in addition: the lower ceiling and number of
// files, only paths allowed by all, everything denied by any. The project's own file is read-only, even if it does not
// exist. The error is an *[Error] if the user and the project allow nothing in common.
func (c Config) Apply(x *millrace.Executor) error {
	if x.Ceiling == risk.Unset {
		x.Ceiling = c.Ceiling
	}
	if x.MaxFiles == 0 {
		x.MaxFiles = c.MaxFiles
	}
	if x.AllowedPaths == nil {
		x.AllowedPaths = slices.Clone(c.Allow)
	}
	if x.State.Backups == (millrace.Executor{}).State.Backups {
		x.State.Backups = c.Backups
	}
	if x.Risk == (risk.Policy{}) {
		x.Risk = c.Risk
	}
	x.Ceiling = lowest(x.Ceiling, c.Project.Ceiling)
	x.MaxFiles = fewest(x.MaxFiles, c.Project.MaxFiles)
	x.DeniedPaths = slices.Concat(x.DeniedPaths, c.Deny, c.Project.Deny)
	x.ReadOnlyPaths = slices.Concat(x.ReadOnlyPaths, c.ReadOnly, c.Project.ReadOnly, []string{ProjectFile})
	if c.Project.Allow == nil {
		return nil
	}
	if x.AllowedPaths == nil {
		x.AllowedPaths = slices.Clone(c.Project.Allow)
		return nil
	}
	both := common(x.AllowedPaths, c.Project.Allow)
	if len(both) == 0 {
		return &Error{Problems: []Problem{{File: c.project,
			Message: "what the project allows and what you allow have nothing in common"}}}
	}
	x.AllowedPaths = both
	return nil
}

// lowest returns the lower ceiling; Unset means none.
func lowest(a, b risk.Level) risk.Level {
	if a == risk.Unset || b != risk.Unset && b < a {
		return b
	}
	return a
}

// fewest returns the smaller limit on files: own is that of an executor, where zero means the default; project is that
// of a project, where zero means none.
func fewest(own, project int) int {
	limit := own
	if own == 0 {
		limit = millrace.DefaultMaxFiles
	}
	if project == 0 || limit > 0 && limit <= project {
		return own
	}
	return project
}

// common returns the paths that both lists allow.
func common(a, b []string) []string {
	var both []string
	add := func(name string) {
		if !slices.Contains(both, name) {
			both = append(both, name)
		}
	}
	for _, x := range a {
		x, err := clean(x)
		if err != nil {
			continue
		}
		for _, y := range b {
			switch {
			case fsutil.Within(x, y):
				add(x)
			case fsutil.Within(y, x):
				add(y)
			}
		}
	}
	return both
}
