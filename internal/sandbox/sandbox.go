// Package sandbox starts a command that reaches little more than the directories it is given. On Linux that holds by
// Landlock (files) and seccomp (network, and what would go around either), without any help from outside the process
// and without rights that the program does not have anyway. Other systems have no sandbox, and [Status] reports that.
//
// # How
//
// The rights of a thread are inherited by the processes that it starts. So [Run] takes a thread of its own, restricts
// it, starts the command from it, waits, and lets the thread die. No other thread of the program is restricted.
//
// # Guarantees inside, on Linux
//
//   - Files are read, written, created, renamed and removed in Rules.Write alone. They are read and executed there, in
//     Rules.Read, and in the directories of the system.
//   - The few devices that every program needs can be used. Disks, terminals and other devices cannot.
//   - The modes, owners and times of files are changed in Rules.Write alone, extended attributes nowhere (amd64, arm64).
//     In a sandbox within another one, none of them is changed anywhere.
//   - No memory, environment or open file of a process outside can be reached. Signals do not get there from Linux 6.12.
//   - Only pairs of connected sockets are allowed, unless Rules.Network is set; then there are those of IPv4 and
//     IPv6, but no Unix sockets: a service of the system could start programs outside (amd64, arm64). On other
//     architectures Landlock forbids TCP, but for MPTCP, from Linux 6.7, and nothing else.
//   - A program that runs as root keeps those rights of root that are about files, and no others.
//   - A command cannot write to a terminal, or read a keyring.
//   - System calls and requests of ioctl are those of a list (amd64, arm64). A call that is not listed, such as one of a
//     newer kernel, fails as if the kernel did not have it. There are no mounts and no namespaces, and other processes
//     are scheduled as before.
//
// # Limits of the sandbox
//
// The names, sizes and times of files can be learned everywhere, as can the command lines of other processes. Memory,
// processor time and disk space are not limited. A file that may be read can be locked (flock, fcntl). Files that the
// program holds open without close-on-exec, which Go never does on its own, are inherited.
package sandbox

// Rules describes what a command may reach beside what every program needs: programs and libraries of the system, its
// settings, and harmless devices. The zero Rules let it write nowhere. Rules are only read.
type Rules struct {
	// Write are absolute paths of directories and files that the command may read, change, remove and execute, with
	// all that is below. Each of them has to exist. A path that is a symbolic link stands for its target. A path that
	// lies below another path of Write adds nothing, and is not looked at, so that a link in it opens no way out.
	Write []string
	// Read are absolute paths of directories and files that the command may read and execute, with all that is below.
	// Missing files and links are treated as in Write.
	Read []string
	// Network lets the command use IPv4 and IPv6.
	Network bool
	// Mark is put on the command and all that it starts, on Linux (amd64, arm64). Zero puts none.
	Mark Mark
}

// Status describes what is in force. The zero Status means no sandbox.
type Status struct {
	// Files is "landlock" and the version of its interface, such as "landlock 7", or empty if files are not protected.
	Files string
	// Network is "seccomp" if the command has no network at all, "landlock" if TCP is closed but UDP, MPTCP and Unix
	// sockets are open, and empty if the network is open.
	Network string
}
