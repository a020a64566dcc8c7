package fsutil

import (
	"context"
	"io/fs"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/capability"
	"github.com/millrace-go/millrace/internal/walk"
)

// WalkOptions say what a walk leaves out and how it goes on. The zero value honours .gitignore files and ends at the
// first directory that cannot be read.
type WalkOptions struct {
	// Workers is the number of goroutines that call visit. Zero means GOMAXPROCS.
	Workers int
	// NoIgnore also visits what .gitignore files leave out.
	NoIgnore bool
	// Skip, if not nil, leaves out the files and directories for which it returns true. It is asked about what the
	// other rules have left, except for a root that is a directory. It is called concurrently.
	Skip func(path string, isDir bool) bool
	// All also visits directories, symbolic links, and what is neither these nor a regular file. The root itself is
	// not visited if it is a directory. A directory may be visited before or after what is in it.
	All bool
	// Depth is how many levels below the root are looked at: 1 stands for what is in the root itself. Zero means no
	// limit.
	Depth int
	// OnError, if not nil, receives the error of each directory and each .gitignore file that cannot be read. The walk
	// goes on without it if OnError returns nil, and ends with the error that OnError returns otherwise. Nil means that
	// the walk ends with the error itself. It is called concurrently.
	OnError func(path string, err error) error
}

// Entry is what a walk has found: a regular file, but for walks with the option All. Its field Kind is a [change.Kind].
type Entry walk.Entry

// Path returns the canonical path of the file. It is put together anew each time: most files of a walk do not need one.
func (e Entry) Path() string { return walk.Entry(e).Path() }

// Name returns the last element of the path.
func (e Entry) Name() string { return walk.Entry(e).Name() }

// Open opens the file for reading. It is valid until visit returns; what it returns may be kept longer. A file that has
// been replaced by something else since it was found gives ErrNotRegular, but for file systems that cannot tell
// symbolic links from what they lead to: there the listing is believed.
func (e Entry) Open() (capability.ReadFile, error) { return walk.Entry(e).Open() }

// Info returns what is known of the file without opening it. It is the state of now or of when the directory was read.
// It is valid until visit returns.
func (e Entry) Info() (fs.FileInfo, error) { return walk.Entry(e).Info() }

// Walk calls visit for each regular file at or below root, from several goroutines and in no particular order.
//
// Symbolic links are not followed, to files or to directories, and pipes, sockets and devices are passed over. Left out
// are the directories of version control systems (.git, .hg, .svn and their like, and the file .git of a worktree),
// what .gitignore files leave out unless NoIgnore is set, and what Skip says. Hidden and binary files are visited. With
// the option All, links, pipes and directories are visited by the same rules.
//
// The .gitignore files are read through fsys, so a stage reads its staged .gitignore files. They work as in git,
// together with the .gitignore files of the directories above root. Directories above the nearest directory with a .git
// do not count: that directory is a repository of its own. Where names are absolute, only directories within such a
// repository count. The file .git/info/exclude of a repository is asked after all its .gitignore files, as in git.
// Where .git is the file of a worktree or a submodule, the info/exclude of the repository that the file names is read,
// if that is in the tree. Other files that git may be configured with are not read: they belong to one user or one
// machine, and the result of a walk must not depend on them.
//
// The root itself is taken as given, whatever rules there are: a file is visited, and a directory is walked even if it
// is ignored or belongs to a version control system. If nothing is there the error wraps [fs.ErrNotExist], and if there
// is neither a directory nor a regular file, ErrNotRegular; a symbolic link is neither, resolve it before.
//
// The first error of visit ends the walk and is returned as it is; visits that are under way are waited for. When more
// than one fails, it is that of the least path among them. [fs.SkipAll] ends the walk without an error. A panic is
// returned as an *fs.PathError with the code "internal". When ctx is done no further visit begins and its error is
// returned. A directory that has gone by the time its turn comes is passed over. No goroutine is left when Walk
// returns.
//
// The memory used grows with the number of directories found but not yet read and with the largest directory, not with
// the number of files. No more than two directories for each worker are open at any time, and one more while it looks
// for what CVS or .git keeps in a directory.
func Walk(ctx context.Context, fsys afero.Fs, root string, opt WalkOptions, visit func(Entry) error) error {
	return walk.Walk(ctx, inner(fsys), root, walk.Options(opt), func(e walk.Entry) error { return visit(Entry(e)) })
}
