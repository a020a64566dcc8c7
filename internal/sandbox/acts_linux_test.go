package sandbox_test

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/millrace-go/millrace/internal/sandbox"
)

// TestMain also runs in the sandbox: the tests start this program again, with an act to perform.
func TestMain(m *testing.M) {
	name := os.Getenv("SANDBOX_ACT")
	if name == "" {
		os.Exit(m.Run())
	}
	act := acts[name]
	for _, more := range []map[string]func([]string) error{changes, oldChanges, nested, kernel} {
		if act == nil {
			act = more[name]
		}
	}
	if act == nil {
		fmt.Println("no act", name)
		os.Exit(4)
	}
	if err := act(os.Args[1:]); err != nil {
		fmt.Println(err)
		os.Exit(3)
	}
}

// acts are attempts to reach outside, and the normal work of programs, by name.
var acts = map[string]func(args []string) error{
	"read":     func(args []string) error { _, err := os.ReadFile(args[0]); return err },
	"readlink": func(args []string) error { _, err := os.Readlink(args[0]); return err },
	"list":     func(args []string) error { _, err := os.ReadDir(args[0]); return err },
	"create":   func(args []string) error { return os.WriteFile(filepath.Join(args[0], "made"), []byte("made"), 0o600) },
	"write":    func(args []string) error { return os.WriteFile(args[0], []byte("new"), 0o600) },
	"cut":      func(args []string) error { return unix.Truncate(args[0], 1) },
	"opencut":  func(args []string) error { return closing(unix.Open(args[0], unix.O_RDONLY|unix.O_TRUNC, 0)) },
	"remove":   func(args []string) error { return os.Remove(args[0]) },
	"rename":   func(args []string) error { return os.Rename(args[0], args[1]) },
	"link":     func(args []string) error { return os.Link(args[0], args[1]) },
	"symlink":  func(args []string) error { return os.Symlink(args[0], args[1]) },
	"mkdir":    func(args []string) error { return os.Mkdir(filepath.Join(args[0], "dir"), 0o700) },
	"execute": func(args []string) error {
		cmd := exec.Command(args[0], "-test.run=^$")
		cmd.Env = []string{"PATH=/usr/bin:/bin", "GORACE=" + os.Getenv("GORACE")}
		return cmd.Run()
	},
	"mknod":  func(args []string) error { return unix.Mknod(args[0], unix.S_IFBLK|0o600, 1<<8|1) },
	"mkfifo": func(args []string) error { return unix.Mkfifo(args[0], 0o600) },
	"handle": byHandle,
	"mount": func(args []string) error {
		if err := unix.Mount("none", args[0], "tmpfs", 0, ""); err != nil {
			return err
		}
		return unix.Unmount(args[0], 0)
	},
	"chroot": func(args []string) error { return unix.Chroot(args[0]) },

	"ptrace": func(args []string) error {
		runtime.LockOSThread()
		return unix.PtraceSeize(number(args[0]))
	},
	"vmread": func(args []string) error {
		address, err := strconv.ParseUint(args[1], 10, 64)
		if err != nil {
			return err
		}
		var b [1]byte
		_, err = unix.ProcessVMReadv(number(args[0]), []unix.Iovec{{Base: &b[0], Len: 1}},
			[]unix.RemoteIovec{{Base: uintptr(address), Len: 1}}, 0)
		return err
	},
	"getfd": func(args []string) error {
		fd, err := unix.PidfdOpen(number(args[0]), 0)
		if err != nil {
			return err
		}
		return closing(unix.PidfdGetfd(fd, 0, 0))
	},
	"signal": func(args []string) error { return unix.Kill(number(args[0]), unix.SIGCONT) },
	"pidfd": func(args []string) error {
		fd, err := unix.PidfdOpen(number(args[0]), 0)
		if err != nil {
			return err
		}
		return unix.PidfdSendSignal(fd, unix.SIGCONT, nil, 0)
	},
	"lease": func(args []string) error {
		f, err := os.Open(args[0])
		if err != nil {
			return err
		}
		_, err = unix.FcntlInt(f.Fd(), unix.F_SETLEASE, unix.F_RDLCK)
		return errors.Join(err, f.Close())
	},
	"limit": func(args []string) error {
		var now unix.Rlimit
		return unix.Prlimit(number(args[0]), unix.RLIMIT_CORE, nil, &now)
	},

	"dial": func(args []string) error {
		c, err := net.Dial(args[0], args[1])
		if err != nil {
			return err
		}
		_, err = c.Write([]byte("out"))
		return errors.Join(err, c.Close())
	},
	"listen": func(args []string) error {
		l, err := net.Listen(args[0], args[1])
		if err != nil {
			return err
		}
		return l.Close()
	},
	"socket": func(args []string) error { return closing(unix.Socket(number(args[0]), number(args[1]), 0)) },
	"sendto": func(args []string) error { // with a pair, which needs no call of socket
		pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_DGRAM, 0)
		if err != nil {
			return err
		}
		return unix.Sendto(pair[0], []byte("out"), 0, &unix.SockaddrUnix{Name: args[0]})
	},
	"uring": func([]string) error {
		var params [120]byte
		fd, _, errno := unix.Syscall(unix.SYS_IO_URING_SETUP, 1, uintptr(unsafe.Pointer(&params[0])), 0)
		return closing(int(fd), failed(errno))
	},
	"key": func([]string) error { _, err := unix.KeyctlGetKeyringID(unix.KEY_SPEC_USER_KEYRING, true); return err },
	"shared": func([]string) error {
		id, err := unix.SysvShmGet(unix.IPC_PRIVATE, 4096, unix.IPC_CREAT|0o600)
		if err != nil {
			return err
		}
		_, err = unix.SysvShmCtl(id, unix.IPC_RMID, nil) // it would outlive the process, and there is little room
		return err
	},
	"sti": func([]string) error { // asks a pipe, which is not a terminal
		return opened("/dev/null", func(fd int) error {
			var c byte
			_, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), unix.TIOCSTI, uintptr(unsafe.Pointer(&c)))
			if errno == unix.ENOTTY {
				return nil // asked, and refused by the device itself
			}
			return failed(errno)
		})
	},

	"openat2": func(args []string) error {
		return closing(unix.Openat2(unix.AT_FDCWD, args[0], &unix.OpenHow{Flags: unix.O_RDONLY}))
	},
	"trial": func(args []string) error {
		done := make(chan error)
		sandbox.OnThread(func() { done <- trial(args) }) // not the first thread of the process
		return <-done
	},
	"socketpair": func([]string) error {
		for _, kind := range []int{unix.SOCK_STREAM, unix.SOCK_SEQPACKET | unix.SOCK_CLOEXEC | unix.SOCK_NONBLOCK} {
			pair, err := unix.Socketpair(unix.AF_UNIX, kind, 0)
			if err != nil {
				return err
			}
			if _, err := unix.Write(pair[0], []byte("in")); err != nil {
				return err
			}
		}
		return nil
	},
	"wait":  func([]string) error { fmt.Println("ready"); _, err := io.Copy(io.Discard, os.Stdin); return err },
	"state": func([]string) error { b, err := os.ReadFile("/proc/self/status"); fmt.Print(string(b)); return err },
}

// byHandle opens a file by its handle in the file system, which bypasses all directories.
func byHandle(args []string) error {
	handle, _, err := unix.NameToHandleAt(unix.AT_FDCWD, args[0], 0)
	if err != nil {
		return err
	}
	return opened("/", func(fd int) error { return closing(unix.OpenByHandleAt(fd, handle, unix.O_RDONLY)) })
}

// opened calls do with a descriptor.
func opened(path string, do func(fd int) error) error {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	return errors.Join(do(fd), unix.Close(fd))
}

// closing closes a descriptor that was opened only as a proof.
func closing(fd int, err error) error {
	if err != nil {
		return err
	}
	return unix.Close(fd)
}

// failed is nil for no error.
func failed(errno syscall.Errno) error {
	if errno != 0 {
		return errno
	}
	return nil
}

// number parses an argument; any other text is a mistake in the test.
func number(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		panic(err)
	}
	return n
}
