//go:build linux && (amd64 || arm64)

package sandbox

import (
	"slices"

	"golang.org/x/sys/unix"
)

// listed are the system calls that are allowed as they are, unless a rule covers them: files (as far as Landlock
// allows), the process's own memory, time, threads and signals. All others fail as on a kernel that does not have them,
// so calls of newer kernels are closed until somebody has reviewed them. Not listed are, for example, mounts,
// namespaces, memory and descriptors of other processes, file handles, performance counters, and everything that only
// an administrator needs.
var listed = []uint32{
	unix.SYS_IO_SETUP, unix.SYS_IO_DESTROY, unix.SYS_IO_SUBMIT, unix.SYS_IO_CANCEL, unix.SYS_IO_GETEVENTS,
	unix.SYS_IO_PGETEVENTS, unix.SYS_GETXATTR, unix.SYS_LGETXATTR, unix.SYS_FGETXATTR, unix.SYS_LISTXATTR,
	unix.SYS_LLISTXATTR, unix.SYS_FLISTXATTR, unix.SYS_GETXATTRAT, unix.SYS_LISTXATTRAT, unix.SYS_SETXATTR,
	unix.SYS_LSETXATTR, unix.SYS_FSETXATTR, unix.SYS_SETXATTRAT, unix.SYS_REMOVEXATTR, unix.SYS_LREMOVEXATTR,
	unix.SYS_FREMOVEXATTR, unix.SYS_REMOVEXATTRAT, unix.SYS_FILE_GETATTR, unix.SYS_FILE_SETATTR, unix.SYS_GETCWD,
	unix.SYS_EVENTFD2, unix.SYS_EPOLL_CREATE1, unix.SYS_EPOLL_CTL, unix.SYS_EPOLL_PWAIT, unix.SYS_EPOLL_PWAIT2,
	unix.SYS_DUP, unix.SYS_DUP3, unix.SYS_INOTIFY_INIT1, unix.SYS_INOTIFY_ADD_WATCH,
	unix.SYS_INOTIFY_RM_WATCH, unix.SYS_IOPRIO_GET, unix.SYS_FLOCK, unix.SYS_MKNODAT, unix.SYS_MKDIRAT,
	unix.SYS_UNLINKAT, unix.SYS_SYMLINKAT, unix.SYS_LINKAT, unix.SYS_RENAMEAT, unix.SYS_RENAMEAT2, unix.SYS_STATFS,
	unix.SYS_FSTATFS, unix.SYS_TRUNCATE, unix.SYS_FTRUNCATE, unix.SYS_FALLOCATE, unix.SYS_FACCESSAT,
	unix.SYS_FACCESSAT2, unix.SYS_CHDIR, unix.SYS_FCHDIR, unix.SYS_FCHMOD, unix.SYS_FCHMODAT, unix.SYS_FCHMODAT2,
	unix.SYS_FCHOWNAT, unix.SYS_FCHOWN, unix.SYS_OPENAT, unix.SYS_OPENAT2, unix.SYS_CLOSE, unix.SYS_CLOSE_RANGE,
	unix.SYS_PIPE2, unix.SYS_GETDENTS64, unix.SYS_LSEEK, unix.SYS_READ, unix.SYS_WRITE, unix.SYS_READV,
	unix.SYS_WRITEV, unix.SYS_PREAD64, unix.SYS_PWRITE64, unix.SYS_PREADV, unix.SYS_PWRITEV, unix.SYS_PREADV2,
	unix.SYS_PWRITEV2, unix.SYS_SENDFILE, unix.SYS_PSELECT6, unix.SYS_PPOLL, unix.SYS_SIGNALFD4, unix.SYS_VMSPLICE,
	unix.SYS_SPLICE, unix.SYS_TEE, unix.SYS_READLINKAT, unix.SYS_NEWFSTATAT, unix.SYS_FSTAT, unix.SYS_STATX,
	unix.SYS_SYNC, unix.SYS_FSYNC, unix.SYS_FDATASYNC, unix.SYS_SYNCFS, unix.SYS_SYNC_FILE_RANGE,
	unix.SYS_COPY_FILE_RANGE, unix.SYS_UTIMENSAT, unix.SYS_TIMERFD_CREATE, unix.SYS_TIMERFD_SETTIME,
	unix.SYS_TIMERFD_GETTIME, unix.SYS_CAPGET, unix.SYS_CAPSET, unix.SYS_PERSONALITY, unix.SYS_EXIT,
	unix.SYS_EXIT_GROUP, unix.SYS_WAITID, unix.SYS_WAIT4, unix.SYS_SET_TID_ADDRESS, unix.SYS_FUTEX,
	unix.SYS_FUTEX_WAITV, unix.SYS_FUTEX_WAKE, unix.SYS_FUTEX_WAIT, unix.SYS_FUTEX_REQUEUE,
	unix.SYS_SET_ROBUST_LIST, unix.SYS_GET_ROBUST_LIST, unix.SYS_NANOSLEEP, unix.SYS_GETITIMER, unix.SYS_SETITIMER,
	unix.SYS_TIMER_CREATE, unix.SYS_TIMER_GETTIME, unix.SYS_TIMER_GETOVERRUN, unix.SYS_TIMER_SETTIME,
	unix.SYS_TIMER_DELETE, unix.SYS_CLOCK_GETTIME, unix.SYS_CLOCK_GETRES, unix.SYS_CLOCK_NANOSLEEP,
	unix.SYS_SCHED_GETSCHEDULER, unix.SYS_SCHED_GETPARAM, unix.SYS_SCHED_GETAFFINITY, unix.SYS_SCHED_YIELD,
	unix.SYS_SCHED_GET_PRIORITY_MAX, unix.SYS_SCHED_GET_PRIORITY_MIN, unix.SYS_SCHED_RR_GET_INTERVAL,
	unix.SYS_SCHED_GETATTR, unix.SYS_RESTART_SYSCALL, unix.SYS_KILL, unix.SYS_TKILL, unix.SYS_TGKILL,
	unix.SYS_SIGALTSTACK, unix.SYS_RT_SIGSUSPEND, unix.SYS_RT_SIGACTION, unix.SYS_RT_SIGPROCMASK,
	unix.SYS_RT_SIGPENDING, unix.SYS_RT_SIGTIMEDWAIT, unix.SYS_RT_SIGQUEUEINFO, unix.SYS_RT_TGSIGQUEUEINFO,
	unix.SYS_RT_SIGRETURN, unix.SYS_GETPRIORITY, unix.SYS_SETREGID, unix.SYS_SETGID, unix.SYS_SETREUID,
	unix.SYS_SETUID, unix.SYS_SETRESUID, unix.SYS_GETRESUID, unix.SYS_SETRESGID, unix.SYS_GETRESGID,
	unix.SYS_SETFSUID, unix.SYS_SETFSGID, unix.SYS_TIMES, unix.SYS_SETPGID, unix.SYS_GETPGID, unix.SYS_GETSID,
	unix.SYS_SETSID, unix.SYS_GETGROUPS, unix.SYS_SETGROUPS, unix.SYS_UNAME, unix.SYS_GETRLIMIT, unix.SYS_SETRLIMIT,
	unix.SYS_GETRUSAGE, unix.SYS_UMASK, unix.SYS_PRCTL, unix.SYS_GETCPU, unix.SYS_GETTIMEOFDAY, unix.SYS_GETPID,
	unix.SYS_GETPPID, unix.SYS_GETUID, unix.SYS_GETEUID, unix.SYS_GETGID, unix.SYS_GETEGID, unix.SYS_GETTID,
	unix.SYS_SYSINFO, unix.SYS_BIND, unix.SYS_LISTEN, unix.SYS_ACCEPT, unix.SYS_ACCEPT4, unix.SYS_CONNECT,
	unix.SYS_GETSOCKNAME, unix.SYS_GETPEERNAME, unix.SYS_SENDTO, unix.SYS_RECVFROM, unix.SYS_SETSOCKOPT,
	unix.SYS_GETSOCKOPT, unix.SYS_SHUTDOWN, unix.SYS_SENDMSG, unix.SYS_RECVMSG, unix.SYS_SENDMMSG,
	unix.SYS_RECVMMSG, unix.SYS_READAHEAD, unix.SYS_BRK, unix.SYS_MUNMAP, unix.SYS_MREMAP, unix.SYS_MMAP,
	unix.SYS_FADVISE64, unix.SYS_MPROTECT, unix.SYS_MSYNC, unix.SYS_MLOCK, unix.SYS_MUNLOCK, unix.SYS_MLOCKALL,
	unix.SYS_MUNLOCKALL, unix.SYS_MLOCK2, unix.SYS_MINCORE, unix.SYS_MADVISE, unix.SYS_REMAP_FILE_PAGES,
	unix.SYS_MBIND, unix.SYS_GET_MEMPOLICY, unix.SYS_SET_MEMPOLICY, unix.SYS_SET_MEMPOLICY_HOME_NODE,
	unix.SYS_MEMFD_CREATE, unix.SYS_MEMFD_SECRET, unix.SYS_MEMBARRIER, unix.SYS_PKEY_MPROTECT, unix.SYS_PKEY_ALLOC,
	unix.SYS_PKEY_FREE, unix.SYS_MAP_SHADOW_STACK, unix.SYS_MSEAL, unix.SYS_CACHESTAT, unix.SYS_EXECVE,
	unix.SYS_EXECVEAT, unix.SYS_PTRACE, unix.SYS_GETRANDOM, unix.SYS_RSEQ, unix.SYS_PIDFD_OPEN,
	unix.SYS_PIDFD_SEND_SIGNAL, unix.SYS_LANDLOCK_CREATE_RULESET, unix.SYS_LANDLOCK_ADD_RULE,
	unix.SYS_LANDLOCK_RESTRICT_SELF, unix.SYS_SECCOMP, unix.SYS_SHMDT,
}

// closed are calls for which programs expect a refusal, not a missing call.
var closed = []uint32{
	unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_UNSHARE, unix.SYS_SETNS, unix.SYS_CHROOT, unix.SYS_PIVOT_ROOT,
	unix.SYS_OPEN_TREE, unix.SYS_MOVE_MOUNT, unix.SYS_FSOPEN, unix.SYS_FSMOUNT, unix.SYS_MOUNT_SETATTR,
	unix.SYS_OPEN_BY_HANDLE_AT, unix.SYS_PERF_EVENT_OPEN, unix.SYS_BPF, unix.SYS_PROCESS_VM_READV,
	unix.SYS_PROCESS_VM_WRITEV, unix.SYS_PIDFD_GETFD, unix.SYS_QUOTACTL,
}

// requests are the ioctl requests that are allowed as they are: they read values, copy between open files, or only
// affect the descriptor. Any other request may change files that may only be read: flags, versions and labels of files,
// snapshots of directories, terminals.
var requests = []uint32{
	unix.TCGETS, unix.TCGETS2, unix.TIOCGWINSZ, unix.TIOCGPGRP, unix.TIOCGSID, unix.TIOCOUTQ, fioRead,
	fioNonBlock, fioAsync, fioClose, fioNoClose, fioSize, fioBlockSize,
	unix.FS_IOC_GETFLAGS, fsIocGetFlags32, fsIocFsGetXattr, fsIocGetVersion,
	unix.FICLONE, unix.FICLONERANGE, fsIocFiemap,
	unix.SIOCGIFCONF, unix.SIOCGIFNAME, unix.SIOCGIFFLAGS, unix.SIOCGIFADDR, unix.SIOCGIFDSTADDR, unix.SIOCGIFBRDADDR,
	unix.SIOCGIFNETMASK, unix.SIOCGIFMTU, unix.SIOCGIFHWADDR, unix.SIOCGIFINDEX, unix.SIOCATMARK,
}

// Requests that have no name in x/sys/unix.
const (
	fioRead         = 0x541b
	fioNonBlock     = 0x5421
	fioAsync        = 0x5452
	fioClose        = 0x5451
	fioNoClose      = 0x5450
	fioSize         = 0x5460
	fioBlockSize    = 2
	fsIocGetFlags32 = 0x80046601
	fsIocFsGetXattr = 0x801c581f
	fsIocGetVersion = 0x80087601
	fsIocFiemap     = 0xc020660b
)

// others are rules for calls that change how other processes are scheduled: a process may only name itself, as 0.
func others(eperm verdict) []rule {
	itself := func(args ...uint32) []test {
		var tests []test
		for _, arg := range args {
			tests = append(tests, test{arg: arg, mask: whole, values: []uint32{0}})
		}
		return tests
	}
	list := []rule{
		{call: unix.SYS_SETPRIORITY, then: allow, other: eperm, tests: itself(0, 1)}, // PRIO_PROCESS is 0, too
		{call: unix.SYS_IOPRIO_SET, then: allow, other: eperm, tests: append(
			itself(1), test{arg: 0, mask: whole, values: []uint32{ioprioProcess}})},
	}
	for _, call := range []uint32{
		unix.SYS_SCHED_SETAFFINITY, unix.SYS_SCHED_SETSCHEDULER, unix.SYS_SCHED_SETPARAM, unix.SYS_SCHED_SETATTR,
	} {
		list = append(list, rule{call: call, then: allow, other: eperm, tests: itself(0)})
	}
	return list
}

// ioprioProcess is IOPRIO_WHO_PROCESS.
const ioprioProcess = 1

// children are the rules for calls that start processes. A process in another namespace would not be found when the
// command ends, and a sibling of the program, by CLONE_PARENT, would stay as a zombie. The flags of clone3 cannot be
// checked: libraries use clone if clone3 is missing.
func children(eperm verdict) []rule {
	const flags = unix.CLONE_PARENT | unix.CLONE_NEWNS | unix.CLONE_NEWCGROUP | unix.CLONE_NEWUTS | unix.CLONE_NEWIPC |
		unix.CLONE_NEWUSER | unix.CLONE_NEWPID | unix.CLONE_NEWNET
	return []rule{
		{call: unix.SYS_CLONE, then: allow, other: eperm, tests: []test{{arg: 0, mask: flags, values: []uint32{0}}}},
		{call: unix.SYS_CLONE3, then: refuse(unix.ENOSYS)},
	}
}

// ranges returns the end of the filter: calls with a listed number are allowed, all others are missing.
func ranges() []unix.SockFilter {
	numbers := slices.Clone(append(slices.Clone(listed), listedHere...))
	slices.Sort(numbers)
	numbers = slices.Compact(numbers)
	missing := returns(refuse(unix.ENOSYS))
	var filter []unix.SockFilter
	for i := 0; i < len(numbers); {
		end := i + 1
		for end < len(numbers) && numbers[end] == numbers[end-1]+1 {
			end++
		}
		// A number after the range continues, within it is allowed, before it is missing.
		filter = append(filter,
			unix.SockFilter{Code: opAtLeast, K: numbers[end-1] + 1, Jt: 3},
			unix.SockFilter{Code: opAtLeast, K: numbers[i], Jt: 1},
			missing, returns(allow))
		i = end
	}
	return append(filter, missing)
}
