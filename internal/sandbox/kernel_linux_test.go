//go:build linux && (amd64 || arm64)

package sandbox_test

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/internal/sandbox"
)

// Requests of ioctl that change read-only files.
const (
	snapshot    = 0x50009417 // BTRFS_IOC_SNAP_CREATE_V2
	subvolume   = 0x5000940e // BTRFS_IOC_SUBVOL_CREATE
	subvolFlags = 0x4008941a // BTRFS_IOC_SUBVOL_SETFLAGS
	received    = 0xc0c09425 // BTRFS_IOC_SET_RECEIVED_SUBVOL
	setVersion  = 0x40087602 // FS_IOC_SETVERSION
	setPolicy   = 0x400c6613 // FS_IOC_SET_ENCRYPTION_POLICY
	enableVrty  = 0x40806685 // FS_IOC_ENABLE_VERITY
	setFsXattr  = 0x401c5820 // FS_IOC_FSSETXATTR
	setLabel    = 0x41009432 // FS_IOC_SETFSLABEL
	swapExtents = 0xc0c0586d // XFS_IOC_SWAPEXT
	getVersion  = 0x80087601
)

// changing are requests that change files, file systems or terminals.
var changing = []uint32{
	snapshot, subvolume, subvolFlags, received, setVersion, setPolicy, enableVrty, setFsXattr, setLabel, swapExtents,
	unix.FS_IOC_SETFLAGS, unix.TIOCSTI, unix.TIOCLINUX, unix.TIOCSCTTY, unix.TCSETS, unix.BLKDISCARD,
}

// kernel are acts that call the kernel by number.
var kernel = map[string]func(args []string) error{
	"any": makeCalls,
	"numbers": func([]string) error {
		decided := sandbox.Decided()
		for call := range uint32(1200) {
			// The kernel lets the calls of uprobes pass every filter, and ends a process that makes them by hand.
			if decided[call] || call == 335 || call == 336 {
				continue
			}
			if _, _, errno := unix.Syscall6(uintptr(call), minus(1), minus(1), minus(1), minus(1), minus(1), minus(1)); errno != unix.ENOSYS {
				fmt.Printf("call %d: %v\n", call, errno)
			}
		}
		return nil
	},
	"requests": func(args []string) error {
		seed, err := strconv.ParseUint(args[0], 10, 64)
		if err != nil {
			return err
		}
		n, r := number(args[1]), rand.New(rand.NewPCG(seed, 1))
		try := slices.Clone(changing)
		for kind := range uint32(256) {
			for _, of := range []uint32{0, 0x54, 0x58, 0x66, 0x76, 0x94} {
				try = append(try, of<<8|kind)
			}
		}
		for range n {
			kinds := []uint32{0x54, 0x58, 0x66, 0x6c, 0x76, 0x94, 0xae, 0xb7, 0x12}
			try = append(try, r.Uint32(), r.Uint32()&0xffff0000|kinds[r.IntN(len(kinds))]<<8|r.Uint32()&0xff)
		}
		for _, path := range args[2:] {
			fd, err := unix.Open(path, unix.O_RDONLY, 0)
			if err != nil {
				return err
			}
			for _, request := range try {
				if slices.Contains(sandbox.Requests, request) {
					continue
				}
				// Neither the kernel nor the filter checks the high half of the argument.
				_, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), uintptr(request)|uintptr(r.Uint32())<<32, 0)
				if errno != unix.EPERM {
					fmt.Printf("%s: request %#x: %v\n", path, request, errno)
				}
			}
		}
		return nil
	},
	"renice":      func(args []string) error { return called(unix.SYS_SETPRIORITY, 0, pid(args[0]), 5) },
	"renice-all":  func([]string) error { return called(unix.SYS_SETPRIORITY, unix.PRIO_USER, 0, 5) },
	"renice-self": func([]string) error { return called(unix.SYS_SETPRIORITY, 0, 0, 5) },
	"ioprio":      func(args []string) error { return called(unix.SYS_IOPRIO_SET, 1, pid(args[0]), 3<<13) },
	"ioprio-self": func([]string) error { return called(unix.SYS_IOPRIO_SET, 1, 0, 3<<13) },
	"affinity": func(args []string) error {
		var set unix.CPUSet
		if err := unix.SchedGetaffinity(number(args[0]), &set); err != nil {
			return err
		}
		return unix.SchedSetaffinity(number(args[0]), &set)
	},
	"scheduler": func(args []string) error {
		var param [4]byte
		return called(unix.SYS_SCHED_SETSCHEDULER, pid(args[0]), 0, uintptr(unsafe.Pointer(&param[0])))
	},
	"namespace": func([]string) error { return unix.Unshare(unix.CLONE_NEWUTS) },
	// A sibling would be a child of the program.
	"sibling": func([]string) error { return cloned(unix.CLONE_PARENT) },
	// A process in another namespace would not be found.
	"clone-namespace": func([]string) error { return cloned(unix.CLONE_NEWUSER | unix.CLONE_NEWNS) },
	"detached": func(args []string) error { // a mount outside the tree is not under Landlock
		fd, _, errno := unix.Syscall(unix.SYS_OPEN_TREE, minus(100), stringAt(args[0]), 1)
		return closing(int(fd), failed(errno))
	},
	"snapshot": func(args []string) error { // of args[0] in args[1]
		return opened(args[0], func(source int) error {
			return opened(args[1], func(into int) error {
				request := make([]byte, 4096)
				binary.NativeEndian.PutUint64(request, uint64(source))
				copy(request[56:], "taken")
				return called(unix.SYS_IOCTL, uintptr(into), snapshot, uintptr(unsafe.Pointer(&request[0])))
			})
		})
	},
	"version": func(args []string) error {
		return opened(args[0], func(fd int) error {
			generation := int32(77)
			return called(unix.SYS_IOCTL, uintptr(fd), setVersion, uintptr(unsafe.Pointer(&generation)))
		})
	},
}

// cloned starts a child that ends at once.
func cloned(flags uintptr) error {
	id, _, errno := unix.RawSyscall6(unix.SYS_CLONE, flags|uintptr(unix.SIGCHLD), 0, 0, 0, 0, 0)
	if errno == 0 && id == 0 {
		_, _, _ = unix.RawSyscall(unix.SYS_EXIT_GROUP, 0, 0, 0)
	}
	return failed(errno)
}

func called(call uintptr, args ...uintptr) error {
	all := [6]uintptr{}
	copy(all[:], args)
	_, _, errno := unix.Syscall6(call, all[0], all[1], all[2], all[3], all[4], all[5])
	return failed(errno)
}

func pid(text string) uintptr { return uintptr(number(text)) }

func stringAt(text string) uintptr {
	b, err := unix.BytePtrFromString(text)
	if err != nil {
		panic(err)
	}
	return uintptr(unsafe.Pointer(b))
}

// TestNumbers: a call that nobody has reviewed fails as if the kernel did not have it.
func TestNumbers(t *testing.T) {
	filtered(t)
	p := newPlace(t)
	cmd, out := p.command("numbers")
	if _, err := sandbox.Run(cmd, p.rules(t), nil); err != nil || out.Len() > 0 {
		t.Errorf("%v\n%s", err, out)
	}
	for _, call := range []uint32{
		unix.SYS_MOUNT, unix.SYS_UNSHARE, unix.SYS_SETNS, unix.SYS_BPF, unix.SYS_OPEN_TREE, unix.SYS_FSOPEN, unix.SYS_MOUNT_SETATTR,
		unix.SYS_KEXEC_LOAD, unix.SYS_INIT_MODULE, unix.SYS_FINIT_MODULE, unix.SYS_REBOOT, unix.SYS_SWAPON, unix.SYS_PIDFD_GETFD,
		unix.SYS_PROCESS_MADVISE, unix.SYS_MIGRATE_PAGES, unix.SYS_MOVE_PAGES, unix.SYS_KCMP, unix.SYS_FANOTIFY_INIT,
		unix.SYS_USERFAULTFD, unix.SYS_NAME_TO_HANDLE_AT, unix.SYS_OPEN_BY_HANDLE_AT, unix.SYS_CLOCK_SETTIME, unix.SYS_ACCT,
	} {
		if slices.Contains(sandbox.Listed(), call) {
			t.Errorf("call %d is listed", call)
		}
	}
}

// TestRequests: unlisted requests of ioctl are refused on every file, and no request that changes a file is listed.
func TestRequests(t *testing.T) {
	filtered(t)
	for _, request := range changing {
		if slices.Contains(sandbox.Requests, request) {
			t.Errorf("request %#x is listed", request)
		}
	}
	p := newPlace(t)
	seed, n := fstest.Seed(t), fstest.Runs(2_000, 50_000, 5_000_000)
	cmd, out := p.command("requests", strconv.FormatUint(seed, 10), strconv.Itoa(n), p.shown, filepath.Join(p.shown, "file"), "/dev/null")
	if _, err := sandbox.Run(cmd, p.rules(t), nil); err != nil || out.Len() > 0 {
		t.Errorf("seed %d: %v\n%.2000s", seed, err, out)
	}
	fstest.Countf(t, "%d random requests on three kinds of files", 2*n)
}

// TestOthers: no other process is rescheduled, and no namespace and no sibling of the program is made; a command can
// lower its own priority.
func TestOthers(t *testing.T) {
	filtered(t)
	p := newPlace(t)
	for act, args := range map[string][]string{
		"renice": {p.victim}, "renice-all": nil, "ioprio": {p.victim}, "affinity": {p.victim}, "scheduler": {p.victim},
		"namespace": nil, "clone-namespace": nil, "sibling": nil, "detached": {p.shown},
	} {
		if err := p.do(t, p.rules(t), act, args...); err == nil {
			t.Errorf("%s: done inside", act)
		}
	}
	for act, args := range map[string][]string{"renice-self": nil, "ioprio-self": nil, "affinity": {"0"}, "scheduler": {"0"}} {
		if err := p.do(t, p.rules(t), act, args...); err != nil {
			t.Errorf("%s: %v", act, err)
		}
	}
}

// TestFileSystems: read-only files stay unchanged on file systems that have their own requests.
func TestFileSystems(t *testing.T) {
	filtered(t)
	if os.Getuid() != 0 {
		t.Skip("NOT TESTED: only root mounts file systems")
	}
	for name, test := range map[string]struct {
		mkfs []string
		size int64
		act  string
		args func(dir string) []string
	}{
		"btrfs": {[]string{"mkfs.btrfs", "-q", "-f"}, 128 << 20, "snapshot", func(dir string) []string { return []string{dir, filepath.Join(dir, "read")} }},
		"ext4":  {[]string{"mkfs.ext4", "-q", "-F", "-O", "^metadata_csum"}, 16 << 20, "version", func(dir string) []string { return []string{filepath.Join(dir, "read", "file")} }},
		"xfs":   {[]string{"mkfs.xfs", "-q", "-f"}, 320 << 20, "", nil},
		"tmpfs": {nil, 0, "", nil},
	} {
		t.Run(name, func(t *testing.T) {
			dir := mounted(t, name, test.mkfs, test.size)
			read, file := filepath.Join(dir, "read"), filepath.Join(dir, "read", "file")
			put(t, file, "there")
			p := newPlace(t)
			rules := p.rules(t)
			rules.Read = append(rules.Read, dir)
			before := ofKernel(t, read, file)
			seed := fstest.Seed(t)
			cmd, out := p.command("requests", strconv.FormatUint(seed, 10), "500", read, file)
			if _, err := sandbox.Run(cmd, rules, nil); err != nil || out.Len() > 0 {
				t.Errorf("%v\n%.2000s", err, out)
			}
			if test.act != "" {
				if err := p.do(t, rules, test.act, test.args(dir)...); err == nil {
					t.Errorf("%s: done inside", test.act)
				}
			}
			if after := ofKernel(t, read, file); after != before {
				t.Errorf("before %s\nafter  %s", before, after)
			}
			if test.act == "" {
				return
			}
			if err := p.do(t, nil, test.act, test.args(dir)...); err != nil {
				t.Skipf("NOT TOLD APART: outside it fails as well: %v", err)
			}
			if after := ofKernel(t, read, file); after == before {
				t.Error("the test does not see the act")
			}
		})
	}
}

// mounted returns the directory of a new file system.
func mounted(t *testing.T, kind string, mkfs []string, size int64) string {
	t.Helper()
	dir, device, options := t.TempDir(), "none", []string{"-t", kind}
	if mkfs != nil {
		if _, err := exec.LookPath(mkfs[0]); err != nil {
			t.Skip("NOT TESTED: ", err)
		}
		device = filepath.Join(t.TempDir(), "image")
		f, err := os.Create(device)
		if err == nil {
			err = f.Truncate(size)
		}
		if err == nil {
			err = f.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
		if out, err := exec.Command(mkfs[0], append(mkfs[1:], device)...).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		options = append(options, "-o", "loop")
	}
	if out, err := exec.Command("mount", append(options, device, dir)...).CombinedOutput(); err != nil {
		t.Skipf("NOT TESTED: the file system cannot be mounted: %v\n%s", err, out)
	}
	t.Cleanup(func() {
		if out, err := exec.Command("umount", dir).CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
	})
	return dir
}

// ofKernel returns the names in a directory, and the kernel's attributes of a file.
func ofKernel(t *testing.T, dir, file string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	all := facts(t, dir, file)
	for _, e := range entries {
		all += " " + e.Name()
	}
	_ = opened(file, func(fd int) error {
		for _, request := range []uintptr{getVersion, unix.FS_IOC_GETFLAGS} {
			var value int64
			err := called(unix.SYS_IOCTL, uintptr(fd), request, uintptr(unsafe.Pointer(&value)))
			all += fmt.Sprint(" ", value, err)
		}
		return nil
	})
	return all
}
