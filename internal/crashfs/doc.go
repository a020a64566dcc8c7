// Package crashfs is a disk to be afraid of: a file system in memory that can stop before any of its operations, and
// tell what would be left then.
//
// A program sees what it has written, as on any system. The disk below only has for certain what was synced: the bytes,
// mode and times of a file with its Sync, the names in a directory with SyncDir. [Fs.Kill] gives the file system that
// the next process finds if this one is killed now: all that was written, whatever was synced. [Fs.PowerCut] gives a
// file system that the machine may find when it starts again:
//
//   - Each operation on names that was not synced may have got to the disk or not, later ones without earlier ones,
//     unless they need them: those on the same name, and those in a directory before its removal.
//   - Of bytes that were not synced, those in any block of 16 may be new, old or zero, and the file may have any length
//     between.
//   - Mode, times and attributes that were not synced are old or new, each independently of the others.
//
// That is worse than what journaling file systems do, which keep their operations in order; so what survives here
// does not rely on it. Numbers of removed inodes are used again at once, as ext4 does.
//
// [Fs.Before] is called before each operation and may let it fail, or copy the file system and so begin a crash at each
// moment out of a single run:
//
//	disk := crashfs.New()
//	// plant a tree, then:
//	disk.Settle()
//	disk.Before(func(op crashfs.Op) error {
//		if op.Writes {
//			moments = append(moments, disk.Kill())
//		}
//		return nil
//	})
//
// An Fs is safe for concurrent use. The function given to Before may use it too.
package crashfs
