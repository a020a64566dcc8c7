package rundir

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/disk"
	"github.com/millrace-go/millrace/internal/handle"
	"github.com/millrace-go/millrace/internal/recordlog"
	"github.com/millrace-go/millrace/runs"
)

// Names in the store.
const (
	formatFile = "format"
	indexFile  = "index"
	trashDir   = "trash"
	formatText = "millrace runs 1\n"
	formatHead = "millrace runs "
)

// Names in the directory of a run.
const (
	runFile      = "run"
	dataFile     = "data"
	logFile      = "log"
	controlDir   = "control"
	planFile     = "plan.json"
	diffFile     = "diff"
	targetsFile  = "targets"
	childrenFile = "children"
)

const (
	perShard    = 1000
	shardDigits = 6
	runDigits   = 9
	maxNumber   = 999_999_999
	// maxJobs is the largest number of jobs of a run: their numbers are run*perRun+ordinal.
	maxJobs = 999
	perRun  = 1000
)

func shardName(shard int64) string { return fmt.Sprintf("%0*d", shardDigits, shard) }

// runName returns the directory of a run below the directory of the store.
func runName(number int64) string {
	return path.Join(shardName(number/perShard), fmt.Sprintf("%0*d", runDigits, number))
}

// parseName reads a name with that many digits.
func parseName(name string, digits int) (int64, bool) {
	if len(name) != digits || strings.Trim(name, "0123456789") != "" {
		return 0, false
	}
	n, err := strconv.ParseInt(name, 10, 64)
	return n, err == nil
}

// layout is the place of a store.
type layout struct {
	d   *disk.Disk
	dir string
}

func (l layout) path(parts ...string) string {
	return path.Join(append([]string{l.dir}, parts...)...)
}

func (l layout) run(number int64, parts ...string) string {
	return path.Join(append([]string{l.dir, runName(number)}, parts...)...)
}

// reachable reports whether the whole path to the store consists of directories. None is created, and no link is
// followed.
func (l layout) reachable() (bool, error) {
	if l.dir == "." {
		return true, nil
	}
	s, err := l.d.Reach(l.dir)
	switch {
	case err != nil:
		return false, err
	case s.Kind == change.Absent:
		if at, kind, err := l.d.Blocked(l.dir); err != nil || kind != change.Absent && kind != change.Dir {
			return false, errors.Join(err, notADir(at))
		}
		return false, nil
	case s.Kind != change.Dir:
		return false, notADir(l.dir)
	}
	return true, nil
}

func notADir(name string) error {
	return &fs.PathError{Op: "open store of runs", Path: name, Err: errors.New("not a directory")}
}

// present reports whether there is a store of this version. A directory that has runs but no format file belongs to
// another program.
func (l layout) present() (bool, error) {
	ok, err := l.reachable()
	if err != nil || !ok {
		return false, err
	}
	if ok, err = l.known(); err != nil || ok {
		return ok, err
	}
	shards, err := l.shards()
	if err != nil || len(shards) == 0 {
		return false, err
	}
	// Another process may have created the store since. Every process does that before it creates a run.
	if ok, err = l.known(); err == nil && !ok {
		err = fmt.Errorf("%w: %s has runs and no file %s", runs.ErrFormat, l.dir, formatFile)
	}
	return ok, err
}

// known reports whether the store has a format file of this version.
func (l layout) known() (bool, error) {
	text, err := l.d.Read(l.path(formatFile), int64(len(formatText))+1)
	switch {
	case disk.IsAbsent(err):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("%w: %w", runs.ErrFormat, err)
	case string(text) == formatText:
		return true, nil
	case strings.HasPrefix(string(text), formatHead):
		return false, fmt.Errorf("%w: %s was written by a later version of millrace", runs.ErrFormat, l.dir)
	}
	return false, fmt.Errorf("%w: %s is not a store of runs", runs.ErrFormat, l.dir)
}

// shards returns the existing shards, in order.
func (l layout) shards() ([]int64, error) { return l.numbers(l.dir, shardDigits) }

// inShard returns the numbers of the runs in a shard, in order. They are not verified yet.
func (l layout) inShard(shard int64) ([]int64, error) {
	all, err := l.numbers(l.path(shardName(shard)), runDigits)
	return slices.DeleteFunc(all, func(n int64) bool { return n/perShard != shard || n == 0 }), err
}

// numbers returns the numbers that name directories in a directory.
func (l layout) numbers(dir string, digits int) (all []int64, err error) {
	entries, err := handle.ReadDir(l.d.FS, dir)
	if err != nil {
		return nil, disk.UnlessAbsent(err)
	}
	for _, e := range entries {
		if n, ok := parseName(e.Name(), digits); ok && e.IsDir() {
			all = append(all, n)
		}
	}
	slices.Sort(all)
	return all, nil
}

// last returns the highest number in use, 0 for none.
func (l layout) last() (int64, error) {
	shards, err := l.shards()
	for _, shard := range slices.Backward(shards) {
		if err != nil {
			break
		}
		var all []int64
		if all, err = l.inShard(shard); len(all) > 0 {
			return all[len(all)-1], nil
		}
	}
	return 0, err
}

// read reads a file of a run, at most that many bytes.
func (l layout) read(number int64, name string, most int64) ([]byte, error) {
	return l.d.Read(l.run(number, name), most)
}

// openFor returns a function that opens a file of a run for reading and writing when it is first needed, and creates it
// if it is missing. Then it calls made.
func (l layout) openFor(number int64, name string, made func()) func() (recordlog.File, error) {
	full := l.run(number, name)
	return func() (recordlog.File, error) {
		f, err := recordlog.Open(l.d.FS, full)
		if !disk.IsAbsent(err) {
			return f, err
		}
		if f, err = recordlog.Create(l.d.FS, full); err == nil {
			made()
		}
		return f, err
	}
}

// openToRead opens a file of a run for reading.
func (l layout) openToRead(number int64, name string) (handle.RandomFile, error) {
	return handle.OpenFile(l.d.FS, l.run(number, name))
}
