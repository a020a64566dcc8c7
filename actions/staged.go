package actions

import (
	"path"

	"github.com/millrace-go/millrace/capability"
	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/kinds"
	"github.com/millrace-go/millrace/internal/replace"
)

// The memory of a staged path beside its text, in bytes, as it counts against Limits.MaxStagedBytes: the node and the
// fact of the base, the undo record, the outcome's entry, the resulting change, and the commit's record of it.
//
// They are measured: a process on a tree of 20,000 files has about 5 KiB more resident for each file that it copies,
// most of it in the commit, and nearly 3 KiB for each time that a file is edited or renamed, for the commit has no more
// changes than the tree has files then. A name takes up to five times its length. A part of that is counted, such
// that the default limit stands for what fits into the 512 MiB of docs/safety.md: 60,000 new files took 430 MiB,
// 120,000 edits or renames 460.
const (
	madePath   = 1024 // a new path: a copy, a file, a directory
	workedPath = 512  // a path that is edited, renamed or removed
)

// spendPath counts a path that is staged, madePath or workedPath, with the names that are kept for it.
func (c *Call) spendPath(cost int, names ...string) error {
	for _, name := range names {
		cost += 2 * len(name)
	}
	return c.spendBytes(int64(cost))
}

// makeDir makes the directory that a file is to be in.
func makeDir(c *Call, name string) error {
	dir := path.Dir(name)
	for d := dir; d != "." && d != "/"; d = path.Dir(d) {
		if kind, err := kindAt(c, d); err != nil || kind != change.Absent {
			break
		}
		if err := c.spendPath(madePath, d); err != nil {
			return err
		}
	}
	if dir == "." || dir == "/" {
		return nil
	}
	return fileError(dir, c.FS.MkdirAll(dir, 0o755))
}

// spendCopy counts a copy as new text where the tree is in memory: there each takes as much again.
func (c *Call) spendCopy(name string) error {
	if v, ok := c.stage().Base().(capability.Volatile); !ok || !v.InMemory() {
		return nil
	}
	info, err := c.FS.Stat(name)
	if err != nil {
		return fileError(name, err)
	}
	return c.spendBytes(info.Size())
}

// budget returns what the limits leave for one file.
func (c *Call) budget() *replace.Budget {
	tooMany := &LimitError{What: kinds.LimitMatches, Limit: c.Limits.matches()}
	tooMuch := &LimitError{What: kinds.LimitOutput, Limit: c.Limits.OutputBytes()}
	if staged := c.Limits.StagedBytes(); staged < tooMuch.Limit {
		tooMuch = &LimitError{What: kinds.LimitStaged, Limit: staged}
	}
	return replace.NewBudget(replace.Limits{
		Matches: tooMany.Limit, Text: tooMuch.Limit, TooMany: tooMany, TooMuch: tooMuch, Stage: c.spendBytes,
	})
}

func (c *Call) spendBytes(n int64) error {
	if most := c.Limits.StagedBytes(); c.spent.Add(n) > most-c.StagedBefore {
		return &LimitError{What: kinds.LimitStaged, Limit: most}
	}
	return nil
}

// Staged returns how much, in bytes, the action has put into files and staged by the methods of the call, as
// Limits.MaxStagedBytes counts it. StagedBefore is not in it.
func (c *Call) Staged() int64 { return c.spent.Load() }
