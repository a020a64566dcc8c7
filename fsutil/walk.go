package fsutil

import (
	"context"
	"io/fs"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/capability"
	"github.com/millrace-go/millrace/internal/walk"
)

// WalkOptions select the files of a walk, and its reaction to errors. The zero value honours .gitignore files and ends
// at the first directory that cannot be read.
type WalkOptions struct {
	// Workers is the number of goroutines that call visit. Zero means GOMAXPROCS.
	Workers int
	// NoIgnore also visits files that .gitignore files exclude.
	NoIgnore bool
	// Skip, if not nil, leaves out the files and directories for which it returns true. It is called for paths that the
	// other rules do not leave out, except for a root that is a directory. It is called concurrently.
	Skip func(path string, isDir bool) bool
	// All also visits directories, symbolic links, and other files that are not regular. The root itself is not visited if
	// it is a directory. A directory may be visited before or after its contents.
	All bool
	// Depth is the number of levels below the root: 1 means the entries of the root itself. Zero means no limit.
	Depth int
	// OnError, if not nil, receives the error of each directory and each .gitignore file that cannot be read. If OnError
	// returns nil, the walk continues without it, and otherwise ends with the returned error. Nil means that the walk ends
	// with the error itself. It is called concurrently.
	OnError func(path string, err error) error
}

// Entry is a file that a walk has found: a regular file, except for walks with the option All. Its field Kind is a
// [change.Kind].
type Entry walk.Entry

// Path returns the canonical path of the file. It is computed at each call, because most files of a walk do not need
// it.
func (e Entry) Path() string { return walk.Entry(e).Path() }

// Name returns the last element of the path.
func (e Entry) Name() string { return walk.Entry(e).Name() }

// Open opens the file for reading. It is valid until visit returns; the returned file may be kept longer. If the file
// has been replaced by another kind since it was found, the error is ErrNotRegular. On file systems that cannot
// distinguish symbolic links from their targets, the listing is trusted.
func (e Entry) Open() (capability.ReadFile, error) { return walk.Entry(e).Open() }

// Info returns the known facts of the file without opening it. It is the present state, or the state when the directory
// was read. It is valid until visit returns.
func (e Entry) Info() (fs.FileInfo, error) { return walk.Entry(e).Info() }

// Walk calls visit for each regular file at or below root, from several goroutines and in no particular order.
//
// Symbolic links are not followed, to files or to directories, and pipes, sockets and devices are skipped. The walk
// leaves out the directories of version control systems (.git, .hg, .svn and similar, and the file .git of a worktree),
// files that .gitignore files exclude unless NoIgnore is set, and paths that Skip selects. Hidden and binary files are
// visited. With the option All, links, pipes and directories are visited by the same rules.
//
// The .gitignore files are read through fsys, so a stage reads its staged .gitignore files. They work as in git,
// together with the .gitignore files of the directories above root. Directories above the nearest directory with a .git
// do not count: that directory is a repository of its own. If names are absolute, only directories within such a
// repository count. The file .git/info/exclude of a repository applies after all its .gitignore files, as in git. If
// .git is the file of a worktree or a submodule, the info/exclude of the repository that the file names is read, if
// that is in the tree. Other files that git can be configured with are not read: they belong to one user or one
// machine, and the result of a walk must not depend on them.
//
// No rule applies to the root itself: a file is visited, and a directory is walked even if it is ignored or belongs to
// a version control system. If the root does not exist the error wraps [fs.ErrNotExist], and if it is neither a
// directory nor a regular file, ErrNotRegular; a symbolic link is neither, resolve it before.
//
// The first error of visit ends the walk and is returned as it is; visits that are under way are waited for. When more
// than one fails, it is that of the least path among them. [fs.SkipAll] ends the walk without an error. A panic is
// returned as an *fs.PathError with the code "internal". When ctx is done no further visit begins and its error is
// returned. A directory that has gone by the time its turn comes is passed over. No goroutine is left when Walk
// returns.
//
// The memory used grows with the number of directories found but not yet read and with the largest directory, not with
// the number of files. At most two directories per worker are open at any time, and one more while it looks for files
// of CVS or .git in a directory.
func Walk(ctx context.Context, fsys afero.Fs, root string, opt WalkOptions, visit func(Entry) error) error {
	inside := walk.Options{Workers: opt.Workers, NoIgnore: opt.NoIgnore, Skip: opt.Skip, All: opt.All, Depth: opt.Depth,
		OnError: opt.OnError}
	return walk.Walk(ctx, inner(fsys), root, inside, func(e walk.Entry) error { return visit(Entry(e)) })
}
