package sandboxed_test

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/millrace-go/millrace/internal/fstest"
)

// TestMain is also the command of the pipelines: they run this program, with an act to do.
func TestMain(m *testing.M) {
	name := os.Getenv("SANDBOXED_ACT")
	if name == "" {
		os.Exit(fstest.Main(m))
	}
	act, ok := acts[name]
	if !ok {
		act, ok = hosts[name]
	}
	if !ok {
		fmt.Println("no act", name)
		os.Exit(4)
	}
	if err := act(os.Args[1:]); err != nil {
		fmt.Println(err)
		os.Exit(3)
	}
}

// acts are the attempts of a command. Each of them succeeds outside of a sandbox, even while a sandbox is in use.
var acts = map[string]func(args []string) error{
	"read":     func(args []string) error { _, err := os.ReadFile(args[0]); return err },
	"readlink": func(args []string) error { _, err := os.Readlink(args[0]); return err },
	"list":     func(args []string) error { _, err := os.ReadDir(args[0]); return err },
	"write":    func(args []string) error { return os.WriteFile(args[0], []byte("x"), 0o600) },
	"create": func(args []string) error {
		f, err := os.CreateTemp(args[0], "made")
		if err != nil {
			return err
		}
		return errors.Join(f.Close(), os.Remove(f.Name()))
	},
	"cut":    func(args []string) error { return os.Truncate(args[0], 1) },
	"rename": func(args []string) error { return os.Rename(args[0], args[1]) },
	"remove": func(args []string) error { return os.Remove(args[0]) },
	"link":   func(args []string) error { return errors.Join(os.Link(args[0], args[1]), os.Remove(args[1])) },
	"chmod":  func(args []string) error { return os.Chmod(args[0], 0o750) },
	"times":  func(args []string) error { return os.Chtimes(args[0], time.Now(), time.Unix(5, 0)) },
	"chown":  func(args []string) error { return os.Lchown(args[0], os.Getuid(), os.Getgid()) },
	"signal": func(args []string) error { return unix.Kill(number(args[0]), unix.SIGCONT) },
	"trace": func(args []string) error {
		runtime.LockOSThread()
		return unix.PtraceSeize(number(args[0]))
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
	"uring": func([]string) error {
		params := make([]byte, 120)
		fd, _, errno := unix.Syscall(unix.SYS_IO_URING_SETUP, 1, address(params), 0)
		if errno != 0 {
			return errno
		}
		return unix.Close(int(fd))
	},
	"work": work,
	"wait": func(args []string) error {
		fmt.Println("ready")
		for {
			if _, err := os.Stat(args[0]); err == nil { // Stat works on any file
				return nil
			}
			time.Sleep(time.Millisecond)
		}
	},
}

// work does the normal work of commands.
func work([]string) error {
	read, write, err := os.Pipe()
	if err != nil {
		return err
	}
	go func() { _, _ = io.WriteString(write, "through a pipe"); _ = write.Close() }()
	text, err := io.ReadAll(read)
	if err != nil {
		return err
	}
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err != nil {
		return err
	}
	temp, err := os.CreateTemp("", "temp")
	if err != nil {
		return err
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return err
	}
	return errors.Join(unix.Close(pair[0]), unix.Close(pair[1]), temp.Close(),
		os.WriteFile(filepath.Join(home, "file"), text, 0o600),
		os.WriteFile(filepath.Join(os.Getenv("MILLRACE_SHARED"), "file"), text, 0o600),
		os.WriteFile(os.DevNull, text, 0),
		os.MkdirAll("new/dir", 0o755), os.WriteFile("new/dir/file", text, 0o644),
		os.Rename("d/b.txt", "new/b.txt"), os.Rename("new", "d/new"), os.Symlink("a.txt", "link"), os.Chmod("run.sh", 0o755),
		os.Chtimes("a.txt", time.Now(), time.Unix(5, 0)))
}

// number parses an argument; any other text is a mistake of the test.
func number(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		panic(err)
	}
	return n
}
