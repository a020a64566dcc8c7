// Package mounts makes real file systems for tests: those of the kernel on loop devices, those of Debian's packages
// over FUSE. [Own] gives a test a mount namespace of its own, so that nothing stays mounted whatever happens to it.
package mounts
