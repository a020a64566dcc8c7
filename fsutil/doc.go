// Package fsutil has the file systems of millrace, beyond [afero.Fs].
//
// [NewStage] puts a [Stage] over a file system: a copy-on-write view in which a whole change is computed before
// anything is written. The stage enforces the rules of POSIX itself, can be rolled back to a savepoint, and returns the
// difference from its base as a list of [Change]s. Each change has the [change.State] of its base, so that a commit can
// detect a change by another program. The stage never writes to its base; only the executor does.
//
// [OpenRoot] opens a directory of the operating system as a [RootFs]. No "..", absolute name or symbolic link leads out
// of it. [Raise] gives any afero.Fs as many of these properties as possible.
//
// # Abilities of a file system
//
// An afero.Fs has no links, no directory sync, no lock. Other file systems implement small optional interfaces, such as
// [capability.Linker], [capability.Exchanger], [capability.NoReplacer], [capability.DirSyncer], [capability.Locker],
// [capability.Identifier] and [capability.MetaCopier]. All are optional; the guarantees of a commit depend on the
// available interfaces.
//
// # Names
//
// Names are relative to the root of the tree and separated by slashes on all systems. [Clean] returns the canonical
// form; the root is ".". A bad name, or a wrong kind of file at a name, is an error of this package, such as
// [ErrEscape], wrapped in an *fs.PathError or *os.LinkError.
//
// # Walking
//
// [Walk] visits a tree with several goroutines and omits files that .gitignore ignores. [IsBinary] and [TextFacts]
// report the kind of a text: line ends, byte order mark, final newline.
package fsutil
