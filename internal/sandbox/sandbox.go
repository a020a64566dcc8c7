// Package sandbox starts a command that can access little more than its allowed directories. On Linux it uses Landlock
// (files) and seccomp (network, and calls that would bypass either), without help from outside the process and without
// extra privileges. Other systems have no sandbox, and [Status] reports that.
//
// # How
//
// The restrictions of a thread are inherited by the processes that it starts. So [Run] uses a thread of its own,
// restricts it, starts the command from it, waits, and lets the thread end. No other thread of the program is
// restricted.
//
// # Guarantees inside, on Linux
//
//   - Files are written, created, renamed and removed only in Rules.Write. They are read and executed there, in
//     Rules.Read, and in the directories of the system.
//   - The few devices that every program needs can be used. Disks, terminals and other devices cannot.
//   - The modes, owners and times of files are changed only in Rules.Write, extended attributes nowhere (amd64, arm64).
//     In a sandbox within another sandbox, they cannot be changed at all.
//   - Memory, environment and open files of processes outside cannot be accessed. From Linux 6.12 on, signals cannot be
//     sent to them.
//   - Only pairs of connected sockets are allowed, unless Rules.Network is set; then IPv4 and IPv6 sockets are allowed
//     too, but no Unix sockets: a service of the system could start programs outside (amd64, arm64). On other
//     architectures Landlock forbids only TCP without MPTCP, from Linux 6.7 on.
//   - A program that runs as root keeps only the capabilities of root for files.
//   - A command cannot write to a terminal, or read a keyring.
//   - Only listed system calls and requests of ioctl are allowed (amd64, arm64). A call that is not listed, such as a
//     call of a newer kernel, fails as if the kernel did not have it. A command cannot mount file systems, make
//     namespaces, or change the scheduling of other processes.
//
// # Limits of the sandbox
//
// The names, sizes and times of all files can be read, as can the command lines of other processes. Memory, processor
// time and disk space are not limited. A file that may be read can be locked (flock, fcntl). Files that the program has
// open without close-on-exec, which Go never does on its own, are inherited.
package sandbox

// Rules describes what a command may access in addition to what every program needs: programs and libraries of the
// system, its settings, and harmless devices. With the zero Rules it may write nowhere. Rules are not modified.
type Rules struct {
	// Write are absolute paths of directories and files that the command may read, change, remove and execute, with
	// everything below. Each path must exist. A symbolic link means its target. A path below another path of Write is
	// redundant and ignored, so that a link in it does not open a way out.
	Write []string
	// Read are absolute paths of directories and files that the command may read and execute, with everything below.
	// Missing files and links are handled as in Write.
	Read []string
	// Network lets the command use IPv4 and IPv6.
	Network bool
	// Mark marks the command and all its descendants, on Linux (amd64, arm64). Zero means no mark.
	Mark Mark
}

// Status describes the active protection. The zero Status means no sandbox.
type Status struct {
	// Files is "landlock" and the version of its interface, such as "landlock 7", or empty if files are not protected.
	Files string
	// Network is "seccomp" if the command has no network at all, "landlock" if TCP is closed but UDP, MPTCP and Unix
	// sockets are open, and empty if the network is open.
	Network string
}
