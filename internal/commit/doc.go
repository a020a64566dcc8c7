// Package commit applies a list of changes to a tree as a unit: after a crash at any moment and recovery, the tree is
// in its old or in its new state.
//
// # The life of a transaction
//
//   - verify: each path must be in the old state of its change. All conflicts are reported together.
//   - stage: every new content is written whole, with owner, mode and times, to tx/<id>/new in the state directory.
//     Where possible, the file is made without a name next to the file that it will replace, and linked there at once.
//   - backup: every file that will be replaced or removed is hard-linked to tx/<id>/old, or copied if links are not
//     possible.
//   - journal: the plan is written and renamed into place. From here on, recovery after a crash undoes the transaction.
//   - apply: removals that make room, new directories, files, the other removals, and finally modes and times. A file
//     is exchanged for its new version; the old file must be the file that was linked, or it is put back and everything
//     is undone. So no write of another program during the commit is lost. Without exchange, the file is checked right
//     before the rename.
//   - sync, commit: the directories are synced, then the plan is renamed to "done". This rename is the commit.
//   - clean: the transaction moves to backups/<id> and is the backup then, or is removed if nothing of it is kept.
//
// Nothing records the progress of a transaction. Undoing compares the tree with the plan, path by path, and so can
// itself be interrupted and repeated; see [Recover].
//
// # No guarantee
//
// Other programs see the paths change one after the other. Writes through a file descriptor that was opened before the
// commit reach the before-image. If the file system has no exchange, a write between the check and the rename is lost.
// A before-image that is a hard link changes with the file if the file was only moved and is then written in place.
// Inodes of removed directories are not restored after a power cut.
package commit
