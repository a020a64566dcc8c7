// Package mounts makes real file systems for tests: of the kernel on loop devices, and of Debian packages over FUSE.
// [Own] makes an own mount namespace for a test, so that nothing stays mounted, even after a crash.
package mounts
