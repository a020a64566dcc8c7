package actions

import (
	"path"

	"github.com/millrace-go/millrace/capability"
	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/kinds"
	"github.com/millrace-go/millrace/internal/replace"
)

// The memory of a staged path without its text, in bytes, as counted by Limits.MaxStagedBytes: the node and the fact of
// the base, the undo record, the outcome's entry, the resulting change, and the commit's record of it.
//
// These are measured. On a tree of 20,000 files a process has about 5 KiB more resident memory for each copied file,
// most of it in the commit, and nearly 3 KiB for each edit or rename of a file. The commit then has no more changes
// than the tree has files. A name needs up to five times its length. Only a part is counted, so that the default limit
// fits into the 512 MiB of docs/safety.md: 60,000 new files took 430 MiB, 120,000 edits or renames 460 MiB.
const (
	madePath   = 1024 // a new path: a copy, a file, a directory
	workedPath = 512  // a path that is edited, renamed or removed
)

// spendPath counts a staged path, as madePath or workedPath, with the names that are kept for it.
func (c *Call) spendPath(cost int, names ...string) error {
	for _, name := range names {
		cost += 2 * len(name)
	}
	return c.spendBytes(int64(cost))
}

// makeDir creates the directory for a file.
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

// spendCopy counts a copy as new text if the tree is in memory, because each copy then needs as much memory again.
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

// budget returns the rest of the limits for one file.
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

// Staged returns the number of bytes that the action has put into files and staged by the methods of the call, as
// counted by Limits.MaxStagedBytes. It does not include StagedBefore.
func (c *Call) Staged() int64 { return c.spent.Load() }
