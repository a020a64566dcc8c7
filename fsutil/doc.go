// Package fsutil is what millrace needs of file systems beyond [afero.Fs].
//
// [NewStage] puts a [Stage] over a file system: a copy-on-write view in which a whole change is worked out before
// anything is written. The stage enforces the rules of POSIX itself, can be rolled back to a savepoint, and in the end
// tells what differs from its base as a list of [Change]s. Each change names the [change.State] that its base was seen
// in, so that a commit can tell whether another program was faster. The stage never writes to its base; that is
// the executor's work.
//
// [OpenRoot] gives a directory of the operating system as a [RootFs], which cannot be left by "..", absolute names or
// symbolic links. [Raise] brings any afero.Fs as near to that as it can come.
//
// # What a file system can do
//
// An afero.Fs has no links, no directory sync, no lock. Those that can do more say so by small optional interfaces,
// such as [capability.Linker], [capability.Exchanger], [capability.NoReplacer], [capability.DirSyncer],
// [capability.Locker], [capability.Identifier] and [capability.MetaCopier]. None of them is required; what a
// commit can promise depends on which are there.
//
// # Names
//
// Names are relative to the root of the tree and separated by slashes on all systems. [Clean] makes the canonical form;
// the root is ".". A bad name, or a wrong kind of file at a name, is an error of this package, such as [ErrEscape],
// wrapped in an *fs.PathError or *os.LinkError.
//
// # Walking
//
// [Walk] goes through a tree with several goroutines and leaves out what .gitignore files say. [IsBinary] and
// [TextFacts] say what kind of text a file is: line ends, byte order mark, final newline.
package fsutil
