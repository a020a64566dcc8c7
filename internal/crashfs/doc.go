// Package crashfs is a worst-case disk: a file system in memory that can stop before any of its operations, and show
// what would be left.
//
// A program sees everything it has written, as on any system. The disk below only guarantees what was synced: the
// bytes, mode and times of a file with its Sync, the names in a directory with SyncDir. [Fs.Kill] returns the file
// system that the next process finds if this one is killed now: everything written, synced or not. [Fs.PowerCut]
// returns a file system that the machine may find when it starts again:
//
//   - Each operation on names that was not synced may have reached the disk or not, later ones without earlier ones,
//     except those they need: operations on the same name, and operations in a directory before its removal.
//   - Of bytes that were not synced, those in any block of 16 may be new, old or zero, and the file may have any length
//     in between.
//   - Mode, times and attributes that were not synced are old or new, each independently of the others.
//
// That is worse than journaling file systems, which keep their operations in order; so code that survives here does not
// rely on that order. Numbers of removed inodes are reused immediately, as in ext4.
//
// [Fs.Before] sets a function that is called before each operation. It can make the operation fail, or copy the file
// system, and so simulate a crash at every moment of a single run:
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
// An Fs is safe for concurrent use. The function passed to Before may use it too.
package crashfs
