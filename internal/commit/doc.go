// Package commit makes a list of changes to a tree as one: after a crash at any moment, and the recovery that
// follows, the tree is what it was before or what it is after.
//
// # The life of a transaction
//
//   - verify: what stands at each path must be what the change says was there. All conflicts are reported together.
//   - stage: every new content is written whole, with owner, mode and times, to tx/<id>/new in the state directory.
//     Where that can be, the file is made without a name beside the file that it will replace, and linked there at
//     once.
//   - backup: every file that will be replaced or removed is hard-linked to tx/<id>/old, or copied where there are no
//     links.
//   - journal: the plan is written and renamed into place. From here on a crash leads to undoing.
//   - apply: removals that make room, new directories, files, the other removals, and modes and times at last. A file
//     is exchanged for its new version; what came out must be what was linked, or it goes back and everything is
//     undone. So no write of another program during the commit is lost. Without an exchange, the file is checked right
//     before the rename.
//   - sync, commit: the directories are synced, then the plan is renamed to "done". That is the commit.
//   - clean: the transaction moves to backups/<id>, which is the backup, or is removed if nothing of it is to be kept.
//
// Nothing records how far the transaction got. Undoing compares the tree with the plan, path by path, and so can
// itself be interrupted and begun again; see [Recover].
//
// # What is not promised
//
// Other programs see the paths change one after the other. Writes through a file descriptor that was opened before the
// commit go to the before-image. Where the file system has no exchange, a write in the moment between the look and the
// rename is lost. A before-image that is a hard link changes with the file if that was only moved and is then written
// in place. Inodes of directories that were removed are not restored after a power cut.
package commit
